//! The funnel as a picture: each stage a band as wide as its limit, filled as far as it was
//! occupied, with those who wait in front of it.
//!
//! Limits reach from 4 to 20,000, so widths go with their logarithms; the filled share of a band is
//! linear. All figures stand beside the picture as text.

use askama::Template;
use unicode_width::UnicodeWidthStr as _;
use weir_metric::SignalUnit;
use weir_record::{Stage, TrialRecord, WhenFull, is_full};

use crate::figures::number;

/// Half the width of the widest band.
const HALF_WIDTH: f64 = 70.0;
/// Half the width of the narrowest.
const HALF_WIDTH_MIN: f64 = 16.0;
/// Height of a band and of the gap in front of it, where its waiters stand.
const BAND: f64 = 42.0;
const GAP: f64 = 16.0;
/// Where the funnel's axis is.
const CENTRE: f64 = 78.0;
/// Room above and below the picture.
const MARGIN: f64 = 6.0;
/// Waiters that are drawn one by one.
const WAITERS_MAX: usize = 12;
/// Distance of two waiters.
const WAITER_STEP: f64 = 9.0;

/// Room for a stage's name and the server's word for it, of the picture's 420.
const WORDS: f64 = 246.0;
/// Widths of a bold letter of the name and of one of the server's word; wider than most are.
const LETTER: f64 = 8.0;
const SMALL_LETTER: f64 = 6.7;

/// One drawn funnel.
#[derive(Debug, Template)]
#[template(path = "funnel.html")]
pub(crate) struct Funnel {
    /// Tells the parts of several funnels on a page apart.
    pub(crate) id: usize,
    pub(crate) title: String,
    pub(crate) stages: Vec<Band>,
    height: f64,
}

/// A point of the picture.
type Spot = (f64, f64);

/// One stage as drawn and as text.
#[derive(Debug)]
pub(crate) struct Band {
    pub(crate) name: String,
    pub(crate) native: String,
    pub(crate) occupancy: String,
    pub(crate) limit: String,
    pub(crate) waiting: String,
    pub(crate) wait: String,
    pub(crate) refused: Option<String>,
    pub(crate) full: bool,
    pub(crate) when_full: &'static str,
    in_use: String,
    waits: String,
    known: bool,
    outline: String,
    fill: Option<String>,
    waiters: Vec<Spot>,
    more: Option<Spot>,
    text_y: [f64; 3],
}

impl Funnel {
    /// The funnel of a trial; `None` when the target has no stages.
    pub(crate) fn of(
        id: usize,
        title: String,
        stages: &[Stage],
        trial: &TrialRecord,
    ) -> Option<Self> {
        if stages.is_empty() {
            return None;
        }
        let limits: Vec<Option<f64>> = stages.iter().map(|stage| limit(stage, trial)).collect();
        let widths = widths(&limits);
        let bands = stages.iter().enumerate().map(|(at, stage)| {
            // A band narrows towards the stage below, and never widens: what is above holds it.
            let below = widths
                .get(at + 1)
                .map_or(widths[at], |next| next.min(widths[at]));
            let top = MARGIN + at as f64 * (BAND + GAP) + GAP;
            band(
                stage,
                trial,
                limits[at],
                Place {
                    top,
                    upper: widths[at],
                    lower: below,
                },
            )
        });
        Some(Self {
            id,
            title,
            stages: bands.collect(),
            height: 2.0 * MARGIN + stages.len() as f64 * (BAND + GAP),
        })
    }

    /// The picture in words.
    fn says(&self) -> String {
        let parts: Vec<String> = self
            .stages
            .iter()
            .map(|stage| format!("{}: {}, {}", stage.name, stage.in_use, stage.waits))
            .collect();
        parts.join("; ")
    }
}

/// Where a band stands and how wide it is above and below (half widths).
#[derive(Debug, Clone, Copy)]
struct Place {
    top: f64,
    upper: f64,
    lower: f64,
}

/// The limit in force in a trial: as read, else as set, else as found.
fn limit(stage: &Stage, trial: &TrialRecord) -> Option<f64> {
    let read = trial.signals.get(&format!("{}.limit", stage.name)).copied();
    read.or_else(|| trial.level(&stage.name)).or(stage.limit)
}

/// Half widths by the logarithm of the limits; a stage without one is as wide as the stage above.
fn widths(limits: &[Option<f64>]) -> Vec<f64> {
    let size = |limit: f64| (limit.max(0.0) + 1.0).ln();
    let largest = limits
        .iter()
        .flatten()
        .copied()
        .map(size)
        .fold(0.0, f64::max);
    let mut above = HALF_WIDTH;
    limits
        .iter()
        .map(|limit| {
            if let Some(limit) = limit
                && largest > 0.0
            {
                above = (HALF_WIDTH * size(*limit) / largest).max(HALF_WIDTH_MIN);
            }
            above
        })
        .collect()
}

