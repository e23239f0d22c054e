//! Figures of a trial by name: one way to read them for requirements, tables, findings.
//!
//! A figure can be named as in a requirement (`p99(light)`, `waiting(pool.db)`) or as it stands in
//! a trial's record (`response_time_ms.p99`, `pool.db.waiting`, any signal).

use std::fmt;

use weir_metric::{Better, Metric, Requirement, Signal, SignalUnit, names};
use weir_record::{ClassRecord, ResponseTime, TrialRecord};
use weir_stats::Estimate;

use crate::findings::ceiling;
use crate::settings::BACKLOG;

/// What can be read from a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Figure {
    /// Busy share of the target's CPUs.
    Cpu,
    /// Samples per second.
    Throughput(Class),
    /// Share of failed samples.
    Errors(Class),
    /// A statistic of the response time, in milliseconds.
    Response(Statistic, Class),
    /// A signal by its full name.
    Signal(String),
}

/// The samples that count: all, or those with one label.
pub(crate) type Class = Option<String>;

/// A statistic of the response time that every trial records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistic {
    Mean,
    P50,
    P90,
    P95,
    P99,
    P999,
    Max,
}

/// What was read, in the figure's own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub(crate) value: f64,
    /// The interval within the trial, where the trial gives one.
    pub(crate) interval: Option<Estimate>,
}

const STATISTICS: [(Statistic, &str); 7] = [
    (Statistic::Mean, "mean"),
    (Statistic::P50, "p50"),
    (Statistic::P90, "p90"),
    (Statistic::P95, "p95"),
    (Statistic::P99, "p99"),
    (Statistic::P999, "p99.9"),
    (Statistic::Max, "max"),
];
const RESPONSE: &str = "response_time_ms.";
const MEMORY: &str = "target.memory.rss";

impl Statistic {
    fn name(self) -> &'static str {
        let found = STATISTICS.iter().find(|(statistic, _)| *statistic == self);
        found.expect("every statistic has a name").1
    }

    fn by_name(name: &str) -> Option<Self> {
        let found = STATISTICS.iter().find(|(_, known)| *known == name);
        found.map(|(statistic, _)| *statistic)
    }

    fn of(self, times: &ResponseTime) -> f64 {
        match self {
            Self::Mean => times.mean,
            Self::P50 => times.p50,
            Self::P90 => times.p90,
            Self::P95 => times.p95,
            Self::P99 => times.p99,
            Self::P999 => times.p999,
            Self::Max => times.max,
        }
    }

    /// Where requests had no answer in the whole window: what it is, or is at least, over all of
    /// them.
    fn of_all(self, trial: &TrialRecord) -> Option<f64> {
        let quantile = match self {
            Self::Mean => return trial.mean_of_all_ms(),
            Self::P50 => 0.5,
            Self::P90 => 0.9,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
            Self::Max => 1.0,
        };
        trial.quantile_of_all_ms(quantile)
    }

    /// The name of its interval in a record.
    fn interval_name(self) -> String {
        let name = if self == Self::P999 {
            "p999"
        } else {
            self.name()
        };
        format!("{RESPONSE}{name}")
    }
}

