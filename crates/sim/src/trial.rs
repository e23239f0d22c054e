//! A replication as a trial: what the reports of real runs are made from.
//!
//! Each second of a replication becomes what a load generator and a watch would have told of it,
//! and the same code evaluates it. The stages are named as on real servers: a limit called
//! `threads` is the stage `threads`, its queue the `request-queue`, `connections` is `connections`,
//! a station called `db` or `database` is the `database`, every other limit a pool.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_record::{
    ClassSecond, Context, CpuScope, EvaluateError, Levels, LoadSecond, Reading, Recording, Role,
    Stage, TargetFacts, Treatment, TrialRecord, WhenFull, Window, evaluate, names,
    response_histogram,
};

use crate::engine::{CenterSeen, ClassSeen, Second};
use crate::network::{Center, CenterKind, Network};
use crate::replicate::{Plan, Replication, seed_of};

/// Most seconds, times classes, of which a replication keeps a timeline: each has a histogram of
/// its own.
const TIMELINE_MAX: f64 = 1500.0;
/// Of how many replications a run keeps the timelines, and with them the trials.
const TRIALS: u32 = 3;

/// A count of a second.
type Count = fn(&ClassSeen) -> u64;

/// The four ways to fail, as reports name them.
const FAILURES: [(&str, Count); 4] = [
    ("refused", |seen| seen.refused),
    ("gave up in a queue", |seen| seen.abandoned),
    ("client gave up", |seen| seen.timed_out),
    ("server lost", |seen| seen.lost),
];

/// One replication as a trial.
#[derive(Debug, Clone)]
pub struct SimulatedTrial {
    /// Its figures.
    pub record: TrialRecord,
    /// Its seconds and histograms.
    pub recording: Recording,
}

/// Of how many replications a run of this plan can keep every second: none, when they are too long.
pub fn timelines(network: &Network, plan: &Plan) -> u32 {
    let seconds = (plan.warm_up_s + plan.seconds) * network.classes.len() as f64;
    if seconds <= TIMELINE_MAX {
        plan.replications.min(TRIALS)
    } else {
        0
    }
}

/// A replication with a timeline as a trial.
pub fn trial(
    network: &Network,
    plan: &Plan,
    replication: &Replication,
) -> Result<SimulatedTrial, EvaluateError> {
    let mut recording = Recording::new();
    for (at, second) in replication.timeline.iter().enumerate() {
        recording.add_load(&load(network, at as u64, second))?;
        recording.add_signals(at as u64, signals(network, second));
    }
    let (warm_up, length) = (plan.warm_up_s, plan.seconds);
    let treatment = Treatment {
        id: replication.number + 1,
        role: Role::Case,
        case: Some("simulated".to_owned()),
        block: None,
        levels: Levels::new(),
        window: Window::fixed(
            Duration::from_secs_f64(warm_up),
            Duration::from_secs_f64(length),
        ),
        seed: seed_of(plan.seed, replication.number),
    };
    let context = Context {
        treatment: &treatment,
        population: u32::try_from(network.population()).unwrap_or(u32::MAX),
        target_cpus: facts("", network).cpus,
        load: None,
        repeats: 0,
        ended_after: None,
        against: Vec::new(),
    };
    let window = warm_up.ceil() as usize..recording.seconds();
    let record = evaluate(&recording, window, &context)?;
    Ok(SimulatedTrial { record, recording })
}

/// The network as the target of a run.
pub fn facts(name: &str, network: &Network) -> TargetFacts {
    let cpu = cpu_of(network).map(|center| &network.centers[center]);
    TargetFacts {
        name: name.to_owned(),
        kind: "simulated".to_owned(),
        recognised: None,
        cpus: cpu.and_then(Center::servers).unwrap_or(1),
        cpu_scope: CpuScope::OwnCpus,
        stages: network
            .centers
            .iter()
            .filter_map(|center| {
                Some(Stage {
                    name: stage_of(center)?,
                    native: None,
                    limit: center.servers().map(f64::from),
                    settable: false,
                    when_full: if center.queue.is_some() {
                        WhenFull::Refuse
                    } else {
                        WhenFull::Wait
                    },
                })
            })
            .collect(),
    }
}

