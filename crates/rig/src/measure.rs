//! One load and one watch on one time origin, followed until the window is long enough.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use weir_load::{LoadSettings, SampleSink};
use weir_metric::CpuSet;
use weir_probe::{Arrivals, Origins, TimedReading, WatchPlan, WatchThread};
use weir_record::{
    Decision, Figures, InvalidReason, LoadSecond, NotSteady, Recording, SecondView, TrialError,
    TrialObserver, Window, decide, failed_to, names,
};
use weir_script::Target;

use crate::engine::{Engine, LoadEnd, RunningEngine, launch};

/// From setting everything up to the first second of the load: what the watch and the runtimes take
/// to be ready. Whoever takes longer begins late in a first second that is shorter.
const LEAD: Duration = Duration::from_millis(20);
/// How long a second's readings may come after the second's load: what another machine may take to
/// answer and a bit.
const WATCH_PATIENCE: Duration = Duration::from_millis(850);
/// How often an interrupt and the target are looked at while waiting for the next second.
const LOOK: Duration = Duration::from_millis(100);
/// How long samples that run at the end may take beyond the longest one seen.
const DRAIN_EXTRA: Duration = Duration::from_secs(10);
/// How long nothing may be said while waiting for them.
const SILENCE: Duration = Duration::from_secs(2);

/// How long a load runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Length {
    /// As the plan says; the window is all of it.
    AsPlanned,
    /// Until the window is long enough; loops and durations of the plan are overridden.
    Window(Window),
}

/// What to measure.
#[derive(Debug)]
pub struct Measurement<'a> {
    /// What sends it, with its plan.
    pub engine: Engine,
    /// Overrides host and port of every sampler; a JMeter's plan has it in itself.
    pub target: Option<Target>,
    /// Hosts that responses may lead Weir's own engine to although their addresses are public.
    pub allowed_hosts: Vec<String>,
    /// CPUs of the load generator and of the watch.
    pub load_cpus: Option<CpuSet>,
    /// Seed of the think times of Weir's own engine; JMeter draws its own.
    pub seed: u64,
    /// What is watched beside the load.
    pub watch: WatchPlan,
    /// How many samples all users of Weir's own engine together may start; without, as many as the
    /// plan says.
    pub samples_max: Option<u64>,
    /// Users of Weir's own engine that are refused again and again wait before they try once more.
    pub backs_off: bool,
    /// Who gets every sample of Weir's own engine; a JMeter is started with its own file.
    pub samples: Option<SampleSink>,
    /// How long.
    pub length: Length,
    /// Set from outside to stop early.
    pub interrupted: &'a AtomicBool,
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// Every second.
    pub recording: Recording,
    /// The seconds that count.
    pub window: Range<usize>,
    /// Why they are not steady, if they are not.
    pub not_steady: Option<NotSteady>,
    /// Wall-clock time of the time origin.
    pub started: SystemTime,
    /// From the time origin to the last that was heard of the load.
    pub elapsed: Duration,
    /// Whether it was stopped from outside.
    pub interrupted: bool,
    /// What cut it short: the target ended, a figure could not be recorded.
    pub failed: Option<TrialError>,
    /// What the load engine says at its end.
    pub load: LoadEnd,
    /// For every signal that the watch read, where it came from.
    pub origins: Origins,
}

