//! Many runs on all CPUs, and what they come to.

/// The result for every seed from 0, in order.
pub(crate) fn of_seeds<T: Send>(count: u64, of: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let part = count.div_ceil(threads);
    let of = &of;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|at| {
                let seeds = (at * part).min(count)..((at + 1) * part).min(count);
                scope.spawn(move || seeds.map(of).collect::<Vec<T>>())
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
