//! The busy share of a server's CPUs from a page of metrics.
//!
//! What is looked for, the first that is there:
//!
//! * `node_cpu_seconds_total` (`node_exporter`): busy of what was not stolen, as Weir reads it
//!   itself;
//! * `system_cpu_usage`, `process_cpu_usage` (Micrometer): shares as they are;
//! * `process_cpu_seconds_total` (Prometheus' client libraries): its growth over the number of
//!   CPUs, which is told by the caller, by `system_cpu_count` (Micrometer) or by
//!   `go_sched_gomaxprocs_threads` (Go).

use std::time::{Duration, Instant};

use weir_exchange::{Exchange, MetricsUrl};

use crate::source::{PageSample, page_samples};

use super::BusyError;

/// How long a page may take to come.
const PATIENCE: Duration = Duration::from_millis(800);

/// A page, and what it said last.
#[derive(Debug)]
pub(super) struct PageReader {
    url: MetricsUrl,
    exchange: Exchange,
    cpus_told: Option<f64>,
    last: Option<(Instant, Told)>,
}

/// What a page says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Told {
    /// CPU seconds of the machine: busy ones, and all that were not stolen.
    machine: Option<(f64, f64)>,
    /// A busy share, of the machine, or of the process alone.
    machine_share: Option<f64>,
    process_share: Option<f64>,
    /// CPU seconds of the process.
    process_s: Option<f64>,
    /// CPUs that the process may use.
    cpus: Option<f64>,
}

impl PageReader {
    pub(super) fn new(url: MetricsUrl, cpus: Option<f64>) -> Self {
        Self {
            exchange: Exchange::new(url.address()),
            url,
            cpus_told: cpus,
            last: None,
        }
    }

    /// How many CPUs the share is of, where it is known.
    pub(super) fn cpus(&self) -> Option<f64> {
        self.cpus_told.or_else(|| self.last?.1.cpus)
    }

    pub(super) fn read(&mut self, now: Instant) -> Result<Option<f64>, BusyError> {
        let told = self.told();
        let before = match &told {
            Ok(told) => self.last.replace((now, *told)),
            Err(_) => self.last.take(),
        };
        let told = told?;
        let before = before
            .map(|(then, before)| (now.saturating_duration_since(then).as_secs_f64(), before));
        told.share(before, self.cpus_told)
            .map_err(|why| BusyError::Silent {
                url: self.url.clone(),
                why,
            })
    }

    fn told(&mut self) -> Result<Told, BusyError> {
        let deadline = Instant::now() + PATIENCE;
        self.exchange.ask(self.url.get(), deadline);
        let page = self
            .exchange
            .answer(deadline)
            .map_err(|source| BusyError::Page {
                url: self.url.clone(),
                source,
            })?;
        Ok(Told::by(&String::from_utf8_lossy(&page)))
    }
}

impl Told {
    fn by(page: &str) -> Self {
        let mut told = Self::default();
        for sample in page_samples(page).filter(|sample| sample.value.is_finite()) {
            told.take(&sample);
        }
        told
    }

    fn take(&mut self, sample: &PageSample<'_>) {
        let value = sample.value;
        let add = |sum: &mut Option<f64>| *sum = Some(sum.unwrap_or(0.0) + value);
        // A share that cannot be had is told as −1.
        let share = |share: &mut Option<f64>| {
            *share = (0.0..=1.0).contains(&value).then_some(value).or(*share);
        };
        match sample.name {
            "node_cpu_seconds_total" => {
                let mode = sample.label("mode");
                let (busy, given) = self.machine.get_or_insert_default();
                match mode.as_deref() {
                    Some("user" | "nice" | "system" | "irq" | "softirq") => {
                        *busy += value;
                        *given += value;
                    }
                    Some("idle" | "iowait") => *given += value,
                    _ => {}
                }
            }
            "system_cpu_usage" => share(&mut self.machine_share),
            "process_cpu_usage" => share(&mut self.process_share),
            "process_cpu_seconds_total" => add(&mut self.process_s),
            "system_cpu_count" | "go_sched_gomaxprocs_threads" if value > 0.0 => {
                self.cpus = Some(value);
            }
            _ => {}
        }
    }

