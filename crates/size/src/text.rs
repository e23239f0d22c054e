//! The answer as text: the number first, then what to set, then what can happen.

use std::fmt::Write as _;

use crate::answer::{At, Goal, Range, Sizing, StormCase, SurgeCase};
use crate::goal::time;

/// The whole answer. Ends with a line break.
pub fn text(sizing: &Sizing) -> String {
    let mut text = String::new();
    let found = &sizing.servers_range;
    let _ = writeln!(
        text,
        "{} servers for {} users{}: {} holds with them in {:.0} % of what the fit allows",
        grouped(sizing.servers.into()),
        grouped(sizing.users.into()),
        groups(sizing),
        sizing
            .at
            .goals
            .iter()
            .map(|goal| format!("`{}`", goal.requirement))
            .collect::<Vec<_>>()
            .join(" and "),
        sizing.at.holds_share * 100.0
    );
    let _ = writeln!(
        text,
        "  the fitted numbers alone give {} (95 % interval {} to {}, {} draws), limited by `{}`",
        grouped(found.value as u64),
        grouped(found.low as u64),
        grouped(found.high as u64),
        sizing.draws,
        sizing.binding
    );
    calibrated(&mut text, sizing);
    text.push_str("\nWith this number\n");
    fleet(&mut text, &sizing.at);
    settings(&mut text, sizing);
    lost(&mut text, sizing);
    surge(&mut text, sizing);
    storm(&mut text, sizing);
    for note in &sizing.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}

/// Where a plan has several groups, each user is several virtual ones.
fn groups(sizing: &Sizing) -> String {
    if sizing.users == sizing.population {
        return String::new();
    }
    format!(
        " ({} virtual users of all groups)",
        grouped(sizing.population.into())
    )
}

fn calibrated(text: &mut String, sizing: &Sizing) {
    let Some(calibration) = &sizing.calibration else {
        return;
    };
    let errors = calibration
        .percentiles
        .iter()
        .map(|error| format!("p{} {:.0} %", error.percent, error.mean_error * 100.0));
    let _ = writeln!(
        text,
        "  {}; mean errors in {} trials of the run: {}",
        calibration.variation,
        calibration.trials.len(),
        errors.collect::<Vec<_>>().join(", ")
    );
}

fn fleet(text: &mut String, at: &At) {
    let _ = writeln!(
        text,
        "  {:.1} virtual users on each; {} requests/s in all ({} to {}), {:.1} on each",
        at.users_per_server,
        grouped(at.throughput_per_s.value as u64),
        grouped(at.throughput_per_s.low as u64),
        grouped(at.throughput_per_s.high as u64),
        at.throughput_per_s.value / f64::from(at.servers)
    );
    let _ = writeln!(
        text,
        "  CPU {}, mean response time {}",
        percents(&at.cpu),
        times(&at.response_time_s)
    );
    for goal in &at.goals {
        let _ = writeln!(text, "  {}", goal_line(goal));
    }
}

fn goal_line(goal: &Goal) -> String {
    let range = &goal.value;
    let between = if goal.requirement.starts_with("cpu") {
        format!("{:.0} to {:.0} %", range.low * 100.0, range.high * 100.0)
    } else if goal.requirement.starts_with("throughput") {
        format!("{:.0} to {:.0}", range.low, range.high)
    } else {
        format!("{} to {}", time(range.low), time(range.high))
    };
    format!("{} ({between}) for `{}`", goal.says, goal.requirement)
}

fn settings(text: &mut String, sizing: &Sizing) {
    if !sizing.settings.is_empty() {
        text.push_str(
            "\nSet on each server (in use on average, in the trials, all servers together)\n",
        );
    }
    for setting in &sizing.settings {
        let measured = setting
            .measured_limit
            .map_or("none".to_owned(), |limit| limit.to_string());
        let _ = writeln!(
            text,
            "  {:12} {:>6}   ({:.1} in use, {measured} in the trials, {} in all)",
            setting.stage,
            setting.limit,
            setting.busy,
            grouped(setting.total)
        );
    }
    let Some(capped) = &sizing.connections_capped else {
        return;
    };
    let _ = writeln!(
        text,
        "WARNING: {} connections in all, and the database takes {}: {} for each server",
        grouped(capped.wanted),
        grouped(capped.database_connections.into()),
        capped.per_server
    );
    match &capped.at {
        None => text.push_str("  there are more servers than connections: put a pooler between them, or fewer and larger servers\n"),
        Some(at) => {
            for goal in &at.goals {
                let _ = writeln!(
                    text,
                    "  with that: {}, holds in {:.0} %",
                    goal_line(goal),
                    at.holds_share * 100.0
                );
            }
        }
    }
}

