//! What JMeter prints in non-GUI mode.

/// A line that says something about the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// The test begins; milliseconds since 1970.
    Begins(u64),
    /// Requests to stop are heard on this UDP port of the loopback interface.
    Listens(u16),
    /// The test has ended; milliseconds since 1970.
    Ended(u64),
    /// Everything is written.
    Done,
}

// Words of JMeter.
const BEGINS: &str = "Starting standalone test @";
const LISTENS: &str = "Waiting for possible Shutdown";
const ENDED: &str = "Tidying up ...";
const DONE: &str = "... end of run";

impl Said {
    /// What a line says, if it says something.
    pub(crate) fn of(line: &str) -> Option<Self> {
        if line.starts_with(BEGINS) {
            epoch_ms(line).map(Self::Begins)
        } else if line.starts_with(LISTENS) {
            let port = line.rsplit(' ').next()?;
            port.parse().ok().map(Self::Listens)
        } else if line.starts_with(ENDED) {
            epoch_ms(line).map(Self::Ended)
        } else if line.starts_with(DONE) {
            Some(Self::Done)
        } else {
            None
        }
    }
}

/// The number in brackets at the end.
fn epoch_ms(line: &str) -> Option<u64> {
    let (_, number) = line.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    number.parse().ok()
}

/// Why JMeter refused a plan, in one line, from all that it printed.
pub(crate) fn refusal(printed: &[String]) -> Option<String> {
    let class = printed.iter().find_map(|line| {
        let (_, class) = line.split_once("CannotResolveClassException:")?;
        Some(class.trim())
    });
    if let Some(class) = class {
        return Some(format!(
            "it has an element of the class {class}, which this JMeter does not know: it comes with a plugin; \
             let JMETER_HOME name a JMeter that has it"
        ));
    }
    let cause = printed.iter().position(|line| line.trim() == "Cause:");
    let after_cause = cause.and_then(|at| printed.get(at + 1));
    let error = || {
        let starts = ["An error occurred:", "Error in NonGUIDriver"];
        printed
            .iter()
            .find_map(|line| starts.iter().find_map(|start| line.strip_prefix(start)))
    };
    after_cause
        .map(String::as_str)
        .or_else(error)
        .map(str::trim)
        .filter(|says| !says.is_empty())
        .map(str::to_owned)
}

/// The first error in JMeter's log: the text behind its level, and the exception that caused it.
pub(crate) fn first_error(log: &str) -> Option<String> {
    let mut lines = log.lines();
    let error = lines.find_map(|line| line.split_once(" ERROR "));
    let (_, says) = error?;
    let says = says.trim();
    // Behind an error stands where it happened: frames, and the causes of an exception.
    let is_frame = |line: &str| line.starts_with('\t');
    let is_entry = |line: &str| line.starts_with(|c: char| c.is_ascii_digit());
    let exceptions = lines
        .take_while(|line| !is_entry(line))
        .filter(|line| !is_frame(line));
    let cause = exceptions.filter(|line| !line.trim().is_empty()).last();
    Some(cause.map_or_else(
        || says.to_owned(),
        |cause| {
            let cause = cause.strip_prefix("Caused by: ").unwrap_or(cause);
            format!("{says} {}", cause.trim())
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by JMeter 5.6.3.
    #[test]
    fn lines_about_the_test_are_understood() {
        for (line, said) in [
            (
                "Starting standalone test @ 2026 Nov 21 02:00:22 UTC (1795226422676)",
                Some(Said::Begins(1_795_226_422_676)),
            ),
            (
                "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port 4445",
                Some(Said::Listens(4445)),
            ),
            (
                "Tidying up ...    @ 2026 Nov 21 02:00:23 UTC (1795226423534)",
                Some(Said::Ended(1_795_226_423_534)),
            ),
            ("... end of run", Some(Said::Done)),
            ("Creating summariser <summary>", None),
            ("Starting standalone test @ (soon)", None),
        ] {
            assert_eq!(Said::of(line), said, "{line}");
        }
    }

    /// Printed by JMeter 5.6.3 for plans that it cannot load.
    #[test]
    fn a_refusal_is_told_in_one_line() {
        let says = |text: &str| {
            let printed: Vec<String> = text.lines().map(str::to_owned).collect();
            refusal(&printed)
        };
        assert_eq!(
            says("An error occurred: The file a.jmx doesn't exist or can't be opened").as_deref(),
            Some("The file a.jmx doesn't exist or can't be opened")
        );
        assert_eq!(
            says("Error in NonGUIDriver java.lang.IllegalArgumentException: Problem loading XML from:'a.jmx'. \n\
                  Cause:\nIllegalArgumentException: guiclass attribute is not found\n\n Detail: x")
                .as_deref(),
            Some("IllegalArgumentException: guiclass attribute is not found")
        );
        let plugin =
            says("Error in NonGUIDriver\nCause:\nCannotResolveClassException: kg.apc.Foo\n");
        assert!(plugin.is_some_and(|says| says.contains("class kg.apc.Foo, which")));
        assert_eq!(says("Creating summariser <summary>"), None);
    }

    #[test]
    fn the_first_error_of_a_log_is_found() {
        let log = "2026-11-21 05:14:09,100 INFO o.a.j.JMeter: fine\n\
                   2026-11-21 05:14:09,883 ERROR o.a.j.e.StandardJMeterEngine: Error occurred compiling the tree:\n\
                   2026-11-21 05:14:09,993 ERROR o.a.j.u.JMeterUtils: later\n";
        assert_eq!(
            first_error(log).as_deref(),
            Some("o.a.j.e.StandardJMeterEngine: Error occurred compiling the tree:")
        );
    }

    /// Logged by JMeter 5.6.3.
    #[test]
    fn the_exception_behind_an_error_is_told_with_it() {
        let log = "2026-11-28 14:54:27,704 ERROR o.a.j.t.JMeterThread: Test failed!\n\
                   java.lang.IllegalArgumentException: File config.csv must exist and be readable\n\
                   \tat org.apache.jmeter.services.FileServer.readLine(FileServer.java:340)\n\
                   2026-11-28 14:54:27,755 ERROR o.a.j.t.JMeterThread: Test failed!\n";
        assert_eq!(
            first_error(log).as_deref(),
            Some(
                "o.a.j.t.JMeterThread: Test failed! java.lang.IllegalArgumentException: \
                 File config.csv must exist and be readable"
            )
        );
        let log = "2026-11-28 14:54:27,704 ERROR o.a.j.JMeter: Error in NonGUIDriver\n\
                   a.b.Outer: outer\n\tat a.b.C.d(E.java:1)\n\
                   Caused by: a.b.Inner: inner\n\t... 3 more\n\
                   2026-11-28 14:54:27,755 INFO o.a.j.JMeter: Later\n";
        assert_eq!(
            first_error(log).as_deref(),
            Some("o.a.j.JMeter: Error in NonGUIDriver a.b.Inner: inner")
        );
    }
}
