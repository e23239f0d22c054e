//! A search for users in front of a gateway that tells classes of requests apart: the published
//! experiment's two kinds, of which one hardly uses the CPU and lasts ten times as long.

use std::time::Duration;

use weir_record::{
    Levels, NoObserver, Stage, Status, TargetFacts, Treatment, TrialError, TrialObserver,
    TrialRecord, TrialRunner, WhenFull, Window,
};
use weir_sim::{
    Center, CenterKind, Class, Distribution, Disturbances, Network, SimulatedServer, Source, Step,
};
use weir_study::{FindSpec, Outcome, find};

const KINDS: [&str; 2] = ["db-heavy", "cpu-heavy"];
/// CPU and other time of a request of each, in seconds.
const NEEDS: [(f64, f64); 2] = [(0.005, 10.0), (0.06, 1.0)];
/// Where the places of the network are; the first two are the gateway's, one for each kind.
const THREADS: usize = 2;
const CPU: usize = 3;

/// A server of two kinds of requests, with or without a gateway in front that tells them apart.
struct TwoKinds {
    server: SimulatedServer,
    facts: TargetFacts,
    gated: bool,
}

impl TwoKinds {
    fn new(gated: bool) -> Self {
        let limit = |name: &str, capacity| Center::new(name, CenterKind::Limit { capacity });
        let kind = |at: usize| {
            let (cpu_s, other_s) = NEEDS[at];
            let source = Source::Users {
                users: 1,
                think: Distribution::constant(0.5),
                ramp_s: 1.0,
            };
            let route = vec![
                Step::Acquire(at),
                Step::Acquire(THREADS),
                Step::Use(CPU, Distribution::erlang(cpu_s, 3)),
                Step::Sleep(Distribution::constant(other_s)),
                Step::Release(THREADS),
                Step::Release(at),
            ];
            Class::new(KINDS[at], source, route)
        };
        let network = Network {
            centers: vec![
                limit(KINDS[0], 100_000),
                limit(KINDS[1], 100_000),
                limit("threads", 200),
                Center::new("cpu", CenterKind::Shared { cores: 1 }),
            ],
            classes: vec![kind(0), kind(1)],
            ..Network::default()
        };
        let server = SimulatedServer::new(network, Disturbances::default());
        let mut facts = server.facts().clone();
        facts.stages.retain(|stage| !is_of_gate(&stage.name));
        if gated {
            let gate = Stage {
                name: "gate".to_owned(),
                native: Some("concurrency".to_owned()),
                limit: None,
                settable: false,
                when_full: WhenFull::Wait,
            };
            facts.stages.insert(0, gate);
        }
        Self {
            server,
            facts,
            gated,
        }
    }

    /// What a watch tells of the gateway, in place of the limits that it is here.
    fn seen(&self, mut record: TrialRecord, levels: Levels) -> TrialRecord {
        let of = |name: &str, figure: &str| {
            let signal = format!("pool.{name}.{figure}");
            record.signals.get(&signal).copied().unwrap_or_default()
        };
        let mut told: Vec<(String, f64)> = vec![("gate.refused".to_owned(), 0.0)];
        for figure in ["occupancy", "waiting", "entries"] {
            let parts = KINDS.map(|kind| of(kind, figure));
            told.push((format!("gate.{figure}"), parts.iter().sum()));
            for (kind, part) in KINDS.into_iter().zip(parts) {
                told.push((format!("gate.{kind}.{figure}"), part));
            }
        }
        for kind in KINDS {
            let set = levels.get(&format!("gate.{kind}.concurrency"));
            told.extend(set.map(|cap| (format!("gate.{kind}.limit"), cap.number().unwrap())));
        }
        record.signals.retain(|name, _| !is_of_gate(name));
        if self.gated {
            record.signals.extend(told);
        }
        record.levels = levels;
        record
    }
}

/// Whether a stage or signal of the simulated server stands for the gateway's.
fn is_of_gate(name: &str) -> bool {
    let own = name.strip_prefix("pool.");
    own.is_some_and(|own| KINDS.iter().any(|kind| own.starts_with(kind)))
}

