//! The best number of threads of a server whose curve is known.

use std::time::Duration;

use weir_record::{
    LevelVerdict, Levels, NoObserver, Status, TargetFacts, Treatment, TrialError, TrialObserver,
    TrialRecord, TrialRunner, Window,
};
use weir_study::{BestGoal, BestSpec, Outcome, best};

use crate::support::{Analytic, noise};

/// 40 users of a server that answers 20 requests a second for every thread, up to 200: more than
/// ten threads neither help nor harm.
struct Server {
    other: Analytic,
    sigma: f64,
}

/// The true throughput.
fn throughput(threads: f64) -> f64 {
    (20.0 * threads).min(200.0)
}

impl TrialRunner for Server {
    fn facts(&self) -> &TargetFacts {
        self.other.facts()
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.other.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let number = |name: &str| treatment.levels.get(name)?.number();
        let users = number("users").unwrap_or(40.0);
        let mut plain = treatment.clone();
        plain.levels = Levels::from([("users".to_owned(), users.into())]);
        let mut record = self.other.run(&plain, observer)?;
        record.levels.clone_from(&treatment.levels);
        let threads = number("threads").unwrap_or(10.0);
        record.throughput_per_s = throughput(threads) * noise(self.sigma, treatment.seed);
        record.response_time_ms.mean = 1e3 * users / record.throughput_per_s;
        Ok(record)
    }
}

fn server(sigma: f64) -> Server {
    let other = Analytic::new(2, 0.1, 0.01, 0.04);
    Server { other, sigma }
}

fn spec(goal: BestGoal) -> BestSpec {
    BestSpec {
        question: "How many threads?".to_owned(),
        goal,
        vary: "threads".to_owned(),
        within: (1, 40),
        set: Levels::from([("users".to_owned(), 40.0.into())]),
        of: "throughput".to_owned(),
        margin: 0.05,
        requirements: vec!["errors <= 0.1 %".parse().unwrap()],
        window: Window::fixed(Duration::from_secs(5), Duration::from_secs(20)),
        budget: None,
        seed: 1,
    }
}

fn ended(spec: &BestSpec, sigma: f64) -> Outcome {
    best(spec, &mut server(sigma), &mut NoObserver)
}

#[test]
fn the_smallest_number_of_threads_that_serves_as_well_is_found() {
    for seed in 1..=20 {
        let spec = BestSpec {
            seed,
            ..spec(BestGoal::SmallestNearBest)
        };
        let outcome = ended(&spec, 0.01);
        assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
        let answer = outcome.answer.unwrap();
        assert_eq!((answer.factor.as_str(), answer.population), ("threads", 40));
        assert!((10.0..=11.0).contains(&answer.value), "{}", outcome.summary);
        assert!(answer.low <= 10.0, "{}", outcome.summary);
        assert_eq!(outcome.settings["threads"], answer.value);
        assert_eq!(outcome.settings_detail[0].from, Some(2_000.0));
        let table = outcome.table.unwrap();
        let rows: Vec<&str> = table.rows.iter().map(|row| row.case.as_str()).collect();
        assert!(rows.contains(&"threads 1") && rows.contains(&"threads 40"));
        assert!(outcome.trials.len() < 45, "{} trials", outcome.trials.len());
    }
}

#[test]
fn a_plateau_is_told_as_one() {
    let outcome = ended(&spec(BestGoal::Best), 0.01);
    assert_eq!(outcome.status, Status::Same, "{}", outcome.summary);
    assert!(outcome.summary.contains("plateau"), "{}", outcome.summary);
    assert!(
        outcome.summary.starts_with("No difference that matters"),
        "{}",
        outcome.summary
    );
    let comparison = outcome.comparison.unwrap();
    let as_good = comparison
        .levels
        .iter()
        .filter(|level| level.verdict == LevelVerdict::AsGood);
    assert!(as_good.count() > 1);
}

#[test]
fn a_best_of_its_own_is_named() {
    // Of response times less is better, and each user more makes them longer.
    let spec = BestSpec {
        vary: "users".to_owned(),
        within: (1, 8),
        set: Levels::new(),
        of: "mean".to_owned(),
        ..spec(BestGoal::Best)
    };
    let outcome = ended(&spec, 0.005);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    assert!(outcome.answer.unwrap().value < 2.0);
    assert!(outcome.settings.is_empty(), "users are no setting");
}

#[test]
fn noise_is_not_taken_for_an_answer() {
    let outcome = ended(&spec(BestGoal::SmallestNearBest), 0.3);
    assert_eq!(outcome.status, Status::Undecided, "{}", outcome.summary);
    assert!(outcome.answer.is_none() && outcome.settings.is_empty());
    assert!(
        outcome
            .summary
            .starts_with("Not decided: trials of one level differ by"),
        "{}",
        outcome.summary
    );
}

#[test]
fn a_level_that_breaks_a_requirement_is_out() {
    let mut spec = spec(BestGoal::SmallestNearBest);
    spec.requirements = vec!["mean <= 1.5 s".parse().unwrap()];
    let outcome = ended(&spec, 0.01);
    assert!(
        outcome
            .summary
            .contains("threads 1 is not compared: `mean <= 1.5 s` did not hold"),
        "{}",
        outcome.summary
    );
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
}

#[test]
fn a_budget_ends_the_search_with_what_it_knows() {
    let mut spec = spec(BestGoal::SmallestNearBest);
    spec.budget = Some(Duration::from_secs(300));
    let outcome = ended(&spec, 0.01);
    assert_eq!(outcome.trials.len(), 11, "26 s each");
    assert_eq!(outcome.status, Status::Undecided);
    assert!(
        outcome.summary.contains("larger `budget`"),
        "{}",
        outcome.summary
    );
}

#[test]
fn the_same_study_asks_for_the_same_trials() {
    let levels = |outcome: &Outcome| -> Vec<Option<f64>> {
        let trials = outcome.trials.iter();
        trials.map(|trial| trial.level("threads")).collect()
    };
    let spec = spec(BestGoal::SmallestNearBest);
    assert_eq!(levels(&ended(&spec, 0.02)), levels(&ended(&spec, 0.02)));
    assert!(server(0.0).facts().stage("threads").unwrap().settable);
}
