//! How many backends the present load wants: shown, counted, and told to a program that starts and
//! stops them.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use weir_scale::{Second, Seconds, Steady, WantedServers};

use crate::error::GatewayError;
use crate::gatehouse::Shared;
use crate::live::Live;
use crate::settings::ScaleSettings;

const SECOND: Duration = Duration::from_secs(1);

/// What was found last.
#[derive(Debug, Default)]
pub(crate) struct ScaleBoard(Mutex<Option<ScaleSeen>>);

/// How many backends are wanted, or why nobody can tell.
#[derive(Debug, Clone)]
pub(crate) struct ScaleSeen {
    pub(crate) found: Result<Found, &'static str>,
    /// How many were asked for last.
    pub(crate) asked: u32,
}

/// How many backends are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) wanted: WantedServers,
    pub(crate) demand_s: f64,
    pub(crate) offered_per_s: f64,
}

impl ScaleBoard {
    /// `None` where the file does not ask for it.
    pub(crate) fn seen(&self) -> Option<ScaleSeen> {
        self.lock().clone()
    }

    fn put(&self, seen: Option<ScaleSeen>) {
        *self.lock() = seen;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ScaleSeen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that reckons; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ScaleWatch {
    _ends: Sender<()>,
}

impl ScaleWatch {
    /// Starts; what a program says that cannot be run is told in words.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        tell: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, GatewayError> {
        let (ends, ended) = mpsc::channel();
        let mut scaling = Scaling {
            shared: Arc::clone(shared),
            tell: Box::new(tell),
            seconds: Seconds::default(),
            before: None,
            steady: None,
            running: None,
        };
        thread::Builder::new()
            .name("weir-gate-scale".to_owned())
            .spawn(move || scaling.run(&ended))
            .map_err(GatewayError::Thread)?;
        Ok(Self { _ends: ends })
    }
}

struct Scaling {
    shared: Arc<Shared>,
    tell: Box<dyn Fn(&str) + Send>,
    seconds: Seconds,
    /// Sums as they were a second ago, and when.
    before: Option<(Instant, Second)>,
    steady: Option<Steady>,
    /// The program that was told last, while it runs.
    running: Option<Child>,
}

impl Scaling {
    fn run(&mut self, ended: &Receiver<()>) {
        while matches!(ended.recv_timeout(SECOND), Err(RecvTimeoutError::Timeout)) {
            let live = self.shared.current.get();
            let seen = live.settings.scale.as_ref();
            let seen = seen.map(|settings| self.second(&live, settings));
            self.shared.scale.put(seen);
        }
    }

    fn second(&mut self, live: &Live, settings: &ScaleSettings) -> ScaleSeen {
        let up = live.backends.iter().filter(|one| !one.is_down()).count() as u32;
        let found = self.count().and_then(|cpus| {
            let cpus = settings.cpus.unwrap_or(cpus / f64::from(up.max(1)));
            self.seconds.wanted(cpus, settings.goal)
        });
        let bounds = settings.bounds();
        let found = found.map(|found| Found {
            wanted: found.in_whole(&bounds),
            demand_s: found.demand_s,
            offered_per_s: found.offered_per_s,
        });
        let wanted = found.ok().map(|found| found.wanted);
        let steady = self
            .steady
            .get_or_insert_with(|| Steady::new(up.max(settings.min)));
        let now = self.shared.begun.elapsed();
        let asks = steady.at(now, wanted, &bounds);
        let asked = steady.asked();
        if let Some(count) = asks {
            self.ask(count, &settings.command);
        }
        ScaleSeen { found, asked }
    }

    /// Counts the second that is over; gives the CPUs of all backends.
    fn count(&mut self) -> Result<f64, &'static str> {
        let cpu = self.shared.cpu.seen();
        let (_, cpus) = cpu.busy().ok_or("the CPU of the backends is not read")?;
        let cpus = cpus.ok_or("nobody says how many CPUs the backends have")?;
        let counts = self.shared.flow.seen().counts;
        let now = Second {
            offered: counts.arrived as f64,
            ended: counts.finished as f64,
            busy_s: cpu.spent_s,
        };
        let before = self.before.replace((Instant::now(), now));
        if let Some((at, before)) = before {
            let length = at.elapsed().as_secs_f64();
            if length > 2.0 * SECOND.as_secs_f64() {
                // Nobody has counted for a while.
                self.seconds.clear();
            } else {
                self.seconds.push(Second {
                    offered: (now.offered - before.offered) / length,
                    ended: (now.ended - before.ended) / length,
                    busy_s: (now.busy_s - before.busy_s) / length,
                });
            }
        }
        Ok(cpus)
    }

    /// Tells the program. One that still runs from the last time is waited for by nobody: it is
    /// told again when it has ended.
    fn ask(&mut self, count: u32, command: &[String]) {
        let Some((program, words)) = command.split_first() else {
            return;
        };
        if let Some(running) = &mut self.running
            && matches!(running.try_wait(), Ok(None))
        {
            self.steady = None;
            return;
        }
        (self.tell)(&format!("{count} backends are wanted: {program} is told"));
        let started = Command::new(program)
            .args(words)
            .arg(count.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        match started {
            Ok(child) => self.running = Some(child),
            Err(error) => {
                (self.tell)(&format!("{program} cannot be run: {error}"));
                self.steady = None;
            }
        }
    }
}
