//! Time as the engine counts it: from the time origin of the test.

use std::io;
use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS_PER_S: i64 = 1_000_000_000;
const NANOS_PER_MS: i64 = 1_000_000;

/// A moment, in nanoseconds from the time origin; negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    /// The time origin.
    pub(crate) const ORIGIN: Self = Self(0);

    /// The moment this much later; the end of time (292 years) when there is none.
    pub(crate) fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(saturated_nanos(wait)))
    }

    /// Nanoseconds since an earlier moment; 0 when it is not earlier.
    pub(crate) fn nanos_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Microseconds since an earlier moment, cut.
    pub(crate) fn micros_since(self, earlier: Self) -> u64 {
        self.nanos_since(earlier) / 1_000
    }

    /// Which second after the origin this is in; 0 also before the origin.
    pub(crate) fn second(self) -> u64 {
        u64::try_from(self.0.div_euclid(NANOS_PER_S)).unwrap_or(0)
    }

    /// The end of a second.
    pub(crate) fn end_of_second(second: u64) -> Self {
        Self::ORIGIN.after(Duration::from_secs(second.saturating_add(1)))
    }
}

/// Tells moments, and where they lie on other clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    monotonic_at_origin: i64,
    epoch_ns_at_origin: i64,
}

impl Clock {
    /// A clock whose origin is at `origin`, which is the wall-clock time `started`.
    pub(crate) fn new(origin: Instant, started: SystemTime) -> Self {
        // `Instant` is CLOCK_MONOTONIC too, but does not show its value: the two are read one after
        // the other, some ten nanoseconds apart.
        let monotonic = clock_gettime(ClockId::Monotonic);
        let now = Instant::now();
        let from_origin = signed_nanos(now, origin);
        let epoch_ns = match started.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => saturated_nanos(since),
            Err(before) => -saturated_nanos(before.duration()),
        };
        Self {
            monotonic_at_origin: nanos_of(monotonic) - from_origin,
            epoch_ns_at_origin: epoch_ns,
        }
    }

    /// The moment that is now.
    pub(crate) fn now(&self) -> Moment {
        Moment(nanos_of(clock_gettime(ClockId::Monotonic)) - self.monotonic_at_origin)
    }

    /// The moment on `CLOCK_MONOTONIC`; at least 1 ns, because 0 would switch a timer off.
    pub(crate) fn monotonic(&self, moment: Moment) -> Timespec {
        let nanos = self.monotonic_at_origin.saturating_add(moment.0).max(1);
        Timespec {
            tv_sec: nanos / NANOS_PER_S,
            tv_nsec: nanos % NANOS_PER_S,
        }
    }

    /// Whole milliseconds since 1970, cut as JMeter cuts them.
    pub(crate) fn epoch_ms(&self, moment: Moment) -> u64 {
        let nanos = self.epoch_ns_at_origin.saturating_add(moment.0);
        u64::try_from(nanos.div_euclid(NANOS_PER_MS)).unwrap_or(0)
    }

    /// Milliseconds between two moments as JMeter counts them: both are cut to whole milliseconds
    /// of the wall clock first.
    pub(crate) fn elapsed_ms(&self, from: Moment, to: Moment) -> u64 {
        self.epoch_ms(to).saturating_sub(self.epoch_ms(from))
    }
}

fn signed_nanos(at: Instant, origin: Instant) -> i64 {
    match at.checked_duration_since(origin) {
        Some(after) => saturated_nanos(after),
        None => -saturated_nanos(origin.duration_since(at)),
    }
}

fn nanos_of(time: Timespec) -> i64 {
    time.tv_sec * NANOS_PER_S + time.tv_nsec
}

/// Nanoseconds of a duration, at most those of 292 years.
fn saturated_nanos(duration: Duration) -> i64 {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    seconds
        .saturating_mul(NANOS_PER_S)
        .saturating_add(i64::from(duration.subsec_nanos()))
}

/// Turns an error number of a system call into an error.
pub(crate) fn io_error(errno: rustix::io::Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_those_of_the_wall_clock() {
        let started = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_900);
        let clock = Clock::new(Instant::now(), started);
        assert_eq!(clock.epoch_ms(Moment(0)), 1_700_000_000_000);
        assert_eq!(clock.epoch_ms(Moment(100_000)), 1_700_000_000_001);
        assert_eq!(clock.elapsed_ms(Moment(0), Moment(99_999)), 0);
        assert_eq!(clock.elapsed_ms(Moment(0), Moment(100_000)), 1);
        assert_eq!(clock.elapsed_ms(Moment(100_000), Moment(1_099_999)), 0);
    }

    #[test]
    fn seconds_count_from_the_origin() {
        assert_eq!(Moment(-1).second(), 0);
        assert_eq!(Moment(0).second(), 0);
        assert_eq!(Moment(NANOS_PER_S - 1).second(), 0);
        assert_eq!(Moment(NANOS_PER_S).second(), 1);
        assert_eq!(Moment::end_of_second(0), Moment(NANOS_PER_S));
    }

    #[test]
    fn both_clocks_say_the_same() {
        let clock = Clock::new(
            Instant::now() + Duration::from_secs(5),
            SystemTime::UNIX_EPOCH,
        );
        assert!(clock.now() < Moment::ORIGIN);
        let low = clock.now();
        let monotonic = clock_gettime(ClockId::Monotonic);
        let high = clock.now();
        let nanos = |t: Timespec| t.tv_sec * NANOS_PER_S + t.tv_nsec;
        // A microsecond for the distance of the two readings when the clock was made, more if the
        // test was interrupted there.
        let slack = 50_000_000;
        assert!(nanos(clock.monotonic(low)) <= nanos(monotonic) + slack);
        assert!(nanos(clock.monotonic(high)) >= nanos(monotonic) - slack);
    }
}
