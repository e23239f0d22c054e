//! Weir's limit beside others, in the situations of [`weir_sim::overload`].
//!
//! `cargo run -p weir-sim --release --example flow-control -- [SCENARIO] [SEEDS] [LIMIT]`, where
//! LIMIT keeps to those whose name begins so
//!
//! Prints one table per scenario, in Markdown: of each figure the median over the seeds, the least
//! and the largest, and whether the median is within what is asked.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use weir_sim::overload::{Asked, Bound, Contestant, SCENARIOS, Scenario};

/// Static limits among which the best is looked for.
const STATIC: [f64; 9] = [2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0];
const OTHERS: [Contestant; 5] = [
    Contestant::Nothing,
    Contestant::Fixed(8.0),
    Contestant::Vegas,
    Contestant::Gradient2,
    Contestant::Aimd,
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "all".to_owned());
    let seeds = arguments
        .next()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(20);
    let only = arguments.next().unwrap_or_default();
    let chosen = SCENARIOS
        .iter()
        .filter(|scenario| name == "all" || name == scenario.name);
    for scenario in chosen {
        // An hour is long enough to say something with fewer.
        let seeds = if scenario.name == "drift" {
            (seeds / 4).max(1)
        } else {
            seeds
        };
        print(scenario, seeds, &only);
    }
}

fn print(scenario: &Scenario, seeds: u64, only: &str) {
    println!(
        "\n### {}: {} ({seeds} seeds)\n",
        scenario.name, scenario.about
    );
    let heads = scenario.asked.iter().map(head);
    println!("| limit | {} |", heads.collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(scenario.asked.len()));
    if scenario.name.starts_with("step") && only.is_empty() {
        row(
            scenario,
            best_static(scenario, seeds),
            seeds,
            "best fixed: ",
        );
    }
    let all = OTHERS.into_iter().chain([Contestant::Weir]);
    for contestant in all.filter(|contestant| contestant.name().starts_with(only)) {
        row(scenario, contestant, seeds, "");
    }
}

fn head(asked: &Asked) -> String {
    let bound = match asked.bound {
        Bound::AtLeast(bound) => format!("≥ {bound}"),
        Bound::AtMost(bound) => format!("≤ {bound}"),
        Bound::Between(least, most) => format!("{least} to {most}"),
    };
    format!("{} ({bound} {})", asked.what, asked.unit)
}

fn row(scenario: &Scenario, contestant: Contestant, seeds: u64, prefix: &str) {
    let cells = figures(scenario, contestant, seeds)
        .into_iter()
        .zip(scenario.asked);
    let cells = cells.map(|(figures, asked)| {
        let median = median(&figures);
        let mark = if asked.bound.holds(median) {
            ""
        } else {
            " ✗"
        };
        let (least, most) = (figures[0], figures[figures.len() - 1]);
        format!("{median:.1} ({least:.1}–{most:.1}){mark}")
    });
    let cells = cells.collect::<Vec<_>>().join(" | ");
    println!("| {prefix}{} | {cells} |", contestant.name());
}

/// Each figure over the seeds, sorted.
fn figures(scenario: &Scenario, contestant: Contestant, seeds: u64) -> Vec<Vec<f64>> {
    let mut figures = vec![Vec::new(); scenario.asked.len()];
    for seed in 1..=seeds {
        for (all, figure) in figures.iter_mut().zip(scenario.play(contestant, seed)) {
            all.push(figure);
        }
    }
    for all in &mut figures {
        all.sort_by(f64::total_cmp);
    }
    figures
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Of the limits that reach 99 % of the best goodput, the one with the least p99.
fn best_static(scenario: &Scenario, seeds: u64) -> Contestant {
    let tried = STATIC.map(|limit| {
        let figures = figures(scenario, Contestant::Fixed(limit), seeds);
        (limit, median(&figures[0]), median(&figures[1]))
    });
    let best = tried
        .iter()
        .map(|(_, goodput, _)| *goodput)
        .fold(0.0, f64::max);
    let good = tried
        .iter()
        .filter(|(_, goodput, _)| *goodput >= 0.99 * best);
    let least = good.min_by(|a, b| a.2.total_cmp(&b.2));
    Contestant::Fixed(least.map_or(STATIC[0], |(limit, ..)| *limit))
}