impl Figure {
    /// The figure of this name; what is no figure is a signal.
    pub(crate) fn named(name: &str) -> Self {
        let (base, argument) = match name.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
            Some((base, argument)) => (base, Some(argument.trim().to_owned())),
            None => (name, None),
        };
        let statistic = Statistic::by_name(base.strip_prefix(RESPONSE).unwrap_or(base));
        match (base, argument, statistic) {
            (_, class, Some(statistic)) => Self::Response(statistic, class),
            ("throughput" | "throughput_per_s", class, _) => Self::Throughput(class),
            ("errors" | "errors.share", class, _) => Self::Errors(class),
            ("waiting" | "wait", Some(stage), _) => Self::Signal(format!("{stage}.{base}")),
            ("cpu", None, _) => Self::Cpu,
            ("missed", None, _) => Self::Signal(names::MISSED.to_owned()),
            ("memory", None, _) => Self::Signal(MEMORY.to_owned()),
            _ => Self::Signal(name.to_owned()),
        }
    }

    /// What a requirement bounds; `None` for a percentile that is not recorded.
    pub(crate) fn of(requirement: &Requirement) -> Option<Self> {
        Self::of_metric(&requirement.metric, requirement.class.as_deref())
    }

    /// What a metric of a class is; `None` for a percentile that is not recorded.
    pub(crate) fn of_metric(metric: &Metric, class: Option<&str>) -> Option<Self> {
        let class = class.map(str::to_owned);
        Some(match metric {
            Metric::Cpu => Self::Cpu,
            Metric::Throughput => Self::Throughput(class),
            Metric::Errors => Self::Errors(class),
            Metric::Missed => Self::Signal(names::MISSED.to_owned()),
            Metric::Mean => Self::Response(Statistic::Mean, class),
            Metric::Max => Self::Response(Statistic::Max, class),
            Metric::Percentile(_) => {
                Self::Response(Statistic::by_name(&metric.to_string())?, class)
            }
            Metric::Waiting(stage) => Self::Signal(format!("{stage}.waiting")),
            Metric::Wait(stage) => Self::Signal(format!("{stage}.wait")),
            Metric::Memory => Self::Signal(MEMORY.to_owned()),
        })
    }

    /// Factor from the figure's own unit to a requirement's base unit.
    pub(crate) fn to_base(&self) -> f64 {
        if matches!(self, Self::Response(..)) {
            1e-3
        } else {
            1.0
        }
    }

    /// What is known of it; nothing of a figure of the application's own.
    fn known(&self) -> Option<&'static Signal> {
        weir_metric::figure(&self.to_string())
    }

    /// Which way it gets better.
    pub(crate) fn better(&self) -> Better {
        self.known().map_or(Better::Neither, |known| known.better)
    }

    /// The unit that its values are kept in: as the catalogue has it, or as the study says of a
    /// figure of the application's own.
    pub(crate) fn unit(&self, trials: &[TrialRecord]) -> SignalUnit {
        self.own_unit(trials)
            .or_else(|| self.known().map(|known| known.unit))
            .unwrap_or(SignalUnit::Number)
    }

    fn own_unit(&self, trials: &[TrialRecord]) -> Option<SignalUnit> {
        let Self::Signal(name) = self else {
            return None;
        };
        let mut told = trials.iter().filter_map(|trial| trial.own_units.get(name));
        told.next().and_then(|symbol| SignalUnit::of_symbol(symbol))
    }

    /// Its value in each trial of one case; `None` where it was not read. A class of which no
    /// sample ended in one of them had none a second there, if the others have it.
    pub(crate) fn read_each(&self, trials: &[&TrialRecord]) -> Vec<Option<Measured>> {
        let mut read: Vec<_> = trials.iter().map(|trial| self.read(trial)).collect();
        if matches!(self, Self::Throughput(Some(_))) && read.iter().any(Option::is_some) {
            let none = Measured {
                value: 0.0,
                interval: None,
            };
            for each in &mut read {
                *each = each.or(Some(none));
            }
        }
        read
    }

    /// Its value in a trial; `None` where it was not read.
    pub(crate) fn read(&self, trial: &TrialRecord) -> Option<Measured> {
        match self {
            Self::Cpu => Some(with_interval(trial, "cpu", trial.cpu?.total)),
            Self::Throughput(None) => Some(with_interval(
                trial,
                "throughput_per_s",
                trial.throughput_per_s,
            )),
            Self::Errors(None) => Some(with_interval(trial, "errors.share", trial.errors.share)),
            Self::Response(statistic, None) => {
                if let Some(value) = statistic.of_all(trial) {
                    return Some(Measured {
                        value,
                        interval: None,
                    });
                }
                let value = statistic.of(&trial.response_time_ms);
                Some(with_interval(trial, &statistic.interval_name(), value))
            }
            Self::Throughput(Some(class)) => {
                of_class(trial, class, "throughput_per_s", |c| c.throughput_per_s)
            }
            Self::Errors(Some(class)) => of_class(trial, class, "errors.share", |c| c.errors.share),
            Self::Response(statistic, Some(class)) => {
                of_class(trial, class, &statistic.interval_name(), |c| {
                    statistic.of(&c.response_time_ms)
                })
            }
            Self::Signal(name) => {
                signal(trial, name).map(|value| with_interval(trial, name, value))
            }
        }
    }
}

fn with_interval(trial: &TrialRecord, name: &str, value: f64) -> Measured {
    Measured {
        value,
        interval: trial.intervals.get(name).copied(),
    }
}

fn of_class(
    trial: &TrialRecord,
    class: &str,
    name: &str,
    of: impl Fn(&ClassRecord) -> f64,
) -> Option<Measured> {
    trial.classes.get(class).map(|record| Measured {
        value: of(record),
        interval: record.intervals.get(name).copied(),
    })
}

/// Whether a signal is this quantity of a stage: `waiting`, `wait`.
pub(crate) fn is_quantity(signal: &str, quantity: &str) -> bool {
    signal.rsplit('.').next() == Some(quantity)
}

fn signal(trial: &TrialRecord, name: &str) -> Option<f64> {
    // `PORT` is the target's port, which a study does not know before.
    let read = match name.strip_prefix("tcp.PORT.") {
        Some(quantity) => of_port(trial, quantity),
        None => trial.signals.get(name).copied(),
    };
    read.or_else(|| match name.rsplit_once('.')? {
        // The backlog is what the kernel calls the accept queue, whatever the server tells.
        (BACKLOG, "occupancy") => of_port(trial, "accept-queue"),
        ("gc", "pause") => ratio(trial, "gc.time", "gc.count"),
        ("users", "ceiling") => ceiling::of_users(trial),
        // A wait that never happened leaves no mean behind; that nobody waited is known from the
        // number waiting.
        (stage, "wait") => trial.waiting(stage).filter(|waiting| *waiting == 0.0),
        _ => None,
    })
}

/// The one figure over the other; `None` where either was not read or the other is zero.
fn ratio(trial: &TrialRecord, above: &str, below: &str) -> Option<f64> {
    let below = trial.signals.get(below).filter(|below| **below > 0.0)?;
    Some(trial.signals.get(above)? / below)
}

