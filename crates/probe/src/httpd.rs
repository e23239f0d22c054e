//! The stages of an Apache httpd whose processes serve one connection each (prefork), without
//! asking it.
//!
//! A question would need one of the workers that are measured, so the figures come from elsewhere:
//!
//! * who was accepted: the open connections of the port without those in the accept queue. Each is
//!   one busy process;
//! * who waits: the accept queue;
//! * how many processes there are: the children of the parent in `/proc`;
//! * how fast processes are started: once a second prefork looks for idle ones, and when it starts
//!   eight or more at once it says so in the error log (message AH00162, level info): how many it
//!   wants to start and how many there are. It starts those for which there is room below the
//!   limit.

use std::path::PathBuf;

use crate::accepted;
use crate::followed_log::FollowedLog;
use crate::reading::{Reading, put};
use crate::source::Origins;

/// The message in which prefork tells how many processes it starts.
const SPAWNING: &str = "AH00162:";
/// Two such messages further apart than this are not two looks in a row: in between fewer than
/// eight processes were started at a time, which is not told.
const CYCLE_MAX_S: f64 = 2.0;
const DAY_S: f64 = 86_400.0;

/// An httpd with prefork to be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpdSource {
    /// The process of this machine that starts the others.
    pub parent: Option<u32>,
    /// The port that it listens on.
    pub port: u16,
    /// Its error log, at level info, where that is known.
    pub error_log: Option<PathBuf>,
    /// Most processes; `None`: the target's facts say it.
    pub process_limit: Option<u32>,
    /// Connections after which a process ends and has to be replaced; `None`: it stays.
    pub connections_per_process: Option<u32>,
}

/// An httpd while it is watched.
#[derive(Debug)]
pub(crate) struct Httpd {
    source: HttpdSource,
    log: Option<FollowedLog>,
    last_told_s: Option<f64>,
}

impl Httpd {
    pub(crate) fn new(source: HttpdSource) -> Self {
        Self {
            log: source.error_log.as_deref().map(FollowedLog::new),
            source,
            last_told_s: None,
        }
    }

    /// Adds where its signals come from.
    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        let port = self.source.port;
        let mut add = |signal: &str, from: &str| {
            origins
                .entry(signal.to_owned())
                .or_insert_with(|| from.to_owned());
        };
        let queue = accepted::queue_origin(port);
        add("backlog.occupancy", &queue);
        add("backlog.limit", &queue);
        add("threads.occupancy", &accepted::origin(port));
        add("threads.waiting", &queue);
        if self.source.process_limit.is_some() {
            add("threads.limit", "the configuration that Weir wrote");
            add("threads.lifetime", "the configuration that Weir wrote");
        }
        add("threads.total", "/proc/PID/task/PID/children");
        if let Some(log) = &self.source.error_log {
            add(
                "threads.spawned",
                &format!("messages AH00162 in {}", log.display()),
            );
        }
    }

    /// Adds the stages to a reading that has the connections of the port.
    pub(crate) fn read(&mut self, reading: &mut Reading) {
        accepted::put_backlog(self.source.port, reading);
        let limit = self.source.process_limit;
        let queue = reading.get("backlog.occupancy").copied();
        let busy = accepted::accepted(self.source.port, reading);
        put(reading, "threads.limit", limit.map(f64::from));
        put(reading, "threads.occupancy", busy);
        put(reading, "threads.waiting", queue);
        put(
            reading,
            "threads.lifetime",
            self.source.connections_per_process.map(f64::from),
        );
        put(
            reading,
            "threads.total",
            self.source
                .parent
                .and_then(accepted::children)
                .map(|children| children.len() as f64),
        );
        let spawned = limit.and_then(|limit| self.spawned(limit));
        put(reading, "threads.spawned", spawned);
    }

    /// Processes started per second, over the time between the messages of this second and the one
    /// before them.
    fn spawned(&mut self, limit: u32) -> Option<f64> {
        let lines = self.log.as_mut()?.new_lines()?;
        let (mut started, mut elapsed_s) = (0.0, 0.0);
        for told in lines.iter().filter_map(|line| Told::parse(line)) {
            let since = self.last_told_s.replace(told.at_s);
            let since_s = since.map(|since| (told.at_s - since).rem_euclid(DAY_S));
            if let Some(since_s) = since_s.filter(|since_s| *since_s <= CYCLE_MAX_S) {
                started += told.started(limit);
                elapsed_s += since_s;
            }
        }
        (elapsed_s > 0.0).then(|| started / elapsed_s)
    }
}

/// What one message tells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Told {
    /// Time of day.
    at_s: f64,
    wanted: u32,
    present: u32,
}

