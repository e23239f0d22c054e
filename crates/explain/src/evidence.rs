//! What a run recorded, as the hypotheses ask for it.

use std::collections::{BTreeMap, BTreeSet};

use weir_metric::{is_pool, is_stage, stage_place};
use weir_record::{
    CpuScope, Doing, Errors, Invalid, ResponseTime, TargetFacts, TrialRecord, WatchResult, names,
    requests_doing,
};

use crate::threshold::{FAILURES, FULL};

/// The classes of failures under which JMeter and Weir count connections that were not made or were
/// lost.
const LOST: [&str; 6] = [
    "HttpHostConnectException",
    "ConnectTimeoutException",
    "NoRouteToHostException",
    "SocketException",
    "NoHttpResponseException",
    "ConnectException",
];
/// How a client's machine has no port left: each connection that it closed keeps one for a minute.
const WITHOUT_PORT: [&str; 1] = ["BindException"];
/// How the name of a host is not found.
const UNKNOWN_HOST: [&str; 1] = ["UnknownHostException"];
/// Kinds of server whose memory nobody collects.
const WITHOUT_COLLECTOR: [&str; 3] = ["httpd", "nginx", "builtin"];
/// A gateway in front of the server.
pub(crate) const GATE: &str = "gate";
/// The connections that a server has.
pub(crate) const CONNECTIONS: &str = "connections";

/// CPUs of the machine on which the target ran, where that is known.
pub type MachineCpus = Option<u32>;

/// The figures of one trial, or of a watch without load.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What it is the evidence of: a run's name.
    pub name: String,
    /// The trial; `None`: a watch without load.
    pub trial: Option<u32>,
    /// Requests answered per second.
    pub throughput_per_s: Option<f64>,
    /// Mean time of a request from its actual start, in seconds.
    pub mean_s: Option<f64>,
    /// 99th percentile of the response time, in seconds.
    pub p99_s: Option<f64>,
    /// Mean time that requests of an open workload waited for a user before they started, in
    /// seconds.
    pub start_delay_s: Option<f64>,
    /// Requests in flight on average.
    pub in_flight: Option<f64>,
    /// Most requests that can come while the server answers none: users who are not waiting for an
    /// answer; infinite for an open workload, which waits for nobody.
    pub elsewhere: f64,
    /// Samples that failed.
    pub errors: Option<Errors>,
    /// Response times of each class of requests.
    pub classes: BTreeMap<String, ResponseTime>,
    /// CPUs that the target may use.
    pub cpus: Option<f64>,
    /// Whether the load generator may run on the target's CPUs too; `None`: it is not known.
    pub load_on_target: Option<bool>,
    /// What the run's own check says against its figures.
    pub spoilt: Vec<Invalid>,
    /// What the run notes beside its figures.
    pub notes: Vec<String>,
    /// Findings of the study that the figures speak against, by id.
    pub contradicts: Vec<String>,
    /// The kind of server, where it is known.
    pub(crate) kind: Option<String>,
    signals: BTreeMap<String, f64>,
    /// Half the width of the 95 % interval of signals that have one.
    half_widths: BTreeMap<String, f64>,
    not_read: BTreeMap<String, String>,
    limits: BTreeMap<String, f64>,
}

