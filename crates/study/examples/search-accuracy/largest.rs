//! The largest number of users with a CPU of at most 80 %.

use weir_record::{NoObserver, Status};
use weir_study::{FindSpec, find};

use crate::SIGMAS;
use crate::peers::{self, Peer};
use crate::runs::{mean, of_seeds, percent, quantile, seeds};
use crate::truth::closed::{GOAL, Kind, Server, System, USERS_MAX};

/// Systems of each noise in the family …
const SYSTEMS: u64 = 200;
/// … and of each noise and kind outside it.
const SYSTEMS_OF_KIND: u64 = 200;
/// An answer is off when the CPU is this far from the goal.
const POINTS: f64 = 0.04;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ended {
    Level(f64),
    Undecided,
    Never,
    /// Nothing holds, or no trial was valid.
    Other,
}

/// One search against the truth.
#[derive(Debug, Clone, Copy)]
struct Study {
    ended: Ended,
    /// Relative error of the level.
    error: f64,
    /// The CPU at the answer is more than 4 points above the goal, or at one user more still 4
    /// points below.
    off: bool,
    /// The CPU at the answer and at the true answer are more than 4 points apart, be it for a
    /// single user.
    apart: bool,
    /// Whether the interval holds the truth.
    covered: bool,
    trials: f64,
}

impl Study {
    fn of(server: &Server, ended: Ended, interval: (f64, f64)) -> Self {
        let trials = f64::from(server.trials);
        let truth = server.system.largest(server.trials).map(f64::from);
        let Ended::Level(answer) = ended else {
            // That there is none, of a system that has one, is as wrong as can be.
            let wrong = truth.is_some() && ended != Ended::Undecided;
            return Self {
                ended,
                error: 1.0,
                off: wrong,
                apart: wrong,
                covered: false,
                trials,
            };
        };
        let Some(truth) = truth else {
            return Self {
                ended,
                error: 1.0,
                off: true,
                apart: true,
                covered: false,
                trials,
            };
        };
        let cpu = |users: f64| server.system.averages(users as u32, server.trials).cpu;
        let (answer_cpu, next_cpu) = (cpu(answer), cpu(answer + 1.0));
        Self {
            ended,
            error: (answer - truth).abs() / truth,
            off: answer_cpu > GOAL + POINTS || next_cpu < GOAL - POINTS,
            apart: (answer_cpu - cpu(truth)).abs() > POINTS,
            covered: interval.0 <= truth && truth <= interval.1,
            trials,
        }
    }

    fn is_level(&self) -> bool {
        matches!(self.ended, Ended::Level(_))
    }
}

fn searched(kind: Kind, sigma: f64, seed: u64) -> Study {
    let mut server = Server::new(System::drawn(kind, seed), sigma);
    let spec = FindSpec {
        budget: None,
        seed,
        within: (1, USERS_MAX),
        ..FindSpec::default()
    };
    let outcome = find(&spec, &mut server, &mut NoObserver);
    let (mut ended, mut interval) = (Ended::Other, (0.0, 0.0));
    match (outcome.status, &outcome.answer) {
        (Status::Answered, Some(answer)) => {
            ended = Ended::Level(answer.value);
            interval = (answer.low, answer.high);
        }
        (Status::Undecided, _) => ended = Ended::Undecided,
        (Status::Never, _) => ended = Ended::Never,
        _ => {}
    }
    Study::of(&server, ended, interval)
}

fn by_peer(peer: Peer, kind: Kind, sigma: f64, seed: u64) -> Study {
    let mut server = Server::new(System::drawn(kind, seed), sigma);
    let answer = peers::largest(peer, &mut server, seed);
    let ended = answer.map_or(Ended::Never, |users| Ended::Level(f64::from(users)));
    Study::of(&server, ended, (f64::NAN, f64::NAN))
}

const HEAD: &str = "| error of the answer, median | p90 | CPU off by > 4 points | answers > 4 points of CPU apart | undecided | \
                    interval holds the truth | trials, mean (p90) |\n|---|---|---|---|---|---|---|---|---|";

