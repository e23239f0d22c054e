//! One result file with what was watched beside it, as a trial.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use weir_record::{
    Context, Level, Levels, Recording, Role, Treatment, TrialRecord, Window, evaluate, names,
};

use crate::IntakeError;
use crate::align::Aligned;
use crate::samples::Samples;
use crate::window::choose;

/// A monitor that read less than this share of the window is noted.
const COVERED_MIN: f64 = 0.8;

/// What is asked of one result file.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The trial's number, from 1.
    pub id: u32,
    /// What the trial is called.
    pub name: String,
    /// Seconds to drop at the beginning; `None` finds the warm-up.
    pub dropped_s: Option<u64>,
    /// CPUs of the machine that was watched; `None` when nobody knows.
    pub cpus: Option<u32>,
}

/// A trial that somebody else has run.
#[derive(Debug)]
pub struct TakenIn {
    /// Its record, with notes of everything that was assumed or dropped.
    pub record: TrialRecord,
    /// Its seconds and histograms.
    pub recording: Recording,
    /// When it started.
    pub started: SystemTime,
    /// The seconds that count.
    pub window: Range<usize>,
}

/// Makes a trial of a result file.
pub fn take_in(samples: &Samples, monitors: &[Aligned], ask: &Ask) -> Result<TakenIn, IntakeError> {
    let recording = recording(samples, monitors)?;
    let (start_ms, end_ms) = samples.span_ms();
    let length_s = (end_ms - start_ms / 1_000 * 1_000) as f64 / 1e3;
    let choice = choose(&recording, length_s, ask.dropped_s)?;
    if choice.window.is_empty() {
        return Err(IntakeError::NoWindow {
            file: samples.file().to_owned(),
            says: format!(
                "nothing is left of its {length_s:.0} s behind the {} s that are to be dropped",
                ask.dropped_s.unwrap_or(0)
            ),
        });
    }
    let mut record = evaluated(&recording, choice.window.clone(), length_s, samples, ask)?;
    record.notes.extend(choice.notes);
    record.notes.push(when(samples, &choice.window));
    record.adjust(samples.adjustments());
    record.notes.extend(samples.note());
    for monitor in monitors {
        record.notes.extend(monitor.notes.iter().cloned());
        record.adjust(monitor.adjustments.iter().cloned());
    }
    if !monitors.is_empty() {
        record.notes.extend(coverage(&recording, &choice.window));
    }
    record.signal_origins = origins(&record, samples, monitors);
    Ok(TakenIn {
        record,
        recording,
        started: SystemTime::UNIX_EPOCH + Duration::from_secs(samples.origin_s().unsigned_abs()),
        window: choice.window,
    })
}

fn recording(samples: &Samples, monitors: &[Aligned]) -> Result<Recording, IntakeError> {
    let mut recording = Recording::new();
    let origin = samples.origin_s();
    for second in samples.seconds() {
        let number = second.second;
        recording.add_load(&second)?;
        let epoch_s = origin + number.cast_signed();
        for reading in monitors
            .iter()
            .filter_map(|monitor| monitor.seconds.get(&epoch_s))
        {
            recording.add_signals(number, reading.clone());
        }
    }
    Ok(recording)
}

fn evaluated(
    recording: &Recording,
    window: Range<usize>,
    length_s: f64,
    samples: &Samples,
    ask: &Ask,
) -> Result<TrialRecord, IntakeError> {
    let users = samples.users();
    let levels = users.map(|users| ("users".to_owned(), Level::Number(f64::from(users))));
    let treatment = Treatment {
        id: ask.id,
        role: Role::Case,
        case: Some(ask.name.clone()),
        block: None,
        levels: levels.into_iter().collect::<Levels>(),
        window: Window::fixed(
            Duration::from_secs(window.start as u64),
            Duration::from_secs(window.len() as u64),
        ),
        seed: 0,
    };
    let context = Context {
        treatment: &treatment,
        population: users.unwrap_or(0),
        target_cpus: ask.cpus.unwrap_or(1),
        load: None,
        repeats: 0,
        ended_after: (window.end as f64 >= length_s).then(|| Duration::from_secs_f64(length_s)),
        against: Vec::new(),
    };
    let mut record = evaluate(recording, window, &context)?;
    if users.is_none() {
        record.notes.push(format!(
            "{} does not say how many users there were",
            samples.file()
        ));
    }
    Ok(record)
}

/// When the samples were, and which part of them counts.
fn when(samples: &Samples, window: &Range<usize>) -> String {
    let (start_ms, end_ms) = samples.span_ms();
    let shown = |epoch_ms: u64| {
        let moment = Timestamp::from_millisecond(epoch_ms.cast_signed());
        moment.map_or_else(
            |_| epoch_ms.to_string(),
            |moment| moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        )
    };
    format!(
        "{}: {} samples from {} to {}; seconds {} to {} of {} count",
        samples.file(),
        samples.count(),
        shown(start_ms),
        shown(end_ms),
        window.start,
        window.end,
        (end_ms - start_ms).div_ceil(1_000)
    )
}

/// What of the window no monitor has seen.
fn coverage(recording: &Recording, window: &Range<usize>) -> Option<String> {
    let read = window.clone().filter(|second| {
        let reading = recording.timeline.second(*second);
        reading.is_some_and(|reading| reading.contains_key(names::CPU))
    });
    let read = read.count();
    let enough = read as f64 >= COVERED_MIN * window.len() as f64;
    (!enough).then(|| {
        format!(
            "the CPU was read in {read} of the {} seconds that count; figures of it are means over these alone",
            window.len()
        )
    })
}

/// Where each signal came from.
fn origins(
    record: &TrialRecord,
    samples: &Samples,
    monitors: &[Aligned],
) -> BTreeMap<String, String> {
    let watched = |signal: &String| {
        let mut origins = monitors.iter().map(|monitor| &monitor.origins);
        origins.find_map(|origins| origins.get(signal).cloned())
    };
    let counted = format!("{} (JMeter's result file)", samples.file());
    let signals = record.signals.keys();
    signals
        .map(|signal| {
            (
                signal.clone(),
                watched(signal).unwrap_or_else(|| counted.clone()),
            )
        })
        .collect()
}
