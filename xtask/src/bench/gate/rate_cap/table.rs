//! What a turn has shown, and all of them beside each other.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::bench::gate::clients::Answer;
use crate::bench::gate::figures::quantile;
use crate::bench::gate::peers::Subject;
use crate::bench::gate::rate_cap::subjects;
use crate::bench::spread::spread;

/// Seconds at the beginning that are told apart, and at the end, in which the load ends, that are
/// left out.
const EDGE: usize = 2;

/// What a turn has shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// Requests at the server in each whole second of the middle.
    steady: Vec<usize>,
    /// In the first second.
    first: usize,
    /// In the worst second, wherever it begins.
    sliding: usize,
    /// From the intended start to the answer, of those that were let through.
    passed_ms: Vec<f64>,
    /// Of those that were not.
    refused_ms: Vec<f64>,
    /// As `refused_ms`, without how late the load itself was.
    refused_sent_ms: Vec<f64>,
    /// Requests without an answer.
    lost: usize,
}

impl Seen {
    /// From arrivals at the server, in order, and the clients' answers.
    pub(crate) fn of(arrivals: &[Instant], answers: &[Answer], length: Duration) -> Self {
        let seconds = length.as_secs() as usize;
        let mut per_second = vec![0; seconds];
        let first = arrivals.first().copied();
        for arrival in arrivals {
            let second = first.map_or(0, |first| arrival.duration_since(first).as_secs() as usize);
            if let Some(count) = per_second.get_mut(second) {
                *count += 1;
            }
        }
        let times = |passed: fn(u16) -> bool, time: fn(&Answer) -> Duration| {
            let mut times: Vec<f64> = answers
                .iter()
                .filter(|answer| passed(answer.status))
                .map(|answer| time(answer).as_secs_f64() * 1e3)
                .collect();
            times.sort_by(f64::total_cmp);
            times
        };
        let refused = |status| status >= 400;
        Self {
            steady: per_second[EDGE..seconds - EDGE].to_vec(),
            first: per_second[0],
            sliding: sliding(arrivals),
            passed_ms: times(|status| status == 200, |answer| answer.took),
            refused_ms: times(refused, |answer| answer.took),
            refused_sent_ms: times(refused, |answer| answer.took.saturating_sub(answer.late)),
            lost: answers.iter().filter(|answer| answer.status == 0).count(),
        }
    }

    fn mean(&self) -> f64 {
        self.steady.iter().sum::<usize>() as f64 / self.steady.len() as f64
    }

    fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self
            .steady
            .iter()
            .map(|&count| (count as f64 - mean).powi(2));
        (squares.sum::<f64>() / self.steady.len() as f64).sqrt()
    }

    /// For a terminal.
    pub(crate) fn line(&self) -> String {
        format!(
            "{:.2} ± {:.2}/s ({}–{}), worst sliding second {}, first {}, passed {} (p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms), \
             refused {} (p50 {:.2} ms, p99 {:.2} ms; from the sending {:.2} and {:.2} ms), lost {}",
            self.mean(),
            self.deviation(),
            self.steady.iter().min().unwrap_or(&0),
            self.steady.iter().max().unwrap_or(&0),
            self.sliding,
            self.first,
            self.passed_ms.len(),
            quantile(&self.passed_ms, 0.5),
            quantile(&self.passed_ms, 0.99),
            quantile(&self.passed_ms, 1.0),
            self.refused_ms.len(),
            quantile(&self.refused_ms, 0.5),
            quantile(&self.refused_ms, 0.99),
            quantile(&self.refused_sent_ms, 0.5),
            quantile(&self.refused_sent_ms, 0.99),
            self.lost
        )
    }
}

/// Most arrivals in any second.
fn sliding(arrivals: &[Instant]) -> usize {
    let mut most = 0;
    let mut from = 0;
    for (at, arrival) in arrivals.iter().enumerate() {
        while arrival.duration_since(arrivals[from]) >= Duration::from_secs(1) {
            from += 1;
        }
        most = most.max(at - from + 1);
    }
    most
}

/// All turns: of each figure the median over the rounds, and the range behind it.
pub(crate) fn table(seen: &[(Subject, Seen)], rate: u32, offered: u32) -> String {
    let mut text = format!(
        "Cap {rate}/s, {offered}/s offered (Poisson); median over the rounds (lowest–highest)\n\n\
         | gateway | admitted per second | its deviation | worst sliding second | first second | wait p50 ms | wait p99 ms | wait max ms | refusal p50 ms | refusal p99 ms | from the sending: p50 ms | p99 ms |\n\
         |:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for subject in subjects(rate) {
        let turns: Vec<&Seen> = seen
            .iter()
            .filter(|(of, _)| *of == subject)
            .map(|(_, seen)| seen)
            .collect();
        let cell =
            |figure: fn(&Seen) -> f64| spread(turns.iter().map(|one| figure(one)).collect(), 2);
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            subject.name(),
            cell(Seen::mean),
            cell(Seen::deviation),
            cell(|seen| seen.sliding as f64),
            cell(|seen| seen.first as f64),
            cell(|seen| quantile(&seen.passed_ms, 0.5)),
            cell(|seen| quantile(&seen.passed_ms, 0.99)),
            cell(|seen| quantile(&seen.passed_ms, 1.0)),
            cell(|seen| quantile(&seen.refused_ms, 0.5)),
            cell(|seen| quantile(&seen.refused_ms, 0.99)),
            cell(|seen| quantile(&seen.refused_sent_ms, 0.5)),
            cell(|seen| quantile(&seen.refused_sent_ms, 0.99)),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::gate::clients::Arrival;

    #[test]
    fn seconds_are_counted_wherever_they_begin() {
        let begun = Instant::now();
        let at = |milliseconds| begun + Duration::from_millis(milliseconds);
        let arrivals: Vec<Instant> = [0, 900, 1000, 1100, 1899, 1900, 2500, 3100, 4200]
            .map(at)
            .into();
        assert_eq!(sliding(&arrivals), 4);
        let arrival = Arrival {
            at: Duration::ZERO,
            path: "/",
        };
        let answers = [(200, 5), (200, 7), (429, 1), (0, 9)].map(|(status, milliseconds)| Answer {
            arrival,
            status,
            took: Duration::from_millis(milliseconds),
            late: Duration::from_micros(250),
            is_cut: false,
            is_second: false,
        });
        let seen = Seen::of(&arrivals, &answers, Duration::from_secs(5));
        assert_eq!((seen.first, seen.steady.as_slice()), (2, &[1][..]));
        assert_eq!(
            (seen.passed_ms.len(), seen.refused_ms.len(), seen.lost),
            (2, 1, 1)
        );
        assert_eq!((seen.refused_ms[0], seen.refused_sent_ms[0]), (1.0, 0.75));
    }
}
