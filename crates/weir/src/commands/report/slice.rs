//! `weir report RUN --from 10:00 --to 10:15`: means over a part of a run.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, ToSpan as _, Zoned};
use weir_record::{IntervalHistograms, RunDirectory, Slice, failed_to};

use crate::error::ExpectedError;
use crate::{output, stored};

/// One end of a part: a time of the clock, or so long after the start of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    /// `10:00`, on the first day on which the run has that time.
    Clock(Time),
    /// `2026-11-29T10:00`.
    Day(DateTime),
    /// `90s`, `2min`.
    After(Duration),
}

/// Reads one end.
pub(super) fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(after) = weir_metric::parse_duration(text) {
        return Ok(Moment::After(after));
    }
    if let Ok(time) = text.parse() {
        return Ok(Moment::Clock(time));
    }
    text.parse().map(Moment::Day).map_err(|_| {
        "write a time of the clock such as 10:00 or 10:00:30, a day with it such as 2026-11-29T10:00, or a time since the \
         start of the run such as 90s"
            .to_owned()
    })
}

impl Moment {
    /// When it is, in a run that started then.
    fn at(self, started: &Zoned) -> Result<Timestamp, jiff::Error> {
        let zone = started.time_zone();
        match self {
            Self::After(after) => started.timestamp().checked_add(after),
            Self::Day(day) => Ok(day.to_zoned(zone.clone())?.timestamp()),
            Self::Clock(time) => {
                // A minute that began before the run did is the run's first.
                let first = started.datetime().checked_sub(1.minute())?;
                let mut day = started.date().to_datetime(time);
                if day < first {
                    day = day.checked_add(1.day())?;
                }
                Ok(day.to_zoned(zone.clone())?.timestamp())
            }
        }
    }
}

/// Prints the means of every load or watch of the run that lies in the part.
pub(super) fn print(
    directory: &RunDirectory,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<u8, ExpectedError> {
    let manifest = directory.manifest().map_err(stored::failed)?;
    let wrong = |error: jiff::Error| ExpectedError::Input(error.to_string());
    let started: Timestamp = manifest.started.parse().map_err(wrong)?;
    let started = started.to_zoned(jiff::tz::TimeZone::system());
    let at = |moment: Option<Moment>, otherwise: Timestamp| {
        moment.map_or(Ok(otherwise), |moment| moment.at(&started).map_err(wrong))
    };
    let part = at(from, Timestamp::MIN)?..at(to, Timestamp::MAX)?;
    if part.start >= part.end {
        return Err(ExpectedError::Input(
            "--from lies behind --to; write the earlier one first".to_owned(),
        ));
    }
    let mut found = false;
    let mut whole: Option<Range<Timestamp>> = None;
    for trial in 1.. {
        let files = directory.trial(trial);
        let Some(timeline) = stored::timeline(&files.timeline())? else {
            break;
        };
        let (began, histograms) = log(&files.responses(), started.timestamp())?;
        let ended = began
            .checked_add(Duration::from_secs(timeline.len() as u64))
            .map_err(wrong)?;
        whole = Some(whole.map_or(began..ended, |whole| whole.start..ended));
        let seconds = second_of(began, part.start)..second_of(began, part.end);
        let slice = Slice::of(&timeline, &histograms, seconds.clone());
        let slice = slice.map_err(|error| ExpectedError::Input(failed_to(&error)))?;
        if slice.seconds == 0 {
            continue;
        }
        found = true;
        let title = format!(
            "trial {trial}, from {}",
            clock(began, seconds.start, &started)
        );
        output::data_lines(&weir_report::slice_table(&title, &slice));
    }
    if found {
        return Ok(0);
    }
    let lasted = whole.map_or_else(String::new, |whole| {
        let time = |at: Timestamp| {
            at.to_zoned(started.time_zone().clone())
                .strftime("%H:%M:%S")
                .to_string()
        };
        format!(
            "; it has seconds from {} to {}",
            time(whole.start),
            time(whole.end)
        )
    });
    Err(ExpectedError::Input(format!(
        "{}: no second of the run lies between --from and --to{lasted}",
        directory.path().display()
    )))
}

/// The first second of a load that begins at or behind a moment.
fn second_of(began: Timestamp, moment: Timestamp) -> usize {
    let behind = moment
        .as_millisecond()
        .saturating_sub(began.as_millisecond());
    usize::try_from(behind.max(0))
        .unwrap_or(usize::MAX)
        .div_ceil(1_000)
}

/// The time of the clock at a second.
fn clock(began: Timestamp, second: usize, started: &Zoned) -> String {
    let at = began.checked_add(Duration::from_secs(second as u64));
    let at = at.unwrap_or(began).to_zoned(started.time_zone().clone());
    at.strftime("%H:%M:%S").to_string()
}

/// When a load began, and its response times; of a watch, when the run started.
fn log(path: &Path, started: Timestamp) -> Result<(Timestamp, IntervalHistograms), ExpectedError> {
    let Ok(text) = std::fs::read(path) else {
        return Ok((started, IntervalHistograms::default()));
    };
    let wrong = |error: &dyn std::error::Error| {
        ExpectedError::Input(format!("{}: {}", path.display(), failed_to(error)))
    };
    let read = IntervalHistograms::read_hlog(&text).map_err(|error| wrong(&error))?;
    let began = IntervalHistograms::start_of_hlog(&text).map_err(|error| wrong(&error))?;
    let began = began.and_then(|began| Timestamp::try_from(began).ok());
    Ok((began.unwrap_or(started), read))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn at(started: &str, text: &str) -> String {
        let started: Zoned = started.parse().unwrap();
        let moment = moment(text).unwrap().at(&started).unwrap();
        moment
            .to_zoned(started.time_zone().clone())
            .datetime()
            .to_string()
    }

    #[test]
    fn a_moment_is_of_the_clock_of_a_day_or_after_the_start() {
        let started = "2026-11-29T09:50:00+01:00[Europe/Berlin]";
        assert_eq!(at(started, "10:00"), "2026-11-29T10:00:00");
        assert_eq!(at(started, "90s"), "2026-11-29T09:51:30");
        assert_eq!(at(started, "2026-11-30T01:00"), "2026-11-30T01:00:00");
        // The run went on into the next day.
        assert_eq!(at(started, "00:15:30"), "2026-11-30T00:15:30");
        assert!(moment("soon").unwrap_err().contains("10:00"));
    }

    #[test]
    fn seconds_count_from_the_beginning_of_the_load() {
        let began: Timestamp = "2026-11-29T10:00:00.4Z".parse().unwrap();
        assert_eq!(second_of(began, "2026-11-29T10:00:00Z".parse().unwrap()), 0);
        assert_eq!(second_of(began, "2026-11-29T10:00:02Z".parse().unwrap()), 2);
        assert_eq!(second_of(began, Timestamp::MIN), 0);
    }
}
