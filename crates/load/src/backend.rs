//! Backend Listeners: figures of the running test, sent to a time-series database.
//!
//! JMeter's `InfluxdbBackendListenerClient` and `GraphiteBackendListenerClient`: [`influx`] and
//! [`graphite`] have what is written, in the words that dashboards made for JMeter look for, of
//! what [`sums`] adds up. Adding up and sending have a thread each, so that a
//! database that is slow or gone costs the load nothing; what it does not get is counted.

mod graphite;
mod influx;
mod outbox;
mod sums;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use weir_plan::{Backend as Element, Database};
use weir_record::SampleRow;
use weir_script::{Scope, Text};

use crate::census::UserCounts;
use crate::error::LoadError;
use crate::http::servers::Servers;
use crate::start::spawn;
use graphite::Graphite;
use influx::Influx;
use outbox::{Outbox, Way};
use sums::{Sums, Window};

/// Samples that wait to be added up: JMeter's default (`QUEUE_SIZE`).
const WAITING_MAX: usize = 5_000;

/// What a backend hears of a sample.
#[derive(Debug)]
pub(crate) struct Heard {
    label: Arc<str>,
    success: bool,
    elapsed_ms: u64,
    code: Arc<str>,
    message: Arc<str>,
    failure_message: Arc<str>,
    sent_bytes: u64,
    received_bytes: u64,
    /// Requests that it is made of, as JMeter counts them.
    hits: u64,
    /// A transaction beside its samples, which have counted already.
    is_repeated: bool,
    /// Users that ran when it ended.
    active: u32,
    /// Users when it is told of.
    users: UserCounts,
}

impl Heard {
    fn of(row: &SampleRow, users: UserCounts) -> Self {
        Self {
            label: Arc::clone(&row.label),
            success: row.success,
            elapsed_ms: row.elapsed_ms,
            code: Arc::clone(&row.response_code),
            message: Arc::clone(&row.response_message),
            failure_message: Arc::clone(&row.failure_message),
            sent_bytes: row.sent_bytes,
            received_bytes: row.received_bytes,
            hits: hits(row),
            is_repeated: row.is_transaction && row.children.is_empty(),
            active: row.all_threads,
            users,
        }
    }
}

/// A transaction with its samples inside is none itself.
fn hits(row: &SampleRow) -> u64 {
    let own = !row.is_transaction || row.children.is_empty();
    u64::from(own) + row.children.iter().map(hits).sum::<u64>()
}

/// The words that figures are sent in.
#[derive(Debug)]
enum Words {
    Influx(Influx),
    Graphite(Graphite),
}

impl Words {
    fn of(element: &Element<String>, window: Window) -> Result<Self, String> {
        Ok(match element.to {
            Database::Influx => Self::Influx(Influx::new(element, window)?),
            Database::Graphite => Self::Graphite(Graphite::new(element, window)?),
        })
    }

    fn sums(&mut self) -> &mut Sums {
        match self {
            Self::Influx(influx) => &mut influx.sums,
            Self::Graphite(graphite) => &mut graphite.sums,
        }
    }

    /// What is sent when the test starts.
    fn at_start(&self) -> Option<Vec<u8>> {
        match self {
            Self::Influx(influx) => Some(influx.event("started").into_bytes()),
            Self::Graphite(_) => None,
        }
    }

    /// The figures of an interval, which ends.
    fn figures(&mut self) -> Vec<u8> {
        match self {
            Self::Influx(influx) => influx.figures().into_bytes(),
            Self::Graphite(graphite) => graphite.figures(),
        }
    }

    /// The figures of the last interval.
    fn at_end(&mut self) -> Vec<u8> {
        match self {
            Self::Influx(influx) => (influx.event("ended") + &influx.figures()).into_bytes(),
            Self::Graphite(graphite) => graphite.figures(),
        }
    }
}

/// What became of the figures of a Backend Listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentFigures {
    /// The listener's name.
    pub name: String,
    /// Where they went.
    pub to: String,
    /// Writes that were due.
    pub writes: u64,
    /// Writes among them that did not arrive.
    pub lost_writes: u64,
    /// Samples that are in no write, because they came faster than they could be added up.
    pub lost_samples: u64,
    /// Why the first write did not arrive.
    pub why: Option<String>,
}

impl SentFigures {
    /// Nothing could be sent.
    fn none(name: String, to: String, why: String) -> Self {
        Self {
            name,
            to,
            writes: 1,
            lost_writes: 1,
            lost_samples: 0,
            why: Some(why),
        }
    }
}