    /// The busy share since `before`, so many seconds ago; else why there is none.
    fn share(
        self,
        before: Option<(f64, Self)>,
        cpus: Option<f64>,
    ) -> Result<Option<f64>, &'static str> {
        if let Some((busy, given)) = self.machine {
            let before = before.and_then(|(_, before)| before.machine);
            return Ok(before.and_then(|before| grown_share(before, (busy, given))));
        }
        if let Some(share) = self.machine_share.or(self.process_share) {
            return Ok(Some(share));
        }
        let process_s = self.process_s.ok_or(
            "it has none of node_cpu_seconds_total, system_cpu_usage, process_cpu_usage and process_cpu_seconds_total",
        )?;
        let cpus = cpus.or(self.cpus).ok_or(
            "it has process_cpu_seconds_total, but says nowhere of how many CPUs; say it with `cpu-count`",
        )?;
        let before =
            before.and_then(|(elapsed_s, before)| Some((before.process_s?, elapsed_s * cpus)));
        Ok(before.and_then(|(before, given)| grown_share((before, 0.0), (process_s, given))))
    }
}

/// Growth of what was used over growth of what was given; `None` when a server was started anew in
/// between.
fn grown_share(before: (f64, f64), now: (f64, f64)) -> Option<f64> {
    let (used, given) = (now.0 - before.0, now.1 - before.1);
    (used >= 0.0 && given > 0.0).then(|| used / given)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// The share that two pages give, two seconds apart.
    fn share(pages: [&str; 2], cpus: Option<f64>) -> Result<Option<f64>, &'static str> {
        let [before, now] = pages.map(Told::by);
        now.share(Some((2.0, before)), cpus)
    }

    #[test]
    fn a_machine_is_busy_with_what_was_not_stolen() {
        let page = |user: f64, idle: f64, steal: f64| {
            format!(
                "node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {user}\n\
                 node_cpu_seconds_total{{cpu=\"1\",mode=\"softirq\"}} {user}\n\
                 node_cpu_seconds_total{{cpu=\"1\",mode=\"idle\"}} {idle}\n\
                 node_cpu_seconds_total{{cpu=\"1\",mode=\"steal\"}} {steal}\n\
                 process_cpu_seconds_total 3\n"
            )
        };
        let (before, now) = (page(10.0, 100.0, 5.0), page(10.75, 100.5, 5.25));
        assert_eq!(share([&before, &now], None), Ok(Some(0.75)));
        assert_eq!(Told::by(&now).share(None, None), Ok(None));
        // Started anew: its counters begin again.
        assert_eq!(share([&now, &page(0.5, 1.0, 0.0)], None), Ok(None));
    }

    #[test]
    fn a_share_is_taken_as_it_is() {
        let page = "process_cpu_usage 0.25\nsystem_cpu_usage 0.5\nsystem_cpu_count 2.0\n";
        assert_eq!(share(["", page], None), Ok(Some(0.5)));
        let page = "process_cpu_usage 0.25\nsystem_cpu_usage -1.0\n";
        assert_eq!(share(["", page], None), Ok(Some(0.25)));
    }

    #[test]
    fn seconds_of_a_process_are_of_so_many_cpus() {
        let (before, now) = (
            "process_cpu_seconds_total 7\n",
            "process_cpu_seconds_total 8\n",
        );
        assert_eq!(share([before, now], Some(4.0)), Ok(Some(0.125)));
        let go = format!("{now}go_sched_gomaxprocs_threads 2\n");
        assert_eq!(share([before, &go], None), Ok(Some(0.25)));
        assert!(
            share([before, now], None)
                .unwrap_err()
                .contains("cpu-count")
        );
        assert!(
            share([before, "up 1\n"], None)
                .unwrap_err()
                .contains("none of")
        );
        assert_eq!(share(["up 1\n", now], Some(1.0)), Ok(None));
    }
}
