//! The CPU of the servers behind: a thread reads how busy it is and tells the admission.
//!
//! Without a reading nothing stops: the limit is found from throughput and response times
//! meanwhile, the status says that the CPU is not read and why, and the server is looked for again.

mod place;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::GatewayError;
use crate::gatehouse::Shared;
use place::{Found, NotFound};
use weir_probe::{BusyOf, BusyReader};

pub(crate) use place::Place;

/// Between two readings that a limit steers by.
const EVERY: Duration = Duration::from_millis(200);
/// Between two readings of a page of metrics, which cost the server something, or of what is only
/// shown.
const EVERY_SELDOM: Duration = Duration::from_secs(1);
/// Between two looks for what was not there: at first, and at most, twice as long each time. To
/// look for a process means to go through all of them.
const FIND_EVERY: Duration = Duration::from_secs(1);
const FIND_EVERY_MAX: Duration = Duration::from_secs(10);
/// Between two looks whether the same process still listens: one that is replaced may live on to
/// end what it has begun.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A reading that is older says nothing of the present.
const FRESH: Duration = Duration::from_secs(3);

/// Who is told in words what happens to the reading.
pub(crate) type Tell = Box<dyn Fn(&str) + Send>;

/// The thread that reads; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct CpuWatch {
    _ends: Sender<()>,
}

/// What was read last.
#[derive(Debug, Default)]
pub(crate) struct CpuBoard(Mutex<CpuSeen>);

/// How the reading stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct CpuSeen {
    /// Whether there is anything to read at all.
    pub(crate) is_wanted: bool,
    /// The busy share that a limit is to hold.
    pub(crate) goal: Option<f64>,
    /// Where it is read.
    pub(crate) from: Option<String>,
    /// The last busy share, of how many CPUs, and when.
    last: Option<(Instant, f64, Option<f64>)>,
    /// CPU time that was seen to be spent, in seconds, since the gateway began.
    pub(crate) spent_s: f64,
    /// Why it is not read.
    pub(crate) not_read: Option<String>,
    /// Readings since the gateway began.
    pub(crate) readings: u64,
    /// Times that it was read before and then was not.
    pub(crate) losses: u64,
}

impl CpuSeen {
    /// The busy share now, and of how many CPUs.
    pub(crate) fn busy(&self) -> Option<(f64, Option<f64>)> {
        let (at, busy, cpus) = self.last?;
        (at.elapsed() < FRESH).then_some((busy, cpus))
    }
}