impl Evidence {
    /// The evidence of a trial.
    pub fn of_trial(
        name: &str,
        record: &TrialRecord,
        target: Option<&TargetFacts>,
        machine: MachineCpus,
    ) -> Self {
        let mut signals = record.signals.clone();
        if let Some(cpu) = record.cpu {
            // Runs that other tools recorded have the figure without the signal.
            signals.entry(names::CPU.to_owned()).or_insert(cpu.total);
            signals.entry("cpu.steal".to_owned()).or_insert(cpu.steal);
        }
        // A plan may have an open part that sent nothing.
        let open = record.open.as_ref().filter(|open| open.samples > 0);
        let service = open.map(|open| open.service_time_ms);
        let mean_s = service.unwrap_or(record.response_time_ms).mean / 1e3;
        let limits = target.into_iter().flat_map(|target| &target.stages);
        let limits = limits.filter_map(|stage| Some((stage.name.clone(), stage.limit?)));
        // What a trial set holds instead of what was found at the start.
        let set = record.levels.iter().filter(|(name, _)| is_stage(name));
        let set = set.filter_map(|(name, level)| Some((name.clone(), level.number()?)));
        let cpus = signals.get(names::TARGET_CPUS).copied();
        let facts_cpus = target.map(|target| f64::from(target.cpus));
        let mut evidence = Self {
            name: name.to_owned(),
            trial: Some(record.id),
            throughput_per_s: Some(record.throughput_per_s).filter(|rate| *rate > 0.0),
            mean_s: Some(mean_s).filter(|mean| *mean > 0.0),
            p99_s: Some(record.response_time_ms.p99 / 1e3).filter(|p99| *p99 > 0.0),
            start_delay_s: record
                .open
                .as_ref()
                .map(|open| open.start_delay_ms.mean / 1e3),
            in_flight: None,
            elsewhere: f64::INFINITY,
            errors: Some(record.errors.clone()),
            classes: record
                .classes
                .iter()
                .map(|(label, class)| (label.clone(), class.response_time_ms))
                .collect(),
            cpus: cpus.or(facts_cpus).filter(|cpus| *cpus > 0.0),
            load_on_target: None,
            spoilt: record.reasons(),
            notes: record.notes.clone(),
            contradicts: Vec::new(),
            kind: target.map(|target| target.server_kind().to_owned()),
            signals,
            half_widths: half_widths(record),
            not_read: record.not_read.clone(),
            limits: limits.chain(set).collect(),
        };
        // Little's law knows those that were answered; where others were not, all were counted.
        let counted = record
            .starved()
            .and_then(|_| record.signals.get(names::IN_FLIGHT).copied());
        evidence.in_flight = counted.or_else(|| evidence.requests_in_flight(record));
        if let (None, Some(in_flight)) = (&record.open, evidence.in_flight) {
            evidence.elsewhere = (f64::from(record.population) - in_flight).max(0.0);
        }
        evidence.load_on_target =
            evidence.load_on_target(target.map(|target| target.cpu_scope), machine);
        evidence
    }

    /// The evidence of a watch.
    pub fn of_watch(name: &str, watch: &WatchResult) -> Self {
        let signals: BTreeMap<String, f64> = watch
            .signals
            .iter()
            .map(|(name, seen)| (name.clone(), seen.mean))
            .collect();
        let signal = |name: &str| signals.get(name).copied();
        // A server that tells its requests tells how many are under way: those with a thread and
        // those that wait for one.
        let waiting = signal("request-queue.waiting").or_else(|| signal("threads.waiting"));
        let in_flight = signal("threads.occupancy").map(|busy| busy + waiting.unwrap_or(0.0));
        let throughput_per_s = signal("threads.entries").filter(|rate| *rate > 0.0);
        let mean_s = in_flight.zip(throughput_per_s).map(|(n, x)| n / x);
        Self {
            name: name.to_owned(),
            trial: None,
            throughput_per_s,
            mean_s: mean_s.filter(|mean| *mean > 0.0),
            p99_s: None,
            start_delay_s: None,
            in_flight: in_flight.filter(|n| *n > 0.0),
            elsewhere: f64::INFINITY,
            errors: None,
            classes: BTreeMap::new(),
            cpus: signals.get(names::TARGET_CPUS).copied(),
            load_on_target: None,
            spoilt: Vec::new(),
            notes: Vec::new(),
            contradicts: Vec::new(),
            kind: None,
            limits: BTreeMap::new(),
            signals,
            half_widths: BTreeMap::new(),
            not_read: watch.not_read.clone(),
        }
    }

