//! Several settings at once, on simulated servers whose best levels are known.

use std::time::Duration;

use weir_queueing::Pool;
use weir_record::{
    JointSetting, Levels, NoObserver, Replay, Role, SettingEvidence, Status, TargetFacts,
    Treatment, TrialError, TrialObserver, TrialRecord, TrialRunner, Window,
};
use weir_study::{Ask, BestGoal, Outcome, SeveralSpec, plan_of_trials, several};

use crate::support::{Analytic, noise};

/// A server behind a limit of connections, with formulas for averages and a little noise.
#[derive(Clone)]
struct Server {
    formulas: Analytic,
    sigma: f64,
    /// Each thread more costs every request this share of CPU more: more is not always better.
    overhead: f64,
}

impl Server {
    /// 40 users who hardly think; a request takes 10 ms of the one CPU and holds a connection for
    /// 40 ms: five threads keep the CPU busy while each holds a connection four fifths of its
    /// time.
    fn new(sigma: f64) -> Self {
        let mut formulas = Analytic::new(1, 0.05, 0.01, 0.0);
        formulas.pool = Some(Pool {
            limit: 100,
            hold_s: 0.04,
        });
        let found = formulas
            .facts
            .stages
            .iter_mut()
            .find(|stage| stage.name == "pool.db");
        found.unwrap().limit = Some(100.0);
        Self {
            formulas,
            sigma,
            overhead: 0.0,
        }
    }
}

impl TrialRunner for Server {
    fn facts(&self) -> &TargetFacts {
        self.formulas.facts()
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.formulas.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let number = |name: &str| {
            treatment
                .levels
                .get(name)
                .and_then(weir_record::Level::number)
        };
        let users = number("users").unwrap_or(1.0);
        let connections = number("connections").unwrap_or(20_000.0);
        let mut inner = treatment.clone();
        // Who is not let in waits outside: for the throughput it is as if there were fewer users.
        inner
            .levels
            .insert("users".to_owned(), users.min(connections).into());
        inner.levels.remove("connections");
        let threads = number("threads").unwrap_or(2_000.0).min(users);
        let mut formulas = self.formulas.clone();
        formulas.cpu_s *= 1.0 + self.overhead * threads;
        let mut record = formulas.run(&inner, observer)?;
        record.throughput_per_s *= noise(self.sigma, treatment.seed);
        record.response_time_ms.mean = 1e3 * (users / record.throughput_per_s - formulas.think_s);
        record.levels.clone_from(&treatment.levels);
        record.population = users as u32;
        let open = users.min(connections);
        record
            .signals
            .insert("connections.occupancy".to_owned(), open);
        record
            .signals
            .insert("backlog.occupancy".to_owned(), users - open);
        Ok(record)
    }
}

/// The true throughput of the server without noise.
fn truth(server: &Server, threads: f64, pool: f64) -> f64 {
    let mut quiet = server.clone();
    quiet.sigma = 0.0;
    let spec = spec();
    let mut levels = spec.set.clone();
    levels.extend([
        ("threads".to_owned(), threads.into()),
        ("pool.db".to_owned(), pool.into()),
    ]);
    let treatment = Treatment {
        id: 1,
        role: Role::Search,
        case: None,
        block: None,
        levels,
        window: spec.window,
        seed: 1,
    };
    quiet
        .run(&treatment, &mut NoObserver)
        .unwrap()
        .throughput_per_s
}

fn spec() -> SeveralSpec {
    SeveralSpec {
        question: "How many of each?".to_owned(),
        goal: BestGoal::SmallestNearBest,
        vary: ["pool.db", "threads", "connections", "backlog"]
            .map(str::to_owned)
            .to_vec(),
        within: [
            ("threads".to_owned(), (1, 200)),
            ("pool.db".to_owned(), (1, 50)),
        ]
        .into(),
        set: Levels::from([("users".to_owned(), 40.0.into())]),
        of: "throughput".to_owned(),
        margin: 0.05,
        requirements: vec!["errors <= 0.1 %".parse().unwrap()],
        window: Window::fixed(Duration::from_secs(5), Duration::from_secs(20)),
        budget: None,
        seed: 1,
    }
}

fn ended(spec: &SeveralSpec, server: &Server) -> Outcome {
    several(spec, &mut server.clone(), &mut NoObserver)
}

fn setting<'o>(outcome: &'o Outcome, stage: &str) -> &'o JointSetting {
    let joint = outcome.joint.as_ref().expect("a joint answer");
    let own = joint.settings.iter().find(|setting| setting.stage == stage);
    own.expect("it was varied")
}

