//! Files that other tools wrote, read for the commands that take them.

use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use weir_intake::{
    Aligned, Ask, Clock, IntakeError, Monitor, Part, ResultFile, Samples, TakenIn, take_in,
};
use weir_record::{RunDirectory, failed_to};

use crate::error::ExpectedError;
use crate::{output, stored};

/// A file that takes longer than a blink to read.
const LARGE_BYTES: u64 = 50_000_000;
/// A monitor's file is held whole in memory.
const MONITOR_BYTES_MAX: u64 = 1 << 30;

/// Result files and what was watched beside them.
pub(crate) struct Files<'a> {
    /// JMeter's result files.
    pub(crate) results: &'a [PathBuf],
    /// What monitors wrote.
    pub(crate) monitors: &'a [PathBuf],
    /// Watches of Weir that ran beside them.
    pub(crate) watches: &'a [RunDirectory],
    /// The zone of times that name none; `None`: this machine's.
    pub(crate) zone: Option<&'a str>,
    /// Seconds to drop at the beginning of each; `None` finds the warm-up.
    pub(crate) dropped_s: Option<u64>,
    /// CPUs of the machine that was watched; `None`: what the monitor says.
    pub(crate) cpus: Option<u32>,
    /// Which test of a file that holds several.
    pub(crate) part: Part,
}

/// What was taken in.
pub(crate) struct Loads {
    pub(crate) trials: Vec<TakenIn>,
    /// The machine that was watched.
    pub(crate) host: Option<String>,
    pub(crate) cpus: Option<u32>,
}

impl Files<'_> {
    /// Reads everything.
    pub(crate) fn take_in(&self) -> Result<Loads, ExpectedError> {
        let clock = self.clock()?;
        let mut results: Vec<Samples> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for path in self.results {
            let parts = result_file(path, &clock.zone)?
                .parts(self.part)
                .map_err(input)?;
            let several = parts.len() > 1;
            names.extend((1..=parts.len()).map(|number| {
                if several {
                    format!("{}, part {number}", name(path))
                } else {
                    name(path)
                }
            }));
            results.extend(parts);
        }
        let spans: Vec<_> = results
            .iter()
            .map(|samples| {
                let (start_ms, end_ms) = samples.span_ms();
                let second = |ms: u64| (ms / 1_000).cast_signed();
                second(start_ms)..=second(end_ms) + 1
            })
            .collect();
        let mut aligned: Vec<Aligned> = Vec::new();
        let (mut host, mut cpus) = (None, self.cpus);
        for path in self.monitors {
            let monitor = monitor(path, &results, &clock.zone)?;
            aligned.push(clock.align(&monitor, &spans).map_err(input)?);
            host = host.or_else(|| monitor.host().map(str::to_owned));
            cpus = cpus.or(monitor.cpus());
        }
        for directory in self.watches {
            aligned.push(watch(directory, &spans)?);
        }
        let mut trials = Vec::new();
        for (at, samples) in results.iter().enumerate() {
            let ask = Ask {
                id: at as u32 + 1,
                name: names[at].clone(),
                dropped_s: self.dropped_s,
                cpus,
            };
            trials.push(take_in(samples, &aligned, &ask).map_err(input)?);
        }
        Ok(Loads { trials, host, cpus })
    }

    fn clock(&self) -> Result<Clock, ExpectedError> {
        let Some(typed) = self.zone else {
            let zone = TimeZone::system();
            let name = zone
                .iana_name()
                .map_or_else(|| "UTC".to_owned(), str::to_owned);
            return Ok(Clock {
                zone,
                words: format!("{name}, the zone of this machine; --time-zone says another"),
            });
        };
        let zone = zone(typed).ok_or_else(|| {
            ExpectedError::Input(format!(
                "--time-zone {typed}: it reads like Europe/Berlin, UTC or +02:00"
            ))
        })?;
        Ok(Clock {
            zone,
            words: format!("{typed}, as --time-zone says"),
        })
    }
}

