//! What a monitor wrote, on the time axis of the load.
//!
//! A result file counts from 1970; a monitor mostly writes the wall clock of its machine, some
//! without a date. So a zone has to be assumed and is said; of the dates that a head may mean, the
//! one that meets the load is taken. A value stands for the whole interval that it is the mean of,
//! and for no second beside; what is one reading stands for the second at whose end it was read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use weir_record::{Adjustment, AdjustmentKind, Reading, Timeline};

use crate::IntakeError;
use crate::monitor::{Monitor, Row, When, is_reading};

/// The longest interval between two rows that a value stands for.
const STEP_MAX_S: i64 = 600;
/// Clocks of the world lie at most this far apart …
const ZONE_MAX_S: i64 = 14 * 3600;
/// … in steps of a quarter of an hour.
const ZONE_STEP_S: i64 = 900;

/// The wall clock of the machine that was watched.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Its zone, for times that name none.
    pub zone: TimeZone,
    /// Where the zone is from, in words: `Europe/Berlin, this machine's`.
    pub words: String,
}

/// A monitor's values by second since 1970.
#[derive(Debug)]
pub struct Aligned {
    /// Where each signal came from.
    pub(crate) origins: BTreeMap<String, String>,
    pub(crate) seconds: BTreeMap<i64, Reading>,
    pub(crate) notes: Vec<String>,
    pub(crate) adjustments: Vec<Adjustment>,
}

impl Clock {
    /// Lays what a monitor wrote beside loads, each of which ran in these seconds since 1970.
    pub fn align(
        &self,
        monitor: &Monitor,
        loads: &[RangeInclusive<i64>],
    ) -> Result<Aligned, IntakeError> {
        let moments = |first: Option<Date>| -> Vec<Option<i64>> {
            let rows = monitor.rows.iter();
            rows.map(|row| self.moment(row, first)).collect()
        };
        let meant: Vec<Vec<Option<i64>>> = match monitor.first_days[..] {
            [] => vec![moments(None)],
            ref days => days.iter().map(|day| moments(Some(*day))).collect(),
        };
        let count = |moments: &Vec<Option<i64>>| {
            let step = usual_step(moments.iter().flatten().copied());
            let touching = moments.iter().flatten();
            touching.filter(|at| touches(**at, step, loads)).count()
        };
        // Of several that fit as well, the likeliest, which is the first.
        let best = meant.iter().rev().max_by_key(|moments| count(moments));
        let moments = best.map_or(&[][..], Vec::as_slice);
        let step = usual_step(moments.iter().flatten().copied());
        let inside: Vec<Option<i64>> = moments
            .iter()
            .map(|at| at.filter(|at| is_inside(*at, step, loads)))
            .collect();
        if inside.iter().all(Option::is_none) {
            let mut known = moments.iter().flatten();
            return Err(IntakeError::NoOverlap {
                file: monitor.file.clone(),
                says: if known.any(|at| touches(*at, step, loads)) {
                    coarse(step, loads)
                } else {
                    self.apart(moments, loads)
                },
            });
        }
        Ok(self.aligned(monitor, &inside))
    }

    /// The rows that lie within a load; the others have no moment.
    fn aligned(&self, monitor: &Monitor, moments: &[Option<i64>]) -> Aligned {
        let inside = moments.iter().flatten().count();
        let (seconds, step) = spread(&monitor.rows, moments);
        let by_wall_clock = monitor
            .rows
            .iter()
            .any(|row| !matches!(row.when, When::Epoch(_)));
        let taken = if by_wall_clock {
            format!("its times are taken as {}", self.words)
        } else {
            "its times name their zone".to_owned()
        };
        let mut notes = vec![format!(
            "{}: {} rows, one every {step} s; {inside} lie within the load; {taken}; the clocks \
             of the two machines are taken as equal",
            monitor.file,
            moments.len(),
        )];
        notes.extend(monitor.notes());
        let outside = outside(&monitor.file, moments.len() - inside);
        let adjustments = outside.into_iter().chain(monitor.adjustments()).collect();
        let host = monitor
            .host
            .as_ref()
            .map_or_else(String::new, |host| format!(" of {host}"));
        let origin = format!("{} ({}{host})", monitor.file, monitor.kind);
        let signals = seconds.values().flat_map(Reading::keys);
        Aligned {
            origins: signals
                .map(|signal| (signal.clone(), origin.clone()))
                .collect(),
            seconds,
            notes,
            adjustments,
        }
    }

    /// Seconds since 1970 of the end of a row's interval.
    fn moment(&self, row: &Row, first: Option<Date>) -> Option<i64> {
        let local = match row.when {
            When::Epoch(epoch_s) => return Some(epoch_s),
            When::Local(local) => local,
            When::Clock { day, time } => {
                let date = first?.checked_add(i64::from(day).days()).ok()?;
                date.to_datetime(time)
            }
        };
        let zoned = local.to_zoned(self.zone.clone()).ok()?;
        Some(zoned.timestamp().as_second())
    }

    /// Says when the load and the monitor were, and which shift would bring them together.
    fn apart(&self, moments: &[Option<i64>], loads: &[RangeInclusive<i64>]) -> String {
        let known = || moments.iter().flatten().copied();
        let (Some(first), Some(last)) = (known().min(), known().max()) else {
            return "none of its rows has a time".to_owned();
        };
        let spans: Vec<String> = loads
            .iter()
            .map(|load| self.span(*load.start(), *load.end()))
            .collect();
        let hint = zone_shift(&known().collect(), loads).map_or_else(
            || "it is another time than that of the load".to_owned(),
            |shift| {
                format!(
                    "with its clock {} h {} it would meet the load: say in which zone it was written with --time-zone",
                    shift.abs() as f64 / 3600.0,
                    if shift > 0 { "later" } else { "earlier" }
                )
            },
        );
        format!(
            "no second in common: the load ran {}, the file covers {} ({}); {hint}",
            spans.join(" and "),
            self.span(first, last),
            self.words
        )
    }

