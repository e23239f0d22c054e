//! Timers that are exact to tens of microseconds.
//!
//! Tokio's own timers work in milliseconds. Here all users of a runtime share one timerfd that is
//! set to the earliest moment anyone waits for, and a heap of what everyone waits for. Every user
//! holds one place ([`Timer`]) for its whole life, because it waits for one thing at a time;
//! therefore waiting does not allocate, and a time-out that is set and taken back for each of a
//! million requests leaves nothing behind.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::clock::{Clock, Moment, io_error};

/// All timers of a runtime.
#[derive(Debug)]
pub(crate) struct Timers {
    clock: Clock,
    fd: AsyncFd<OwnedFd>,
    queue: RefCell<Queue>,
}

impl Timers {
    /// Timers of the runtime that this is called in.
    pub(crate) fn new(clock: Clock) -> io::Result<Rc<Self>> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(io_error)?;
        // SAFETY: the descriptor is owned by the value that is handed over, so it stays open and
        // the same until that value is dropped.
        let fd = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE)? };
        Ok(Rc::new(Self {
            clock,
            fd,
            queue: RefCell::default(),
        }))
    }

    /// Wakes whoever's moment has come, as long as the runtime runs. One task has to do this.
    pub(crate) async fn drive(&self) -> io::Result<Infallible> {
        loop {
            // The count of expirations is never read: setting the timer again resets it, and the
            // kernel reports each expiration once.
            self.fd.readable().await?.clear_ready();
            self.queue.borrow_mut().wake_due(self.clock.now());
            self.set_to_earliest();
        }
    }

    /// Wakes everyone, due or not, to look around.
    pub(crate) fn wake_all(&self) {
        for place in &mut self.queue.borrow_mut().places {
            if let Some(waker) = place.waker.take() {
                waker.wake();
            }
        }
    }

    fn set_to_earliest(&self) {
        let mut queue = self.queue.borrow_mut();
        let earliest = queue.earliest();
        // A timer that is set to an earlier moment than needed costs one wake-up; setting it back
        // at each request would cost a system call for each.
        if earliest.is_none() || queue.set_to.is_some_and(|set| Some(set) <= earliest) {
            return;
        }
        queue.set_to = earliest;
        drop(queue);
        if let Some(moment) = earliest {
            let at = Itimerspec {
                it_interval: Timespec::default(),
                it_value: self.clock.monotonic(moment),
            };
            timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &at)
                .expect("a timerfd takes any moment after 0 of its clock");
        }
    }
}

/// One waiter's place among the timers of its runtime.
#[derive(Debug)]
pub(crate) struct Timer {
    timers: Rc<Timers>,
    place: u32,
}

impl Timer {
    /// A new place.
    pub(crate) fn new(timers: &Rc<Timers>) -> Self {
        Self {
            timers: Rc::clone(timers),
            place: timers.queue.borrow_mut().open_place(),
        }
    }

    /// Waits until a moment, or until `enough` holds when everyone is woken
    /// ([`Timers::wake_all`]).
    pub(crate) async fn until(&mut self, moment: Moment, enough: impl Fn() -> bool) {
        if self.timers.clock.now() >= moment {
            return;
        }
        self.arm(moment);
        poll_fn(|context| {
            if enough() {
                return Poll::Ready(());
            }
            self.poll_due(context)
        })
        .await;
        self.disarm();
    }

    /// Runs a future until a moment; `None` when it has not ended by then.
    pub(crate) async fn within<F: Future>(
        &mut self,
        moment: Option<Moment>,
        future: F,
    ) -> Option<F::Output> {
        let mut future = pin!(future);
        let Some(moment) = moment else {
            return Some(future.await);
        };
        self.arm(moment);
        let output = poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.poll_due(context).map(|()| None),
        })
        .await;
        self.disarm();
        output
    }

    fn arm(&self, moment: Moment) {
        self.timers.queue.borrow_mut().insert(self.place, moment);
        self.timers.set_to_earliest();
    }

    fn disarm(&self) {
        self.timers.queue.borrow_mut().remove(self.place);
    }

    fn poll_due(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.timers.queue.borrow_mut();
        let place = &mut queue.places[self.place as usize];
        if place.in_heap.is_none() {
            return Poll::Ready(());
        }
        match &mut place.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => place.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.timers.queue.borrow_mut().close_place(self.place);
    }
}

/// A heap of moments, earliest first, in which any place can be found and taken out.
#[derive(Debug, Default)]
struct Queue {
    heap: Vec<(Moment, u32)>,
    places: Vec<Place>,
    unused: Vec<u32>,
    set_to: Option<Moment>,
}

#[derive(Debug, Default)]
struct Place {
    in_heap: Option<u32>,
    waker: Option<Waker>,
}