    /// A signal's mean over the window.
    pub(crate) fn signal(&self, name: &str) -> Option<f64> {
        self.signals.get(name).copied()
    }

    /// Whether the server may have a garbage collector: its kind has one, or is not known.
    pub(crate) fn may_collect(&self) -> bool {
        let kind = self.kind.as_deref();
        kind.is_none_or(|kind| !WITHOUT_COLLECTOR.contains(&kind))
            || self.signal("gc.time").is_some()
    }

    /// How far the sum of these signals may be off at 95 %: the root of the sum of the squares, as
    /// far as they have intervals. `None` where none has.
    pub(crate) fn half_width(&self, signals: &[String]) -> Option<f64> {
        let known = signals.iter().filter_map(|name| self.half_widths.get(name));
        let squares: Vec<f64> = known.map(|half| half * half).collect();
        (!squares.is_empty()).then(|| squares.iter().sum::<f64>().sqrt())
    }

    /// Why a signal that was asked for could not be read, and what to do about it.
    pub(crate) fn why_not_read(&self, name: &str) -> Option<&str> {
        self.not_read.get(name).map(String::as_str)
    }

    /// The sum of two signals that only mean something together.
    pub(crate) fn sum(&self, one: &str, other: &str) -> Option<f64> {
        Some(self.signal(one)? + self.signal(other)?)
    }

    /// CPU seconds per second of the target's processes.
    pub(crate) fn target_cpu(&self) -> Option<f64> {
        self.sum("target.cpu.user", "target.cpu.system")
    }

    /// Requests whose threads did this, on average. `None` where thread dumps do not tell.
    pub(crate) fn requests(&self, doing: Doing) -> Option<f64> {
        requests_doing(|name| self.signal(name), doing)
    }

    /// CPUs that were busy, on average. What other virtual machines took is no busy time: `cpu` is
    /// a share of what they left.
    pub(crate) fn busy_cpus(&self) -> Option<f64> {
        let left = 1.0 - self.signal("cpu.steal").unwrap_or(0.0);
        Some(self.signal("cpu")? * self.cpus? * left)
    }

    /// So many on average, as a share of the requests in flight: by Little's law the share of their
    /// time.
    pub(crate) fn share_of_requests(&self, present: Option<f64>) -> Option<f64> {
        let in_flight = self.in_flight?;
        Some((present? / in_flight).min(1.0))
    }

    /// So many per second, as a number per request.
    pub(crate) fn per_request(&self, per_s: Option<f64>) -> Option<f64> {
        Some(per_s? / self.throughput_per_s?)
    }

    /// The stages of which something is known, innermost last.
    pub(crate) fn stages(&self) -> Vec<String> {
        let named = self.signals.keys().filter_map(|name| {
            let (stage, figure) = name.rsplit_once('.')?;
            let told = ["waiting", "wait", "occupancy", "limit"].contains(&figure);
            (told && is_stage(stage)).then(|| stage.to_owned())
        });
        let mut stages: Vec<String> = named.collect::<BTreeSet<_>>().into_iter().collect();
        stages.sort_by_key(|stage| stage_place(stage));
        stages
    }

    /// The parts of a gateway that classes of requests pass, each with a limit of its own: what
    /// holds them, where it has none over all.
    pub(crate) fn capped_classes(&self) -> Vec<String> {
        if self.limit(GATE).is_some() {
            return Vec::new();
        }
        let limits = self.named("gate.", ".limit");
        limits.map(|(class, _)| format!("{GATE}.{class}")).collect()
    }

    /// The limit of a stage: as it was read, else as the target was found.
    pub(crate) fn limit(&self, stage: &str) -> Option<f64> {
        self.signal(&format!("{stage}.limit"))
            .or_else(|| self.limits.get(stage).copied())
            .filter(|limit| *limit > 0.0)
    }