impl TrialRunner for TwoKinds {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        2 * levels["users"].number().unwrap() as u32
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let mut inside = treatment.clone();
        for kind in KINDS {
            if let Some(cap) = inside.levels.remove(&format!("gate.{kind}.concurrency")) {
                inside.levels.insert(format!("pool.{kind}"), cap);
            }
        }
        let record = self.server.run(&inside, observer)?;
        Ok(self.seen(record, treatment.levels.clone()))
    }
}

fn tuned(gated: bool) -> Outcome {
    let window = Window::fixed(Duration::from_secs(20), Duration::from_secs(240));
    let spec = FindSpec {
        within: (1, 60),
        window,
        budget: None,
        ..FindSpec::default()
    };
    find(&spec, &mut TwoKinds::new(gated), &mut NoObserver)
}

/// The share of long requests in a trial.
fn share(trial: &TrialRecord) -> f64 {
    trial.classes[KINDS[0]].throughput_per_s / trial.throughput_per_s
}

fn by_id(outcome: &Outcome, id: u32) -> &TrialRecord {
    let mut trials = outcome.trials.iter();
    trials.find(|trial| trial.id == id).unwrap()
}

#[test]
fn each_class_gets_a_cap_that_keeps_the_mix() {
    let outcome = tuned(true);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let caps = KINDS.map(|kind| outcome.settings[&format!("gate.{kind}.concurrency")]);
    assert_eq!(outcome.settings.len(), 2, "{:?}", outcome.settings);
    let held = outcome.held.as_ref().unwrap();
    assert!(held.passed, "{held:#?}");
    let answer = outcome.answer.as_ref().unwrap();
    let searched = outcome.trials.iter();
    let near = searched
        .filter(|trial| trial.levels.len() == 1 && trial.level("users") <= Some(answer.value))
        .max_by(|a, b| a.level("users").partial_cmp(&b.level("users")).unwrap())
        .unwrap();
    let check = by_id(&outcome, held.trials[0]);
    assert!(
        check.population > near.population * 14 / 10,
        "half as many again"
    );
    assert!(
        (share(check) / share(near) - 1.0).abs() < 0.1,
        "{} and {}",
        share(check),
        share(near)
    );
    // As many of each class as at the answer.
    for (kind, cap) in KINDS.into_iter().zip(caps) {
        let there = near.signals[&format!("gate.{kind}.occupancy")];
        assert!((cap / there - 1.0).abs() < 0.12, "{kind}: {cap}, {there}");
        let stage = format!("gate.{kind}");
        let mut details = outcome.settings_detail.iter();
        let detail = details.find(|detail| detail.stage == stage).unwrap();
        assert_eq!((detail.to, detail.from), (cap, None));
    }
    assert!(held.waiting["gate"] > 10.0, "{held:?}");
    let says: Vec<&str> = held.requirements.iter().map(|r| r.says.as_str()).collect();
    let says = says.join("\n");
    assert!(says.contains("nobody is rejected by the gate"), "{says}");
    assert!(says.contains("requests wait in the gate"), "{says}");
    assert!(outcome.summary.contains("GATE.toml"), "{}", outcome.summary);
    assert!(held.before_and_after.is_some(), "{held:?}");
}

/// Why: one limit for both fills with the long ones.
#[test]
fn one_limit_for_all_changes_the_mix_and_says_so() {
    let outcome = tuned(false);
    assert!(outcome.settings.contains_key("threads"));
    let held = outcome.held.as_ref().unwrap();
    let free = by_id(&outcome, outcome.trials[0].id);
    let check = by_id(&outcome, held.trials[0]);
    assert!(share(check) > 1.2 * share(free), "the first has two users");
    let mut findings = outcome.findings.iter();
    let shifted = findings.find(|finding| finding.id == "mix-shifted");
    let shifted = shifted.expect("the mix has shifted");
    let change = shifted.change.as_deref().unwrap_or_default();
    assert!(change.contains("[[gate.class]]"), "{change}");
}
