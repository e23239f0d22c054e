//! What was found, for people.

use std::fmt::Write as _;

use weir_accesslog::{Endpoint, Traffic};
use weir_draft::Mix;
use weir_server::{AgentWay, Found, SetWay};
use weir_shown::line;

/// Endpoints that are shown of a log at most.
const SHOWN: usize = 12;

/// The process, its kind, its limits.
pub(super) fn found(found: &Found) -> String {
    let mut text = format!("{}, process {}", line(&found.title()), found.pid);
    if !found.limits.is_empty() {
        let _ = write!(
            text,
            "\n{}",
            row(["LIMIT", "NOW", "SET", "ITS NAME AND PLACE"])
        );
    }
    for limit in &found.limits {
        let set = match &limit.set {
            SetWay::Jmx if found.agent == AgentWay::Loads => "live (JMX)",
            SetWay::Jmx => "by an agent",
            SetWay::Command { .. } => "command",
            SetWay::Not(_) => "by hand",
        };
        let place = format!("{} ({})", limit.native, limit.origin);
        let _ = write!(
            text,
            "\n{}",
            row([&limit.stage, &limit.value.to_string(), set, &place])
        );
    }
    if let Some(page) = &found.metrics {
        let _ = write!(text, "\nmetrics: {}", line(page));
    }
    for note in &found.notes {
        let _ = write!(text, "\nnote: {}", line(note));
    }
    text
}

fn row([limit, now, set, place]: [&str; 4]) -> String {
    let row = format!("  {limit:<28} {now:>9}  {set:<11} {place}");
    line(&row).into_owned()
}

/// What the log says, and what of it the plan sends.
pub(super) fn traffic(traffic: &Traffic, mix: Option<&Mix>) -> String {
    let mut text = format!("{} lines, {} requests", traffic.lines, traffic.requests);
    if traffic.broken > 0 {
        let numbers: Vec<String> = traffic.broken_first.iter().map(u64::to_string).collect();
        let more = if traffic.broken > numbers.len() as u64 {
            ", …"
        } else {
            ""
        };
        let _ = write!(
            text,
            "; {} lines are no requests (line {}{more})",
            traffic.broken,
            numbers.join(", ")
        );
    }
    if let Some(rates) = &traffic.rates {
        let _ = write!(
            text,
            "\narrivals: {:.3}/s in the mean over {} s, {:.3}/s in the busiest minute, {} in the busiest second",
            rates.mean_per_s, rates.length_s, rates.peak_minute_per_s, rates.peak_second
        );
    }
    let statuses = traffic.statuses.iter();
    let statuses: Vec<String> = statuses
        .map(|(status, count)| {
            format!(
                "{status}: {}",
                percent(*count as f64 / traffic.requests as f64)
            )
        })
        .collect();
    let _ = write!(text, "\nstatuses: {}", statuses.join(", "));
    for endpoint in traffic.endpoints.iter().take(SHOWN) {
        let endpoint = endpoint_line(endpoint, traffic.requests);
        let _ = write!(text, "\n  {}", line(&endpoint));
    }
    if traffic.endpoints.len() > SHOWN {
        let _ = write!(
            text,
            "\n  and {} more endpoints",
            traffic.endpoints.len() - SHOWN
        );
    }
    if let Some(mix) = mix {
        let _ = write!(
            text,
            "\nthe plan sends {} endpoint(s), {} of all requests; left out:",
            mix.endpoints.len(),
            percent(mix.covered)
        );
        if mix.left_out.is_empty() {
            text.push_str(" nothing");
        }
        for left in &mix.left_out {
            let _ = write!(text, "\n  {:>7}  {}", percent(left.share), line(&left.what));
        }
    }
    text
}

fn endpoint_line(endpoint: &Endpoint, all: u64) -> String {
    let share = percent(endpoint.requests as f64 / all as f64);
    let mut line = format!("{share:>7}  {} {}", endpoint.method, endpoint.path);
    if let Some((path, requests)) = &endpoint.hot {
        let part = percent(*requests as f64 / endpoint.requests as f64);
        let _ = write!(line, "  {path} alone at least {part} of these");
    }
    for parameter in &endpoint.parameters {
        let what = match parameter.numbers {
            Some(of) => format!(
                "{} = {} … {} (median {}, 95 % up to {})",
                parameter.name, of.low, of.high, of.p50, of.p95
            ),
            None => parameter.name.clone(),
        };
        let _ = write!(line, "  {what}");
    }
    line
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_most_ask_for_is_told() {
        let line = |item: u32| {
            format!("::1 - - [21/Nov/2026:21:12:00 +0000] \"GET /boards/{item} HTTP/1.1\" 200 1\n")
        };
        let log: String = (0..90)
            .map(|of| line(if of % 3 == 0 { of } else { 2 }))
            .collect();
        let log = weir_accesslog::read_from(log.as_bytes()).unwrap();
        let text = traffic(&log, Mix::of(&log).as_ref());
        assert!(
            text.contains("GET /boards/{n}  /boards/2 alone at least "),
            "{text}"
        );
    }

    #[test]
    fn a_log_is_told_with_its_mix() {
        let line = |request: &str| {
            format!("::1 - - [21/Nov/2026:21:12:00 +0000] \"{request} HTTP/1.1\" 200 1\n")
        };
        let log = line("GET /posts?page=3")
            + &line("GET /posts?page=5")
            + "x\n"
            + &line("POST /posts")
            + &line("GET /");
        let log = weir_accesslog::read_from(log.as_bytes()).unwrap();
        let text = traffic(&log, Mix::of(&log).as_ref());
        for part in [
            "5 lines, 4 requests; 1 lines are no requests (line 3)",
            "arrivals: 4.000/s in the mean over 1 s",
            "statuses: 200: 100.0 %",
            " 50.0 %  GET /posts  page = 3 … 5 (median 3, 95 % up to 5)",
            "the plan sends 2 endpoint(s), 75.0 % of all requests; left out:\n   25.0 %  other methods",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