    /// Requests that wait for a stage, on average.
    pub(crate) fn waiting(&self, stage: &str) -> Option<f64> {
        let waiting = |stage: &str| self.signal(&format!("{stage}.waiting"));
        let told = waiting(stage).or_else(|| {
            let wait_s = self.signal(&format!("{stage}.wait"))?;
            Some(wait_s * self.signal(&format!("{stage}.entries"))?)
        });
        // Who waits for a thread waits in the stage before.
        let before = (stage == "threads")
            .then(|| waiting("request-queue").or_else(|| self.signal("request-queue.occupancy")));
        // Nor do all pools tell who waits for them; thread dumps do, of the one that is full.
        let in_dumps = is_pool(stage).then(|| {
            let only = self.only_full_pool()?;
            self.requests(Doing::WaitsForPool).filter(|_| only == stage)
        });
        // Of a server that has all the connections it may have, the others wait outside.
        let outside = stage == CONNECTIONS && self.is_full(stage) && !self.threads_accept();
        let outside = outside.then(|| self.in_accept_queue());
        told.or(before.flatten())
            .or(in_dumps.flatten())
            .or(outside.flatten())
    }

    /// The share of the places of a stage that are taken.
    pub(crate) fn taken(&self, stage: &str) -> Option<f64> {
        let used = self.signal(&format!("{stage}.occupancy"))?;
        Some(used / self.limit(stage)?)
    }

    /// Whether a stage is known to have as many as it may.
    pub(crate) fn is_full(&self, stage: &str) -> bool {
        self.taken(stage).is_some_and(|taken| taken >= FULL)
    }

    /// Whether those in the accept queue wait for a thread, because the threads accept themselves
    /// (httpd's prefork).
    pub(crate) fn threads_accept(&self) -> bool {
        self.signal("threads.waiting").is_some()
    }

    /// Connections in the accept queue of the server's port, on average; those that wait at a
    /// gateway in front are not the server's.
    pub(crate) fn in_accept_queue(&self) -> Option<f64> {
        let of_server = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        let queues = self.named("tcp.", ".accept-queue");
        let waiting: Vec<f64> = queues
            .filter(|(port, _)| of_server(port))
            .map(|(_, waiting)| waiting)
            .collect();
        (!waiting.is_empty()).then(|| waiting.iter().sum())
    }

    /// Share of the samples that failed for a reason of the connection's.
    pub(crate) fn lost(&self) -> Option<f64> {
        self.failed_as(&LOST)
    }

    /// Share of the samples for which the client's machine had no port left.
    pub(crate) fn without_port(&self) -> Option<f64> {
        self.failed_as(&WITHOUT_PORT)
    }

    /// Share of the samples whose host was not found by its name.
    pub(crate) fn unknown_host(&self) -> Option<f64> {
        self.failed_as(&UNKNOWN_HOST)
    }

    /// Share of the samples whose response code is one of these exceptions.
    fn failed_as(&self, exceptions: &[&str]) -> Option<f64> {
        let errors = self.errors.as_ref()?;
        if errors.count == 0 {
            return Some(0.0);
        }
        let is_one = |code: &str| exceptions.iter().any(|class| code.ends_with(class));
        let by_code = errors.by_code.iter();
        let failed: u64 = by_code
            .filter(|(code, _)| is_one(code))
            .map(|(_, count)| count)
            .sum();
        Some(errors.share * failed as f64 / errors.count as f64)
    }

    /// Share of the requests that a stage refused because it was full: as the server counts them,
    /// else those whose connection was not made or was lost while the server had all the
    /// connections that it may have.
    pub(crate) fn refused(&self, stage: &str) -> Option<f64> {
        let told = self.per_request(self.signal(&format!("{stage}.refused")));
        let at_the_door = (stage == CONNECTIONS && self.is_full(stage)).then(|| self.lost());
        told.or(at_the_door.flatten())
    }

