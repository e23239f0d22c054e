//! Collections, safepoints and threads of a HotSpot virtual machine, from its file of counters.

use std::time::Instant;

use weir_jvm::{PerfCounters, PerfFile, Vm};

use crate::reading::{Reading, put};

use super::Origins;

/// Signals that the file tells.
const SIGNALS: [&str; 7] = [
    "gc.time",
    "gc.count",
    "safepoints.time",
    "safepoints.count",
    "jvm.threads",
    "jvm.threads.daemon",
    "locks.contended",
];

/// The counters of a process and what they were last.
#[derive(Debug)]
pub(crate) struct PerfDataSource {
    pid: u32,
    file: Option<PerfFile>,
    last: Option<(Instant, PerfCounters)>,
}

impl PerfDataSource {
    pub(crate) fn new(pid: u32) -> Self {
        Self {
            pid,
            file: None,
            last: None,
        }
    }

    pub(crate) fn read(&mut self, now: Instant, reading: &mut Reading) {
        if self.file.is_none() {
            let vm = Vm::of(self.pid).ok().flatten();
            self.file = vm.and_then(|vm| PerfFile::of(&vm).ok());
        }
        let counters = self.file.as_mut().and_then(|file| file.read().ok());
        if let Some(counters) = &counters {
            let before = self
                .last
                .as_ref()
                .map(|(then, before)| (before, now.duration_since(*then).as_secs_f64()));
            put_into(counters, before, reading);
        }
        self.last = counters.map(|counters| (now, counters));
    }

    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        let Some(file) = &self.file else { return };
        for signal in SIGNALS {
            let place = format!("perf data {}", file.path().display());
            origins.entry(signal.to_owned()).or_insert(place);
        }
    }
}

fn put_into(counters: &PerfCounters, before: Option<(&PerfCounters, f64)>, reading: &mut Reading) {
    let count = |counters: &PerfCounters| -> f64 {
        counters.collectors.iter().map(|c| c.count as f64).sum()
    };
    let time =
        |counters: &PerfCounters| -> f64 { counters.collectors.iter().map(|c| c.time_s).sum() };
    let per_s = |of: &dyn Fn(&PerfCounters) -> Option<f64>| {
        let (before, elapsed_s) = before?;
        let grown = of(counters)? - of(before)?;
        (grown >= 0.0).then(|| grown / elapsed_s)
    };
    let collects = !counters.collectors.is_empty();
    put(reading, SIGNALS[0], per_s(&|c| collects.then(|| time(c))));
    put(reading, SIGNALS[1], per_s(&|c| collects.then(|| count(c))));
    put(reading, SIGNALS[2], per_s(&|c| c.safepoint_s));
    put(
        reading,
        SIGNALS[3],
        per_s(&|c| c.safepoints.map(|n| n as f64)),
    );
    put(reading, SIGNALS[4], counters.threads.map(|n| n as f64));
    put(
        reading,
        SIGNALS[5],
        counters.daemon_threads.map(|n| n as f64),
    );
    put(
        reading,
        SIGNALS[6],
        per_s(&|c| c.contended_monitors.map(|n| n as f64)),
    );
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use super::*;
    use weir_jvm::Collector;

    fn counters(counts: [u64; 2], times_s: [f64; 2], safepoints: Option<u64>) -> PerfCounters {
        let names = ["G1 young collection pauses", "G1 full collection pauses"];
        let collectors = names.iter().zip(counts).zip(times_s);
        PerfCounters {
            version: None,
            collectors: collectors
                .map(|((name, count), time_s)| Collector {
                    name: (*name).to_owned(),
                    count,
                    time_s,
                })
                .collect(),
            safepoints,
            safepoint_s: Some(times_s[0] + 1.0),
            contended_monitors: Some(6 * counts[0]),
            threads: Some(20),
            daemon_threads: Some(15),
        }
    }

    #[test]
    fn collectors_add_up_and_grow() {
        let before = counters([10, 1], [1.0, 0.5], None);
        let after = counters([14, 2], [1.5, 1.0], Some(7));
        let mut reading = Reading::new();
        put_into(&after, Some((&before, 2.0)), &mut reading);
        assert_eq!(reading["gc.time"], 0.5);
        assert_eq!(reading["gc.count"], 2.5);
        assert_eq!(reading["safepoints.time"], 0.25);
        assert!(
            !reading.contains_key("safepoints.count"),
            "not known before"
        );
        assert_eq!(reading["jvm.threads"], 20.0);
        assert_eq!(reading["jvm.threads.daemon"], 15.0);
        assert_eq!(reading["locks.contended"], 12.0);
    }

    #[test]
    fn the_first_reading_has_levels_only_and_no_virtual_machine_nothing() {
        let mut reading = Reading::new();
        put_into(&counters([1, 1], [1.0, 1.0], Some(1)), None, &mut reading);
        let names: Vec<&str> = reading.keys().map(crate::SignalName::as_str).collect();
        assert_eq!(names, ["jvm.threads", "jvm.threads.daemon"]);
        let mut reading = Reading::new();
        let mut source = PerfDataSource::new(std::process::id());
        source.read(Instant::now(), &mut reading);
        assert!(reading.is_empty());
    }
}