#[test]
fn threads_and_pool_are_found_together_and_what_cannot_bind_is_not_searched() {
    let server = Server::new(0.01);
    let best = truth(&server, 200.0, 50.0);
    let (mut answered, mut small, mut trials) = (0, 0, 0);
    for seed in 1..=10 {
        let outcome = ended(&SeveralSpec { seed, ..spec() }, &server);
        if outcome.status != Status::Answered {
            continue;
        }
        answered += 1;
        let (threads, pool) = (outcome.settings["threads"], outcome.settings["pool.db"]);
        let lost = 1.0 - truth(&server, threads, pool) / best;
        assert!(
            lost < 0.06,
            "{threads} threads, pool {pool} lose {lost}: {}",
            outcome.summary
        );
        // Far fewer than what was found, and no pool larger than the threads that can hold it.
        assert!(pool <= threads, "{}", outcome.summary);
        small += usize::from(threads <= 24.0);
        assert_eq!(
            setting(&outcome, "threads").evidence,
            SettingEvidence::Searched
        );
        for (stage, found) in [("connections", 20_000.0), ("backlog", 511.0)] {
            let left = setting(&outcome, stage);
            assert_eq!(left.evidence, SettingEvidence::CannotBind);
            assert_eq!((left.value, left.found), (Some(found), Some(found)));
            assert!(
                left.because.contains("does not limit at this load: "),
                "{}",
                left.because
            );
            assert!(
                outcome
                    .trials
                    .iter()
                    .all(|trial| trial.level(stage).is_none())
            );
        }
        let planned = plan_of_trials(&Ask::Several(spec()), Some(server.facts()));
        let most: u32 = planned.steps.iter().map(|step| step.at_most).sum();
        trials += outcome.trials.len();
        assert!(outcome.trials.len() <= most as usize, "stated: {most}");
    }
    assert!(answered >= 9, "{answered} of 10 answered");
    assert!(small >= 8, "{small} of {answered} with few threads");
    assert!(
        trials <= 65 * answered,
        "{trials} trials of {answered} studies"
    );
}

#[test]
fn a_pool_that_is_short_limits_the_threads_that_are_worth_having() {
    // The database lets in two: two connections of 40 ms make 50 requests a second, whatever the
    // threads.
    let server = Server::new(0.005);
    let mut spec = spec();
    spec.within.insert("pool.db".to_owned(), (1, 2));
    let outcome = ended(&spec, &server);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let (threads, pool) = (outcome.settings["threads"], outcome.settings["pool.db"]);
    assert_eq!(pool, 2.0, "{}", outcome.summary);
    assert!((3.0..=6.0).contains(&threads), "{}", outcome.summary);
    assert!(truth(&server, threads, pool) > 0.95 * truth(&server, 200.0, 2.0));
    let worse = setting(&outcome, "pool.db");
    assert!(
        worse.because.contains("pool.db 1 is worse"),
        "{}",
        worse.because
    );
    assert_eq!((worse.low, worse.high), (Some(2.0), Some(2.0)));
}

#[test]
fn too_many_threads_are_left_when_they_harm() {
    let mut server = Server::new(0.005);
    server.overhead = 0.02;
    let mut spec = spec();
    spec.goal = BestGoal::Best;
    let outcome = ended(&spec, &server);
    let (threads, pool) = match outcome.status {
        Status::Answered | Status::Same => {
            (outcome.settings["threads"], outcome.settings["pool.db"])
        }
        other => panic!("{other:?}: {}", outcome.summary),
    };
    let of_all = (1..=40).flat_map(|threads| (1..=40).map(move |pool| (threads, pool)));
    let best = of_all
        .map(|(threads, pool)| truth(&server, f64::from(threads), f64::from(pool)))
        .fold(0.0, f64::max);
    assert!(
        truth(&server, threads, pool) > 0.93 * best,
        "{}",
        outcome.summary
    );
    assert!(
        truth(&server, 200.0, 50.0) < 0.8 * best,
        "the open limits lose much"
    );
}

