//! What was measured, as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use clap::ValueEnum;

use crate::bench::load::cost::Cost;
use crate::bench::spread::spread;

/// One row of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Row {
    /// 64 connections that are kept
    KeepAlive,
    /// 64 connections at a time, a new one for each request
    ConnectionEach,
    /// A plan with a row for each sample
    Plan,
    /// A constant number of requests each second
    Constant,
    /// Memory with 5,000 busy connections
    Connections,
    /// Memory with 10,000 users of a plan who think
    ThinkingUsers,
    /// From the start to the first request of a large plan
    FirstRequest,
}

impl Row {
    /// All of them, in the order of the table.
    pub(crate) const ALL: [Self; 7] = [
        Self::KeepAlive,
        Self::ConnectionEach,
        Self::Plan,
        Self::Constant,
        Self::Connections,
        Self::ThinkingUsers,
        Self::FirstRequest,
    ];

    /// What stands above its figures.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::KeepAlive => "64 kept connections",
            Self::ConnectionEach => "64 at a time, a connection for each request",
            Self::Plan => "a .jmx plan of 64 users with a JTL row for each sample",
            Self::Constant => "5,000 requests a second, constant",
            Self::Connections => "5,000 kept connections: memory",
            Self::ThinkingUsers => "10,000 thinking users of a .jmx plan: memory",
            Self::FirstRequest => "from the start to the first request of a large plan",
        }
    }

    /// The tool that the others are compared with.
    fn reference(self) -> &'static str {
        match self {
            Self::Plan => "jmeter",
            _ => "wrk",
        }
    }
}

/// One turn of one tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) tool: &'static str,
    pub(crate) round: u32,
    /// As the server counted them.
    pub(crate) requests: u64,
    pub(crate) cost: Cost,
}

impl Measured {
    fn per_cpu_s(&self) -> f64 {
        self.requests as f64 / self.cost.cpu_s()
    }

    fn user_us(&self) -> f64 {
        self.cost.user_s * 1e6 / self.requests as f64
    }

    fn system_us(&self) -> f64 {
        self.cost.system_s * 1e6 / self.requests as f64
    }
}

/// What the table says of itself and of the machine.
pub(crate) fn heading(server_cpu: u32, tool_cpu: u32, real_time: bool) -> String {
    let class = if real_time {
        "both SCHED_RR"
    } else {
        "under the fair scheduler: other work on the machine counts"
    };
    format!(
        "# What load costs\n\n{}, Linux {}; nginx on CPU {server_cpu}, the tool on CPU {tool_cpu}, {class}. \
         Medians, with the range behind them.\n",
        first_after("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown CPU".to_owned()),
        fs::read_to_string("/proc/sys/kernel/osrelease")
            .unwrap_or_default()
            .trim(),
    )
}

fn first_after(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(": ")?.1.trim().to_owned())
}

/// A turn in one line, as it is printed while the bench runs.
pub(crate) fn line(measured: &Measured) -> String {
    format!(
        "round {} {:<10} {:>9} requests, {:.2} s user, {:.2} s system, {:.0} /CPU-s, {:.1} MB",
        measured.round + 1,
        measured.tool,
        measured.requests,
        measured.cost.user_s,
        measured.cost.system_s,
        measured.per_cpu_s(),
        measured.cost.resident_max_mb
    )
}

/// Requests for processor time.
pub(crate) fn requests(row: Row, measured: &[Measured]) -> String {
    let reference = row.reference();
    let mut text = format!(
        "\n## {}\n\n| tool | requests per CPU-s | beside {reference}, in the same round | user µs/request | system µs/request | most MB |\n\
         |---|---|---|---|---|---|\n",
        row.title()
    );
    for (tool, turns) in by_tool(measured) {
        let figures =
            |figure: fn(&Measured) -> f64| turns.iter().map(|turn| figure(turn)).collect();
        let ratios: Vec<f64> = turns
            .iter()
            .filter_map(|turn| {
                let beside = measured
                    .iter()
                    .find(|other| other.tool == reference && other.round == turn.round)?;
                Some(turn.per_cpu_s() / beside.per_cpu_s())
            })
            .collect();
        let _ = writeln!(
            text,
            "| {tool} | {} | {} | {} | {} | {} |",
            spread(figures(Measured::per_cpu_s), 0),
            spread(ratios, 2),
            spread(figures(Measured::user_us), 2),
            spread(figures(Measured::system_us), 2),
            spread(figures(|turn| turn.cost.resident_max_mb), 1),
        );
    }
    text
}