    /// Whether a stage refuses requests because it is full; of `connections`: whether they are not
    /// made or lost because the server has all that it may have.
    pub(crate) fn refuses(&self, stage: &str) -> bool {
        self.refused(stage).is_some_and(|share| share >= FAILURES)
    }

    /// Whether any stage does.
    pub(crate) fn refuses_anywhere(&self) -> bool {
        self.stages().iter().any(|stage| self.refuses(stage))
    }

    /// The pool that is full, where it is one.
    fn only_full_pool(&self) -> Option<String> {
        let stages = self.stages().into_iter();
        let mut full = stages.filter(|stage| is_pool(stage) && self.is_full(stage));
        let first = full.next();
        first.filter(|_| full.next().is_none())
    }

    /// All signals of a kind of name, with what stands for the kind's own part.
    pub(crate) fn named<'e>(
        &'e self,
        start: &'e str,
        end: &'e str,
    ) -> impl Iterator<Item = (&'e str, f64)> {
        self.signals.iter().filter_map(move |(name, figure)| {
            let own = name.strip_prefix(start)?.strip_suffix(end)?;
            Some((own, *figure))
        })
    }

    /// Little's law; no closed workload has more requests in flight than users.
    fn requests_in_flight(&self, record: &TrialRecord) -> Option<f64> {
        let by_law = self.throughput_per_s? * self.mean_s?;
        let most = match &record.open {
            None if record.population > 0 => f64::from(record.population),
            _ => f64::INFINITY,
        };
        Some(by_law.min(most)).filter(|n| *n > 0.0)
    }

    fn load_on_target(&self, scope: Option<CpuScope>, machine: MachineCpus) -> Option<bool> {
        if self.signal(names::LOAD_SHARED_CPUS).is_some() {
            return Some(true);
        }
        match scope {
            Some(CpuScope::OwnCpus) => Some(false),
            Some(CpuScope::SharedCpus) => Some(true),
            Some(CpuScope::Unknown) | None => {
                let load = self.signal(names::LOAD_CPUS)?;
                Some(self.cpus? + load > f64::from(machine?))
            }
        }
    }
}

/// Half the widths of the intervals of a trial's signals.
fn half_widths(record: &TrialRecord) -> BTreeMap<String, f64> {
    let intervals = record.intervals.iter();
    let named = intervals.filter_map(|(name, estimate)| {
        let name = match name.as_str() {
            "throughput_per_s" => names::THROUGHPUT,
            name if record.signals.contains_key(name) => name,
            _ => return None,
        };
        Some((name.to_owned(), estimate.half_width()))
    });
    named.filter(|(_, half)| half.is_finite()).collect()
}

/// Made evidence for the tests of hypotheses.
#[cfg(test)]
pub(crate) mod made {
    use super::*;

    /// This evidence, of signals that are known to this.
    pub(crate) fn known_to(mut evidence: Evidence, half_widths: &[(&str, f64)]) -> Evidence {
        let known = half_widths.iter();
        evidence.half_widths = known
            .map(|(name, half)| ((*name).to_owned(), *half))
            .collect();
        evidence
    }

    /// This evidence, of a signal that could not be read.
    pub(crate) fn without(mut evidence: Evidence, name: &str, why: &str) -> Evidence {
        evidence.not_read.insert(name.to_owned(), why.to_owned());
        evidence
    }

