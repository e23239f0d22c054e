//! Studies whose goal is not reached, or not where it was looked for, and requirements beside CPU.

use std::cell::Cell;
use std::time::Duration;

use crate::support::{Altered, Analytic};
use weir_queueing::Pool;
use weir_record::{
    Errors, Invalid, InvalidReason, Levels, NoObserver, Role, Status, TargetFacts, Treatment,
    TrialError, TrialObserver, TrialRecord, TrialRunner,
};
use weir_study::{FindSpec, Outcome, RaiseSpec, StudyObserver, find};

/// One CPU, 10 ms of CPU and 200 ms of waiting per request, 200 ms of thinking: 35 users at 80 %.
fn plain(sigma: f64) -> Analytic {
    Analytic {
        sigma,
        ..Analytic::new(1, 0.2, 0.01, 0.2)
    }
}

fn subject_to(requirements: &[&str]) -> FindSpec {
    FindSpec {
        requirements: requirements
            .iter()
            .map(|text| text.parse().expect("a requirement"))
            .collect(),
        ..FindSpec::default()
    }
}

/// The question for a server of which no limit may be raised.
fn as_it_is() -> FindSpec {
    FindSpec {
        raise: RaiseSpec {
            never: true,
            ..RaiseSpec::default()
        },
        ..FindSpec::default()
    }
}

fn run(spec: &FindSpec, server: &Analytic) -> Outcome {
    find(spec, &mut server.clone(), &mut NoObserver)
}

fn has(outcome: &Outcome, finding: &str) -> bool {
    outcome.findings.iter().any(|known| known.id == finding)
}

const SIGMAS: [f64; 2] = [0.0, 0.02];

