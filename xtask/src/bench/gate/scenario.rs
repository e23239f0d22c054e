//! What the rows about overload have in common: a server on a CPU of its own, gateways that take
//! turns in front of it, an open load, and figures of what came back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::bench::gate::SERVER_CPU;
use crate::bench::gate::backend::{Backend, HEAVY, LIGHT, WORK};
use crate::bench::gate::clients::{Answer, Arrival, Load};
use crate::bench::gate::figures::quantile;
use crate::bench::gate::peers::{Hold, Peer, Peers, Running, Subject};
use crate::bench::spread::spread;
use crate::error::TaskError;

/// An answer that comes later than this is worth nothing.
pub(crate) const GOOD_WITHIN: Duration = Duration::from_secs(1);
/// A client gives up after this.
const PATIENCE: Duration = Duration::from_secs(2);
pub(crate) const CLIENTS: usize = 1_000;
/// How long a request waits for its turn, where that can be said.
const WAIT: Duration = Duration::from_millis(200);
/// Which fixed limit is best is not known before.
pub(crate) const ANY_FIXED: &[u32] = &[2, 4, 8];
/// Where the best one is not asked for.
pub(crate) const ONE_FIXED: &[u32] = &[4];

/// A row.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) title: &'static str,
    /// What Weir is told in it.
    pub(crate) hold: Hold,
    /// Fixed limits that have their turns too.
    pub(crate) fixed: &'static [u32],
    /// How often a client sends a request again that was refused or given up.
    pub(crate) retries: u32,
    /// What comes, at a server of this capacity.
    pub(crate) arrivals: fn(Capacity, u64) -> Vec<Arrival>,
    /// What happens to the server meanwhile; gives back how long it was stopped.
    pub(crate) trouble: fn(&Backend, &Elapsed) -> Duration,
    /// Names of the figures.
    pub(crate) figures: &'static [&'static str],
    /// The figures of a turn.
    pub(crate) seen: fn(&Turn) -> Vec<f64>,
}

/// Requests a second that the server can answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Capacity {
    pub(crate) work: f64,
    pub(crate) light: f64,
    pub(crate) heavy: f64,
}

impl Capacity {
    fn times(self, speed: f64) -> Self {
        Self {
            work: self.work * speed,
            light: self.light * speed,
            heavy: self.heavy * speed,
        }
    }
}

/// What a turn has shown.
#[derive(Debug)]
pub(crate) struct Turn {
    /// As it was directly before and after the load: the machine's speed changes by a fifth from
    /// turn to turn.
    pub(crate) capacity: Capacity,
    pub(crate) answers: Vec<Answer>,
    /// How long the server was stopped, of all the time that the scenario's trouble lasted.
    pub(crate) stopped: Duration,
}

/// Whether a turn goes on; for what happens beside it.
#[derive(Debug, Default)]
pub(crate) struct Elapsed(AtomicBool);

impl Elapsed {
    /// Whether the load has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Nothing happens.
pub(crate) fn no_trouble(_: &Backend, _: &Elapsed) -> Duration {
    Duration::ZERO
}

impl Scenario {
    /// Lets every gateway have its turn in every round, and gives back the table.
    pub(crate) fn play(&self, peers: &Peers, rounds: u32) -> Result<String, TaskError> {
        let subjects = self.subjects();
        let mut seen = vec![Vec::new(); subjects.len()];
        for round in 0..rounds {
            // For each round anew: the machine changes from minute to minute.
            let capacity = capacity(peers)?;
            println!(
                "{}, round {}: {:.0}/s of {WORK}, {:.0}/s of {LIGHT}, {:.1}/s of {HEAVY}",
                self.title,
                round + 1,
                capacity.work,
                capacity.light,
                capacity.heavy
            );
            for step in 0..subjects.len() {
                let at = (step + round as usize) % subjects.len();
                let turn = self.turn(peers, subjects[at], capacity, u64::from(round))?;
                let figures = (self.seen)(&turn);
                println!("  {}: {figures:.1?}", subjects[at].name());
                seen[at].push(figures);
            }
        }
        Ok(self.table(&subjects, &seen))
    }

    fn subjects(&self) -> Vec<Subject> {
        let weir = |hold| Subject {
            peer: Peer::Weir,
            hold,
        };
        let mut subjects = vec![weir(self.hold)];
        let fixed = self.fixed.iter();
        subjects.extend(fixed.map(|limit| weir(Hold::Concurrency(*limit, WAIT))));
        subjects.push(Subject {
            peer: Peer::Haproxy,
            hold: Hold::Concurrency(4, WAIT),
        });
        subjects.push(Subject {
            peer: Peer::Nginx,
            hold: Hold::Nothing,
        });
        subjects
    }

