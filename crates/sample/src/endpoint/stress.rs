//! `/stress`: a request that holds database connections, computes, and sleeps, each for as long as
//! it is told.
//!
//! The published program read the length of the second hold under a misspelt name, so that hold
//! always lasted its default of 1 ms. `form=as-published` repeats that, `form=as-intended` (the
//! default) does what was meant.

use std::time::{Duration, Instant};
use std::{hint, thread};

use super::{Application, milliseconds};
use crate::http::{Choice, Number, Parameters, Response};
use crate::pool::Pool;
use crate::prime::{BITS_MIN, probable_prime};

const SEARCH_TIME: Number = milliseconds("searchTime", 1);
const INTERVAL: Number = milliseconds("interval", 1);
const DURATION: Number = Number {
    name: "duration",
    unit: "times",
    range: 0..=10_000,
    default: 1,
};
const BIT: Number = Number {
    name: "bit",
    unit: "bits",
    range: BITS_MIN..=8_192,
    default: 1_024,
};
const UPDATE_TIME: Number = milliseconds("updateTime", 1);
const FORM: Choice = Choice {
    name: "form",
    words: &["as-intended", "as-published"],
};

/// How long the second hold lasts as published, whatever `updateTime` says.
const UPDATE_TIME_AS_PUBLISHED_MS: u64 = 1;

pub(super) fn answer(
    application: &mut Application<'_>,
    parameters: &Parameters,
) -> Result<Response, Response> {
    parameters.expect_only(&[
        SEARCH_TIME.name,
        INTERVAL.name,
        DURATION.name,
        BIT.name,
        UPDATE_TIME.name,
        FORM.name,
    ])?;
    let search_time_ms = parameters.number(&SEARCH_TIME)?;
    let interval_ms = parameters.number(&INTERVAL)?;
    let duration = parameters.number(&DURATION)?;
    let bit = parameters.number(&BIT)?;
    let update_time_ms = parameters.number(&UPDATE_TIME)?;
    let form = parameters.choice(&FORM)?;
    let second_hold_ms = if form == "as-published" {
        UPDATE_TIME_AS_PUBLISHED_MS
    } else {
        update_time_ms
    };

    let start = Instant::now();
    hold(application.pool, search_time_ms);
    compute(
        application,
        bit,
        duration,
        Duration::from_millis(interval_ms),
    );
    hold(application.pool, second_hold_ms);
    let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;

    Ok(Response::text(format!(
        "searchTime = {search_time_ms} ms\ninterval = {interval_ms} ms\nduration = {duration} times\nbit = {bit}\n\
         updateTime = {update_time_ms} ms\nform = {form}\nsecond hold = {second_hold_ms} ms\n\
         elapsed = {elapsed_ms:.3} ms\n"
    )))
}

/// Takes a connection, keeps it for a while, gives it back.
fn hold(pool: &Pool, milliseconds: u64) {
    let lease = pool.acquire();
    thread::sleep(Duration::from_millis(milliseconds));
    drop(lease);
}

fn compute(application: &mut Application<'_>, bit: u64, duration: u64, interval: Duration) {
    let first = probable_prime(bit, application.random);
    let second = probable_prime(bit, application.random);
    for _ in 0..duration {
        hint::black_box(hint::black_box(&first) * hint::black_box(&second));
        thread::sleep(interval);
    }
}
