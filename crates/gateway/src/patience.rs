//! How long something may make no progress.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// A bound on the time without progress.
///
/// The timer is made only when there is something to wait for, and is set forward only when it goes
/// off: what makes progress all the time costs no more than a reading of the clock.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    /// Since when nothing has come; `None` while things come.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// Waits at most so long for each bit of progress.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            limit,
            since: None,
            timer: None,
        }
    }

    /// There was progress.
    pub(crate) fn progress(&mut self) {
        self.since = None;
    }

    /// Nobody waits for now.
    pub(crate) fn rest(&mut self) {
        self.since = None;
        self.timer = None;
    }

    /// There is none now; ready when that has lasted too long. Wakes the task when it is to look
    /// again.
    pub(crate) fn poll_lost(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.poll_lost_at(since + self.limit, context)
    }

    /// Ready when this moment has come.
    pub(crate) fn poll_lost_at(
        &mut self,
        deadline: Instant,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        // It may be set to an earlier wait that is over: then it is set forward, once.
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// A timer that was set for one wait serves the next, whether that ends earlier or later.
    #[test]
    fn a_wait_ends_at_its_own_deadline() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime without I/O needs nothing");
        runtime.block_on(async {
            let hour = Duration::from_secs(3600);
            let (past, now) = (Instant::now(), Instant::now() + Duration::from_millis(1));
            tokio::time::sleep_until(now).await;
            let mut patience = Patience::new(hour);
            let mut is_lost = async |deadline: Option<Instant>| {
                poll_fn(|context| {
                    let lost = match deadline {
                        Some(deadline) => patience.poll_lost_at(deadline, context),
                        None => patience.poll_lost(context),
                    };
                    Poll::Ready(lost.is_ready())
                })
                .await
            };
            assert!(!is_lost(Some(now + hour)).await);
            assert!(is_lost(Some(past)).await);
            assert!(!is_lost(Some(now + hour)).await);
            assert!(is_lost(Some(past)).await);
            assert!(!is_lost(None).await, "an hour is not over");
        });
    }
}
