//! The search on servers that are not what its model assumes, a few of each kind; `cargo xtask
//! bench search` has hundreds.

use weir_record::{NoObserver, Status};
use weir_study::{FindSpec, find};

use crate::truth::closed::{GOAL, Kind, Server, System, USERS_MAX};

const SIGMA: f64 = 0.03;
const SYSTEMS: u64 = 12;

/// How a study of one system ended.
struct Ended {
    status: Status,
    /// Relative error of the answer.
    error: f64,
    /// Whether the CPU at the answer is more than 4 points from what it should be.
    off: bool,
    trials: u32,
}

fn searched(kind: Kind, seed: u64) -> Ended {
    let mut server = Server::new(System::drawn(kind, seed), SIGMA);
    let spec = FindSpec {
        budget: None,
        seed,
        within: (1, USERS_MAX),
        ..FindSpec::default()
    };
    let outcome = find(&spec, &mut server, &mut NoObserver);
    let (trials, system) = (server.trials, &server.system);
    let cpu = |users: f64| system.averages(users as u32, trials).cpu;
    let truth = system.largest(trials).map(f64::from);
    let judged = outcome.answer.zip(truth).map(|(answer, truth)| {
        let (at, next) = (cpu(answer.value), cpu(answer.value + 1.0));
        let error = (answer.value - truth).abs() / truth;
        (error, at > GOAL + 0.04 || next < GOAL - 0.04)
    });
    let (error, off) = judged.unwrap_or((1.0, true));
    Ended {
        status: outcome.status,
        error,
        off,
        trials,
    }
}

#[test]
fn a_wrong_model_makes_no_wrong_answer() {
    for kind in Kind::OUTSIDE {
        let ended: Vec<Ended> = (0..SYSTEMS).map(|seed| searched(kind, seed)).collect();
        let given: Vec<&Ended> = ended
            .iter()
            .filter(|ended| ended.status != Status::Undecided)
            .collect();
        let off = given.iter().filter(|ended| ended.off).count();
        let mut errors: Vec<f64> = given.iter().map(|ended| ended.error).collect();
        errors.sort_by(f64::total_cmp);
        let median = errors[errors.len() / 2];
        let trials = ended.iter().map(|ended| ended.trials).sum::<u32>();
        let seen = format!(
            "{}: {off} of {} off, median error {median:.3}, {:.1} trials",
            kind.name(),
            given.len(),
            f64::from(trials) / SYSTEMS as f64
        );
        assert!(given.len() as u64 >= SYSTEMS * 3 / 4, "{seen}");
        assert!(off <= 2, "{seen}");
        assert!(median <= 0.04, "{seen}");
        assert!(u64::from(trials) <= 14 * SYSTEMS, "{seen}");
    }
}

#[test]
fn a_goal_out_of_reach_is_recognised() {
    for kind in Kind::NEVER {
        let statuses: Vec<Status> = (0..SYSTEMS)
            .map(|seed| searched(kind, seed).status)
            .collect();
        let never = statuses.iter().filter(|one| **one == Status::Never).count();
        assert!(never as u64 + 1 >= SYSTEMS, "{}: {statuses:?}", kind.name());
    }
}
