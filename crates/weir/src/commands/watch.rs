//! `weir watch`: the signals of a target, live, with no load, kept as a run.

mod over_ssh;
mod recorder;
mod subject;
mod view;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Args;
use weir_probe::{MetricsUrl, TimedReading, WatchThread};
use weir_record::failed_to;

use crate::error::ExpectedError;
use crate::{interrupt, output, put_back};

use recorder::Recorder;
use subject::Subject;
use view::View;

/// From setting everything up to the first second.
const LEAD: Duration = Duration::from_millis(20);
/// How often an interrupt and the target are looked at while waiting for the next second.
const LOOK: Duration = Duration::from_millis(100);

/// Show the signals of a target live, without load, and keep them as a run.
///
/// On a terminal a panel is drawn anew each second: the funnel, CPU, connections, garbage
/// collection, threads by name. Elsewhere a line is printed each second. The run can be read by
/// `weir report`.
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// What is watched: a study, whose server is started; a URL, whose process is looked for
    /// behind its port; or the id of a process.
    #[arg(value_name = "STUDY.toml | URL | PID")]
    target: String,
    /// How long, such as `90s`, `30m` or `12h`; without, until Ctrl-C.
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    length: Option<Duration>,
    /// The machine on which the URL or the process is: a host as for ssh, which is run with the
    /// user's own configuration and asks for nothing.
    #[arg(long, value_name = "HOST")]
    ssh: Option<String>,
    /// A file in place of `~/.ssh/config`.
    #[arg(long, value_name = "FILE", requires = "ssh")]
    ssh_config: Option<PathBuf>,
    /// A page of metrics in Prometheus's text format; may be given several times.
    #[arg(long, value_name = "URL")]
    metrics: Vec<MetricsUrl>,
    /// A Jolokia agent, such as `http://127.0.0.1:8778/jolokia`; known servers and pools are read.
    #[arg(long, value_name = "URL")]
    jolokia: Vec<MetricsUrl>,
    /// Write what was seen of each signal as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
    /// As root, run the commands of a study that another user has written or may write.
    #[arg(long)]
    allow_commands: bool,
}

/// A time as people type it.
pub(super) fn length(typed: &str) -> Result<Duration, String> {
    let time: jiff::SignedDuration = typed
        .parse()
        .map_err(|_| "a time is a number with its unit, such as 90s, 30m or 12h".to_owned())?;
    let time = Duration::try_from(time).unwrap_or_default();
    if time < Duration::from_secs(1) {
        return Err("it lasts a second at least".to_owned());
    }
    Ok(time)
}

pub(crate) fn run(arguments: &WatchArguments) -> Result<u8, ExpectedError> {
    let interrupted = interrupt::flag_of_changes()?;
    let mut subject = Subject::find(arguments, &interrupted)?;
    let recorder = Recorder::create(&subject, &arguments.runs);
    let watched = recorder.and_then(|mut recorder| {
        let ended = follow(arguments, &mut subject, &mut recorder, &interrupted);
        recorder.finish().and(ended).map(|ended| (recorder, ended))
    });
    // Whatever became of the watch, what was started is stopped.
    let stopped = subject.stop();
    let told = watched.and_then(|(recorder, ended)| tell(arguments, &recorder, ended));
    put_back::last_word(told, stopped)
}

/// Tells what was seen, and how it ended.
fn tell(
    arguments: &WatchArguments,
    recorder: &Recorder,
    ended: Ended,
) -> Result<u8, ExpectedError> {
    if let Some(json) = &arguments.json {
        output::json_to(json, recorder.seen())?;
    }
    let place = recorder.place();
    let table = weir_report::watch::watch_table(recorder.seen());
    output::answer_lines(
        &format!("{}\n{place}", table.trim_end()),
        arguments.json.as_deref(),
    );
    match ended {
        Ended::AsAsked => Ok(0),
        Ended::CutShort => Err(ExpectedError::Interrupted),
        Ended::TargetGone => Err(ExpectedError::Environment(
            "the process that was watched has ended; what was seen until then is saved".to_owned(),
        )),
    }
}

/// How a watch came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// The time was over, or there was no time and the user stopped it.
    AsAsked,
    /// The user stopped it before the time was over.
    CutShort,
    /// There is nothing left to watch.
    TargetGone,
}

fn follow(
    arguments: &WatchArguments,
    subject: &mut Subject,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
) -> Result<Ended, ExpectedError> {
    let view = View::new(subject);
    let origin = Instant::now() + LEAD;
    let (watch, readings) = WatchThread::start(subject.plan.clone(), origin, None)
        .map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    let wanted = arguments.length.map(|length| length.as_secs());
    let mut seconds = Seconds {
        readings: &readings,
        interrupted,
    };
    let ended = loop {
        match seconds.next(subject)? {
            Next::Second(second) => {
                // The watch counts ends of seconds.
                while recorder.seconds() + 1 < second.second {
                    recorder.add(None)?;
                }
                recorder.add(second.reading.as_ref())?;
                recorder.note_arrivals(second.arrivals);
                recorder.note_not_read(second.not_read);
                view.show(recorder);
            }
            Next::Interrupted if wanted.is_none() => break Ended::AsAsked,
            Next::Interrupted => break Ended::CutShort,
            Next::Gone => break Ended::TargetGone,
        }
        if wanted.is_some_and(|wanted| recorder.seconds() >= wanted) {
            break Ended::AsAsked;
        }
    };
    view.finish();
    recorder.note_origins(watch.stop());
    Ok(ended)
}

/// What comes next in a watch.
enum Next {
    Second(TimedReading),
    Interrupted,
    Gone,
}

struct Seconds<'a> {
    readings: &'a Receiver<TimedReading>,
    interrupted: &'a AtomicBool,
}

impl Seconds<'_> {
    fn next(&mut self, subject: &mut Subject) -> Result<Next, ExpectedError> {
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(Next::Interrupted);
            }
            match self.readings.recv_timeout(LOOK) {
                Ok(second) => return Ok(Next::Second(second)),
                Err(RecvTimeoutError::Timeout) if !subject.is_there() => return Ok(Next::Gone),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ExpectedError::Environment(
                        "the watch ended by itself".to_owned(),
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_type_them() {
        for (typed, seconds) in [
            ("90s", 90),
            ("30m", 1800),
            ("12h", 43_200),
            ("1h 30m", 5400),
        ] {
            assert_eq!(length(typed), Ok(Duration::from_secs(seconds)), "{typed}");
        }
        for typed in ["", "30", "m", "0s", "-5s", "0.5s"] {
            assert!(length(typed).is_err(), "{typed}");
        }
    }
}