/// Runs a load and watches it. `still_there` is asked now and then whether the target still runs;
/// when it does not, what was measured until then comes back with the error.
pub fn measure(
    measurement: Measurement<'_>,
    observer: &mut dyn TrialObserver,
    mut still_there: impl FnMut() -> Result<(), TrialError>,
) -> Result<Measured, TrialError> {
    let engine = launch(measurement.engine, measurement.interrupted)?;
    let mut watched = measurement.watch;
    watched.load_pids = engine.pids();
    let origin = Instant::now() + LEAD;
    let started = SystemTime::now() + LEAD;
    let (watch, readings) = WatchThread::start(watched, origin, measurement.load_cpus.clone())
        .map_err(|error| TrialError::Environment(failed_to(&error)))?;
    let length = match measurement.length {
        Length::AsPlanned => weir_load::Length::AsPlanned,
        Length::Window(_) => weir_load::Length::UntilStopped,
    };
    let load = engine.begin(origin, started, |plan| LoadSettings {
        plan,
        target: measurement.target,
        allowed_hosts: measurement.allowed_hosts,
        cpus: measurement.load_cpus,
        seed: measurement.seed,
        length,
        samples_max: measurement.samples_max,
        backs_off: measurement.backs_off,
        samples: measurement.samples,
        origin,
        started,
    })?;
    let interrupted = measurement.interrupted;
    let mut following = Following {
        load: &load,
        readings: &readings,
        recording: Recording::new(),
        length: measurement.length,
        interrupted,
        failed: 0,
        longest: Duration::ZERO,
        heard: origin,
    };
    let (end, failed) = match following.until_end(observer, &mut still_there) {
        Ok(end) => (end, None),
        Err(error) => (following.all_seconds(false), Some(error)),
    };
    let heard = following.heard.saturating_duration_since(origin);
    let (recording, longest) = (following.recording, following.longest);
    load.stop();
    let origins = watch.stop();
    // A target that is gone answers nothing more, and whoever interrupts has waited enough.
    let patience = if failed.is_some() || end.interrupted {
        Duration::ZERO
    } else {
        await_last_samples(&load, longest + DRAIN_EXTRA, interrupted, observer)
    };
    let summary = load.join(patience);
    Ok(Measured {
        recording,
        window: end.window,
        not_steady: end.not_steady,
        started,
        elapsed: summary.ended().unwrap_or(heard),
        interrupted: end.interrupted,
        failed,
        load: summary,
        origins,
    })
}

/// Waits for the samples that still run, and says so when it takes long; what is left of the
/// patience when they have ended or somebody interrupts.
fn await_last_samples(
    load: &RunningEngine,
    patience: Duration,
    interrupted: &AtomicBool,
    observer: &mut dyn TrialObserver,
) -> Duration {
    let begun = Instant::now();
    let mut said = false;
    while !matches!(load.next_second(LOOK), Err(RecvTimeoutError::Disconnected)) {
        if begun.elapsed() >= patience || interrupted.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        if !said && begun.elapsed() >= SILENCE {
            said = true;
            observer.note(&format!(
                "waiting for requests that are not answered yet, at most {} s",
                patience.as_secs()
            ));
        }
    }
    patience.saturating_sub(begun.elapsed())
}

impl Measured {
    /// What speaks against using it, as far as it is known before its figures are.
    pub fn against(&self) -> Vec<InvalidReason> {
        let steady = self.not_steady.map(|why| InvalidReason::NotSteady { why });
        steady.into_iter().chain(self.load.against()).collect()
    }
}

/// How following a load ended.
struct End {
    window: Range<usize>,
    not_steady: Option<NotSteady>,
    interrupted: bool,
}

struct Following<'a> {
    load: &'a RunningEngine,
    readings: &'a Receiver<TimedReading>,
    recording: Recording,
    length: Length,
    interrupted: &'a AtomicBool,
    failed: u64,
    longest: Duration,
    heard: Instant,
}

