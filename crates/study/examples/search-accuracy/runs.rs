//! Many runs on all CPUs, and what they come to.

use std::sync::OnceLock;

/// The first seed of every table. The searches' constants were chosen while looking at the tables
/// of seed 0; those of other seeds were never looked at.
pub(crate) static FIRST_SEED: OnceLock<u64> = OnceLock::new();

fn first_seed() -> u64 {
    FIRST_SEED.get().copied().unwrap_or(0)
}

/// The seeds of so many studies, as text.
pub(crate) fn seeds(count: u64) -> String {
    format!("seeds {} to {}", first_seed(), first_seed() + count - 1)
}

/// The result for every seed from the first, in order.
pub(crate) fn of_seeds<T: Send>(count: u64, of: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let first = first_seed();
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let part = count.div_ceil(threads);
    let of = &of;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|at| {
                let seeds = (at * part).min(count)..((at + 1) * part).min(count);
                scope.spawn(move || seeds.map(|seed| of(first + seed)).collect::<Vec<T>>())
            })
            .collect();
        let joined = parts.into_iter().map(|part| part.join().unwrap());
        joined.flatten().collect()
    })
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The value below which this share lies; NaN of nothing.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (share * sorted.len() as f64) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

/// Share of the values that are so, in per cent.
pub(crate) fn percent<T>(values: &[T], is_so: impl Fn(&T) -> bool) -> f64 {
    let so = values.iter().filter(|value| is_so(value)).count();
    100.0 * so as f64 / values.len() as f64
}