    /// Ten requests in flight: 100 a second of 100 ms each, on 2 CPUs that are the target's own.
    pub(crate) fn evidence(signals: &[(&str, f64)]) -> Evidence {
        let signals = signals.iter();
        Evidence {
            name: "made".to_owned(),
            trial: Some(1),
            throughput_per_s: Some(100.0),
            mean_s: Some(0.1),
            p99_s: Some(0.3),
            start_delay_s: None,
            in_flight: Some(10.0),
            elsewhere: f64::INFINITY,
            errors: Some(Errors::default()),
            classes: BTreeMap::new(),
            cpus: Some(2.0),
            load_on_target: Some(false),
            spoilt: Vec::new(),
            notes: Vec::new(),
            contradicts: Vec::new(),
            kind: None,
            signals: signals
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            half_widths: BTreeMap::new(),
            not_read: BTreeMap::new(),
            limits: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::made::evidence;
    use super::*;

    #[test]
    fn stages_stand_in_their_order_and_other_signals_are_none() {
        let made = evidence(&[
            ("database.occupancy", 1.0),
            ("pool.db.waiting", 1.0),
            ("threads.limit", 1.0),
            ("backlog.occupancy", 1.0),
            ("tcp.80.accept-queue.limit", 1.0),
            ("target.run-queue-wait", 1.0),
        ]);
        assert_eq!(made.stages(), ["backlog", "threads", "pool.db", "database"]);
    }

    /// A server found with 50 threads, of which the trial allowed 40.
    #[test]
    fn the_limits_of_a_trial_are_those_that_it_set() {
        let times = serde_json::json!({
            "mean": 20.0, "p50": 20.0, "p90": 20.0, "p95": 20.0, "p99": 20.0, "p999": 20.0, "max": 20.0
        });
        let trial: TrialRecord = serde_json::from_value(serde_json::json!({
            "id": 3, "role": "search", "case": null, "levels": { "users": 60.0, "threads": 40.0 },
            "population": 60, "warm_up_s": 5.0, "window_s": 30.0, "repeats": 0, "valid": true,
            "invalid_because": [], "notes": [], "throughput_per_s": 400.0, "response_time_ms": times,
            "errors": { "count": 0, "share": 0.0, "by_code": {} }, "cpu": null,
            "signals": { "threads.occupancy": 40.0 }, "classes": {}, "intervals": {}
        }))
        .unwrap();
        let target: TargetFacts = serde_json::from_value(serde_json::json!({
            "name": "server", "kind": "liberty", "cpus": 2, "cpu_scope": "own-cpus", "stages": [
                { "name": "threads", "native": null, "limit": 50.0, "settable": true, "when_full": "wait" },
                { "name": "pool.db", "native": null, "limit": 10.0, "settable": true, "when_full": "block" },
            ]
        }))
        .unwrap();
        let evidence = Evidence::of_trial("r", &trial, Some(&target), None);
        assert_eq!(evidence.limit("threads"), Some(40.0));
        assert_eq!(evidence.limit("pool.db"), Some(10.0), "it was not set");
        assert_eq!(evidence.limit("users"), None, "no stage");
    }

    #[test]
    fn who_waits_for_a_thread_waits_in_the_queue_before_it() {
        let made = evidence(&[("request-queue.waiting", 3.0)]);
        assert_eq!(made.waiting("threads"), Some(3.0));
        let made = evidence(&[("pool.db.wait", 0.5), ("pool.db.entries", 8.0)]);
        assert_eq!(made.waiting("pool.db"), Some(4.0), "Little's law");
        assert_eq!(made.waiting("pool.other"), None);
    }

    #[test]
    fn a_watch_knows_the_requests_in_flight_of_a_server_that_tells_its_threads() {
        let mut watch = WatchResult {
            schema: String::new(),
            weir: String::new(),
            run: String::new(),
            target: String::new(),
            seconds: 0,
            missed: 0,
            running: false,
            signals: BTreeMap::new(),
            not_read: BTreeMap::new(),
        };
        let second = [
            ("threads.occupancy", 6.0),
            ("request-queue.waiting", 2.0),
            ("threads.entries", 16.0),
            ("target.cpus", 4.0),
        ];
        let second = second.map(|(name, value)| (name.to_owned(), value));
        watch.add(Some(&BTreeMap::from(second)));
        let evidence = Evidence::of_watch("w", &watch);
        assert_eq!(evidence.in_flight, Some(8.0));
        assert_eq!(evidence.mean_s, Some(0.5));
        assert_eq!((evidence.trial, evidence.cpus), (None, Some(4.0)));
    }
}