/// How many were in a stage on average.
pub(crate) fn occupancy(trial: &TrialRecord, stage: &str) -> Option<f64> {
    signal(trial, &format!("{stage}.occupancy"))
}

/// A figure of the target's own port, whichever that is.
pub(crate) fn of_port(trial: &TrialRecord, quantity: &str) -> Option<f64> {
    let found = trial.signals.iter().find(|(name, _)| {
        let port = name
            .strip_prefix("tcp.")
            .and_then(|rest| rest.strip_suffix(quantity));
        port.and_then(|port| port.strip_suffix('.'))
            .is_some_and(|port| port.parse::<u16>().is_ok())
    });
    found.map(|(_, value)| *value)
}

impl fmt::Display for Figure {
    /// The name as it stands in a record.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, class) = match self {
            Self::Cpu => ("cpu".to_owned(), &None),
            Self::Throughput(class) => ("throughput_per_s".to_owned(), class),
            Self::Errors(class) => ("errors.share".to_owned(), class),
            Self::Response(statistic, class) => (format!("{RESPONSE}{}", statistic.name()), class),
            Self::Signal(name) => (name.clone(), &None),
        };
        f.write_str(&name)?;
        match class {
            Some(class) => write!(f, "({class})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_requirements_and_of_records_mean_the_same() {
        for (short, long, unit) in [
            ("cpu", "cpu", "%"),
            ("throughput", "throughput_per_s", "/s"),
            ("errors", "errors.share", "%"),
            ("p99", "response_time_ms.p99", "ms"),
            ("p99.9", "response_time_ms.p99.9", "ms"),
            ("mean(light)", "response_time_ms.mean(light)", "ms"),
            ("waiting(pool.db)", "pool.db.waiting", ""),
            ("wait(pool.db)", "pool.db.wait", "s"),
            ("memory", "target.memory.rss", "B"),
            ("missed", "load.missed", "%"),
            ("cpu.user", "cpu.user", "%"),
            ("target.threads", "target.threads", ""),
            ("gc.time", "gc.time", "%"),
            ("gc.pause", "gc.pause", "s"),
            ("app.flow.mean", "app.flow.mean", "s"),
            ("app.flow", "app.flow", ""),
            ("target.arrival.to-read", "target.arrival.to-read", "s"),
            ("target.storage.read", "target.storage.read", "B/s"),
            ("load.late-share", "load.late-share", "%"),
            ("tcp.PORT.resets", "tcp.PORT.resets", ""),
            ("tcp.resets", "tcp.resets", "/s"),
            ("users.ceiling", "users.ceiling", "/s"),
        ] {
            assert_eq!(Figure::named(short), Figure::named(long), "{short}");
            assert_eq!(Figure::named(short).to_string(), long);
            assert_eq!(Figure::named(short).unit(&[]).symbol(), unit, "{short}");
        }
    }

    #[test]
    fn the_study_says_the_unit_of_the_applications_own_figures() {
        let mut trial = crate::findings::made::trial(1, 100.0, &[("app.flow", 0.0128)]);
        trial
            .own_units
            .insert("app.flow".to_owned(), "s".to_owned());
        let figure = Figure::named("app.flow");
        assert_eq!(figure.unit(&[trial]).text(0.0128), "12.8 ms");
        assert_eq!(figure.unit(&[]).text(0.0128), "0.013");
    }

    #[test]
    fn a_class_that_only_some_trials_of_a_case_have_had_no_throughput_in_the_others() {
        let without = crate::findings::made::trial(1, 100.0, &[]);
        let mut with = without.clone();
        with.classes.insert("heavy".to_owned(), heavy(&with, 4.0));
        let read = |name: &str, trials: &[&TrialRecord]| -> Vec<Option<f64>> {
            let read = Figure::named(name).read_each(trials);
            read.iter().map(|each| Some(each.as_ref()?.value)).collect()
        };
        let both = [&without, &with];
        assert_eq!(read("throughput(heavy)", &both), [Some(0.0), Some(4.0)]);
        assert_eq!(read("throughput(heavy)", &[&without]), [None]);
        assert_eq!(read("p99(heavy)", &both)[0], None);
    }

    fn heavy(trial: &TrialRecord, throughput_per_s: f64) -> ClassRecord {
        ClassRecord {
            throughput_per_s,
            response_time_ms: trial.response_time_ms,
            errors: trial.errors.clone(),
            ..ClassRecord::default()
        }
    }

    #[test]
    fn figures_of_others_are_computed_from_the_whole_window() {
        let read = |name: &str, signals: &[(&str, f64)]| {
            let trial = crate::findings::made::trial(1, 100.0, signals);
            Figure::named(name).read(&trial).map(|read| read.value)
        };
        let collected = [("gc.time", 0.06), ("gc.count", 0.5)];
        assert_eq!(read("gc.pause", &collected), Some(0.12));
        let never = [("gc.time", 0.0), ("gc.count", 0.0)];
        assert_eq!(read("gc.pause", &never), None);
        assert_eq!(read("gc.pause", &[]), None);
    }
}
