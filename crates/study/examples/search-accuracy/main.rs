//! Measures how right the searches are, and what they cost: against made servers with a known answer, next to what people
//! do without them.
//!
//! The searches are the crate's own, driven through `TrialRunner`. The tables in docs/concepts/search.md come from here;
//! `cargo xtask bench search` runs it. The word `largest`, `outside`, `best` or `matters` asks for one of the tables.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]
#![expect(clippy::unwrap_used, reason = "an example may panic")]

mod best;
mod largest;
mod matters;
mod peers;
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
    let asked = std::env::args().nth(1);
    let tables: [(&str, fn()); 4] = [
        ("largest", largest::in_the_family),
        ("outside", largest::outside_the_family),
        ("best", best::tables),
        ("matters", matters::tables),
    ];
    for (name, print) in tables {
        if asked.as_deref().is_none_or(|asked| asked == name) {
            print();
        }
    }
}