impl Queue {
    fn open_place(&mut self) -> u32 {
        self.unused.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            u32::try_from(self.places.len() - 1).expect("there are fewer than 2^32 users")
        })
    }

    fn close_place(&mut self, place: u32) {
        self.remove(place);
        self.unused.push(place);
    }

    fn earliest(&self) -> Option<Moment> {
        self.heap.first().map(|(moment, _)| *moment)
    }

    fn insert(&mut self, place: u32, moment: Moment) {
        self.remove(place);
        self.heap.push((moment, place));
        self.rise(self.heap.len() - 1);
    }

    fn remove(&mut self, place: u32) {
        let entry = &mut self.places[place as usize];
        entry.waker = None;
        let Some(at) = entry.in_heap.take() else {
            return;
        };
        let at = at as usize;
        self.heap.swap_remove(at);
        if at < self.heap.len() {
            self.rise(at);
            self.sink(at);
        }
    }

    fn wake_due(&mut self, now: Moment) {
        self.set_to = None;
        while let Some(&(moment, place)) = self.heap.first() {
            if moment > now {
                return;
            }
            let waker = self.places[place as usize].waker.take();
            self.remove(place);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.heap[at] < self.heap[(at - 1) / 2] {
            let parent = (at - 1) / 2;
            self.heap.swap(at, parent);
            self.note(at);
            at = parent;
        }
        self.note(at);
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let Some(child) = children.min_by_key(|child| self.heap[*child]) else {
                break;
            };
            if self.heap[at] <= self.heap[child] {
                break;
            }
            self.heap.swap(at, child);
            self.note(at);
            at = child;
        }
        self.note(at);
    }

    fn note(&mut self, at: usize) {
        let place = self.heap[at].1 as usize;
        self.places[place].in_heap = Some(at as u32);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant, SystemTime};

    use proptest::prelude::*;
    use tokio::runtime::{Builder, LocalOptions};

    use super::*;

    proptest! {
        #[test]
        fn the_heap_agrees_with_a_sorted_set(
            steps in proptest::collection::vec((0_u32..12, 0_i64..50, any::<bool>()), 1..200),
        ) {
            let mut queue = Queue::default();
            for _ in 0..12 {
                queue.open_place();
            }
            let mut model = BTreeSet::new();
            let mut set = [None; 12];
            for (place, moment, insert) in steps {
                if let Some(old) = set[place as usize].take() {
                    model.remove(&(old, place));
                }
                if insert {
                    queue.insert(place, Moment(moment));
                    model.insert((Moment(moment), place));
                    set[place as usize] = Some(Moment(moment));
                } else {
                    queue.remove(place);
                }
                prop_assert_eq!(queue.earliest(), model.first().map(|(moment, _)| *moment));
                for (at, (_, place)) in queue.heap.iter().enumerate() {
                    prop_assert_eq!(queue.places[*place as usize].in_heap, Some(at as u32));
                }
                prop_assert_eq!(queue.heap.len(), model.len());
            }
        }
    }

    fn run<F: Future>(test: impl FnOnce(Rc<Timers>, Clock) -> F) -> F::Output {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .build_local(LocalOptions::default())
            .unwrap();
        runtime.block_on(async {
            let clock = Clock::new(Instant::now(), SystemTime::UNIX_EPOCH);
            let timers = Timers::new(clock).unwrap();
            let driven = Rc::clone(&timers);
            tokio::task::spawn_local(async move { driven.drive().await });
            test(timers, clock).await
        })
    }

    #[test]
    fn nobody_wakes_early_and_all_wake_in_order() {
        let order = run(|timers, clock| async move {
            let order = Rc::new(RefCell::new(Vec::new()));
            let waits_ms = [30, 1, 20, 10, 1];
            let tasks: Vec<_> = waits_ms
                .into_iter()
                .map(|wait_ms| {
                    let (mut timer, order) = (Timer::new(&timers), Rc::clone(&order));
                    tokio::task::spawn_local(async move {
                        let due = Moment::ORIGIN.after(Duration::from_millis(wait_ms));
                        timer.until(due, || false).await;
                        assert!(clock.now() >= due);
                        order.borrow_mut().push(wait_ms);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            order.take()
        });
        assert_eq!(order, [1, 1, 10, 20, 30]);
    }

    #[test]
    fn a_time_out_ends_what_does_not_end() {
        run(|timers, clock| async move {
            let mut timer = Timer::new(&timers);
            let due = clock.now().after(Duration::from_millis(2));
            let never = std::future::pending::<()>();
            assert_eq!(timer.within(Some(due), never).await, None);
            assert!(clock.now() >= due);
            let far = clock.now().after(Duration::from_secs(3600));
            assert_eq!(timer.within(Some(far), async { 7 }).await, Some(7));
            assert_eq!(timers.queue.borrow().heap.len(), 0);
        });
    }

    #[test]
    fn all_can_be_woken_to_give_up() {
        run(|timers, clock| async move {
            let enough = Rc::new(RefCell::new(false));
            let sleepers: Vec<_> = (0..3)
                .map(|_| {
                    let (mut timer, enough) = (Timer::new(&timers), Rc::clone(&enough));
                    let far = clock.now().after(Duration::from_secs(3600));
                    tokio::task::spawn_local(async move {
                        timer.until(far, || *enough.borrow()).await;
                    })
                })
                .collect();
            tokio::task::yield_now().await;
            *enough.borrow_mut() = true;
            timers.wake_all();
            for sleeper in sleepers {
                sleeper.await.unwrap();
            }
            assert_eq!(timers.queue.borrow().unused.len(), 3);
        });
    }
}