/// The cells of a row; errors are those of the answers that were given, shares are of all studies.
fn cells(studies: &[Study]) -> String {
    let given: Vec<Study> = studies
        .iter()
        .copied()
        .filter(|study| study.ended != Ended::Undecided)
        .collect();
    let errors: Vec<f64> = given.iter().map(|study| 100.0 * study.error).collect();
    let trials: Vec<f64> = studies.iter().map(|study| study.trials).collect();
    let levels: Vec<Study> = studies.iter().copied().filter(Study::is_level).collect();
    let held = percent(&levels, |study| study.covered);
    format!(
        "{:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {} | {:.1} ({:.0})",
        quantile(&errors, 0.5),
        quantile(&errors, 0.9),
        percent(studies, |study| study.off),
        percent(studies, |study| study.apart),
        percent(studies, |study| study.ended == Ended::Undecided),
        if held > 0.0 {
            format!("{held:.1} %")
        } else {
            "–".to_owned()
        },
        mean(&trials),
        quantile(&trials, 0.9),
    )
}

fn row(noise: f64, name: &str, studies: &[Study]) {
    println!("| {:.0} % | {name} | {} |", 100.0 * noise, cells(studies));
}

/// Truths of the model's family, next to what people do.
pub(crate) fn in_the_family() {
    println!(
        "\n**Largest number of users with a CPU of at most 80 %**, {SYSTEMS} systems of the model's family for each noise, {}; 1 to 8 CPUs, answers of 4 to 600 users.\n\n| noise | method {HEAD}",
        seeds(SYSTEMS)
    );
    for sigma in SIGMAS {
        let studies = of_seeds(SYSTEMS, |seed| searched(Kind::Family, sigma, seed));
        row(sigma, "Weir", &studies);
        for peer in Peer::ALL {
            let studies = of_seeds(SYSTEMS, |seed| by_peer(peer, Kind::Family, sigma, seed));
            row(sigma, peer.name(), &studies);
        }
    }
}

/// Truths outside it, and those that never reach the goal.
pub(crate) fn outside_the_family() {
    println!(
        "\n**The same outside the family**, {SYSTEMS_OF_KIND} systems for each kind and noise, {}.\n\n| noise | system, \
         method {HEAD}",
        seeds(SYSTEMS_OF_KIND)
    );
    for sigma in SIGMAS {
        let mut all = Vec::new();
        for kind in Kind::OUTSIDE {
            let studies = of_seeds(SYSTEMS_OF_KIND, |seed| searched(kind, sigma, seed));
            row(sigma, kind.name(), &studies);
            all.extend(studies);
        }
        row(sigma, "**all of them**", &all);
        for peer in Peer::ALL {
            let studies: Vec<Study> = Kind::OUTSIDE
                .iter()
                .flat_map(|kind| {
                    of_seeds(SYSTEMS_OF_KIND, |seed| by_peer(peer, *kind, sigma, seed))
                })
                .collect();
            row(sigma, &format!("all, {}", peer.name()), &studies);
        }
    }
    never();
}

fn never() {
    println!(
        "\n**CPU that never reaches its goal**, {SYSTEMS_OF_KIND} systems for each kind and noise, {}.\n\n| noise | system | \
         said to be never | undecided | answered with a number | trials, mean |\n|---|---|---|---|---|---|",
        seeds(SYSTEMS_OF_KIND)
    );
    for sigma in SIGMAS {
        for kind in Kind::NEVER {
            let studies = of_seeds(SYSTEMS_OF_KIND, |seed| searched(kind, sigma, seed));
            let trials: Vec<f64> = studies.iter().map(|study| study.trials).collect();
            println!(
                "| {:.0} % | {} | {:.1} % | {:.1} % | {:.1} % | {:.1} |",
                100.0 * sigma,
                kind.name(),
                percent(&studies, |study| study.ended == Ended::Never),
                percent(&studies, |study| study.ended == Ended::Undecided),
                percent(&studies, Study::is_level),
                mean(&trials)
            );
        }
    }
}
