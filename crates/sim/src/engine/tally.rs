//! Figures while they are collected: histograms, and what was counted up to the last second.

use hdrhistogram::Histogram;

use super::center::{CenterState, Meter};
use super::client::{ClientCounts, ClientState, FAILURES, Failure};
use super::{GateState, Simulation};
use crate::durations::Durations;
use crate::network::{CenterKind, Network};
use crate::totals::{CenterTotals, ClassTotals, GateTotals, Totals};

/// Averages over one second, or whatever time has passed.
#[derive(Debug, Clone)]
pub struct Second {
    /// Its length.
    pub seconds: f64,
    /// Of each class.
    pub classes: Vec<ClassSeen>,
    /// Of each station and limit; copies in a group together.
    pub centers: Vec<CenterSeen>,
    /// Servers of each group that get requests, at its end.
    pub servers: Vec<u32>,
}

/// What the clients of a class saw in a second.
#[derive(Debug, Clone)]
pub struct ClassSeen {
    /// Requests answered.
    pub answered: u64,
    /// Requests that failed in the end because something was full.
    pub refused: u64,
    /// … because they had waited in a queue for too long.
    pub abandoned: u64,
    /// … because their client had waited for too long.
    pub timed_out: u64,
    /// … because their server died.
    pub lost: u64,
    /// Attempts that were not the first.
    pub retries: u64,
    /// Response times of all of them, from the first attempt on, in microseconds.
    pub responses_us: Histogram<u64>,
    /// Users that have started; 0 for arrivals.
    pub users: u32,
    /// Clients that wait for an answer at its end.
    pub in_flight: u32,
}

/// A center in a second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CenterSeen {
    /// Mean number inside.
    pub inside: f64,
    /// Mean number in the queue.
    pub waiting: f64,
    /// Busy share of its servers; `None` where there is no limit.
    pub utilization: Option<f64>,
    /// Mean number of its servers; `None` where there is no limit.
    pub capacity: Option<f64>,
    /// Requests that got in.
    pub entries: u64,
    /// Sum of their waits.
    pub wait_s: f64,
    /// Requests that found it full or gave up in its queue.
    pub turned_away: u64,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    since: f64,
    events_before: u64,
    responses: Vec<Durations>,
    waits: Vec<Durations>,
    watched: Option<Watched>,
}

/// What is kept to tell one second from all before it.
#[derive(Debug)]
struct Watched {
    at: f64,
    classes: Vec<ClassWatched>,
    centers: Vec<Meter>,
}

#[derive(Debug)]
struct ClassWatched {
    responses: Durations,
    failed: [u64; FAILURES],
    counts: ClientCounts,
}

