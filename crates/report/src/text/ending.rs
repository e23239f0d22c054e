//! The end of a study as a terminal shows it: the answer, the limits, whether they hold.
//!
//! One fact a line, the figure first. Why each limit is what it is, every requirement of the check
//! and what findings advise stand in [`summary`](super::summary).

use weir_metric::SignalUnit;
use weir_record::{Answer, Held, Status, StudyResult, TrialRecord};

use crate::before_and_after;
use crate::figures::number;
use crate::grid::wrap;
use crate::near_answer;
use crate::words;

/// Fewer requests than this that wait on average are nobody.
const NOBODY: f64 = 0.05;

/// The end of a study in few lines. Ends with a line break.
pub fn ending(result: &StudyResult, width: usize) -> String {
    let mut text = if let Some(headline) = headline(result, width) {
        headline + &as_found(result, width) + &limits(result) + &verified(result, width)
    } else {
        // Whatever else was asked or happened is told in the sentences of the summary, with what
        // the check found.
        let table = result.table.as_ref();
        let table = table.map(|table| "\n".to_owned() + &super::sweep(table, width));
        wrap("", "", &result.summary, width)
            + &table.unwrap_or_default()
            + &limits(result)
            + &unmet(result, width)
    };
    text.push_str(&price(result, width));
    text.push_str(&configuration(result, width));
    for finding in &result.findings {
        text.push_str(&wrap("- ", "  ", &finding.says, width));
    }
    for trial in result.trials.iter().filter(|trial| !trial.valid) {
        text.push_str(&wrap("- ", "  ", &super::discarded(trial), width));
    }
    text
}

/// The answer of a search that found one and met all that was asked.
fn headline(result: &StudyResult, width: usize) -> Option<String> {
    let answer = result.answer.as_ref()?;
    let is_plain = result.status == Status::Answered
        && result.held.as_ref().is_none_or(|held| held.passed)
        && answer.limited_by.is_none()
        && result.table.is_none()
        && result.comparison.is_none()
        && result.joint.is_none()
        && result.difference.is_none();
    if !is_plain {
        return None;
    }
    let value = number(answer.value);
    let what = match answer.factor.as_str() {
        "users" => format!("{value} concurrent users"),
        "rate" => format!("{value} arrivals/s"),
        factor => format!("{factor} = {value}"),
    };
    let mut parts = vec![
        what,
        format!(
            "{:.0} % CI {}–{}",
            answer.confidence * 100.0,
            number(answer.low),
            number(answer.high)
        ),
    ];
    let limiting = answer.binding.iter();
    parts.extend(limiting.map(|requirement| format!("limited by {requirement}")));
    let mut text = parts.join("   ") + "\n";
    if f64::from(answer.population) > answer.value && answer.factor == "users" {
        let all = number(f64::from(answer.population));
        text.push_str("  ");
        text.push_str(&all);
        text.push_str(" virtual users of all thread groups together\n");
    }
    text.push_str(&at_answer(answer));
    let times = near_answer::says(result);
    text.extend(times.map(|says| wrap("  ", "    ", &says, width)));
    Some(text)
}

/// The figures at the answer, in a line.
fn at_answer(answer: &Answer) -> String {
    if answer.at_value.is_empty() {
        return String::new();
    }
    let figures = words::fitted(answer)
        .into_iter()
        .map(|(name, value, _)| match name.as_str() {
            "throughput" => value,
            figure => format!("{} {value}", figure.trim_start_matches("response time ")),
        });
    let figures: Vec<String> = figures.collect();
    format!(
        "  at {}: {} ({})\n",
        number(answer.value),
        figures.join("   "),
        words::figures_from(answer)
    )
}

fn limits(result: &StudyResult) -> String {
    if result.settings_detail.is_empty() {
        return String::new();
    }
    let grid = super::grid_of_limits(result, ["Limits", "was", "set"]);
    format!("\n{}", grid.lines(""))
}

