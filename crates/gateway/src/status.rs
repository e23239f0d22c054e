//! How a gateway stands, as data: for `weir gate status`, the live page and whoever asks the admin
//! port.

mod cpu;
mod keys;
mod learnt;
mod routes;
mod scale;

use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_limit::{Counts, Seen, Spent, Why};

use crate::control::Control;
use crate::figures::{Figures, Times};
use crate::live::Live;
pub use cpu::CpuStatus;
pub use keys::{KeyRefused, KeyStatus};
pub use learnt::LearntStatus;
pub use routes::{RouteStatus, RoutesStatus};
pub use scale::ScaleStatus;

/// The version of this format.
pub const STATUS_SCHEMA: &str = "weir/gate-status/1";

/// How a gateway stands. Counts are since its start, so that two readings give the rates between
/// them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// `weir/gate-status/1`.
    pub schema: String,
    /// Weir's version.
    pub weir: String,
    /// Seconds since the start.
    pub uptime_s: f64,
    /// Whether no more requests are taken.
    pub draining: bool,
    /// The cap on admitted requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Seconds that requests have spent in flight, added up: the growth between two readings over
    /// the time between them is how many there were on average.
    #[serde(default)]
    pub in_flight_s: f64,
    /// As `in_flight_s`, of those that wait for their turn.
    #[serde(default)]
    pub queued_s: f64,
    /// Requests in flight whose client has left: a backend still has them.
    #[serde(default)]
    pub in_flight_without_client: u32,
    /// What the limit over all classes has learnt; absent where it is fixed, and before anybody
    /// has waited for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt: Option<LearntStatus>,
    /// Over all classes.
    pub all: Standing,
    /// Each class, in the order of the file.
    pub classes: Vec<ClassStatus>,
    /// Each backend, in the order of the file.
    pub backends: Vec<BackendStatus>,
    /// How busy the backends are; absent when there is no place to read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuStatus>,
    /// How many backends the load wants; absent where the file does not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScaleStatus>,
    /// Each key, in the order of the file; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<KeyStatus>,
    /// What routes have cost; absent when no class asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routes: Option<RoutesStatus>,
    /// Connections of clients.
    pub connections: ConnectionStatus,
    /// Switched connections and streams of events that have given their slots back; absent where
    /// they keep them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_lived: Option<LongLivedStatus>,
    /// Requests that were not passed on because they could be understood in two ways.
    pub malformed: u64,
    /// Of those, how many for each reason.
    #[serde(default)]
    pub malformed_by: BTreeMap<String, u64>,
    /// Requests of exempt classes: nothing held them, and no other figure counts them.
    #[serde(default)]
    pub exempt: u64,
    /// Changes of the settings.
    pub reloads: u64,
    /// Lines of the access log that found no room.
    pub log_lines_left_out: u64,
    /// Times that the admin side had to be started again.
    pub admin_restarts: u64,
}

/// How the admission stands, for all or for a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// The limit on requests in flight; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that wait for their turn.
    pub queued: usize,
    /// Requests that came.
    pub offered: u64,
    /// Requests that were admitted.
    pub admitted: u64,
    /// Of those, the ones that waited.
    pub waited: u64,
    /// Sum of their waits, in seconds.
    pub wait_s: f64,
    /// The longest of their waits, in seconds.
    pub wait_max_s: f64,
    /// Requests that were rejected.
    pub refused: Refused,
    /// Requests whose client left while they waited.
    pub left: u64,
    /// Admitted requests that are over.
    pub finished: u64,
}

/// Requests that were rejected, by why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// Their slot under a rate cap would have opened too late.
    pub rate: u64,
    /// All slots were taken, and waiting is not allowed.
    pub concurrency: u64,
    /// As many waited as may.
    pub queue_full: u64,
    /// They had waited as long as they may.
    pub wait_too_long: u64,
    /// They were among the oldest of a queue that had been standing.
    pub expired: u64,
}