    fn turn(
        &self,
        peers: &Peers,
        subject: Subject,
        capacity: Capacity,
        round: u64,
    ) -> Result<Turn, TaskError> {
        let backend = Backend::of(peers, SERVER_CPU)?;
        let gateway = peers.start(subject, backend.port())?;
        let before = backend.capacity_per_s(WORK);
        let load = Load {
            retries: self.retries,
            // Every gateway of a round meets the same arrivals.
            ..load(&gateway, (self.arrivals)(capacity, 11 + round), CLIENTS)
        };
        let elapsed = Elapsed::default();
        let (answers, stopped) = thread::scope(|scope| {
            let trouble = scope.spawn(|| (self.trouble)(&backend, &elapsed));
            let answers = load.send();
            elapsed.0.store(true, Ordering::Relaxed);
            (answers, trouble.join().expect("it does not panic"))
        });
        // One of our own may have much work left that nobody waits for any more.
        let backend = backend.anew(peers, SERVER_CPU)?;
        let speed = f64::midpoint(before, backend.capacity_per_s(WORK)) / capacity.work;
        Ok(Turn {
            capacity: capacity.times(speed),
            answers,
            stopped,
        })
    }

    fn table(&self, subjects: &[Subject], seen: &[Vec<Vec<f64>>]) -> String {
        let line =
            |first: &str, cells: Vec<String>| format!("| {first} | {} |\n", cells.join(" | "));
        let names = self.figures.iter().map(ToString::to_string).collect();
        let rule = format!("|:--|{}\n", "--:|".repeat(self.figures.len()));
        let rows = subjects.iter().zip(seen).map(|(subject, turns)| {
            let of = |at: usize| spread(turns.iter().map(|figures| figures[at]).collect(), 2);
            line(&subject.name(), (0..self.figures.len()).map(of).collect())
        });
        let rows: String = rows.collect();
        format!("{}\n\n{}{rule}{rows}", self.title, line("gateway", names))
    }
}

/// Measured without a gateway.
fn capacity(peers: &Peers) -> Result<Capacity, TaskError> {
    let backend = Backend::of(peers, SERVER_CPU)?;
    Ok(Capacity {
        work: backend.capacity_per_s(WORK),
        light: backend.capacity_per_s(LIGHT),
        heavy: backend.capacity_per_s(HEAVY),
    })
}

/// A load on a gateway, of clients that do not try again.
pub(crate) fn load(gateway: &Running, arrivals: Vec<Arrival>, clients: usize) -> Load {
    Load {
        port: gateway.port(),
        arrivals,
        clients,
        patience: PATIENCE,
        retries: 0,
    }
}

impl Turn {
    /// At a server of which only this is known: how many requests of [`WORK`] it can answer in a
    /// second.
    pub(crate) fn of_work(work: f64, answers: Vec<Answer>) -> Self {
        let capacity = Capacity {
            work,
            light: 0.0,
            heavy: 0.0,
        };
        Self {
            capacity,
            answers,
            stopped: Duration::ZERO,
        }
    }

    /// Of what arrived between two moments.
    pub(crate) fn between(&self, from: Duration, to: Duration) -> Window<'_> {
        let within = |answer: &&Answer| (from..to).contains(&answer.arrival.at);
        Window {
            answers: self.answers.iter().filter(within).collect(),
            length: to.saturating_sub(from),
        }
    }
}

/// Answers to what arrived in a while.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    answers: Vec<&'a Answer>,
    length: Duration,
}

impl Window<'_> {
    /// Those for a path alone.
    pub(crate) fn of(mut self, path: &str) -> Self {
        self.answers.retain(|answer| answer.arrival.path == path);
        self
    }

    /// Good answers a second.
    pub(crate) fn goodput(&self) -> f64 {
        let good = |answer: &&&Answer| answer.status == 200 && answer.took <= GOOD_WITHIN;
        self.answers.iter().filter(good).count() as f64 / self.length.as_secs_f64()
    }

    /// Requests a second.
    pub(crate) fn offered(&self) -> f64 {
        self.answers.len() as f64 / self.length.as_secs_f64()
    }

    /// From the intended start, of those that were let through, in milliseconds; what was given up
    /// counts as long as it was waited for.
    pub(crate) fn p99_ms(&self) -> f64 {
        let mut took: Vec<f64> = self
            .answers
            .iter()
            .filter(|answer| matches!(answer.status, 0 | 200))
            .map(|answer| answer.took.as_secs_f64() * 1e3)
            .collect();
        took.sort_by(f64::total_cmp);
        quantile(&took, 0.99)
    }

    /// Share that was refused or given up, in percent.
    pub(crate) fn refused_percent(&self) -> f64 {
        let refused = self.answers.iter().filter(|answer| answer.status != 200);
        refused.count() as f64 * 100.0 / (self.answers.len() as f64).max(1.0)
    }
}