fn lost(text: &mut String, sizing: &Sizing) {
    text.push_str("\nWhen one server dies\n");
    let lost = &sizing.lost;
    let _ = writeln!(
        text,
        "  about {:.0} requests die with it",
        lost.requests_lost
    );
    match &lost.at {
        None => text.push_str("  nobody is answered: it was the only one\n"),
        Some(at) => {
            for goal in &at.goals {
                let _ = writeln!(
                    text,
                    "  {} left: {}, holds in {:.0} %",
                    grouped(at.servers.into()),
                    goal_line(goal),
                    at.holds_share * 100.0
                );
            }
        }
    }
    let _ = writeln!(
        text,
        "  {} servers hold it when one is lost",
        grouped(lost.servers_needed.into())
    );
}

fn surge(text: &mut String, sizing: &Sizing) {
    let surge = &sizing.surge;
    let _ = writeln!(
        text,
        "\nHalf as many users again ({} virtual ones): hold or scale out",
        grouped(surge.population.into())
    );
    for (name, case) in [
        ("as in the trials", &surge.let_in),
        ("held", &surge.held),
        ("scaled out", &surge.scaled_out),
    ] {
        let _ = writeln!(text, "  {name:17} {}", surge_case(case));
    }
}

fn surge_case(case: &SurgeCase) -> String {
    let threads = case
        .threads
        .map_or(String::new(), |threads| format!(" of {threads} threads"));
    format!(
        "{} servers{threads}: {} requests/s, CPU {:.0} %, mean {} of which {} in front of the threads, {} ({})",
        grouped(case.servers.into()),
        grouped(case.throughput_per_s as u64),
        case.cpu * 100.0,
        time(case.response_time_s),
        time(case.wait_s),
        case.says,
        if case.holds { "holds" } else { "does not hold" }
    )
}

fn storm(text: &mut String, sizing: &Sizing) {
    let storm = &sizing.storm;
    let _ = writeln!(
        text,
        "\nAll CPUs stop for {}, clients give up after {}",
        time(storm.stop_s),
        time(storm.timeout_s)
    );
    for case in &storm.cases {
        let _ = writeln!(text, "  {}", storm_case(case, storm.watched_s));
    }
}

fn storm_case(case: &StormCase, watched_s: f64) -> String {
    let clients = match (case.attempts, case.budget) {
        (1, _) => "no retries".to_owned(),
        (attempts, None) => format!("{attempts} attempts"),
        (attempts, Some(budget)) => format!(
            "{attempts} attempts, retries at most {:.0} % of requests",
            budget * 100.0
        ),
    };
    let outcome = case.recovered_after_s.map_or_else(
        || {
            format!(
                "DOES NOT RECOVER within {}: {:.0} % of the answers there were before",
                time(watched_s),
                case.answered_in_the_end * 100.0
            )
        },
        |seconds| {
            if seconds == 0.0 {
                "back at once".to_owned()
            } else {
                format!("back after {}", time(seconds))
            }
        },
    );
    format!(
        "{clients:45} {outcome} ({:.2} attempts a request)",
        case.attempts_per_request
    )
}

fn percents(range: &Range) -> String {
    format!(
        "{:.0} % ({:.0} to {:.0})",
        range.value * 100.0,
        range.low * 100.0,
        range.high * 100.0
    )
}

fn times(range: &Range) -> String {
    format!(
        "{} ({} to {})",
        time(range.value),
        time(range.low),
        time(range.high)
    )
}

/// `1,000,000`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