/// The server's word for a stage as far as it fits beside the name. A long one has its last part,
/// which tells it from others; in full it stands with the settings.
fn beside(name: &str, native: &str) -> String {
    let room = WORDS - LETTER * (name.width() + 1) as f64;
    let fits = |word: &str| SMALL_LETTER * word.width() as f64 <= room;
    if fits(native) {
        return native.to_owned();
    }
    let ends = native.match_indices('.').map(|(at, _)| &native[at + 1..]);
    let short = ends.map(|end| format!("…{end}")).find(|end| fits(end));
    short.unwrap_or_default()
}

fn band(stage: &Stage, trial: &TrialRecord, limit: Option<f64>, place: Place) -> Band {
    let occupancy = trial.occupancy(&stage.name);
    let waiting = trial.waiting(&stage.name);
    let wait = trial.wait_s(&stage.name);
    let refused = trial.signals.get(&format!("{}.refused", stage.name));
    let share = match (occupancy, limit) {
        (Some(occupancy), Some(limit)) if limit > 0.0 => Some((occupancy / limit).clamp(0.0, 1.0)),
        _ => None,
    };
    let (waiters, more) = waiters(waiting.unwrap_or(0.0), limit.is_some(), place);
    let text = |value: Option<f64>, kind: SignalUnit| {
        value.map_or_else(|| "–".to_owned(), |value| kind.text(value))
    };
    Band {
        name: stage.name.clone(),
        native: beside(&stage.name, stage.native.as_deref().unwrap_or_default()),
        occupancy: text(occupancy, SignalUnit::Number),
        limit: text(limit, SignalUnit::Number),
        waiting: text(waiting, SignalUnit::Number),
        wait: text(wait, SignalUnit::Seconds),
        refused: refused
            .filter(|rate| **rate > 0.0)
            .map(|rate| SignalUnit::PerSecond.text(*rate)),
        full: is_full(occupancy, limit),
        when_full: match stage.when_full {
            WhenFull::Wait => "waits in the stage before",
            WhenFull::Refuse => "is refused",
            WhenFull::Block => "waits and keeps what it holds",
        },
        in_use: in_use(occupancy, limit),
        waits: waits(waiting, wait),
        known: limit.is_some(),
        outline: trapezoid(place, 1.0),
        fill: share.map(|share| trapezoid(place, share)),
        waiters,
        more,
        text_y: [14.0, 28.0, 42.0].map(|line| place.top + line - 1.0),
    }
}

fn in_use(occupancy: Option<f64>, limit: Option<f64>) -> String {
    match (occupancy, limit) {
        (Some(occupancy), Some(limit)) => format!("{} of {}", number(occupancy), number(limit)),
        (Some(occupancy), None) => format!("{} (no limit)", number(occupancy)),
        (None, Some(limit)) => format!("limit {}, occupancy not read", number(limit)),
        (None, None) => "not read".to_owned(),
    }
}

fn waits(waiting: Option<f64>, wait_s: Option<f64>) -> String {
    let time = wait_s
        .filter(|wait| *wait > 0.0)
        .map_or_else(String::new, |wait| {
            format!(", {} each", SignalUnit::Seconds.text(wait))
        });
    match waiting {
        Some(0.0) if time.is_empty() => "nobody waits".to_owned(),
        Some(waiting) => format!("{} waiting{time}", number(waiting)),
        None => String::new(),
    }
}

/// The corners of a band of which the middle share is taken.
fn trapezoid(place: Place, share: f64) -> String {
    let Place { top, upper, lower } = place;
    let (upper, lower) = (upper * share, lower * share);
    format!(
        "{:.1},{top:.1} {:.1},{top:.1} {:.1},{bottom:.1} {:.1},{bottom:.1}",
        CENTRE - upper,
        CENTRE + upper,
        CENTRE + lower,
        CENTRE - lower,
        bottom = top + BAND
    )
}

/// The places of the waiters: in front of a stage with a limit, inside a queue that has none.
fn waiters(waiting: f64, limited: bool, place: Place) -> (Vec<Spot>, Option<Spot>) {
    let count = waiting.round() as usize;
    let drawn = count.min(WAITERS_MAX);
    let y = if limited {
        place.top - GAP / 2.0
    } else {
        place.top + BAND / 2.0
    };
    let first = CENTRE - (drawn.saturating_sub(1)) as f64 * WAITER_STEP / 2.0;
    let places: Vec<Spot> = (0..drawn)
        .map(|at| (first + at as f64 * WAITER_STEP, y))
        .collect();
    let more = (count > drawn)
        .then(|| places.last().map(|(x, y)| (x + WAITER_STEP, y + 4.0)))
        .flatten();
    (places, more)
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_long_word_keeps_the_part_that_tells_it_from_others() {
        assert_eq!(beside("threads", "--threads"), "--threads");
        assert_eq!(
            beside("pool.db", "spring.datasource.hikari.maximum-pool-size"),
            "…hikari.maximum-pool-size"
        );
        let long = "a-word-without-any-parts-that-is-longer-than-the-picture";
        assert_eq!(beside("pool.db", long), "");
    }
}