/// Memory.
pub(crate) fn memory(row: Row, measured: &[Measured]) -> String {
    let mut text = format!(
        "\n## {}\n\n| tool | most MB | requests |\n|---|---|---|\n",
        row.title()
    );
    for Measured {
        tool,
        cost,
        requests,
        ..
    } in measured
    {
        let _ = writeln!(
            text,
            "| {tool} | {:.1} | {requests} |",
            cost.resident_max_mb
        );
    }
    text
}

/// Times from a start to a first request.
pub(crate) fn starts(row: Row, plan_bytes: u64, starts: &[Duration]) -> String {
    let ms = starts.iter().map(|start| start.as_secs_f64() * 1e3);
    format!(
        "\n## {}\n\nweir, a plan of {:.2} MB: {} ms\n",
        row.title(),
        plan_bytes as f64 / 1e6,
        spread(ms.collect(), 1)
    )
}

/// A rate that is to be kept: how much of the schedule was sent, and what it cost.
pub(crate) fn constant(row: Row, asked: u64, length: Duration, measured: &[Measured]) -> String {
    let mut text = format!(
        "\n## {}\n\n| tool | requests of {asked} | cores | most MB |\n|---|---|---|---|\n",
        row.title()
    );
    let length_s = length.as_secs_f64();
    for (tool, turns) in by_tool(measured) {
        let sent = turns.iter().map(|turn| turn.requests as f64).collect();
        let cores = turns.iter().map(|turn| turn.cost.cpu_s() / length_s);
        let memory = turns.iter().map(|turn| turn.cost.resident_max_mb);
        let _ = writeln!(
            text,
            "| {tool} | {} | {} | {} |",
            spread(sent, 0),
            spread(cores.collect(), 3),
            spread(memory.collect(), 1),
        );
    }
    text
}

/// How late Weir says it was, in milliseconds: medians and 99th percentiles of its runs.
pub(crate) fn lateness(runs: &[(f64, f64)]) -> String {
    let medians = runs.iter().map(|(median, _)| median * 1e3).collect();
    let p99s = runs.iter().map(|(_, p99)| *p99).collect();
    format!(
        "\nweir's own lateness: median {} µs, p99 {} ms\n",
        spread(medians, 0),
        spread(p99s, 2)
    )
}

/// The turns of each tool, tools in the order of their first turn.
fn by_tool(measured: &[Measured]) -> Vec<(&'static str, Vec<&Measured>)> {
    let mut places = BTreeMap::new();
    let mut tools: Vec<(&'static str, Vec<&Measured>)> = Vec::new();
    for turn in measured {
        let place = *places.entry(turn.tool).or_insert_with(|| {
            tools.push((turn.tool, Vec::new()));
            tools.len() - 1
        });
        tools[place].1.push(turn);
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(tool: &'static str, round: u32, requests: u64, cpu_s: f64) -> Measured {
        Measured {
            tool,
            round,
            requests,
            cost: Cost {
                user_s: cpu_s / 4.0,
                system_s: cpu_s * 3.0 / 4.0,
                resident_max_mb: 5.0,
            },
        }
    }

    #[test]
    fn ratios_are_taken_within_rounds() {
        let turns = [
            turn("wrk", 0, 100, 1.0),
            turn("weir", 0, 120, 1.0),
            turn("weir", 1, 220, 1.0),
            turn("wrk", 1, 200, 1.0),
            turn("wrk", 2, 400, 4.0),
            turn("weir", 2, 260, 2.0),
        ];
        let text = requests(Row::KeepAlive, &turns);
        let weir = text.lines().find(|line| line.starts_with("| weir"));
        assert_eq!(
            weir,
            Some(
                "| weir | 130 (120–220) | 1.20 (1.10–1.30) | 1923.08 (1136.36–2083.33) | 5769.23 (3409.09–6250.00) | 5.0 (5.0–5.0) |"
            )
        );
    }
}