/// A Backend Listener at work.
#[derive(Debug)]
pub(crate) enum Backend {
    Sends {
        samples: SyncSender<Heard>,
        lost_samples: u64,
        adding: JoinHandle<SentFigures>,
    },
    /// It cannot send anything.
    Silent(SentFigures),
}

impl Backend {
    /// Begins to send what an element of the plan asks for.
    pub(crate) fn start(
        name: String,
        element: &Element<Text>,
        scope: &mut Scope,
        servers: &Servers,
    ) -> Result<Self, LoadError> {
        let element = element.map(&mut |text| text.rendered(scope));
        let property = |name: &str| scope.variables.globals().property(name);
        let number = |name: &str| property(name)?.trim().parse::<u64>().ok();
        let (property_of_interval, default) = match element.to {
            Database::Influx => ("backend_influxdb.send_interval", 5),
            Database::Graphite => ("backend_graphite.send_interval", 1),
        };
        let seconds = number(property_of_interval).filter(|seconds| *seconds > 0);
        let interval = Duration::from_secs(seconds.unwrap_or(default));
        let is_timed = property("backend_metrics_window_mode")
            .is_some_and(|mode| mode.eq_ignore_ascii_case("timed"));
        let window = Window::of(
            is_timed,
            number("backend_metrics_window"),
            number("backend_metrics_large_window"),
        );
        let to = shown(&place(&element));
        let words = Words::of(&element, window);
        let ready = words.and_then(|words| Ok((words, Way::of(&element, servers)?)));
        let (words, way) = match ready {
            Ok(ready) => ready,
            Err(says) => return Ok(Self::Silent(SentFigures::none(name, to, says))),
        };
        let outbox = Outbox::open(way, to)?;
        let (samples, received) = sync_channel(WAITING_MAX);
        let adding = spawn("weir-load-send", move || {
            let sent = add_up(words, &received, interval, outbox);
            SentFigures { name, ..sent }
        })?;
        Ok(Self::Sends {
            samples,
            lost_samples: 0,
            adding,
        })
    }

    /// Tells it of a sample; never waits.
    pub(crate) fn tell(&mut self, row: &SampleRow, users: UserCounts) {
        if let Self::Sends {
            samples,
            lost_samples,
            ..
        } = self
            && let Err(TrySendError::Full(_)) = samples.try_send(Heard::of(row, users))
        {
            *lost_samples += 1;
        }
    }

    /// Sends what is left.
    pub(crate) fn finish(self) -> SentFigures {
        match self {
            Self::Sends {
                samples,
                lost_samples,
                adding,
            } => {
                drop(samples);
                // Whoever adds up panics only by a fault of ours, which its thread has said.
                let sent = adding.join().unwrap_or_default();
                SentFigures {
                    lost_samples,
                    ..sent
                }
            }
            Self::Silent(none) => none,
        }
    }
}

/// The value of an argument of the element, unless it is empty.
fn argument<'a>(element: &'a Element<String>, wanted: &str) -> Option<&'a str> {
    let value = element.argument(wanted).map(|value| value.trim());
    value.filter(|value| !value.is_empty())
}

/// Where the element says that its database is: a URL, or a host and port.
fn place(element: &Element<String>) -> String {
    match element.to {
        Database::Influx => argument(element, "influxdbUrl")
            .unwrap_or_default()
            .to_owned(),
        Database::Graphite => {
            let host = argument(element, "graphiteHost").unwrap_or_default();
            let port = argument(element, "graphitePort").unwrap_or("2003");
            format!("{host}:{port}")
        }
    }
}

/// A URL as users see it: name and password may stand in front of the host, and in the query.
fn shown(url: &str) -> String {
    let url = url.split('?').next().unwrap_or_default();
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{place}"),
        _ => url.to_owned(),
    }
}

fn add_up(
    mut words: Words,
    received: &Receiver<Heard>,
    interval: Duration,
    mut outbox: Outbox,
) -> SentFigures {
    if let Some(said) = words.at_start() {
        outbox.put(said);
    }
    let mut due = Instant::now() + interval;
    loop {
        match received.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(heard) => words.sums().add(&heard),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= due {
            outbox.put(words.figures());
            due += interval;
        }
    }
    words.sums().end();
    outbox.put(words.at_end());
    outbox.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_url_has_no_password() {
        let cases = [
            (
                "http://h:8086/write?db=j&u=me&p=secret",
                "http://h:8086/write",
            ),
            ("http://me:secret@h/write", "http://h/write"),
            ("h:8089", "h:8089"),
            ("", ""),
        ];
        for (url, expected) in cases {
            assert_eq!(shown(url), expected);
        }
    }
}