/// The name without that of its group.
fn own_name(center: &Center) -> &str {
    center.name.rsplit('.').next().unwrap_or(&center.name)
}

/// The stage of the funnel that a place is; `None` for one that is no stage.
pub(crate) fn stage_of(center: &Center) -> Option<String> {
    match (own_name(center), center.kind) {
        ("threads" | "connections", CenterKind::Limit { .. }) => Some(own_name(center).to_owned()),
        (name, CenterKind::Limit { .. }) => Some(format!("pool.{name}")),
        ("db" | "database", _) => Some("database".to_owned()),
        _ => None,
    }
}

/// The station whose utilization is the CPU's: the one that is called so, else the first under
/// processor sharing.
pub(crate) fn cpu_of(network: &Network) -> Option<usize> {
    let named = network
        .centers
        .iter()
        .position(|center| own_name(center) == "cpu" && !center.is_limit());
    named.or_else(|| {
        let shared = |center: &Center| matches!(center.kind, CenterKind::Shared { .. });
        network.centers.iter().position(shared)
    })
}

pub(crate) fn load(network: &Network, at: u64, second: &Second) -> LoadSecond {
    let classes = network.classes.iter().zip(&second.classes);
    let in_flight: u32 = second.classes.iter().map(|seen| seen.in_flight).sum();
    LoadSecond {
        second: at,
        classes: classes
            .map(|(class, seen)| {
                let failed_by_code: BTreeMap<String, u64> = FAILURES
                    .iter()
                    .map(|(code, of)| ((*code).to_owned(), of(seen)))
                    .filter(|(_, count)| *count > 0)
                    .collect();
                ClassSecond {
                    label: class.name.clone(),
                    succeeded: seen.answered,
                    failed: failed_by_code.values().sum(),
                    succeeded_by_code: BTreeMap::new(),
                    failed_by_code,
                    response_us: seen.responses_us.clone(),
                }
            })
            .collect(),
        users: second.classes.iter().map(|seen| seen.users).sum(),
        in_flight: Some(in_flight),
        sockets: None,
        lateness_us: response_histogram(),
        redirected: None,
        resent: None,
        connects: None,
        open: None,
    }
}

/// What a watch would have read in a second.
pub(crate) fn signals(network: &Network, second: &Second) -> Reading {
    let mut reading = Reading::new();
    if let Some(busy) = cpu_of(network).and_then(|cpu| second.centers[cpu].utilization) {
        reading.insert(names::CPU.to_owned(), busy);
        // The simulated kernel works for nothing, and nobody else runs here.
        reading.insert("cpu.user".to_owned(), busy);
        reading.insert("cpu.system".to_owned(), 0.0);
        reading.insert("cpu.steal".to_owned(), 0.0);
    }
    for (center, seen) in network.centers.iter().zip(&second.centers) {
        put_center(&mut reading, center, seen);
    }
    for (group, servers) in network.groups.iter().zip(&second.servers) {
        reading.insert(format!("{}.servers", group.name), f64::from(*servers));
    }
    for (class, seen) in network.classes.iter().zip(&second.classes) {
        if class.retry.is_some() {
            reading.insert(format!("{}.retries", class.name), seen.retries as f64);
        }
    }
    reading
}

fn put_center(reading: &mut Reading, center: &Center, seen: &CenterSeen) {
    let Some(stage) = stage_of(center) else {
        let name = &center.name;
        if let Some(busy) = seen.utilization {
            reading.insert(format!("{name}.utilization"), busy);
        }
        reading.insert(format!("{name}.number"), seen.inside + seen.waiting);
        return;
    };
    reading.insert(format!("{stage}.occupancy"), seen.inside);
    if let Some(capacity) = seen.capacity {
        reading.insert(format!("{stage}.limit"), capacity);
    }
    reading.insert(format!("{stage}.refused"), seen.turned_away as f64);
    let queue = if stage == "threads" {
        reading.insert("request-queue.occupancy".to_owned(), seen.waiting);
        "request-queue".to_owned()
    } else {
        stage
    };
    reading.insert(format!("{queue}.waiting"), seen.waiting);
    reading.insert(format!("{queue}.entries"), seen.entries as f64);
    if seen.entries > 0 {
        reading.insert(format!("{queue}.wait"), seen.wait_s / seen.entries as f64);
    }
}