/// How a class stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassStatus {
    /// Its name.
    pub name: String,
    /// Its figures.
    pub standing: Standing,
    /// Seconds that its requests have spent in flight, added up, as over all classes.
    #[serde(default)]
    pub in_flight_s: f64,
    /// As `in_flight_s`, of those that wait for their turn.
    #[serde(default)]
    pub queued_s: f64,
    /// How often its clients got which status code, those of the gateway's own included.
    #[serde(default)]
    pub codes: BTreeMap<u16, u64>,
    /// How long its requests took that were admitted and are over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<ClassTimes>,
}

/// How long requests took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassTimes {
    /// From the arrival to the last byte of the answer.
    pub response: TimesStatus,
    /// For their turn.
    pub wait: TimesStatus,
    /// At the backend: without the time in which the client did not take what was there.
    pub backend: TimesStatus,
}

/// Times since the start, in buckets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimesStatus {
    /// How many.
    pub count: u64,
    /// Their sum, in seconds.
    pub sum_s: f64,
    /// How many took at most so many seconds, and longer than the bound before; the last has none.
    pub buckets: Vec<(Option<f64>, u64)>,
}

impl ClassTimes {
    fn of(figures: &Figures) -> Self {
        Self {
            response: TimesStatus::of(&figures.response),
            wait: TimesStatus::of(&figures.wait),
            backend: TimesStatus::of(&figures.backend),
        }
    }
}

impl TimesStatus {
    fn of(times: &Times) -> Self {
        let buckets = times.buckets();
        Self {
            count: buckets.iter().map(|(_, count)| count).sum(),
            sum_s: times.sum_s(),
            buckets,
        }
    }
}

/// How a backend stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackendStatus {
    /// Its URL.
    pub url: String,
    /// Whether it gets requests.
    pub up: bool,
    /// Whether it gets none for a while because so many in a row have failed.
    #[serde(default)]
    pub ejected: bool,
    /// Why it gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ejected_why: Option<String>,
    /// How often that was so.
    #[serde(default)]
    pub ejections: u64,
    /// Requests that it has.
    pub in_flight: u32,
    /// Requests that it got.
    pub requests: u64,
    /// Of those, the ones without a whole response.
    pub failed: u64,
    /// Connections made to it.
    pub connections: u64,
    /// Why there was no connection the last time that one was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
}

/// Switched connections and streams of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LongLivedStatus {
    /// Open now.
    pub open: u32,
    /// How many may be open.
    pub most: u32,
    /// Rejected since the start, as there were as many as may be.
    pub refused: u64,
}

/// Connections of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionStatus {
    /// Open now.
    pub open: usize,
    /// Of those, the ones that have been without a request for a while and hold no buffers.
    #[serde(default)]
    pub resting: usize,
    /// How many may be open.
    pub most: usize,
    /// Times that the next one had to wait, as there were as many as may be.
    #[serde(default)]
    pub full: u64,
    /// Accepted since the start.
    pub accepted: u64,
    /// Not accepted, for want of open files as a rule.
    pub not_accepted: u64,
}

impl Status {
    /// Whether no request is in flight.
    pub const fn has_ended(&self) -> bool {
        self.all.in_flight == 0
    }

