//! How long requests to a server wait until a thread reads them, second by second.
//!
//! ```text
//! cargo run --release -p weir-probe --example arrivals -- PID PORT [SECONDS]
//! ```
//!
//! Needs what the kernel asks for before it lets anybody read tracepoints: root, as a rule. Prints
//! for each second the figures of its sample, then those of all, with the CPU time of the threads
//! that watched.

#![expect(
    clippy::print_stdout,
    reason = "printing the figures is what this is for"
)]

use std::error::Error;
use std::time::Instant;

use weir_probe::{ArrivalTimes, Arrivals, WatchPlan, WatchThread};

const FIGURES: [&str; 6] = [
    "target.arrival.to-read",
    "target.arrival.to-read.p50",
    "target.arrival.to-read.p99",
    "target.arrival.to-read.max",
    "target.arrival.cpu-wait",
    "target.run-queue-wait",
];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [pid, port, rest @ ..] = &words[..] else {
        return Err("give the server's process and its port, and for how many seconds".into());
    };
    let seconds: u64 = rest.first().map_or(Ok(10), |word| word.parse())?;
    let plan = WatchPlan {
        target_pids: vec![pid.parse()?],
        ports: vec![port.parse()?],
        arrivals: true,
        ..WatchPlan::default()
    };
    let (watch, readings) = WatchThread::start(plan, Instant::now(), None)?;
    println!("sampled unread  {}", FIGURES.join("  "));
    let mut all: Vec<ArrivalTimes> = Vec::new();
    let mut costs = Vec::new();
    for second in readings.iter().take(seconds as usize) {
        match second.arrivals {
            Arrivals::Unreadable(why) => return Err(why.into()),
            Arrivals::Read(seen) => all.extend(seen),
            Arrivals::NotWatched => {}
        }
        let reading = second.reading.unwrap_or_default();
        let told = |name: &str| match reading.get(name) {
            Some(value) => format!("{value:.6}"),
            None => "-".to_owned(),
        };
        costs.extend(reading.get("watch.cpu").copied());
        let (sampled, unread) = (
            told("target.arrival.sampled"),
            told("target.arrival.unread"),
        );
        println!("{sampled} {unread}  {}", FIGURES.map(told).join("  "));
    }
    watch.stop();
    summarize(&mut all);
    println!(
        "watching used {:.2} % of a CPU",
        costs.iter().sum::<f64>() / costs.len().max(1) as f64 * 100.0
    );
    Ok(())
}

fn summarize(all: &mut [ArrivalTimes]) {
    if all.is_empty() {
        println!("no request was read");
        return;
    }
    let count = all.len();
    let mean_us = |sum: u64| sum as f64 / count as f64 / 1e3;
    let waited = mean_us(all.iter().map(|times| times.cpu_wait_ns).sum());
    let whole = mean_us(all.iter().map(|times| times.until_read_ns).sum());
    println!(
        "{count} requests: {whole:.1} µs until read on average, {waited:.1} µs of it waiting for a CPU"
    );
    for (what, of) in [
        (
            "until read",
            (|times| times.until_read_ns) as fn(&ArrivalTimes) -> u64,
        ),
        ("waiting for a CPU", |times| times.cpu_wait_ns),
    ] {
        all.sort_by_key(of);
        let at = |share: f64| of(&all[((count - 1) as f64 * share) as usize]) as f64 / 1e3;
        println!(
            "{what}: median {:.1} µs, 90 % {:.1} µs, 99 % {:.1} µs, longest {:.1} µs",
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0)
        );
    }
}
