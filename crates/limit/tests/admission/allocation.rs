//! Deciding allocates nothing once the queue has been as long as it gets.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Duration;

use weir_limit::{
    Adaptive, Admission, ClassRules, Concurrency, Decision, Kind, Moment, Outcome, Permit, Promise,
    Rate, Rules, Waited,
};

use crate::driver::MS;
use crate::random::Random;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is done by the system's allocator; counting touches no memory that it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps what the trait asks.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps what the trait asks.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn rules() -> Rules {
    let light = ClassRules {
        name: "light".to_owned(),
        promise: Some(Promise {
            share: 0.99,
            within: Duration::from_millis(50),
        }),
        ..ClassRules::default()
    };
    let heavy = ClassRules {
        name: "heavy".to_owned(),
        rate: Some(Rate::per_second(300.0).unwrap()),
        ..ClassRules::default()
    };
    Rules {
        concurrency: Some(Concurrency::Adaptive(Adaptive::default())),
        classes: vec![light, heavy],
        ..Rules::default()
    }
}

fn finish(admission: &mut Admission, permit: Permit, now: Moment) {
    let outcome = Outcome {
        response_time: now.since(permit.admitted()),
        kind: Kind::Completed,
    };
    admission.finish(permit, outcome, now);
}

#[test]
fn deciding_allocates_nothing() {
    let mut admission = Admission::new(&rules(), Moment(0));
    let mut permits = VecDeque::with_capacity(10_000);
    let mut random = Random(1);
    let mut before = 0;
    for step in 0..40_000_u64 {
        // The queue and the store of those who wait have had half of the time to grow.
        if step == 20_000 {
            before = ALLOCATIONS.get();
        }
        let now = Moment(step * MS);
        if let Decision::Admitted(permit) = admission.arrive((step % 2) as usize, now) {
            permits.push_back(permit);
        }
        while let Some(verdict) = admission.poll(now) {
            if let Waited::Granted(permit) = verdict.decision {
                permits.push_back(permit);
            }
        }
        if random.next() % 5 < 2
            && let Some(permit) = permits.pop_front()
        {
            finish(&mut admission, permit, now);
        }
        if step % 200 == 0 {
            admission.read_cpu(0.98, now);
        }
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(
        admission.seen().counts.refused_total() > 1000,
        "it was overloaded"
    );
}