    /// How the gateway stands now.
    pub(crate) fn of(control: &Control) -> Self {
        let shared = &control.shared;
        let live = shared.current.get();
        let seen = control.seen();
        let spent = shared.flow.spent();
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let backends = live.backends.iter().map(|backend| BackendStatus {
            url: backend.address.to_string(),
            up: !backend.is_down(),
            ejected: backend.ejection.is_ejected(),
            ejected_why: backend.ejection.why().map(|why| why.says().to_owned()),
            ejections: backend.ejection.count(),
            in_flight: backend.in_flight(),
            requests: count(&backend.counts.requests),
            failed: count(&backend.counts.failed),
            connections: count(&backend.counts.connections),
            unreachable: backend.unreachable(),
        });
        let malformed_by = shared.counts.malformed.by_name();
        Self {
            schema: STATUS_SCHEMA.to_owned(),
            weir: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: shared.begun.elapsed().as_secs_f64(),
            draining: *shared.drains.borrow(),
            rate_per_s: live.settings.limit.rate_per_s,
            in_flight_s: spent.in_flight.as_secs_f64(),
            queued_s: spent.waiting.as_secs_f64(),
            in_flight_without_client: shared.flow.alone().get(),
            learnt: shared.flow.learnt().map(LearntStatus::of),
            backends: backends.collect(),
            cpu: CpuStatus::of(shared.cpu.seen()),
            scale: shared.scale.seen().map(|seen| ScaleStatus::of(&seen)),
            keys: live.keys.iter().map(|table| KeyStatus::of(table)).collect(),
            routes: RoutesStatus::of(&live),
            connections: ConnectionStatus {
                open: shared
                    .room_total
                    .saturating_sub(shared.room.available_permits())
                    .saturating_sub(shared.counts.accepting.load(Ordering::Relaxed)),
                resting: shared.counts.resting.load(Ordering::Relaxed),
                most: shared.room_total,
                full: count(&shared.counts.full),
                accepted: count(&shared.counts.connections),
                not_accepted: count(&shared.counts.not_accepted),
            },
            long_lived: live.settings.limit.long_lived.map(|most| LongLivedStatus {
                open: shared.long_lived.open(),
                most,
                refused: shared.long_lived.refused(),
            }),
            malformed: malformed_by.values().sum(),
            malformed_by,
            exempt: count(&shared.counts.exempt),
            reloads: count(&shared.counts.reloads),
            log_lines_left_out: shared.log.as_ref().map_or(0, |log| log.left_out()),
            admin_restarts: count(&shared.counts.admin_restarts),
            classes: classes(&seen, &shared.flow.spent_by_class(), &live),
            all: standing(seen.limit, seen.in_flight, seen.queued, &seen.counts),
        }
    }
}

/// The classes with the time that their requests have spent. Rules that change between the two
/// readings leave some without it until the next.
fn classes(seen: &Seen, spent: &[Spent], live: &Live) -> Vec<ClassStatus> {
    let spent = spent.iter().copied().chain(iter::repeat(Spent::default()));
    let classes = seen.classes.iter().zip(spent);
    let classes = classes.map(|(class, spent)| {
        let figures = live.figures_of(&class.name);
        ClassStatus {
            name: class.name.clone(),
            standing: standing(class.limit, class.in_flight, class.queued, &class.counts),
            in_flight_s: spent.in_flight.as_secs_f64(),
            queued_s: spent.waiting.as_secs_f64(),
            codes: figures.map_or_else(BTreeMap::new, Figures::codes),
            times: figures.map(ClassTimes::of),
        }
    });
    classes.collect()
}

fn standing(limit: f64, in_flight: u32, queued: usize, counts: &Counts) -> Standing {
    Standing {
        limit: limit.is_finite().then_some(limit),
        in_flight,
        queued,
        offered: counts.arrived,
        admitted: counts.admitted,
        waited: counts.waited,
        wait_s: counts.wait_total.as_secs_f64(),
        wait_max_s: counts.wait_max.as_secs_f64(),
        refused: Refused {
            rate: counts.refused_for(Why::Rate),
            concurrency: counts.refused_for(Why::Concurrency),
            queue_full: counts.refused_for(Why::QueueFull),
            wait_too_long: counts.refused_for(Why::WaitTooLong),
            expired: counts.refused_for(Why::Expired),
        },
        left: counts.abandoned,
        finished: counts.finished,
    }
}

