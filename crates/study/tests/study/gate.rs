//! Studies that vary a gateway in front of a server of which nothing can be set.

use std::time::Duration;

use weir_record::{
    Level, NoObserver, Role, Stage, Status, TargetFacts, Treatment, TrialError, TrialObserver,
    TrialRecord, TrialRunner, WhenFull, Window,
};
use weir_study::{BestGoal, BestSpec, FindSpec, Varied, best, find};

use crate::support::Analytic;

/// A server behind a gateway: to its users what a limit of its threads is, but seen in the gateway.
#[derive(Debug, Clone)]
struct Behind {
    server: Analytic,
    facts: TargetFacts,
}

impl Behind {
    fn new(server: Analytic) -> Self {
        let gate = Stage {
            name: "gate".to_owned(),
            native: None,
            limit: None,
            settable: false,
            when_full: WhenFull::Wait,
        };
        let facts = TargetFacts {
            stages: vec![gate],
            ..server.facts.clone()
        };
        Self { server, facts }
    }

    /// What the server sees: the cap as its threads.
    fn inside(treatment: &Treatment) -> Treatment {
        let mut inside = treatment.clone();
        if let Some(cap) = inside.levels.remove("gate.concurrency") {
            inside.levels.insert("threads".to_owned(), cap);
        }
        inside
    }

    /// The largest cap at which the CPU is at most the goal.
    fn truth(&self, users: u32, goal: f64) -> u32 {
        let cpu = |cap: u32| {
            let model = weir_queueing::ThreadLimited {
                users,
                think_s: self.server.think_s,
                threads: cap,
                cpu_demand_s: self.server.cpu_s,
                servers: self.facts.cpus,
                delay_in_thread_s: self.server.delay_s,
                pool: None,
                room: None,
            };
            model.solve().utilization
        };
        (1..users).rev().find(|cap| cpu(*cap) <= goal).unwrap()
    }
}

impl TrialRunner for Behind {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &weir_record::Levels) -> u32 {
        self.server.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let inner = self.server.run(&Self::inside(treatment), observer)?;
        let of = |name: &str| inner.signals.get(name).copied().unwrap_or_default();
        let signals = [
            ("gate.occupancy", of("threads.occupancy")),
            ("gate.waiting", of("request-queue.waiting")),
            ("gate.wait", of("request-queue.wait")),
            ("gate.entries", inner.throughput_per_s),
            ("gate.refused", 0.0),
        ];
        Ok(TrialRecord {
            levels: treatment.levels.clone(),
            signals: signals.map(|(name, value)| (name.to_owned(), value)).into(),
            ..inner
        })
    }
}

/// One CPU, 10 ms of CPU and 200 ms of waiting per request, 200 ms of thinking: about 17 at a time
/// at 80 %.
fn server(sigma: f64) -> Behind {
    Behind::new(Analytic {
        sigma,
        ..Analytic::new(1, 0.2, 0.01, 0.2)
    })
}

fn spec(users: u32) -> FindSpec {
    FindSpec {
        varied: Varied::GateConcurrency,
        set: [("users".to_owned(), Level::Number(f64::from(users)))].into(),
        ..FindSpec::default()
    }
}

#[test]
fn the_cap_is_found_and_what_waits_is_foretold() {
    let mut server = server(0.0);
    let outcome = find(&spec(60), &mut server, &mut NoObserver);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let answer = outcome.answer.as_ref().unwrap();
    assert_eq!(answer.factor, "gate.concurrency");
    assert_eq!(answer.value, f64::from(server.truth(60, 0.8)));
    assert_eq!(answer.population, 60);
    assert_eq!(outcome.settings["gate.concurrency"], answer.value);
    assert_eq!(outcome.settings_detail[0].stage, "gate");
    let held = outcome.held.as_ref().unwrap();
    assert!(held.passed, "{held:?}");
    assert!(held.waiting["gate"] > 10.0, "{held:?}");
    let surplus = held.requirements.iter();
    let surplus = surplus.filter(|one| one.says.contains("wait in the gate"));
    assert_eq!(
        surplus.count(),
        2,
        "by the trial's figures, and by the model"
    );
    assert!(outcome.summary.contains("requests at a time"));
    assert!(outcome.summary.contains("GATE.toml"), "{}", outcome.summary);
    assert!(
        outcome
            .findings
            .iter()
            .any(|finding| finding.id == "gate-holds")
    );
    // The load was the same in every trial, and only the last was the check.
    assert!(
        outcome
            .trials
            .iter()
            .all(|trial| trial.level("users") == Some(60.0))
    );
    assert_eq!(outcome.trials.last().unwrap().role, Role::Check);
}