impl Told {
    fn parse(line: &str) -> Option<Self> {
        let (head, says) = line.split_once(SPAWNING)?;
        let number_before = |word: &str| {
            // Words of httpd.
            let (before, _) = says.split_once(word)?;
            before
                .rsplit(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        };
        Some(Self {
            at_s: time_of_day(head)?,
            wanted: number_before(" children, there are")?,
            present: number_before(" total children")?,
        })
    }

    /// Processes that were started: as many as wanted, if there was room for them.
    fn started(&self, limit: u32) -> f64 {
        f64::from(self.wanted.min(limit.saturating_sub(self.present)))
    }
}

/// The time in `[Sat Nov 21 17:52:51.374032 2026]`.
fn time_of_day(head: &str) -> Option<f64> {
    let clock = head
        .split_whitespace()
        .find(|word| word.matches(':').count() == 2)?;
    let mut parts = clock.split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    let at_s = hours * 3600.0 + minutes * 60.0 + seconds;
    (0.0..=DAY_S + 1.0).contains(&at_s).then_some(at_s)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
#[expect(clippy::float_cmp, reason = "the figures are whole numbers")]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// As the server writes it (2.4, prefork).
    fn message(clock: &str, wanted: u32, present: u32) -> String {
        format!(
            "[Sat Nov 21 {clock} 2026] [mpm_prefork:info] [pid 21492:tid 21492] AH00162: server seems busy, (you may \
             need to increase StartServers, or Min/MaxSpareServers), spawning {wanted} children, there are 0 idle, \
             and {present} total children\n"
        )
    }

    fn httpd(log: &std::path::Path, process_limit: Option<u32>) -> Httpd {
        Httpd::new(HttpdSource {
            parent: Some(std::process::id()),
            port: 80,
            error_log: Some(log.to_owned()),
            process_limit,
            connections_per_process: Some(2),
        })
    }

    #[test]
    fn a_message_tells_when_and_how_many() {
        let told = Told::parse(&message("17:52:53.416048", 32, 26)).unwrap();
        assert!((told.at_s - 64_373.416_048).abs() < 1e-6);
        assert_eq!((told.wanted, told.present), (32, 26));
        assert_eq!(told.started(50), 24.0, "there is room for 24");
        assert_eq!(told.started(256), 32.0);
        assert_eq!(told.started(10), 0.0);
        for other in [
            "[Sat Nov 21 17:52:53.4 2026] [mpm_prefork:error] AH00161: server reached MaxRequestWorkers",
            "AH00162: spawning 8 children, there are 0 idle, and 3 total children",
            "[x] AH00162: spawning many children, there are 0 idle",
            "",
        ] {
            assert_eq!(Told::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_spawn_rate_is_over_the_time_between_messages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        std::fs::write(&path, "").unwrap();
        let mut httpd = httpd(&path, Some(50));
        let mut text = message("23:59:57.000000", 16, 8);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(httpd.spawned(50), None, "nothing to count from yet");
        text += &message("23:59:58.250000", 32, 10);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(httpd.spawned(50), Some(32.0 / 1.25));
        assert_eq!(httpd.spawned(50), None, "no message in this second");
        // Two in one second, the second behind midnight.
        let _ = write!(text, "{}", message("23:59:59.250000", 32, 30));
        let _ = write!(text, "{}", message("00:00:00.250000", 32, 18));
        std::fs::write(&path, &text).unwrap();
        assert_eq!(httpd.spawned(50), Some(26.0));
        text += &message("00:00:09.000000", 8, 18);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(
            httpd.spawned(50),
            None,
            "what was started in between is not known"
        );
    }

    #[test]
    fn who_is_not_in_the_queue_was_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        let connections = || {
            let mut reading = Reading::new();
            put(&mut reading, "tcp.80.established", Some(180.0));
            put(&mut reading, "tcp.80.close-wait", Some(3.0));
            put(&mut reading, "tcp.80.accept-queue", Some(140.0));
            put(&mut reading, "tcp.80.accept-queue.limit", Some(511.0));
            reading
        };
        let mut reading = connections();
        httpd(&path, Some(50)).read(&mut reading);
        for (name, figure) in [
            ("threads.occupancy", 43.0),
            ("threads.waiting", 140.0),
            ("threads.limit", 50.0),
            ("threads.lifetime", 2.0),
            ("backlog.occupancy", 140.0),
            ("backlog.limit", 511.0),
        ] {
            assert_eq!(reading.get(name), Some(&figure), "{name}");
        }
        assert!(
            !reading.contains_key("threads.spawned"),
            "the log is not there"
        );
        let mut reading = connections();
        let mut httpd = httpd(&path, None);
        httpd.read(&mut reading);
        assert_eq!(reading["threads.occupancy"], 43.0);
        assert!(!reading.contains_key("threads.limit"));
    }

    #[test]
    fn without_connections_nothing_is_said_of_the_stages() {
        let folder = tempfile::tempdir().unwrap();
        let mut reading = Reading::new();
        let mut httpd = httpd(&folder.path().join("none"), None);
        (httpd.source.parent, httpd.source.connections_per_process) = (None, None);
        httpd.read(&mut reading);
        assert!(reading.is_empty());
    }
}
