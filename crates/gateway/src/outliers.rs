//! Backends that do worse than the others: that fail more often, or answer more slowly.
//!
//! What a backend does in a window is compared with what the others do in it. So a bad request that
//! every backend fails on, or a load that makes all of them slow, ejects nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::backend::Backend;
use crate::ejection::WhyEjected;
use crate::gatehouse::Shared;
use crate::settings::Health;

/// Fewer requests in a window say nothing.
const REQUESTS_MIN: u64 = 20;
/// What differs by less is no difference that anybody feels.
const SLOWER_MIN: Duration = Duration::from_millis(5);

/// What a backend has done in this window.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    ended: AtomicU64,
    failed: AtomicU64,
    answered: AtomicU64,
    answered_us: AtomicU64,
}

impl Tally {
    /// A request has ended, well or not.
    pub(crate) fn ended(&self, well: bool) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        if !well {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The head of an answer came after so long.
    pub(crate) fn answered(&self, after: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let us = after.as_micros() as u64;
        self.answered_us.fetch_add(us, Ordering::Relaxed);
    }

    /// What it was until now; the next window begins.
    fn take(&self) -> Seen {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        let (ended, failed) = (take(&self.ended), take(&self.failed));
        let (answered, us) = (take(&self.answered), take(&self.answered_us));
        let enough = |count: u64| count >= REQUESTS_MIN;
        Seen {
            share: enough(ended).then(|| failed as f64 / ended as f64),
            mean: enough(answered).then(|| Duration::from_micros(us / answered)),
        }
    }
}

/// What a window has shown of a backend, if it had enough requests.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    share: Option<f64>,
    mean: Option<Duration>,
}

/// Judges the backends window by window.
pub(crate) async fn judge_backends(shared: Arc<Shared>) {
    loop {
        let window = shared.current.get().settings.health.eject_window;
        tokio::time::sleep(window).await;
        let live = shared.current.get();
        judge(&live.backends, &live.settings.health);
    }
}

/// At most half of them get no requests afterwards: what most do is no outlier.
fn judge(backends: &[Arc<Backend>], health: &Health) {
    let seen: Vec<Seen> = backends.iter().map(|one| one.tally.take()).collect();
    let is_out = |one: &Arc<Backend>| one.is_down() || one.ejection.is_ejected();
    let mut out = backends.iter().filter(|one| is_out(one)).count();
    for (at, backend) in backends.iter().enumerate() {
        if backend.ejection.is_ejected() {
            continue;
        }
        let others: Vec<Seen> = (0..seen.len())
            .filter(|other| *other != at)
            .map(|other| seen[other])
            .collect();
        match why(seen[at], &others, health) {
            Some(why) if (out + 1) * 2 <= backends.len() => {
                backend.ejection.eject(why, health);
                out += 1;
            }
            None if seen[at].share.is_some() => backend.ejection.did_well(),
            Some(_) | None => {}
        }
    }
}

/// Why one is worse than the others, if it is.
fn why(one: Seen, others: &[Seen], health: &Health) -> Option<WhyEjected> {
    let shares = others.iter().filter_map(|other| other.share);
    if let (Some(share), Some(limit), Some(usual)) = (one.share, health.eject_share, median(shares))
        && share >= limit
        && share > 2.0 * usual
    {
        return Some(WhyEjected::Share);
    }
    let means = others.iter().filter_map(|other| other.mean);
    let usual = median(means.map(|mean| mean.as_secs_f64()));
    if let (Some(mean), Some(times), Some(usual)) = (one.mean, health.eject_slower, usual) {
        let mean = mean.as_secs_f64();
        let is_slower = mean > times * usual && mean > usual + SLOWER_MIN.as_secs_f64();
        return is_slower.then_some(WhyEjected::Slower);
    }
    None
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{BackendAddress, BackendSettings};

    fn health() -> Health {
        Health {
            eject_share: Some(0.5),
            eject_slower: Some(3.0),
            ..Health::default()
        }
    }

    /// Backends of which each had so many requests, so many of them failed, in so many
    /// milliseconds each; which of them get none afterwards, and why.
    fn ejected(windows: &[(u64, u64, u64)]) -> Vec<Option<WhyEjected>> {
        let backend = |(ended, failed, ms): &(u64, u64, u64)| {
            let address = BackendAddress::Unix("/app.sock".into());
            let backend = Backend::new(&BackendSettings::new(address), Vec::new(), 1);
            for number in 0..*ended {
                backend.tally.ended(number >= *failed);
                backend.tally.answered(Duration::from_millis(*ms));
            }
            Arc::new(backend)
        };
        let backends: Vec<Arc<Backend>> = windows.iter().map(backend).collect();
        judge(&backends, &health());
        backends.iter().map(|one| one.ejection.why()).collect()
    }

    #[test]
    fn who_does_worse_than_the_others_gets_no_requests() {
        let (share, slower) = (Some(WhyEjected::Share), Some(WhyEjected::Slower));
        for (windows, expected) in [
            (vec![(100, 60, 10), (100, 1, 10)], vec![share, None]),
            (vec![(100, 40, 10), (100, 0, 10)], vec![None, None]),
            (
                vec![(100, 0, 40), (100, 0, 10), (100, 0, 12)],
                vec![slower, None, None],
            ),
            (vec![(100, 0, 25), (100, 0, 10)], vec![None, None]),
            // A thousandth of a second more is three times as slow, and nothing.
            (vec![(100, 0, 4), (100, 0, 1)], vec![None, None]),
        ] {
            assert_eq!(ejected(&windows), expected, "{windows:?}");
        }
    }

    #[test]
    fn what_most_do_ejects_nobody() {
        for windows in [
            vec![(100, 90, 10), (100, 90, 10), (100, 90, 10)],
            vec![(100, 90, 10)],
            // Too few to say.
            vec![(19, 19, 10), (100, 0, 10)],
            vec![(100, 60, 10), (19, 0, 10)],
        ] {
            assert!(ejected(&windows).iter().all(Option::is_none), "{windows:?}");
        }
        // Three of four are bad: half of them at most.
        let windows = [(100, 90, 10), (100, 90, 10), (100, 0, 10), (100, 0, 10)];
        let out = ejected(&windows).iter().flatten().count();
        assert_eq!(out, 2);
    }
}
