//! Which case is best, which are as good, and which of those comes first in the list.
//!
//! All trials of a block are run one after the other in a random order, so cases are compared
//! within blocks ([`Blocks`]), on a logarithmic scale: differences are shares. A case is *as good*
//! when the whole interval of its loss against the best lies within what matters to the user,
//! *worse* when the whole interval lies beyond; in between nothing can be told, and nothing is
//! claimed. The intervals hold for all comparisons together.

use weir_metric::SignalUnit;
use weir_record::TrialRecord;
use weir_stats::{Blocks, Estimate};

use super::Case;
use super::table::of_case;
use crate::figure::Figure;
use crate::file::CompareSpec;

/// Confidence of all comparisons together.
const CONFIDENCE: f64 = 0.95;

/// What a case is against the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    AsGood,
    Worse,
    Open,
}

/// A case against the best one.
#[derive(Debug)]
struct Compared<'c> {
    case: &'c str,
    /// What it loses, as a share of the best; below 0 it could be better.
    loss: Estimate,
    verdict: Verdict,
}

/// The comparison in sentences; what is missing when there can be none.
pub(super) fn sentences(spec: &CompareSpec, cases: &[Case], trials: &[TrialRecord]) -> Vec<String> {
    let figure = Figure::named(&spec.signal);
    let values = blocks(&figure, cases, trials);
    let logarithms: Vec<Vec<f64>> = values
        .iter()
        .map(|block| block.iter().map(|value| value.ln()).collect())
        .collect();
    match Blocks::of(&logarithms) {
        Ok(blocks) => told(spec, &figure, figure.unit(trials), cases, &blocks),
        Err(_) => vec![format!(
            "The cases cannot be compared by {figure}. It takes two blocks in which every case has a valid trial with \
             a value above 0; there are {}.",
            values.len()
        )],
    }
}

/// The blocks in which every case has a valid trial with a value above 0.
fn blocks(figure: &Figure, cases: &[Case], trials: &[TrialRecord]) -> Vec<Vec<f64>> {
    let last = trials.iter().filter_map(|trial| trial.block).max();
    let in_block = |block: u32, case: &Case| {
        let own = of_case(case, trials);
        let trial = own.into_iter().find(|trial| trial.block == Some(block))?;
        let value = figure.read(trial)?.value;
        (value > 0.0).then_some(value)
    };
    (1..=last.unwrap_or(0))
        .filter_map(|block| cases.iter().map(|case| in_block(block, case)).collect())
        .collect()
}

fn told(
    spec: &CompareSpec,
    figure: &Figure,
    unit: SignalUnit,
    cases: &[Case],
    blocks: &Blocks,
) -> Vec<String> {
    let sign = figure.better().sign();
    let order = (0..cases.len()).max_by(|&a, &b| {
        let (a, b) = (sign * blocks.means()[a], sign * blocks.means()[b]);
        a.total_cmp(&b)
    });
    let best = order.expect("blocks have at least two cases");
    let others: Vec<Compared<'_>> = (0..cases.len())
        .filter(|&at| at != best)
        .map(|at| {
            let difference = blocks.difference(at, best, cases.len() - 1, CONFIDENCE);
            compared(&cases[at].name, difference, sign, spec.matters)
        })
        .collect();
    let typical = blocks.means()[best].exp();
    let mut sentences = vec![format!(
        "Best by {figure}: {} ({}).",
        cases[best].name,
        unit.text(typical)
    )];
    for (verdict, words) in [
        (Verdict::Worse, "Worse:".to_owned()),
        (
            Verdict::AsGood,
            format!("No difference that matters ({} %):", percent(spec.matters)),
        ),
        (
            Verdict::Open,
            "Not to be told apart with so few trials:".to_owned(),
        ),
    ] {
        let named: Vec<String> = others
            .iter()
            .filter(|other| other.verdict == verdict)
            .map(|other| loss(other))
            .collect();
        if !named.is_empty() {
            sentences.push(format!("{words} {}.", named.join(", ")));
        }
    }
    let first = (0..cases.len()).find(|&at| {
        at == best
            || others
                .iter()
                .any(|other| other.case == cases[at].name && other.verdict == Verdict::AsGood)
    });
    if let Some(first) = first.filter(|&first| first != best) {
        sentences.push(format!(
            "The first in the list that is not worse: {}.",
            cases[first].name
        ));
    }
    sentences
}

