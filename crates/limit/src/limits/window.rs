//! What happened between two decisions of an adaptive limit.

use super::{Occupancy, Sample};
use crate::decision::Kind;
use crate::moment::Moment;

/// A window that is still open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    began: Moment,
    at: Moment,
    stands: Occupancy,
    in_flight_s: f64,
    pressed_s: f64,
    completed: u32,
    response_s: f64,
}

/// A window that is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) seconds: f64,
    /// Mean number in flight.
    pub(crate) in_flight: f64,
    /// Share of the time in which somebody waited whom only the limit held back.
    pub(crate) pressed: f64,
    /// Requests that ended with a response.
    pub(crate) completed: u32,
    /// Mean of their response times; 0 without any.
    pub(crate) response_s: f64,
}

impl Seen {
    /// Requests that ended with a response, a second.
    pub(crate) fn per_s(&self) -> f64 {
        f64::from(self.completed) / self.seconds.max(1e-9)
    }
}

impl Window {
    pub(crate) fn new(now: Moment) -> Self {
        let stands = Occupancy {
            in_flight: 0,
            pressed: false,
        };
        Self {
            began: now,
            at: now,
            stands,
            in_flight_s: 0.0,
            pressed_s: 0.0,
            completed: 0,
            response_s: 0.0,
        }
    }

    /// How things stand from now on.
    pub(crate) fn stands(&mut self, occupancy: Occupancy, now: Moment) {
        self.advance(now);
        self.stands = occupancy;
    }

    pub(crate) fn finished(&mut self, sample: &Sample) {
        if sample.kind == Kind::Completed {
            self.completed += 1;
            self.response_s += sample.response_time.as_secs_f64();
        }
    }

    /// Whether somebody waits for the limit now.
    pub(crate) fn is_pressed(&self) -> bool {
        self.stands.pressed
    }

    pub(crate) fn seconds(&self, now: Moment) -> f64 {
        now.since(self.began).as_secs_f64()
    }

    pub(crate) fn completed(&self) -> u32 {
        self.completed
    }

    /// Ends the window and begins the next.
    pub(crate) fn close(&mut self, now: Moment) -> Seen {
        self.advance(now);
        let seconds = self.seconds(now);
        let share = |sum: f64| if seconds > 0.0 { sum / seconds } else { 0.0 };
        let seen = Seen {
            seconds,
            in_flight: share(self.in_flight_s),
            pressed: share(self.pressed_s),
            completed: self.completed,
            response_s: self.response_s / f64::from(self.completed.max(1)),
        };
        *self = Self {
            stands: self.stands,
            ..Self::new(now)
        };
        seen
    }

    fn advance(&mut self, now: Moment) {
        let elapsed = now.since(self.at).as_secs_f64();
        self.in_flight_s += elapsed * f64::from(self.stands.in_flight);
        if self.stands.pressed {
            self.pressed_s += elapsed;
        }
        self.at = now;
    }
}
