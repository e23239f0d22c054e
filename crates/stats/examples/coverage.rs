//! Measures how often the intervals of this crate cover the truth, and how often steady trials are
//! refused.
//!
//! The tables in the docs of `batch_means` and `warmup` come from here:
//! `cargo run -p weir-stats --release --example coverage`.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]
#![expect(clippy::unwrap_used, reason = "an example may panic")]

#[path = "../tests/series/mod.rs"]
mod series;

use series::Noise;
use weir_stats::{NotSteady, Signals, Support, WarmUp, guard_bins, mean_of_series, mser5, warm_up};

const RUNS: u64 = 4000;

fn main() {
    println!(
        "coverage of the 95 % interval; share refused; mean half-width in standard errors of the mean"
    );
    for phi in [0.0, 0.3, 0.5, 0.8, 0.95] {
        for bins in [15, 20, 30, 60, 120, 300, 900] {
            interval(phi, bins);
        }
    }
    println!("MSER-5 at its limit for independent steady noise");
    for bins in [20, 30, 60, 120, 300] {
        at_limit(bins);
    }
    println!("steady trials: share not steady (warming up, drifting), mean of bins dropped");
    for phi in [0.0, 0.3, 0.5, 0.8] {
        for bins in [20, 30, 45, 60, 120, 300] {
            steady(phi, bins);
        }
    }
    println!(
        "trials with a warm-up of -30 % (time constant 15 bins): share refused; bias of the rest in %"
    );
    for bins in [30, 60, 120, 300] {
        warming(bins);
    }
}

fn at_limit(bins: usize) {
    let hits = (0..RUNS)
        .filter(|&seed| {
            mser5(&Noise::new(seed, 0.0, 5.0).series(bins, 100.0))
                .unwrap()
                .at_limit
        })
        .count();
    println!("bins {bins:4}: {:.1} %", share(hits as u64, RUNS));
}

fn interval(phi: f64, bins: usize) {
    let (mut covered, mut refused, mut width, mut kept) = (0, 0, 0.0, 0);
    for seed in 0..RUNS {
        let found = mean_of_series(&Noise::new(seed, phi, 5.0).series(bins, 100.0), 0.95).unwrap();
        let covers = found.estimate.contains(100.0);
        covered += u64::from(covers);
        width += found.estimate.half_width();
        if found.support == Support::Refused {
            refused += 1;
        } else {
            kept += u64::from(covers);
        }
    }
    let truth = 5.0 * ((1.0 + phi) / (1.0 - phi) / bins as f64).sqrt();
    println!(
        "phi {phi:4} bins {bins:4}: {:5.1} %, of those not refused {:5.1} %; refused {:5.1} %; width {:.2}",
        share(covered, RUNS),
        share(kept, RUNS - refused),
        share(refused, RUNS),
        width / RUNS as f64 / truth
    );
}

fn steady(phi: f64, bins: usize) {
    let (mut warming, mut drifting, mut dropped, mut kept) = (0, 0, 0, 0);
    for seed in 0..RUNS {
        let throughput = Noise::new(3 * seed, phi, 5.0).series(bins, 100.0);
        let response_time = Noise::new(3 * seed + 1, phi, 0.02).series(bins, 0.1);
        let cpu = Noise::new(3 * seed + 2, phi, 0.04).series(bins, 0.8);
        let signals = Signals {
            throughput: &throughput,
            response_time: Some(&response_time),
            cpu: Some(&cpu),
        };
        match warm_up(&signals, guard_bins(bins, 5, 1.0)).unwrap() {
            WarmUp::Steady { from } => {
                dropped += from;
                kept += 1;
            }
            WarmUp::NotSteady {
                why: NotSteady::WarmingUp { .. },
            } => warming += 1,
            WarmUp::NotSteady {
                why: NotSteady::Drifting { .. },
            } => drifting += 1,
            WarmUp::NotSteady { why } => panic!("{why}"),
        }
    }
    println!(
        "phi {phi:4} bins {bins:4}: warming {:4.1} %, drifting {:4.1} %, dropped {:.1}",
        share(warming, RUNS),
        share(drifting, RUNS),
        f64::from(u32::try_from(dropped).unwrap()) / f64::from(kept)
    );
}

fn warming(bins: usize) {
    let (mut refused, mut bias) = (0, 0.0);
    for seed in 0..RUNS {
        let mut throughput = Noise::new(seed, 0.3, 5.0).series(bins, 100.0);
        for (second, value) in throughput.iter_mut().enumerate() {
            *value -= 30.0 * (-(second as f64) / 15.0).exp();
        }
        let signals = Signals {
            throughput: &throughput,
            response_time: None,
            cpu: None,
        };
        match warm_up(&signals, guard_bins(bins, 5, 1.0)).unwrap() {
            WarmUp::Steady { from } => {
                let kept = &throughput[from..];
                bias += kept.iter().sum::<f64>() / kept.len() as f64 - 100.0;
            }
            WarmUp::NotSteady { .. } => refused += 1,
        }
    }
    println!(
        "bins {bins:4}: refused {:5.1} %, bias of the others {:+.2} %",
        share(refused, RUNS),
        bias / (RUNS - refused) as f64
    );
}

fn share(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