    fn span(&self, from: i64, until: i64) -> String {
        let shown = |epoch_s: i64| {
            Timestamp::from_second(epoch_s).map_or_else(
                |_| epoch_s.to_string(),
                |moment| {
                    let zoned = moment.to_zoned(self.zone.clone());
                    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
                },
            )
        };
        format!("{} to {}", shown(from), shown(until))
    }
}

impl Aligned {
    /// The seconds of a watch of Weir that ran beside these loads; it started at this second since
    /// 1970. `origins` says where its signals came from.
    pub fn of_watch(
        name: &str,
        start_s: i64,
        timeline: &Timeline,
        origins: BTreeMap<String, String>,
        loads: &[RangeInclusive<i64>],
    ) -> Result<Self, IntakeError> {
        let mut seconds = BTreeMap::new();
        for second in 0..timeline.len() {
            if let Some(reading) = timeline.second(second) {
                seconds.insert(start_s + (second as u64).cast_signed(), reading.clone());
            }
        }
        let within = |moment: &&i64| loads.iter().any(|load| load.contains(moment));
        let inside = seconds.keys().filter(within).count();
        if inside == 0 {
            let shown = |epoch_s: i64| {
                Timestamp::from_second(epoch_s)
                    .map_or_else(|_| epoch_s.to_string(), |at| at.to_string())
            };
            let load = loads.first().map_or(0, |load| *load.start());
            return Err(IntakeError::NoOverlap {
                file: name.to_owned(),
                says: format!(
                    "no second in common: the load began at {}, the watch lasted {} s from {}",
                    shown(load),
                    timeline.len(),
                    shown(start_s)
                ),
            });
        }
        let notes = vec![format!(
            "{name}: a watch of {} s; {inside} lie within the load; it began within a second of the \
             time that its run.toml says",
            timeline.len(),
        )];
        let adjustments = outside(name, seconds.len() - inside).into_iter().collect();
        Ok(Self {
            origins,
            seconds,
            notes,
            adjustments,
        })
    }
}

/// Rows or seconds that no load was there for.
fn outside(file: &str, count: usize) -> Option<Adjustment> {
    Adjustment::counted(AdjustmentKind::RowsOutside, count as u64, || {
        format!("{file}: {count} of its rows lie outside of the load and were dropped")
    })
}

/// The smallest difference of zones that brings a row and a load together.
fn zone_shift(moments: &BTreeSet<i64>, loads: &[RangeInclusive<i64>]) -> Option<i64> {
    let meets = |shift: i64| {
        let mut shifted = loads
            .iter()
            .map(|load| load.start() - shift..=load.end() - shift);
        shifted.any(|load| moments.range(load).next().is_some())
    };
    let steps = (1..=ZONE_MAX_S / ZONE_STEP_S).map(|step| step * ZONE_STEP_S);
    steps
        .flat_map(|shift| [shift, -shift])
        .find(|shift| meets(*shift))
}

/// The values by second, and the usual number of seconds between two rows.
fn spread(rows: &[Row], moments: &[Option<i64>]) -> (BTreeMap<i64, Reading>, i64) {
    let mut by_signal: BTreeMap<&str, BTreeMap<i64, f64>> = BTreeMap::new();
    for (row, moment) in rows.iter().zip(moments) {
        let Some(moment) = moment else { continue };
        for (signal, value) in &row.values {
            by_signal.entry(signal).or_default().insert(*moment, *value);
        }
    }
    let mut seconds: BTreeMap<i64, Reading> = BTreeMap::new();
    let mut step_usual = 1;
    for (signal, values) in by_signal {
        let step = usual_step(values.keys().copied());
        step_usual = step_usual.max(step);
        let covered = if is_reading(signal) { 1 } else { step };
        for (end, value) in values {
            for second in end - covered..end {
                seconds
                    .entry(second)
                    .or_default()
                    .insert(signal.to_owned(), value);
            }
        }
    }
    (seconds, step_usual)
}

/// Whether the interval that ends at a moment meets a load.
fn touches(end: i64, step: i64, loads: &[RangeInclusive<i64>]) -> bool {
    let mut loads = loads.iter();
    loads.any(|load| end - step < *load.end() && end > *load.start())
}

/// Whether a mean over the interval that ends at a moment is one of the load: at most a tenth of
/// it, or a second, lies outside.
fn is_inside(end: i64, step: i64, loads: &[RangeInclusive<i64>]) -> bool {
    let mut loads = loads.iter();
    loads.any(|load| {
        let common = end.min(*load.end()) - (end - step).max(*load.start());
        step - common <= (step / 10).max(1) && load.contains(&end.min(*load.end()))
    })
}

/// Why rows that meet the load say nothing of it.
fn coarse(step: i64, loads: &[RangeInclusive<i64>]) -> String {
    let spans: Vec<String> = loads
        .iter()
        .map(|load| format!("{} s", load.end() - load.start()))
        .collect();
    format!(
        "its rows are means over {step} s, and the load lasted {}: no row lies within it, so each also tells of the time \
         without load; let `sar 1` (or `sadf` of a file with shorter intervals) run beside the load",
        spans.join(" and ")
    )
}

fn usual_step(moments: impl Iterator<Item = i64>) -> i64 {
    let moments: BTreeSet<i64> = moments.collect();
    let moments: Vec<i64> = moments.into_iter().collect();
    let mut steps: Vec<i64> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_unstable();
    let usual = steps.get(steps.len() / 2).copied().unwrap_or(1);
    usual.clamp(1, STEP_MAX_S)
}