impl Refused {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.rate + self.concurrency + self.queue_full + self.wait_too_long + self.expired
    }

    /// Each with its name.
    pub fn by_why(&self) -> [(&'static str, u64); 5] {
        [
            ("rate", self.rate),
            ("concurrency", self.concurrency),
            ("queue_full", self.queue_full),
            ("wait_too_long", self.wait_too_long),
            ("expired", self.expired),
        ]
    }
}

/// For a terminal.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.draining { ", draining" } else { "" };
        writeln!(f, "up for {:.0} s{state}", self.uptime_s)?;
        if let Some(rate) = self.rate_per_s {
            writeln!(f, "rate cap {rate}/s")?;
        }
        writeln!(
            f,
            "{:<16} {:>10} {:>10} {:>10} {:>9} {:>9} {:>8} {:>10} {:>10}",
            "class",
            "offered",
            "admitted",
            "refused",
            "in flight",
            "limit",
            "waiting",
            "mean wait",
            "longest"
        )?;
        self.all.line(f, "all")?;
        for class in &self.classes {
            class.standing.line(f, &class.name)?;
        }
        if self.in_flight_without_client > 0 {
            writeln!(
                f,
                "the clients of {} of those in flight have left; backends still have them",
                self.in_flight_without_client
            )?;
        }
        if let Some(learnt) = &self.learnt {
            writeln!(f, "{learnt}")?;
        }
        if let Some(cpu) = &self.cpu {
            writeln!(f, "{cpu}")?;
        }
        if let Some(scale) = &self.scale {
            writeln!(f, "{scale}")?;
        }
        for key in &self.keys {
            writeln!(f, "{key}")?;
        }
        for route in self.routes.iter().flat_map(|routes| &routes.costliest) {
            let class = route.class.as_ref();
            let class = class.map_or_else(String::new, |class| format!(": {class}"));
            writeln!(f, "{} {:.1} ms{class}", route.route, route.cost_ms)?;
        }
        for backend in &self.backends {
            let state = match (backend.up, backend.ejected) {
                (false, _) => "down",
                (true, true) => "ejected",
                (true, false) => "up",
            };
            writeln!(
                f,
                "{} {state}: {} in flight, {} requests, {} failed, {} connections made",
                backend.url,
                backend.in_flight,
                backend.requests,
                backend.failed,
                backend.connections
            )?;
            if let Some(why) = &backend.ejected_why {
                writeln!(f, "  ejected: {why}")?;
            }
            if let Some(why) = &backend.unreachable {
                writeln!(f, "  no connection the last time: {why}")?;
            }
        }
        if let Some(long_lived) = &self.long_lived {
            writeln!(
                f,
                "{} long-lived, {} at most, {} refused",
                long_lived.open, long_lived.most, long_lived.refused
            )?;
        }
        write!(
            f,
            "{} connections of clients, {} at most; {} requests malformed",
            self.connections.open, self.connections.most, self.malformed
        )
    }
}

impl Standing {
    fn line(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let limit = self
            .limit
            .map_or_else(|| "–".to_owned(), |limit| format!("{limit:.4}"));
        let limit = limit.trim_end_matches('0').trim_end_matches('.');
        let mean = match self.waited {
            0 => "–".to_owned(),
            waited => format!("{:.1} ms", self.wait_s * 1000.0 / waited as f64),
        };
        let longest = match self.waited {
            0 => "–".to_owned(),
            _ => format!("{:.1} ms", self.wait_max_s * 1000.0),
        };
        write!(
            f,
            "{name:<16} {:>10} {:>10} {:>10} {:>9} {limit:>9} {:>8} {mean:>10} {longest:>10}",
            self.offered,
            self.admitted,
            self.refused.total(),
            self.in_flight,
            self.queued
        )?;
        let whys = self.refused.by_why();
        for (why, count) in whys.iter().filter(|(_, count)| *count > 0) {
            write!(f, "  {}: {count}", why.replace('_', " "))?;
        }
        writeln!(f)
    }
}