impl Tally {
    pub(super) fn new(network: &Network) -> Self {
        Self {
            responses: vec![Durations::default(); network.classes.len()],
            waits: vec![Durations::default(); network.centers.len()],
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn answered(&mut self, class: usize, response_s: f64) {
        self.responses[class].record(response_s);
        if let Some(watched) = &mut self.watched {
            watched.classes[class].responses.record(response_s);
        }
    }

    pub(super) fn failed(&mut self, class: usize, why: Failure, response_s: f64) {
        if let Some(watched) = &mut self.watched {
            let class = &mut watched.classes[class];
            class.failed[why as usize] += 1;
            class.responses.record(response_s);
        }
    }

    #[inline]
    pub(super) fn waited(&mut self, center: usize, wait_s: f64) {
        if wait_s > 0.0 {
            self.waits[center].record(wait_s);
        }
    }

    pub(super) fn forget(
        &mut self,
        now: f64,
        happened: u64,
        centers: &mut [CenterState],
        gates: &mut [GateState],
        clients: &mut [ClientState],
    ) {
        (self.since, self.events_before) = (now, happened);
        self.responses.iter_mut().for_each(Durations::reset);
        self.waits.iter_mut().for_each(Durations::reset);
        for center in centers {
            center.meter = Meter {
                at: now,
                ..Meter::default()
            };
        }
        for gate in gates {
            (gate.passed, gate.refused, gate.wait_s) = (0, 0, 0.0);
        }
        for client in clients {
            client.counts = ClientCounts::default();
        }
        if let Some(watched) = &mut self.watched {
            watched.centers.fill(Meter::default());
            for class in &mut watched.classes {
                class.counts = ClientCounts::default();
            }
        }
    }

    pub(super) fn watch(&mut self, classes: usize) {
        let class = || ClassWatched {
            responses: Durations::default(),
            failed: [0; FAILURES],
            counts: ClientCounts::default(),
        };
        self.watched = Some(Watched {
            at: 0.0,
            classes: (0..classes).map(|_| class()).collect(),
            centers: vec![Meter::default(); self.waits.len()],
        });
    }

    pub(super) fn totals(&self, of: &Simulation<'_>) -> Totals {
        let classes = of.clients.iter().zip(&self.responses);
        let centers = of.network.centers.iter().enumerate();
        Totals {
            seconds: of.now - self.since,
            events: of.happened - self.events_before,
            classes: classes.map(class_totals).collect(),
            centers: centers
                .map(|(index, center)| {
                    let (meter, number) = together(of, index);
                    let limited = !matches!(center.kind, CenterKind::Delay);
                    center_totals(&meter, number, limited, &self.waits[index])
                })
                .collect(),
            gates: of.gates.iter().map(gate_totals).collect(),
            groups: of.groups.iter().map(|group| group.totals(of.now)).collect(),
        }
    }

    pub(super) fn take_second(&mut self, of: &Simulation<'_>) -> Option<Second> {
        let watched = self.watched.as_mut()?;
        let seconds = of.now - watched.at;
        watched.at = of.now;
        let classes = watched.classes.iter_mut().zip(&of.clients);
        let classes = classes.map(|(class, client)| class.take(client)).collect();
        let centers = watched.centers.iter_mut().enumerate();
        let centers = centers
            .map(|(index, last)| {
                let (meter, _) = together(of, index);
                let before = std::mem::replace(last, meter);
                let limited = of.network.centers[index].servers().is_some();
                difference(&before, &meter, seconds, limited)
            })
            .collect();
        Some(Second {
            seconds,
            classes,
            centers,
            servers: of
                .groups
                .iter()
                .map(|group| group.servers_up() as u32)
                .collect(),
        })
    }
}

impl ClassWatched {
    fn take(&mut self, client: &ClientState) -> ClassSeen {
        let counts = client.counts;
        let before = std::mem::replace(&mut self.counts, counts);
        let responses_us = self.responses.histogram_us();
        self.responses.reset();
        let failed = std::mem::take(&mut self.failed);
        ClassSeen {
            answered: counts.answered - before.answered,
            refused: failed[Failure::Refused as usize],
            abandoned: failed[Failure::Abandoned as usize],
            timed_out: failed[Failure::TimedOut as usize],
            lost: failed[Failure::Lost as usize],
            retries: counts.retries - before.retries,
            responses_us,
            users: client.started,
            in_flight: client.in_flight,
        }
    }
}

/// All copies of a center as one, and how many are there now.
fn together(of: &Simulation<'_>, center: usize) -> (Meter, u32) {
    let first = of.copies[center].first as usize;
    let copies = &of.centers[first..first + of.network.copies(center) as usize];
    let mut sum = Meter::default();
    let mut number = 0;
    for copy in copies {
        let meter = copy.read(of.now);
        sum.inside_s += meter.inside_s;
        sum.waiting_s += meter.waiting_s;
        sum.busy_s += meter.busy_s;
        sum.blocked_s += meter.blocked_s;
        sum.capacity_s += meter.capacity_s;
        sum.empty_s += meter.empty_s;
        sum.entries += meter.entries;
        sum.exits += meter.exits;
        sum.wait_s += meter.wait_s;
        sum.refused += meter.refused;
        sum.abandoned += meter.abandoned;
        number += copy.waiting + copy.inside;
    }
    (sum, number)
}

fn class_totals((client, responses): (&ClientState, &Durations)) -> ClassTotals {
    let counts = &client.counts;
    let because = |why: Failure| counts.failures[why as usize];
    ClassTotals {
        fresh: counts.fresh,
        retries: counts.retries,
        answered: counts.answered,
        failed: counts.failed,
        refused: because(Failure::Refused),
        abandoned: because(Failure::Abandoned),
        timed_out: because(Failure::TimedOut),
        lost: because(Failure::Lost),
        wasted: counts.wasted,
        response_s: counts.response_s,
        responses_us: responses.histogram_us(),
        in_flight: client.in_flight,
    }
}

fn center_totals(meter: &Meter, number: u32, limited: bool, waits: &Durations) -> CenterTotals {
    CenterTotals {
        entries: meter.entries,
        exits: meter.exits,
        refused: meter.refused,
        abandoned: meter.abandoned,
        inside_s: meter.inside_s,
        waiting_s: meter.waiting_s,
        busy_s: meter.busy_s,
        blocked_s: meter.blocked_s,
        capacity_s: limited.then_some(meter.capacity_s),
        empty_s: meter.empty_s,
        wait_s: meter.wait_s,
        waits_us: waits.histogram_us(),
        number,
    }
}

fn gate_totals(gate: &GateState) -> GateTotals {
    GateTotals {
        passed: gate.passed,
        refused: gate.refused,
        wait_s: gate.wait_s,
    }
}

fn difference(before: &Meter, after: &Meter, seconds: f64, limited: bool) -> CenterSeen {
    let capacity_s = after.capacity_s - before.capacity_s;
    CenterSeen {
        inside: (after.inside_s - before.inside_s) / seconds,
        waiting: (after.waiting_s - before.waiting_s) / seconds,
        utilization: (limited && capacity_s > 0.0)
            .then(|| (after.busy_s - before.busy_s) / capacity_s),
        capacity: limited.then(|| capacity_s / seconds),
        entries: after.entries - before.entries,
        wait_s: after.wait_s - before.wait_s,
        turned_away: after.refused + after.abandoned - before.refused - before.abandoned,
    }
}
