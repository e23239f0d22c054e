//! Measures how often the comparisons of this crate are wrong, and what its intervals of trials
//! with a warm-up cover.
//!
//! The tables in docs/validation/statistics.md come from here and from the example `coverage`;
//! `cargo xtask bench statistics` runs both.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]
#![expect(clippy::unwrap_used, reason = "an example may panic")]

#[path = "../tests/series/mod.rs"]
mod series;

use series::Noise;
use weir_stats::{
    Drift, LOOKS, Margin, PAIRS_MAX, Progress, Signals, Support, Usl, UslFit, Verdict, WarmUp,
    guard_bins, mean_of_series, sequential_equivalence, warm_up,
};

const STUDIES: u64 = 20_000;
const TRIALS: u64 = 1_000;
const FITS: u64 = 2_000;

fn main() {
    println!(
        "| margin | noise of a trial | no difference | half the margin | at the margin | twice the margin |"
    );
    println!("|---|---|---|---|---|---|");
    for margin in [0.03, 0.05] {
        for sigma in [0.01, 0.02, 0.03, 0.04, 0.05, 0.06] {
            equivalence(Margin::new(margin).unwrap(), sigma);
        }
    }
    println!(
        "\nmeans of trials with a warm-up of -30 % (time constant 15 s): share given, of these covered; of all covered"
    );
    println!("| lag-1 correlation | 120 s | 300 s | 900 s | 1,800 s |");
    println!("|---|---|---|---|---|");
    for phi in [0.0, 0.3, 0.5, 0.8, 0.9, 0.95] {
        let cells: Vec<String> = [120, 300, 900, 1_800].map(|bins| trials(phi, bins)).into();
        println!("| {phi} | {} |", cells.join(" | "));
    }
    println!("\ndrift of 8 references in an hour, noise 2 %: share seen");
    for change in [0.0, -0.02, -0.05, -0.1] {
        drift(change);
    }
    println!(
        "\nUSL, two trials at each of 8 levels, noise 1 %: share of fits that give a peak, share that covers it"
    );
    scalability();
}

/// Same, different and undecided in per cent, and the pairs that it took.
fn equivalence(margin: Margin, sigma: f64) {
    let cells: Vec<String> = [0.0, 0.5, 1.0, 2.0]
        .iter()
        .map(|share| {
            let (mut same, mut different, mut pairs) = (0, 0, 0);
            for seed in 0..STUDIES {
                let (verdict, taken) = study(seed, share * margin.log(), sigma, margin);
                same += u64::from(verdict == Verdict::Same);
                different += u64::from(verdict == Verdict::Different);
                pairs += taken;
            }
            format!(
                "{:.1} / {:.1} ({:.1})",
                percent(same, STUDIES),
                percent(different, STUDIES),
                pairs as f64 / STUDIES as f64
            )
        })
        .collect();
    println!(
        "| {margin} | {:.0} % | {} |",
        100.0 * sigma,
        cells.join(" | ")
    );
}

fn study(seed: u64, truth: f64, sigma: f64, margin: Margin) -> (Verdict, usize) {
    let noise = Noise::new(seed, 0.0, sigma).series(2 * PAIRS_MAX, 0.0);
    let pairs: Vec<(f64, f64)> = noise
        .chunks_exact(2)
        .map(|pair| (pair[0].exp(), (truth + pair[1]).exp()))
        .collect();
    for look in LOOKS {
        if let Progress::Over(found) = sequential_equivalence(&pairs[..look], margin).unwrap() {
            return (found.verdict, look);
        }
    }
    unreachable!("the last look is always over")
}

/// Trials of so many seconds, as a trial of Weir is evaluated: where the warm-up ends, then the
/// mean of what is left.
fn trials(phi: f64, bins: usize) -> String {
    let (mut given, mut covered, mut covered_all) = (0, 0, 0);
    for seed in 0..TRIALS {
        let mut throughput = Noise::new(seed, phi, 5.0).series(bins, 100.0);
        for (second, value) in throughput.iter_mut().enumerate() {
            *value -= 30.0 * (-(second as f64) / 15.0).exp();
        }
        let signals = Signals {
            throughput: &throughput,
            response_time: None,
            cpu: None,
        };
        let WarmUp::Steady { from } = warm_up(&signals, guard_bins(bins, 5, 1.0)).unwrap() else {
            continue;
        };
        let mean = mean_of_series(&throughput[from..], 0.95).unwrap();
        let covers = u64::from(mean.estimate.contains(100.0));
        covered_all += covers;
        if mean.support == Support::Enough {
            given += 1;
            covered += covers;
        }
    }
    format!(
        "{:.0} %, {}; {:.1}",
        percent(given, TRIALS),
        if given < 50 {
            "–".to_owned()
        } else {
            format!("**{:.1} %**", percent(covered, given))
        },
        percent(covered_all, TRIALS)
    )
}

fn drift(change: f64) {
    let seen = (0..FITS)
        .filter(|&seed| {
            let noise = Noise::new(seed, 0.0, 0.02).series(8, 0.0);
            let references: Vec<(f64, f64)> = noise
                .iter()
                .enumerate()
                .map(|(at, noise)| (at as f64, (change * at as f64 / 7.0 + noise).exp()))
                .collect();
            Drift::of(&references, 0.95).unwrap().matters()
        })
        .count();
    println!(
        "{:+.0} %: {:.1} %",
        100.0 * change,
        percent(seen as u64, FITS)
    );
}

fn scalability() {
    let law = Usl {
        contention: 0.03,
        coherency: 0.0004,
        single: 40.0,
    };
    let levels = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 120.0];
    let fits = |curve: &dyn Fn(f64) -> f64| {
        let (mut given, mut covered) = (0, 0);
        for seed in 0..FITS {
            let noise = Noise::new(seed, 0.0, 0.01).series(2 * levels.len(), 1.0);
            let trials: Vec<(f64, f64)> = levels
                .iter()
                .chain(&levels)
                .zip(noise)
                .map(|(&level, factor)| (level, factor * curve(level)))
                .collect();
            if let Ok(peak) = UslFit::of(&trials, 0.95).unwrap().peak() {
                given += 1;
                covered += u64::from(peak.contains(law.peak().unwrap()));
            }
        }
        (percent(given, FITS), percent(covered, given.max(1)))
    };
    let (given, covered) = fits(&|level| law.throughput(level));
    println!("of the law: {given:.1} %, {covered:.1} %");
    let (given, _) = fits(&|level| 40.0 * level.min(12.0));
    println!("hard plateau at 12: {given:.1} %");
    let (given, _) = fits(&|level| 500.0 * (1.0 - (-level / 12.0_f64).exp()));
    println!("saturating: {given:.1} %");
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