/// A watch, laid beside the loads.
fn watch(
    directory: &RunDirectory,
    loads: &[RangeInclusive<i64>],
) -> Result<Aligned, ExpectedError> {
    let name = directory.path().display().to_string();
    if !directory.watch_path().is_file() {
        return Err(ExpectedError::Input(format!(
            "{name}: it is no run of `weir watch`"
        )));
    }
    let seen = directory.watch().map_err(stored::failed)?;
    let started = directory.manifest().map_err(stored::failed)?.started;
    let started: Timestamp = started
        .parse()
        .map_err(|error| ExpectedError::Input(format!("{name}: run.toml: `{started}`: {error}")))?;
    let timeline = stored::timeline(&directory.trial(1).timeline())?.unwrap_or_default();
    let signals = seen.signals.into_iter();
    let origins = signals
        .map(|(signal, summary)| {
            (
                signal,
                format!("{name} {}", summary.origin).trim_end().to_owned(),
            )
        })
        .collect();
    Aligned::of_watch(&name, started.as_second(), &timeline, origins, loads).map_err(input)
}

/// A zone by its name, or by its distance from UTC.
fn zone(typed: &str) -> Option<TimeZone> {
    if let Ok(zone) = TimeZone::get(typed) {
        return Some(zone);
    }
    let (sign, rest) = match typed.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..=25).contains(&hours) || !(0..60).contains(&minutes) {
        return None;
    }
    let offset = jiff::tz::Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?;
    Some(TimeZone::fixed(offset))
}

/// What the trial of a file is called.
fn name(path: &Path) -> String {
    path.file_stem().map_or_else(
        || "load".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

fn result_file(path: &Path, zone: &TimeZone) -> Result<ResultFile, ExpectedError> {
    let shown = path.display().to_string();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let length = file.metadata().map_or(0, |facts| facts.len());
    if path.is_dir() {
        return Err(ExpectedError::Input(format!("{shown}: it is a directory")));
    }
    if length > LARGE_BYTES {
        output::talk(&format!("reading {shown} ({} MB)", length / 1_000_000));
    }
    ResultFile::read(file, &shown, zone).map_err(|error| {
        let text = failed_to(&error);
        ExpectedError::Input(match kind_of(path) {
            Some(kind) => format!("{text}; it is {kind}'s, give it with --sar or --csv"),
            None => text,
        })
    })
}

/// What a file is that is no result file.
fn kind_of(path: &Path) -> Option<weir_intake::MonitorKind> {
    use std::io::Read as _;
    let mut start = Vec::new();
    File::open(path)
        .ok()?
        .take(16 * 1024)
        .read_to_end(&mut start)
        .ok()?;
    weir_intake::MonitorKind::of(&String::from_utf8_lossy(&start))
}

fn monitor(path: &Path, results: &[Samples], zone: &TimeZone) -> Result<Monitor, ExpectedError> {
    let length = fs::metadata(path)
        .map_err(|error| unreadable(path, &error))?
        .len();
    if length > MONITOR_BYTES_MAX {
        return Err(ExpectedError::Input(format!(
            "{}: it has {} MB, more than {} MB; cut out the time of the load",
            path.display(),
            length / 1_000_000,
            MONITOR_BYTES_MAX / 1_000_000
        )));
    }
    let content = fs::read(path).map_err(|error| unreadable(path, &error))?;
    let start_ms = results.first().map_or(0, |samples| samples.span_ms().0);
    let start = Timestamp::from_millisecond(start_ms.cast_signed()).unwrap_or_default();
    let day = start.to_zoned(zone.clone()).date();
    Monitor::read(&content, &path.display().to_string(), day).map_err(input)
}

fn unreadable(path: &Path, error: &std::io::Error) -> ExpectedError {
    ExpectedError::Input(format!("{}: {error}", path.display()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn input(error: IntakeError) -> ExpectedError {
    ExpectedError::Input(failed_to(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_by_name_and_by_distance() {
        for typed in ["UTC", "Europe/Berlin", "+02:00", "-05:30", "+2"] {
            assert!(zone(typed).is_some(), "{typed}");
        }
        for typed in ["", "Berlin-ish", "2", "+", "+99:00", "+1:99"] {
            assert!(zone(typed).is_none(), "{typed}");
        }
    }
}