/// With trials that differ by 2 %, nine answers of ten lie within one of the truth.
#[test]
fn noise_moves_the_cap_by_one() {
    let near = (0..40).filter(|seed| {
        let mut server = server(0.02);
        let spec = FindSpec {
            seed: *seed,
            ..spec(60)
        };
        let outcome = find(&spec, &mut server, &mut NoObserver);
        let truth = f64::from(server.truth(60, 0.8));
        let found = outcome.answer.map(|answer| answer.value);
        found.is_some_and(|found| (found - truth).abs() <= 1.0)
    });
    let near = near.count();
    assert!(near >= 36, "{near} of 40");
}

/// However the trials scatter, the time for a trial with the answer in force is kept, or it is said
/// that there was none.
#[test]
fn no_cap_goes_unchecked_in_silence() {
    let mut checked = 0;
    for seed in 0..40 {
        let mut server = server(0.06);
        let spec = FindSpec {
            seed,
            budget: Some(Duration::from_secs(200)),
            ..spec(60)
        };
        let outcome = find(&spec, &mut server, &mut NoObserver);
        if outcome.settings.is_empty() {
            continue;
        }
        let said = outcome
            .findings
            .iter()
            .any(|finding| finding.id == "answer-not-checked");
        assert_ne!(outcome.held.is_some(), said, "seed {seed}");
        checked += usize::from(outcome.held.is_some());
    }
    assert!(checked >= 36, "{checked} of 40");
}

/// 40 ms of CPU on one CPU and 160 ms of waiting: at 25 a second the CPU is full, from five at a
/// time on.
#[test]
fn the_best_cap_is_a_setting_of_the_gate() {
    let mut server = Behind::new(Analytic::new(1, 0.2, 0.04, 0.16));
    let spec = BestSpec {
        question: "How many at a time?".to_owned(),
        goal: BestGoal::SmallestNearBest,
        vary: "gate.concurrency".to_owned(),
        within: (1, 60),
        set: [
            ("users".to_owned(), Level::Number(80.0)),
            ("gate.rate".to_owned(), Level::Number(500.0)),
        ]
        .into(),
        of: "throughput".to_owned(),
        margin: 0.05,
        requirements: Vec::new(),
        window: Window::fixed(Duration::from_secs(5), Duration::from_secs(20)),
        budget: None,
        seed: 1,
    };
    let outcome = best(&spec, &mut server, &mut NoObserver);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let found = outcome.answer.as_ref().unwrap().value;
    assert!((4.0..=12.0).contains(&found), "{}", outcome.summary);
    assert_eq!(outcome.settings["gate.concurrency"], found);
    assert_eq!(outcome.settings["gate.rate"], 500.0, "the file holds both");
    let detail = &outcome.settings_detail[0];
    assert_eq!(detail.stage, "gate");
    assert_eq!(detail.native.as_deref(), Some("concurrency"));
    assert!(!detail.trials.is_empty());
    assert!(outcome.summary.contains("GATE.toml"), "{}", outcome.summary);
}

#[test]
fn too_few_users_are_named_as_what_is_missing() {
    let mut server = server(0.0);
    let spec = FindSpec {
        within: (1, 100),
        ..spec(12)
    };
    let outcome = find(&spec, &mut server, &mut NoObserver);
    assert!(
        matches!(outcome.status, Status::Never | Status::Answered),
        "{}",
        outcome.summary
    );
    let told = outcome.summary.contains("too few") || outcome.summary.contains("end of the range");
    assert!(told, "{}", outcome.summary);
    assert!(outcome.settings.is_empty(), "there is nothing to hold back");
}