fn compared(case: &str, difference: Estimate, sign: f64, matters: f64) -> Compared<'_> {
    // From a logarithm of a ratio to the share that is lost (or that is more, where less is
    // better).
    let share = |logarithm: f64| -sign * logarithm.exp_m1();
    let ends = [share(difference.low), share(difference.high)];
    let loss = Estimate {
        value: share(difference.value),
        low: ends[0].min(ends[1]),
        high: ends[0].max(ends[1]),
        ..difference
    };
    let verdict = if loss.high < matters {
        Verdict::AsGood
    } else if loss.low > matters {
        Verdict::Worse
    } else {
        Verdict::Open
    };
    Compared {
        case,
        loss,
        verdict,
    }
}

/// `4 threads (11 % off, 8.2 to 14)`.
fn loss(of: &Compared<'_>) -> String {
    let Estimate {
        value, low, high, ..
    } = of.loss;
    format!(
        "{} ({} % off, {} to {})",
        of.case,
        percent(value),
        percent(low),
        percent(high)
    )
}

pub(crate) fn percent(share: f64) -> String {
    rounded(share * 100.0)
}

/// Two digits that count.
pub(crate) fn rounded(value: f64) -> String {
    let decimals = usize::from(value.abs() < 9.95);
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        "0".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::trial;

    fn cases(names: &[&str]) -> Vec<Case> {
        names
            .iter()
            .map(|name| Case {
                name: (*name).to_owned(),
                ..Case::default()
            })
            .collect()
    }

    fn told_of(signal: &str, names: &[&str], values: &[&[f64]]) -> Vec<String> {
        let logarithms: Vec<Vec<f64>> = values
            .iter()
            .map(|block| block.iter().map(|value| value.ln()).collect())
            .collect();
        let blocks = Blocks::of(&logarithms).expect("the blocks are complete");
        let spec = CompareSpec {
            signal: signal.to_owned(),
            matters: 0.05,
        };
        let figure = Figure::named(signal);
        told(&spec, &figure, figure.unit(&[]), &cases(names), &blocks)
    }

    /// A trial that was not valid and was run again, and a case that was left out, shift nothing.
    #[test]
    fn what_is_compared_was_measured_in_the_same_block() {
        let ran = |id: u32, block: u32, case: &str, per_s: f64, valid: bool| {
            let mut trial = trial(id, per_s, &[]);
            (trial.block, trial.case, trial.valid) = (Some(block), Some(case.to_owned()), valid);
            trial
        };
        let trials = [
            ran(1, 1, "a", 9.0, false),
            ran(2, 1, "a", 10.0, true),
            ran(3, 1, "b", 20.0, true),
            ran(4, 2, "b", 22.0, true),
            ran(5, 3, "b", 24.0, true),
            ran(6, 3, "a", 12.0, true),
        ];
        let found = blocks(&Figure::named("throughput"), &cases(&["a", "b"]), &trials);
        assert_eq!(found, [[10.0, 20.0], [12.0, 24.0]]);
    }

    #[test]
    fn a_rise_and_a_plateau() {
        let names = ["1", "4", "10", "50"];
        let sentences = told_of(
            "throughput",
            &names,
            &[
                &[281.0, 473.0, 531.0, 535.0],
                &[278.0, 470.0, 533.0, 530.0],
                &[283.0, 475.0, 529.0, 534.0],
            ],
        );
        assert_eq!(sentences[0], "Best by throughput_per_s: 50 (533 /s).");
        assert!(
            sentences[1].starts_with("Worse: 1 (47 % off, "),
            "{sentences:?}"
        );
        assert!(sentences[1].contains(", 4 (11 % off, "), "{sentences:?}");
        assert!(
            sentences[2].starts_with("No difference that matters (5.0 %): 10 (0.4 % off, "),
            "{sentences:?}"
        );
        assert_eq!(sentences[3], "The first in the list that is not worse: 10.");
    }

    #[test]
    fn noise_is_not_taken_for_an_answer() {
        let noisy: [&[f64]; 3] = [&[100.0, 140.0], &[130.0, 110.0], &[90.0, 120.0]];
        let sentences = told_of("throughput", &["a", "b"], &noisy);
        assert!(
            sentences[1].starts_with("Not to be told apart with so few trials: a ("),
            "{sentences:?}"
        );
        assert_eq!(sentences.len(), 2);
    }

    #[test]
    fn of_response_times_the_shorter_is_better() {
        let times: [&[f64]; 2] = [&[100.0, 150.0], &[101.0, 151.0]];
        let sentences = told_of("p99", &["fast", "slow"], &times);
        assert!(
            sentences[0].starts_with("Best by response_time_ms.p99: fast (100 ms)"),
            "{sentences:?}"
        );
        assert!(
            sentences[1].starts_with("Worse: slow (50 % off"),
            "{sentences:?}"
        );
    }
}