#[test]
fn connections_that_hold_back_users_as_found_are_searched_and_the_backlog_behind_them_too() {
    let mut server = Server::new(0.005);
    for stage in &mut server.formulas.facts.stages {
        match stage.name.as_str() {
            "connections" => stage.limit = Some(4.0),
            "backlog" => stage.limit = Some(511.0),
            _ => {}
        }
    }
    let mut spec = spec();
    spec.vary = vec!["connections".to_owned(), "backlog".to_owned()];
    spec.within.clear();
    let outcome = ended(&spec, &server);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let connections = outcome.settings["connections"];
    assert!((7.0..=44.0).contains(&connections), "{}", outcome.summary);
    // At most 39 wait in a backlog of 511.
    let backlog = setting(&outcome, "backlog");
    assert_eq!(backlog.evidence, SettingEvidence::CannotBind);
    assert!(
        backlog.because.contains("it holds 511"),
        "{}",
        backlog.because
    );
}

#[test]
fn a_requirement_that_nothing_meets_is_told() {
    let mut spec = spec();
    spec.requirements = vec!["mean <= 1 ms".parse().unwrap()];
    let outcome = ended(&spec, &Server::new(0.01));
    assert_eq!(
        (outcome.status, outcome.exit_code()),
        (Status::NotMet, 1),
        "{}",
        outcome.summary
    );
    assert!(
        outcome
            .summary
            .starts_with("Nothing that was tried meets `mean <= 1 ms`: nearest came threads "),
        "{}",
        outcome.summary
    );
    assert!(
        outcome.trials.len() <= 12,
        "{} trials",
        outcome.trials.len()
    );
    assert_eq!(setting(&outcome, "threads").value, None);
    assert!(!outcome.settings.contains_key("threads"));
}

#[test]
fn a_requirement_that_fewer_threads_meet_decides() {
    let mut spec = spec();
    spec.requirements = vec!["cpu <= 70 %".parse().unwrap()];
    let mut server = Server::new(0.002);
    server.formulas.sigma = 0.002;
    let outcome = ended(&spec, &server);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let (threads, pool) = (outcome.settings["threads"], outcome.settings["pool.db"]);
    // 100 requests a second are 100 % of the CPU.
    let throughput = truth(&server, threads, pool);
    assert!(
        (55.0..=70.5).contains(&throughput),
        "{throughput}: {}",
        outcome.summary
    );
    assert!(
        outcome.summary.contains("Out of the question"),
        "{}",
        outcome.summary
    );
}

#[test]
fn nothing_is_searched_where_nothing_can_bind() {
    let mut spec = spec();
    spec.vary = ["connections", "backlog", "native.minSpareThreads"]
        .map(str::to_owned)
        .to_vec();
    let outcome = ended(&spec, &Server::new(0.01));
    assert_eq!(outcome.status, Status::Same, "{}", outcome.summary);
    assert_eq!(outcome.trials.len(), 1);
    assert!(
        outcome.summary.starts_with("None of these settings limits"),
        "{}",
        outcome.summary
    );
    assert!(
        setting(&outcome, "native.minSpareThreads")
            .because
            .contains("minimum of idle ones")
    );
}

#[test]
fn a_stage_that_the_target_does_not_have_is_refused_before_any_trial() {
    let mut spec = spec();
    spec.vary.push("pool.other".to_owned());
    let outcome = ended(&spec, &Server::new(0.01));
    assert_eq!((outcome.trials.len(), outcome.exit_code()), (0, 2));
    assert!(
        outcome.summary.contains("`vary` names `pool.other`"),
        "{}",
        outcome.summary
    );
}

#[test]
fn a_budget_that_ends_the_searches_leaves_what_the_model_derives() {
    let mut spec = spec();
    spec.budget = Some(Duration::from_secs(26 * 24));
    let outcome = ended(&spec, &Server::new(0.005));
    assert!(
        outcome.trials.len() <= 24,
        "{} trials",
        outcome.trials.len()
    );
    if outcome.status == Status::Answered {
        assert_eq!(
            setting(&outcome, "pool.db").evidence,
            SettingEvidence::Derived,
            "{}",
            outcome.summary
        );
        assert!(
            setting(&outcome, "pool.db")
                .because
                .starts_with("derived from")
        );
    } else {
        assert!(
            outcome.summary.contains("larger `budget`"),
            "{}",
            outcome.summary
        );
    }
}

#[test]
fn a_continued_run_asks_for_the_same_trials() {
    let server = Server::new(0.01);
    let whole = ended(&spec(), &server);
    let finished = whole.trials[..whole.trials.len() / 2].to_vec();
    let mut rest = server.clone();
    let mut replay = Replay::new(server.facts().clone(), finished, Some(&mut rest));
    let continued = several(&spec(), &mut replay, &mut NoObserver);
    assert_eq!(continued.trials, whole.trials);
    assert_eq!(continued.summary, whole.summary);
}