/// That the limits hold, with what was measured.
fn verified(result: &StudyResult, width: usize) -> String {
    let Some(held) = &result.held else {
        return String::new();
    };
    let load = words::load_of_check(result, held);
    let figures = measured(result, held).join(", ");
    let colon = if figures.is_empty() { "" } else { ": " };
    let text = format!("Verified at {load}{colon}{figures}");
    let mut text = wrap("", "  ", &text, width);
    if let Some(both) = before_and_after::of(held) {
        let says = before_and_after::in_brief(both);
        text.push_str(&wrap("Before: ", "  ", &says, width));
    }
    text
}

/// What ended the search as the server was found.
fn as_found(result: &StudyResult, width: usize) -> String {
    let lines = result.raised.iter().map(|limit| {
        let load = match limit.rate {
            Some(rate) => format!("{} arrivals/s", number(rate)),
            None => format!("{} users", number(f64::from(limit.users))),
        };
        let ends = match &limit.answer {
            Some(answer) => format!("{} ends it at {}", answer.binding, number(answer.value)),
            None => "more load brings no more".to_owned(),
        };
        let says = format!(
            "as found, {} {} is the limit: CPU {} with {load}, and {ends}",
            limit.stage,
            number(limit.from),
            SignalUnit::Share.text(limit.cpu),
        );
        wrap("  ", "  ", &says, width)
    });
    lines.collect()
}

/// What the check found in place of what was asked for.
fn unmet(result: &StudyResult, width: usize) -> String {
    let asked = result.held.iter().flat_map(|held| &held.requirements);
    asked
        .filter(|asked| !asked.met)
        .map(|asked| {
            let line = format!("{}: found {}", asked.says, words::found_text(asked));
            let verdict = format!("{:<9}", words::verdict(asked));
            wrap(&verdict, "         ", &line, width)
        })
        .collect()
}

/// The figures of the check's last trial.
fn measured(result: &StudyResult, held: &Held) -> Vec<String> {
    let of_check = |trial: &&TrialRecord| {
        trial.valid && trial.population == held.population && held.trials.contains(&trial.id)
    };
    let Some(trial) = result.trials.iter().rev().find(of_check) else {
        return Vec::new();
    };
    let cpu = trial.cpu.iter();
    let cpu = cpu.map(|cpu| format!("CPU {}", SignalUnit::Share.text(cpu.total)));
    let queued: f64 = held.waiting.values().sum();
    let queued = (queued >= NOBODY).then(|| format!("{} requests queued (mean)", number(queued)));
    // With more users than the answer has, response times say how long the surplus waits.
    let at_answer = words::load(trial).1 != "users";
    let times = [
        ("p50", trial.response_time_ms.p50),
        ("p99", trial.response_time_ms.p99),
    ];
    let times = times.into_iter().filter(|_| at_answer);
    let times = times.map(|(name, value)| near_answer::response_time(trial, name, value));
    cpu.chain([SignalUnit::PerSecond.text(trial.throughput_per_s)])
        .chain(times)
        .chain([super::errors(&trial.errors)])
        .chain(queued)
        .collect()
}

/// What the limits cost where nobody needs them.
fn price(result: &StudyResult, width: usize) -> String {
    let Some(held) = &result.held else {
        return String::new();
    };
    let price = match (&held.cost, &held.cost_at_answer) {
        (Some(cost), _) => {
            let rate = |value| SignalUnit::PerSecond.text(value);
            let time = |value| SignalUnit::Milliseconds.text(value);
            format!(
                "{} users get {} and {} (mean); without limits {} and {} (fitted)",
                number(f64::from(cost.users)),
                rate(cost.throughput_per_s),
                time(cost.response_time_ms),
                rate(cost.throughput_without_per_s),
                time(cost.response_time_without_ms),
            )
        }
        (None, Some(says)) => says.clone(),
        (None, None) => return String::new(),
    };
    wrap("Price: ", "  ", &price, width)
}

/// Which of the server's own files would change.
fn configuration(result: &StudyResult, width: usize) -> String {
    let files: Vec<&str> = result
        .configuration
        .iter()
        .map(|file| file.file.as_str())
        .collect();
    if files.is_empty() {
        return String::new();
    }
    let says = format!(
        "{} (--details shows the diff, --write writes it)",
        files.join(", ")
    );
    wrap("Configuration: ", "  ", &says, width)
}