impl Following<'_> {
    fn until_end(
        &mut self,
        observer: &mut dyn TrialObserver,
        still_there: &mut impl FnMut() -> Result<(), TrialError>,
    ) -> Result<End, TrialError> {
        let mut last_words: Option<Instant> = None;
        loop {
            match self.load.next_second(LOOK) {
                Ok((second, own)) => {
                    if !own.is_empty() {
                        self.recording.add_signals(second.second, own);
                    }
                    if let Some(end) = self.after_second(&second, observer)? {
                        return Ok(end);
                    }
                }
                Err(RecvTimeoutError::Timeout) => still_there()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(self.all_seconds(last_words.is_some()));
                }
            }
            if !self.interrupted.load(Ordering::Relaxed) {
                continue;
            }
            // A trial of a study has nothing to tell any more. A run is all that there will be:
            // what ended in the second that was cut short counts too.
            let until = *last_words.get_or_insert_with(|| {
                self.load.stop();
                observer.note("stopping: samples that run may finish; once more ends at once");
                Instant::now() + self.longest + DRAIN_EXTRA
            });
            if self.length != Length::AsPlanned || Instant::now() >= until {
                return Ok(self.all_seconds(true));
            }
        }
    }

    /// Everything that was measured, for runs that end by themselves or are interrupted.
    fn all_seconds(&self, interrupted: bool) -> End {
        End {
            window: 0..self.recording.seconds(),
            not_steady: None,
            interrupted,
        }
    }

    fn after_second(
        &mut self,
        second: &LoadSecond,
        observer: &mut dyn TrialObserver,
    ) -> Result<Option<End>, TrialError> {
        self.heard = Instant::now();
        self.recording
            .add_load(second)
            .map_err(|error| TrialError::Storage(failed_to(&error)))?;
        self.take_readings(second.second);
        self.failed += second.failed();
        for class in &second.classes {
            self.longest = self
                .longest
                .max(Duration::from_micros(class.response_us.max()));
        }
        let decision = match &self.length {
            Length::AsPlanned => None,
            Length::Window(window) => Some(
                decide(&self.recording, window, self.cycle_s())
                    .map_err(|error| TrialError::Input(failed_to(&error)))?,
            ),
        };
        let remaining_s = match &decision {
            Some(Decision::Continue(progress)) => Some(progress.remaining_s),
            Some(_) => Some(0),
            None => self
                .load
                .planned_end()
                .map(|end| end.as_secs().saturating_sub(second.second + 1)),
        };
        observer.load(second);
        observer.second(&self.view(second, remaining_s));
        Ok(match decision {
            Some(Decision::Done(window)) => Some(End {
                window,
                not_steady: None,
                interrupted: false,
            }),
            Some(Decision::NotSteady { window, why }) => Some(End {
                window,
                not_steady: Some(why),
                interrupted: false,
            }),
            Some(Decision::Continue(_)) | None => None,
        })
    }

    /// Takes what the watch has read up to this second of the load.
    fn take_readings(&mut self, second: u64) {
        let until = Instant::now() + WATCH_PATIENCE;
        loop {
            let patience = until.saturating_duration_since(Instant::now());
            let Ok(read) = self.readings.recv_timeout(patience) else {
                return;
            };
            // The watch counts ends of seconds, the load their beginnings.
            let Some(of) = read.second.checked_sub(1) else {
                continue;
            };
            match read.reading {
                Some(reading) => {
                    let signals = reading
                        .into_iter()
                        .map(|(name, value)| (name.to_string(), value))
                        .collect();
                    self.recording.add_signals(of, signals);
                }
                None => self.recording.miss_signals(of),
            }
            self.take_arrivals(of, read.arrivals);
            for (signal, why) in read.not_read {
                self.recording.note_not_read(signal, why);
            }
            if of >= second {
                return;
            }
        }
    }

    fn take_arrivals(&mut self, second: u64, arrivals: Arrivals) {
        match arrivals {
            Arrivals::NotWatched => {}
            Arrivals::Unreadable(why) => {
                self.recording.note_not_read(names::ARRIVAL_TO_READ, why);
            }
            Arrivals::Read(seen) => {
                let until_read_ns = seen.iter().map(|times| times.until_read_ns);
                self.recording.add_arrivals(second, until_read_ns);
            }
        }
    }

    /// Mean time from one request of a user to its next, by Little's law over all seconds so far.
    fn cycle_s(&self) -> f64 {
        let seconds = 0..self.recording.seconds();
        let sum = |name: &str| -> f64 {
            let series = self.recording.timeline.series(name, seconds.clone());
            series.into_iter().flatten().sum()
        };
        let answered = sum(names::THROUGHPUT);
        if answered > 0.0 {
            sum(names::USERS) / answered
        } else {
            0.0
        }
    }

    fn view(&self, second: &LoadSecond, remaining_s: Option<u64>) -> SecondView {
        SecondView {
            remaining_s,
            users: second.users,
            in_flight: second.open.as_ref().and(second.in_flight),
            stretch: Figures::of_stretch(&self.recording),
            failed: self.failed,
            ..SecondView::of(&self.recording)
        }
    }
}
