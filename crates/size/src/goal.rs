//! A requirement as what it is compared with, and by how much it is missed.

use weir_metric::{Comparison, Metric, Requirement};

use crate::SizeError;
use crate::played::Played;

/// A requirement that a simulated fleet can be held to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Required {
    pub(crate) says: String,
    pub(crate) figure: Figure,
    pub(crate) bound: f64,
}

/// What is required.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figure {
    /// At most this share of the CPUs is busy.
    Cpu,
    /// At most this mean response time.
    Mean,
    /// At most this percentile of it.
    Percentile(f64),
    /// At least so many requests per second, all servers together.
    Throughput,
}

/// By how much the figures of a new trial may be off, relative.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Off {
    pub(crate) cpu: f64,
    pub(crate) response_time: f64,
    pub(crate) throughput: f64,
}

const CAN_BE_ASKED: &str =
    "mean, p50, p90, p95, p99, p99.9, cpu (each `<=`) and throughput (`>=`) can be asked";

impl Required {
    /// Takes a requirement as typed.
    pub(crate) fn of(requirement: &Requirement) -> Result<Self, SizeError> {
        let refuse = |why: &str| SizeError::Requirement {
            requirement: requirement.to_string(),
            why: why.to_owned(),
        };
        if requirement.class.is_some() {
            return Err(refuse(
                "a model takes all requests as one kind; leave the class away",
            ));
        }
        let figure = match requirement.metric {
            Metric::Cpu => Figure::Cpu,
            Metric::Mean => Figure::Mean,
            Metric::Percentile(percent) if recorded(percent) => Figure::Percentile(percent),
            Metric::Throughput => Figure::Throughput,
            _ => return Err(refuse(CAN_BE_ASKED)),
        };
        let at_most = matches!(
            requirement.comparison,
            Comparison::AtMost | Comparison::Below
        );
        let at_least = matches!(
            requirement.comparison,
            Comparison::AtLeast | Comparison::Above
        );
        let fits = if figure == Figure::Throughput {
            at_least
        } else {
            at_most
        };
        let bound = requirement.bound_base();
        if !fits || bound <= 0.0 {
            return Err(refuse(CAN_BE_ASKED));
        }
        Ok(Self {
            says: requirement.to_string(),
            figure,
            bound,
        })
    }

    /// The figure, with so many users in all and so many on one server.
    pub(crate) fn value(&self, played: &Played, population: f64, users_each: f64) -> f64 {
        match self.figure {
            Figure::Cpu => played.cpu(),
            Figure::Mean => played.mean_s(),
            Figure::Percentile(percent) => played.percentile_s(percent),
            Figure::Throughput => played.throughput_per_s() * population / users_each,
        }
    }

    /// The value that a trial would show whose figures are off by so much.
    pub(crate) fn off_by(&self, value: f64, off: Off) -> f64 {
        value * (1.0 + self.relative(off)).max(OFF_MIN)
    }

    /// The value over the bound: at most 1 where the requirement holds.
    pub(crate) fn ratio(&self, value: f64) -> f64 {
        match self.figure {
            Figure::Throughput => self.bound / value,
            _ => value / self.bound,
        }
    }

    fn relative(&self, off: Off) -> f64 {
        match self.figure {
            Figure::Cpu => off.cpu,
            Figure::Mean | Figure::Percentile(_) => off.response_time,
            Figure::Throughput => off.throughput,
        }
    }

    /// The time that it bounds, if it bounds one.
    pub(crate) fn time_s(&self) -> Option<f64> {
        matches!(self.figure, Figure::Mean | Figure::Percentile(_)).then_some(self.bound)
    }

    /// The percentile that it is about, if it is about one.
    pub(crate) fn percent(&self) -> Option<f64> {
        match self.figure {
            Figure::Percentile(percent) => Some(percent),
            _ => None,
        }
    }
}

/// No draw of an error takes more than nine tenths of a figure away.
const OFF_MIN: f64 = 0.1;

/// Percentiles that trials record.
pub(crate) const RECORDED: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

fn recorded(percent: f64) -> bool {
    RECORDED.iter().any(|known| (known - percent).abs() < 1e-9)
}

/// A value of this figure for people.
pub(crate) fn shown(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Cpu => format!("CPU {:.0} %", value * 100.0),
        Figure::Mean => format!("mean {}", time(value)),
        Figure::Percentile(percent) => format!("p{percent} {}", time(value)),
        Figure::Throughput => format!("{value:.0} requests/s"),
    }
}

/// A time in the unit that suits it.
pub(crate) fn time(seconds: f64) -> String {
    if seconds >= 10.0 {
        format!("{seconds:.0} s")
    } else if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 0.1 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}