#[test]
fn a_server_that_lacks_only_cpu_is_answered() {
    let outcome = run(&FindSpec::default(), &plain(0.0));
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    assert_eq!(outcome.exit_code(), 0);
    let answer = outcome.answer.as_ref().unwrap();
    assert_eq!(answer.value, 35.0);
    assert_eq!(answer.binding.as_deref(), Some("cpu <= 80 %"));
    let (at, next) = (answer.at_value["cpu"], answer.at_next["cpu"]);
    assert!(at <= 0.8 && next > 0.8, "{at} {next}");
    // The curve goes through the answer.
    let curve = &answer.curves["cpu"];
    assert!(
        curve
            .iter()
            .any(|(level, cpu)| *level == 35.0 && (cpu - at).abs() < 1e-9)
    );
    assert!(curve.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert!(!has(&outcome, "plateau-unexplained") && !has(&outcome, "drift"));
}

#[test]
fn of_few_users_each_counts() {
    for sigma in SIGMAS {
        // 10 ms of CPU a request without thinking: one user makes 67 % or 63 % with 5 or 6 ms
        // elsewhere, two make more than 90 %.
        for elsewhere_s in [0.005, 0.006] {
            let server = Analytic {
                sigma,
                ..Analytic::new(1, elsewhere_s, 0.01, 0.0)
            };
            let outcome = run(&FindSpec::default(), &server);
            let answer = outcome.answer.as_ref().expect(&outcome.summary);
            assert_eq!(
                (answer.value, answer.low, answer.high),
                (1.0, 1.0, 1.0),
                "{}",
                outcome.summary
            );
            assert_eq!(server.largest(0.8), 1.0);
            let (at, truth) = (answer.at_value["cpu"], server.cpu(1.0));
            assert!((at / truth - 1.0).abs() < 0.06, "{at} {truth}");
            let searched = outcome
                .trials
                .iter()
                .filter(|trial| trial.role == Role::Search);
            assert!(searched.count() <= 4, "{}", outcome.summary);
        }
    }
}

#[test]
fn a_pool_that_is_too_small_is_named() {
    for sigma in SIGMAS {
        // At most 50 and 76 requests a second get through: 50 % and 76 % of the CPU.
        for (limit, hold_s) in [(5, 0.1), (8, 0.105)] {
            let server = Analytic {
                pool: Some(Pool { limit, hold_s }),
                ..plain(sigma)
            };
            let outcome = run(&as_it_is(), &server);
            assert_eq!(outcome.status, Status::Never, "{}", outcome.summary);
            assert_eq!(outcome.exit_code(), 1);
            assert!(
                outcome.summary.contains("`pool.db` is the limit"),
                "{}",
                outcome.summary
            );
            assert!(has(&outcome, "pool-waits") && has(&outcome, "littles-law"));
            assert!(outcome.answer.is_none() && outcome.held.is_none());
        }
    }
}

/// Wherever the budget ends: a limit that keeps the CPU below its goal leaves no number of users.
#[test]
fn a_budget_that_ends_on_a_full_stage_names_no_users_beyond_it() {
    let mut ended = 0;
    for limit in [5, 6, 7] {
        for seconds in (40..=400).step_by(10) {
            let server = Analytic {
                pool: Some(Pool { limit, hold_s: 0.1 }),
                ..plain(0.0)
            };
            let spec = FindSpec {
                budget: Some(Duration::from_secs(seconds)),
                ..as_it_is()
            };
            let outcome = run(&spec, &server);
            let full = outcome.trials.iter().any(|trial| {
                let occupancy = trial.occupancy("pool.db");
                occupancy.is_some_and(|taken| taken >= 0.95 * f64::from(limit))
            });
            let value = outcome.answer.as_ref().map(|answer| answer.value);
            assert!(!full || value.is_none(), "{seconds} s: {}", outcome.summary);
            let says_full = outcome.summary.contains("where `pool.db` was full");
            ended += u32::from(outcome.status == Status::Undecided && says_full);
        }
    }
    assert!(ended > 0, "no budget ended there");
}

#[test]
fn a_thread_limit_below_the_goal_is_named() {
    for sigma in SIGMAS {
        let outcome = run(
            &as_it_is(),
            &Analytic {
                threads: 8,
                ..plain(sigma)
            },
        );
        assert_eq!(outcome.status, Status::Never, "{}", outcome.summary);
        assert!(
            outcome.summary.contains("`threads` is the limit"),
            "{}",
            outcome.summary
        );
    }
}

/// The limits that ended the search, with what was said of the answer.
fn raised(outcome: &Outcome) -> Vec<(&str, f64)> {
    let raised = outcome.raised.iter();
    raised
        .map(|limit| (limit.stage.as_str(), limit.from))
        .collect()
}

#[test]
fn a_limit_that_may_be_raised_is_raised_until_the_requirement_binds() {
    for sigma in SIGMAS {
        for threads in [4, 8, 16] {
            let server = Analytic {
                threads,
                ..plain(sigma)
            };
            let outcome = run(&FindSpec::default(), &server);
            let summary = &outcome.summary;
            assert_eq!(outcome.status, Status::Answered, "{summary}");
            assert_eq!(
                raised(&outcome)[0],
                ("threads", f64::from(threads)),
                "{summary}"
            );
            let answer = outcome.answer.as_ref().unwrap();
            let truth = server.largest(0.8);
            assert!((answer.value - truth).abs() <= 0.07 * truth, "{summary}");
            let set = outcome.settings["threads"];
            assert!(set > f64::from(threads), "{summary}");
            assert!(
                summary.contains(&format!("users with threads = {set} (")),
                "{summary}"
            );
            assert!(
                summary.contains(&format!("As found, `threads` = {threads} is the limit")),
                "{summary}"
            );
            let held = outcome.held.as_ref().unwrap();
            assert!(held.passed, "{summary}");
            let both = held.before_and_after.as_ref().unwrap();
            assert!(
                both.after.throughput_per_s.value > 1.05 * both.before.throughput_per_s.value,
                "{both:?}"
            );
            let before = outcome
                .trials
                .iter()
                .find(|trial| trial.id == both.before.trial);
            let before = before.unwrap();
            assert_eq!(before.role, Role::Control);
            assert_eq!(before.level("threads"), None, "the limits as found");
        }
    }
}

/// Users up to which a server with exponential response times has a 99th percentile of at most so
/// many milliseconds.
fn largest_p99(server: &Analytic, bound_ms: f64) -> f64 {
    let model = server.model();
    let p99_ms = |users: u32| 1e3 * 100.0_f64.ln() * (model.solve(users).response_time_s + 0.2);
    let holds = (1..200).take_while(|users| p99_ms(*users) <= bound_ms);
    holds.count() as f64
}

#[test]
fn a_limit_that_requests_queue_for_is_raised_where_a_response_time_binds() {
    for sigma in SIGMAS {
        for threads in [6, 8] {
            let server = Analytic {
                threads,
                ..plain(sigma)
            };
            let spec = subject_to(&["cpu <= 80 %", "p99 <= 1200 ms"]);
            let outcome = run(&spec, &server);
            let summary = &outcome.summary;
            assert_eq!(outcome.status, Status::Answered, "{summary}");
            let limit = &outcome.raised[0];
            assert_eq!(
                (limit.stage.as_str(), limit.from),
                ("threads", f64::from(threads))
            );
            let found = limit.answer.as_ref().expect(summary);
            assert_eq!(found.binding, "p99 <= 1200 ms", "{summary}");
            let answer = outcome.answer.as_ref().unwrap();
            let truth = plain(0.0)
                .largest(0.8)
                .min(largest_p99(&plain(0.0), 1200.0));
            assert!(
                (answer.value - truth).abs() <= (0.1 * truth).max(2.0),
                "{truth}: {summary}"
            );
            assert!(answer.low > found.value, "{summary}");
            assert!(
                summary.contains(&format!("As found, `threads` = {threads} is the limit"))
                    && summary.contains("`p99 <= 1200 ms` ends it at"),
                "{summary}"
            );
            assert!(
                outcome.settings["threads"] > f64::from(threads),
                "{summary}"
            );
            let held = outcome.held.as_ref().expect(summary);
            let both = held.before_and_after.as_ref().expect(summary);
            assert!(
                both.after.throughput_per_s.value > 1.05 * both.before.throughput_per_s.value,
                "{both:?}"
            );
            assert!(
                !has(&outcome, "settings-not-derived"),
                "{:?}",
                outcome.findings
            );
        }
    }
}

#[test]
fn limits_behind_each_other_are_raised_where_a_response_time_binds() {
    for sigma in SIGMAS {
        // Behind eight threads a pool lets 50 requests a second through, half of the CPU.
        let server = Analytic {
            threads: 8,
            pool: Some(Pool {
                limit: 5,
                hold_s: 0.1,
            }),
            ..plain(sigma)
        };
        let spec = subject_to(&["cpu <= 80 %", "p99 <= 1800 ms"]);
        let outcome = run(&spec, &server);
        let summary = &outcome.summary;
        let stages: Vec<&str> = raised(&outcome).iter().map(|limit| limit.0).collect();
        assert!(
            stages.contains(&"threads") && stages.contains(&"pool.db"),
            "{summary}"
        );
        let answer = outcome.answer.as_ref().expect(summary);
        let truth = plain(0.0).largest(0.8);
        assert!(answer.value > 0.85 * truth, "{truth}: {summary}");
    }
}

/// A server whose limit of threads can be set and stays what it was.
fn deaf(
    server: &mut Analytic,
    treatment: &Treatment,
    observer: &mut dyn TrialObserver,
) -> Result<TrialRecord, TrialError> {
    let mut heard = treatment.clone();
    heard.levels.remove("threads");
    let mut record = server.run(&heard, observer)?;
    record.levels = treatment.levels.clone();
    Ok(record)
}

#[test]
fn a_limit_that_is_raised_in_vain_leaves_the_answer_as_it_was() {
    for sigma in SIGMAS {
        let server = Analytic {
            threads: 8,
            ..plain(sigma)
        };
        let spec = subject_to(&["cpu <= 80 %", "p99 <= 1200 ms"]);
        let as_found = FindSpec {
            raise: as_it_is().raise,
            ..spec.clone()
        };
        let without = run(&as_found, &server);
        let outcome = find(
            &spec,
            &mut Altered {
                server,
                trial: deaf,
            },
            &mut NoObserver,
        );
        let summary = &outcome.summary;
        assert_eq!(outcome.status, without.status, "{summary}");
        let without = without.answer.unwrap();
        let answer = outcome.answer.as_ref().unwrap();
        assert_eq!(
            (answer.value, answer.low),
            (without.value, without.low),
            "{summary}"
        );
        assert!(
            outcome.raised.is_empty() && outcome.settings.is_empty(),
            "{summary}"
        );
        assert!(
            has(&outcome, "raise-gains-nothing"),
            "{:?}",
            outcome.findings
        );
    }
}

/// Eight processes that each serve one connection for as long as it is kept: users above that have
/// no answer at all, and those that have one have it quickly.
fn starving(
    server: &mut Analytic,
    treatment: &Treatment,
    observer: &mut dyn TrialObserver,
) -> Result<TrialRecord, TrialError> {
    let users = treatment.levels["users"].number().expect("a number");
    let mut served = treatment.clone();
    served
        .levels
        .insert("users".to_owned(), users.min(8.0).into());
    let mut record = server.run(&served, observer)?;
    let answered = record.throughput_per_s * record.response_time_ms.mean / 1e3;
    let starved = (users - 8.0).max(0.0);
    record
        .signals
        .insert("in-flight".to_owned(), answered + starved);
    record.levels = treatment.levels.clone();
    record.population = users as u32;
    Ok(record)
}

#[test]
fn users_without_an_answer_are_no_users_whose_answers_are_quick() {
    for sigma in SIGMAS {
        // Eight have their answers; by Little's law the mean of all is L / X: 11.7 / 19.5 per
        // second.
        for (requirement, truth) in [("p99 <= 1500 ms", 8.0), ("mean <= 600 ms", 15.0)] {
            let spec = subject_to(&[requirement]);
            let outcome = find(
                &spec,
                &mut Altered {
                    server: plain(sigma),
                    trial: starving,
                },
                &mut NoObserver,
            );
            let summary = &outcome.summary;
            let answer = outcome.answer.as_ref().expect(summary);
            assert!((answer.value - truth).abs() <= 2.0, "{summary}");
            assert!(has(&outcome, "users-starved"), "{summary}");
        }
    }
}

/// A proxy without a place for more than twenty users: it answers all others with an error at once,
/// so quickly that they keep the load generator busy.
fn failing(
    server: &mut Analytic,
    treatment: &Treatment,
    observer: &mut dyn TrialObserver,
) -> Result<TrialRecord, TrialError> {
    let mut record = server.run(treatment, observer)?;
    if record.population > 20 {
        let failed = 23_000 * record.window_s as u64;
        record.throughput_per_s = 23_500.0;
        record.errors = Errors {
            count: failed,
            share: 23_000.0 / 23_500.0,
            by_code: [("500".to_owned(), failed)].into(),
        };
        let reason = InvalidReason::LoadToolCpu {
            used: 0.92,
            cpus: 1,
            at_most: 0.8,
        };
        let says = "the load generator was the limit".to_owned();
        record.valid = false;
        record.invalid_because.push(says.clone());
        record.invalid.push(Invalid { says, reason });
    }
    Ok(record)
}

#[test]
fn requests_that_fail_at_once_end_no_search() {
    for sigma in SIGMAS {
        let spec = subject_to(&["cpu <= 80 %", "errors <= 0.1 %"]);
        let outcome = find(
            &spec,
            &mut Altered {
                server: plain(sigma),
                trial: failing,
            },
            &mut NoObserver,
        );
        let summary = &outcome.summary;
        let answer = outcome.answer.as_ref().expect(summary);
        assert_eq!(
            answer.binding.as_deref(),
            Some("errors <= 0.1 %"),
            "{summary}"
        );
        assert!((17.0..=20.0).contains(&answer.value), "{summary}");
        assert!(answer.high <= 22.0, "{summary}");
        // Without such a bound nothing is known of the load that was to be measured.
        let spec = subject_to(&["cpu <= 80 %"]);
        let outcome = find(
            &spec,
            &mut Altered {
                server: plain(sigma),
                trial: failing,
            },
            &mut NoObserver,
        );
        assert_eq!(outcome.status, Status::Invalid, "{}", outcome.summary);
    }
}

/// Nothing tells how far it is from where nobody fails to where some do: wherever the budget ends,
/// the answer is a number of users at which it held.
#[test]
fn the_answer_before_a_step_is_a_level_that_held() {
    let mut answered = 0;
    for sigma in SIGMAS {
        for seconds in (60..400).step_by(20) {
            let spec = FindSpec {
                budget: Some(Duration::from_secs(seconds)),
                ..subject_to(&["cpu <= 80 %", "errors <= 0.1 %"])
            };
            let server = Altered {
                server: plain(sigma),
                trial: failing,
            };
            let outcome = find(&spec, &mut { server }, &mut NoObserver);
            let Some(answer) = outcome.answer.as_ref() else {
                continue;
            };
            answered += 1;
            assert!(answer.value <= 20.0, "{seconds} s: {}", outcome.summary);
            assert!(answer.high >= 20.0, "{seconds} s: {}", outcome.summary);
        }
    }
    assert!(answered > 10, "{answered}");
}

#[test]
fn limits_one_behind_the_other_are_raised_in_turn() {
    for sigma in SIGMAS {
        // At most 40 requests a second through eight threads, at most 50 through five connections.
        let server = Analytic {
            threads: 8,
            pool: Some(Pool {
                limit: 5,
                hold_s: 0.1,
            }),
            ..plain(sigma)
        };
        let outcome = run(&FindSpec::default(), &server);
        let summary = &outcome.summary;
        assert_eq!(outcome.status, Status::Answered, "{summary}");
        let stages: Vec<&str> = raised(&outcome).iter().map(|limit| limit.0).collect();
        assert!(
            stages.contains(&"threads") && stages.contains(&"pool.db"),
            "{summary}"
        );
        assert!(outcome.settings["pool.db"] > 5.0, "{summary}");
        assert!(
            summary.contains("pool.db = ") && summary.contains("threads = "),
            "{summary}"
        );
    }
}

#[test]
fn a_limit_is_raised_no_further_than_the_study_says() {
    let bounded = |bound: f64| FindSpec {
        raise: RaiseSpec {
            bounds: [("threads".to_owned(), bound)].into(),
            ..RaiseSpec::default()
        },
        ..FindSpec::default()
    };
    let server = Analytic {
        threads: 8,
        ..plain(0.0)
    };
    let outcome = run(&bounded(12.0), &server);
    let summary = &outcome.summary;
    assert_eq!(outcome.status, Status::Never, "{summary}");
    assert!(
        summary.contains("As found, `threads` = 8 is the limit")
            && summary.contains("of 12 in use")
            && summary.contains("raise = { threads = 24 }"),
        "{summary}"
    );
    let levels = outcome
        .trials
        .iter()
        .filter_map(|trial| trial.level("threads"));
    assert!(levels.max_by(f64::total_cmp) == Some(12.0), "{summary}");
    assert_eq!(run(&bounded(60.0), &server).status, Status::Answered);
}

#[test]
fn a_limit_that_the_study_sets_or_nobody_can_set_stays() {
    let server = Analytic {
        threads: 8,
        ..plain(0.0)
    };
    let kept = FindSpec {
        raise: RaiseSpec {
            kept: ["threads".to_owned()].into(),
            ..RaiseSpec::default()
        },
        ..FindSpec::default()
    };
    assert_eq!(run(&kept, &server).status, Status::Never);
    let mut fixed = server;
    for stage in &mut fixed.facts.stages {
        stage.settable = false;
    }
    let outcome = run(&FindSpec::default(), &fixed);
    assert_eq!(outcome.status, Status::Never);
    assert!(
        outcome
            .summary
            .contains("raise threads to 16 and ask again"),
        "{}",
        outcome.summary
    );
}

#[test]
fn a_limit_that_nothing_shows_is_called_unexplained() {
    for sigma in SIGMAS {
        for throughput_max in [40.0, 74.0] {
            let outcome = run(
                &FindSpec::default(),
                &Analytic {
                    throughput_max,
                    ..plain(sigma)
                },
            );
            assert_eq!(outcome.status, Status::Never, "{}", outcome.summary);
            assert!(
                has(&outcome, "plateau-unexplained"),
                "{:?}",
                outcome.findings
            );
        }
    }
}

#[test]
fn plain_servers_are_never_called_limited() {
    for seed in 0..150 {
        let spec = FindSpec {
            seed,
            ..FindSpec::default()
        };
        let outcome = run(&spec, &plain(0.03));
        assert!(outcome.answer.is_some(), "seed {seed}: {}", outcome.summary);
        assert!(
            !has(&outcome, "plateau-unexplained"),
            "seed {seed}: {:?}",
            outcome.findings
        );
    }
}

#[test]
fn the_end_of_the_range_is_an_answer_with_a_way_out() {
    for sigma in SIGMAS {
        let spec = FindSpec {
            within: (1, 20),
            ..FindSpec::default()
        };
        let outcome = run(&spec, &plain(sigma));
        assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
        let answer = outcome.answer.as_ref().unwrap();
        assert_eq!((answer.value, answer.low, answer.high), (20.0, 20.0, 20.0));
        assert_eq!(answer.limited_by.as_deref(), Some("within"));
        assert!(outcome.summary.contains("`within`"), "{}", outcome.summary);
        assert!(has(&outcome, "settings-not-derived"));
    }
}

#[test]
fn a_range_that_begins_too_high_is_not_met() {
    let spec = FindSpec {
        within: (80, 200),
        ..FindSpec::default()
    };
    let outcome = run(&spec, &plain(0.02));
    assert_eq!(outcome.status, Status::NotMet, "{}", outcome.summary);
    assert_eq!(outcome.exit_code(), 1);
    assert!(outcome.answer.is_none());
}

/// The CPU of each trial times a factor that its number and users decide.
struct Skewed {
    server: Analytic,
    cpu: fn(trial: u32, users: u32) -> f64,
}

impl TrialRunner for Skewed {
    fn facts(&self) -> &TargetFacts {
        self.server.facts()
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.server.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let mut record = self.server.run(treatment, observer)?;
        let factor = (self.cpu)(record.id, record.population);
        if let Some(cpu) = &mut record.cpu {
            cpu.total = (cpu.total * factor).min(1.0);
        }
        Ok(record)
    }
}

fn run_from_34_users(cpu: fn(u32, u32) -> f64) -> Outcome {
    let spec = FindSpec {
        within: (34, 200),
        ..FindSpec::default()
    };
    let server = plain(0.0);
    find(&spec, &mut Skewed { server, cpu }, &mut NoObserver)
}

#[test]
fn what_held_in_a_trial_at_the_smallest_level_is_not_called_broken() {
    // 34 users make 78 % of the CPU. The first trial reads more, and the mean of both is above the
    // goal.
    let outcome = run_from_34_users(|trial, _| if trial == 1 { 1.06 } else { 1.0 });
    assert_eq!(outcome.status, Status::Undecided, "{}", outcome.summary);
    assert!(
        outcome.summary.contains("holds in 1 of 2"),
        "{}",
        outcome.summary
    );
}

#[test]
fn a_step_behind_the_smallest_level_leaves_that_level_the_answer() {
    // The line through the trials on the step meets the goal below the range.
    let outcome = run_from_34_users(|_, users| if users > 34 { 1.2 } else { 1.0 });
    let answer = outcome.answer.as_ref().expect(&outcome.summary);
    assert_eq!((answer.value, answer.low), (34.0, 34.0), "{answer:?}");
}

#[test]
fn the_requirement_that_breaks_first_binds() {
    for (requirements, binding) in [
        (["cpu <= 80 %", "mean <= 225 ms"], "mean <= 225 ms"),
        (["cpu <= 80 %", "mean <= 500 ms"], "cpu <= 80 %"),
        (["cpu <= 80 %", "p99 <= 1030 ms"], "p99 <= 1030 ms"),
    ] {
        for sigma in SIGMAS {
            let outcome = run(&subject_to(&requirements), &plain(sigma));
            let answer = outcome.answer.as_ref().unwrap();
            assert_eq!(
                answer.binding.as_deref(),
                Some(binding),
                "{}",
                outcome.summary
            );
            if binding.starts_with("cpu") {
                continue;
            }
            // Truth: the response-time law of the exact model.
            let server = plain(0.0);
            let response_ms =
                |users: f64| 1e3 * (server.model().solve(users as u32).response_time_s + 0.2);
            let factor = if binding.starts_with("p99") {
                100.0_f64.ln()
            } else {
                1.0
            };
            let bound = if factor > 1.0 { 1030.0 } else { 225.0 };
            let truth = f64::from(
                (1..60)
                    .take_while(|users| factor * response_ms(f64::from(*users)) <= bound)
                    .count() as u32,
            );
            assert!(
                (answer.value - truth).abs() <= (0.25 * truth).max(2.0),
                "{} {truth}",
                answer.value
            );
            assert!(
                answer.low <= truth && truth <= answer.high || sigma > 0.0,
                "{answer:?} {truth}"
            );
            assert!(answer.curves.contains_key(if factor > 1.0 {
                "response_time_ms.p99"
            } else {
                "response_time_ms.mean"
            }));
            // A thread limit does not shorten what users wait for.
            assert!(outcome.settings.is_empty() && has(&outcome, "settings-not-derived"));
        }
    }
}

#[test]
fn nobody_waiting_is_found_between_two_levels() {
    let server = Analytic {
        pool: Some(Pool {
            limit: 9,
            hold_s: 0.1,
        }),
        ..plain(0.0)
    };
    let outcome = run(
        &subject_to(&["cpu <= 80 %", "waiting(pool.db) == 0"]),
        &server,
    );
    let answer = outcome.answer.unwrap();
    assert_eq!(answer.binding.as_deref(), Some("waiting(pool.db) == 0"));
    assert!(
        answer.low <= 22.0 && answer.high >= 21.0 && answer.high - answer.low <= 4.0,
        "{answer:?}"
    );
}

#[test]
fn a_throughput_that_is_not_reached_is_said() {
    let outcome = run(
        &subject_to(&["cpu <= 80 %", "throughput >= 90 /s"]),
        &plain(0.0),
    );
    assert_eq!(outcome.status, Status::NotMet);
    assert!(
        outcome.summary.contains("throughput >= 90 /s"),
        "{}",
        outcome.summary
    );
    let met = run(
        &subject_to(&["cpu <= 80 %", "throughput >= 70 /s"]),
        &plain(0.0),
    );
    assert_eq!(met.status, Status::Answered, "{}", met.summary);
}

#[test]
fn levels_count_users_per_group() {
    let outcome = run(
        &FindSpec::default(),
        &Analytic {
            groups: 2,
            ..plain(0.0)
        },
    );
    let answer = outcome.answer.unwrap();
    assert_eq!((answer.value, answer.population), (17.0, 34));
    assert_eq!(outcome.held.unwrap().population, 52);
}

#[test]
fn the_pool_is_sized_by_what_the_threads_hold() {
    let server = Analytic {
        pool: Some(Pool {
            limit: 10,
            hold_s: 0.02,
        }),
        ..plain(0.0)
    };
    let outcome = run(&FindSpec::default(), &server);
    assert!(outcome.held.as_ref().unwrap().passed, "{}", outcome.summary);
    // 80 requests a second hold 1.6 connections on average; 19 threads want 7 or more of them less
    // than once in a thousand moments: binomial(19, 0.084).
    assert_eq!(
        outcome.settings["pool.db"], 6.0,
        "{:?}",
        outcome.settings_detail
    );
    // Ten seconds of waiting at 80 requests a second, and the threads.
    let connections = outcome.settings["connections"];
    assert!((815.0..825.0).contains(&connections), "{connections}");
    assert_eq!(outcome.settings["backlog"], 511.0);
}

/// Breaks what a runner gives back.
struct Broken {
    server: Analytic,
    /// Trials with these numbers are not valid.
    invalid: Vec<u32>,
    /// This trial is not run.
    stop_at: Option<(u32, fn() -> TrialError)>,
}

impl TrialRunner for Broken {
    fn facts(&self) -> &TargetFacts {
        self.server.facts()
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.server.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        if let Some((at, error)) = self.stop_at
            && at == treatment.id
        {
            return Err(error());
        }
        let mut record = self.server.run(treatment, observer)?;
        if self.invalid.contains(&record.id) {
            record.valid = false;
            record.invalid_because = vec!["the load generator was the limit".to_owned()];
        }
        Ok(record)
    }
}

#[test]
fn an_invalid_trial_is_repeated_once() {
    let broken = |invalid: &[u32]| Broken {
        server: plain(0.0),
        invalid: invalid.to_vec(),
        stop_at: None,
    };
    let once = find(&FindSpec::default(), &mut broken(&[4]), &mut NoObserver);
    assert_eq!(once.status, Status::Answered, "{}", once.summary);
    assert_eq!(once.trials[3].levels, once.trials[4].levels);
    assert_eq!(once.answer.unwrap().value, 35.0);

    let twice = find(&FindSpec::default(), &mut broken(&[4, 5]), &mut NoObserver);
    assert_eq!(twice.status, Status::Invalid);
    assert_eq!(twice.exit_code(), 4);
    assert!(
        twice.summary.contains("the load generator was the limit"),
        "{}",
        twice.summary
    );
    assert_eq!(twice.trials.len(), 5);
}

#[test]
fn what_was_learned_before_a_stop_is_kept() {
    for (at, answered) in [(3, false), (8, true)] {
        for (error, code) in [
            ((|| TrialError::Interrupted) as fn() -> TrialError, 130),
            (
                || TrialError::Environment("the target has died".to_owned()),
                3,
            ),
            (|| TrialError::Input("no such property".to_owned()), 2),
        ] {
            let mut runner = Broken {
                server: plain(0.0),
                invalid: Vec::new(),
                stop_at: Some((at, error)),
            };
            let outcome = find(&FindSpec::default(), &mut runner, &mut NoObserver);
            assert_eq!(outcome.status, Status::Interrupted);
            assert_eq!(outcome.exit_code(), code);
            assert_eq!(outcome.trials.len() as u32, at - 1);
            assert_eq!(outcome.answer.is_some(), answered, "{}", outcome.summary);
        }
    }
}

#[test]
fn a_requirement_that_no_trial_can_judge_is_bad_input() {
    let outcome = run(
        &subject_to(&["cpu <= 80 %", "waiting(pool.db) == 0"]),
        &plain(0.0),
    );
    assert_eq!(outcome.exit_code(), 2, "{}", outcome.summary);
    assert!(
        outcome.summary.contains("waiting(pool.db)"),
        "{}",
        outcome.summary
    );
}

#[derive(Default)]
struct Listener {
    started: Cell<u32>,
    ended: Cell<u32>,
}

impl TrialObserver for Listener {
    fn second(&mut self, _: &weir_record::SecondView) {}

    fn note(&mut self, _: &str) {}
}

impl StudyObserver for Listener {
    fn trial_starts(&mut self, treatment: &Treatment, why: &str) {
        assert_eq!(self.started.get(), self.ended.get());
        assert_eq!(treatment.id, self.started.get() + 1);
        assert!(!why.is_empty());
        self.started.set(treatment.id);
    }

    fn trial_ended(&mut self, record: &TrialRecord) {
        assert_eq!(record.id, self.started.get());
        self.ended.set(record.id);
    }
}

#[test]
fn the_observer_hears_of_every_trial() {
    let mut listener = Listener::default();
    let outcome = find(&FindSpec::default(), &mut plain(0.0), &mut listener);
    assert_eq!(listener.ended.get(), outcome.trials.len() as u32);
    assert!(outcome.trials.iter().any(|trial| trial.role == Role::Check));
}