impl CpuBoard {
    /// How the reading stands.
    pub(crate) fn seen(&self) -> CpuSeen {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn change(&self, change: impl FnOnce(&mut CpuSeen)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl CpuWatch {
    /// Starts reading what the settings in force ask for.
    pub(crate) fn start(shared: &Arc<Shared>, tell: Tell) -> Result<Self, GatewayError> {
        let (ends, ended) = mpsc::channel();
        let mut reading = Reading {
            shared: Arc::clone(shared),
            tell,
            place: None,
            reader: None,
            find_at: Some(Instant::now()),
            find_every: FIND_EVERY,
            look_at: Instant::now(),
            was_told: None,
        };
        // Before anybody can ask how it stands.
        reading.renew();
        // Nobody waits for its end, which a server that does not answer would put off.
        thread::Builder::new()
            .name("weir-gate-cpu".to_owned())
            .spawn(move || reading.run(&ended))
            .map_err(GatewayError::Thread)?;
        Ok(Self { _ends: ends })
    }
}

/// What the thread knows.
struct Reading {
    shared: Arc<Shared>,
    tell: Tell,
    /// Where to read, by the settings of a generation.
    place: Option<(u64, Place)>,
    reader: Option<Reader>,
    /// When the server is looked for, if it is not read; `None`: there is nothing to look for.
    find_at: Option<Instant>,
    find_every: Duration,
    look_at: Instant,
    /// What was told last: where it is read, or that it is not.
    was_told: Option<Result<String, ()>>,
}

/// What is read, and how it was come by.
struct Reader {
    of: BusyOf,
    from: String,
    busy: BusyReader,
}

impl Reading {
    fn run(mut self, ended: &Receiver<()>) {
        loop {
            let every = self.round();
            if !matches!(ended.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
                return;
            }
        }
    }

    /// Reads once; gives the time until the next reading.
    fn round(&mut self) -> Duration {
        let place = self.renew();
        if !place.is_anywhere() {
            return EVERY_SELDOM;
        }
        let now = Instant::now();
        if self.reader.is_some() && now >= self.look_at {
            self.look_again(&place, now);
        }
        if self.reader.is_none() && self.find_at.is_some_and(|at| now >= at) {
            self.find(&place, now);
        }
        self.read(&place, now);
        if place.steers() && !place.is_page() {
            EVERY
        } else {
            EVERY_SELDOM
        }
    }

    /// Where to read by the settings in force.
    fn renew(&mut self) -> Place {
        let live = self.shared.current.get();
        if let Some((generation, place)) = &self.place
            && *generation == live.generation
        {
            return place.clone();
        }
        let place = Place::of(&live);
        let before = self.place.replace((live.generation, place.clone()));
        if before.is_none_or(|(_, before)| !before.is_same(&place)) {
            self.reader = None;
            self.find_at = Some(Instant::now());
            self.find_every = FIND_EVERY;
            self.shared.cpu.change(|seen| {
                seen.from = None;
                seen.last = None;
                seen.not_read = None;
            });
        }
        self.shared.cpu.change(|seen| {
            seen.is_wanted = place.is_anywhere();
            seen.goal = place.goal();
        });
        place
    }

    fn find(&mut self, place: &Place, now: Instant) {
        match place.find() {
            Ok(found) => self.begin(found, now),
            Err(NotFound(why)) => {
                self.find_at = Some(now + self.find_every);
                self.find_every = (self.find_every * 2).min(FIND_EVERY_MAX);
                self.lose(place, why);
            }
        }
    }

    fn begin(&mut self, found: Found, now: Instant) {
        let Found { of, from } = found;
        self.look_at = now + LOOK_EVERY;
        self.reader = Some(Reader {
            busy: BusyReader::new(of.clone()),
            of,
            from,
        });
    }

    /// Another process may listen by now.
    fn look_again(&mut self, place: &Place, now: Instant) {
        self.look_at = now + LOOK_EVERY;
        if let Some(reader) = &self.reader
            && !place.still_listen(&reader.of)
            && let Ok(found) = place.find()
            && found.of != reader.of
        {
            self.begin(found, now);
        }
    }

    fn read(&mut self, place: &Place, now: Instant) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        match reader.busy.read(now) {
            Ok(None) => {}
            Ok(Some(busy)) => {
                let (from, cpus) = (reader.from.clone(), reader.busy.cpus());
                self.shared.flow.read_cpu(busy);
                self.shared.cpu.change(|seen| {
                    // A reading is of the time since the one before.
                    let since = seen.last.map(|(at, ..)| at.elapsed());
                    if let (Some(since), Some(cpus)) = (since.filter(|it| *it < FRESH), cpus) {
                        seen.spent_s += busy * cpus * since.as_secs_f64();
                    }
                    seen.last = Some((Instant::now(), busy, cpus));
                    seen.not_read = None;
                    seen.readings += 1;
                    seen.from = Some(from.clone());
                });
                self.find_every = FIND_EVERY;
                self.say(place, Ok(from));
            }
            Err(error) => {
                self.find_at = place.find_again().map(|after| now + after);
                self.reader = None;
                self.lose(place, place::cannot(&error));
            }
        }
    }

    fn lose(&mut self, place: &Place, why: String) {
        self.shared.cpu.change(|seen| {
            seen.losses += u64::from(seen.last.take().is_some());
            seen.not_read = Some(why.clone());
        });
        self.say(place, Err(why));
    }

    /// Says once what has changed, if a limit depends on it.
    fn say(&mut self, place: &Place, now: Result<String, String>) {
        let state = now.clone().map_err(drop);
        if !place.steers() || self.was_told.as_ref() == Some(&state) {
            return;
        }
        match now {
            Ok(from) => (self.tell)(&format!("the CPU of the backends is read: {from}")),
            Err(why) => (self.tell)(&format!(
                "the CPU of the backends is not read: {why}; the limit goes on by throughput and response times"
            )),
        }
        self.was_told = Some(state);
    }
}
