//! Measures how right the searches are, and what they cost: against made servers with a known
//! answer, next to what people do without them.
//!
//! The searches are the crate's own, driven through `TrialRunner`. The tables in
//! docs/validation/search.md come from here; `cargo xtask bench search` runs it. The word
//! `largest`, `outside`, `rate`, `best` or `matters` asks for one of the tables, a number for other
//! seeds, from that one on.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]
#![expect(clippy::unwrap_used, reason = "an example may panic")]

mod best;
mod largest;
mod matters;
mod peers;
mod rates;
mod runs;
#[path = "../../tests/truth/mod.rs"]
mod truth;

/// Relative standard deviations between trials.
const SIGMAS: [f64; 3] = [0.01, 0.03, 0.06];

fn main() {
    println!(
        "Weir {}. Servers and noise are drawn by xoshiro256++ (rand 0.10) from the seeds that are named. Noise is the relative \
         standard deviation of each figure between trials of one level.",
        env!("CARGO_PKG_VERSION")
    );
    let (numbers, words): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.parse::<u64>().is_ok());
    for first in numbers {
        runs::FIRST_SEED.set(first.parse().unwrap()).unwrap();
    }
    let tables: [(&str, fn()); 5] = [
        ("largest", largest::in_the_family),
        ("outside", largest::outside_the_family),
        ("rate", rates::tables),
        ("best", best::tables),
        ("matters", matters::tables),
    ];
    for (name, print) in tables {
        if words.is_empty() || words.iter().any(|word| word == name) {
            print();
        }
    }
}
