//! How often "it does not matter" is said of a setting that matters.

use std::time::Duration;

use weir_record::{Level, Levels, NoObserver, Status, Window};
use weir_study::{MattersSpec, matters};

use crate::SIGMAS;
use crate::runs::{mean, of_seeds, percent, seeds};
use crate::truth::pairs::{FACTOR, LEVELS, Server};

/// Studies of each margin, noise and truth.
const STUDIES: u64 = 2_000;
const MARGINS: [f64; 2] = [0.03, 0.05];
/// True differences, in margins.
const TRUTHS: [f64; 3] = [0.0, 1.0, 2.0];

/// How a study ended, and its trials.
fn asked(margin: f64, truth: f64, sigma: f64, seed: u64) -> (Status, f64) {
    let ratio = 1.0 + truth * margin;
    // Better as often as worse.
    let ratio = if seed.is_multiple_of(2) {
        ratio
    } else {
        1.0 / ratio
    };
    let spec = MattersSpec {
        question: "Does the backlog matter?".to_owned(),
        vary: FACTOR.to_owned(),
        levels: LEVELS.map(|level| Some(Level::Number(level))),
        set: Levels::from([("users".to_owned(), 50.0.into())]),
        of: "throughput".to_owned(),
        margin,
        binds_at: Levels::new(),
        window: Window::fixed(Duration::from_secs(5), Duration::from_secs(20)),
        budget: None,
        seed,
    };
    let outcome = matters(&spec, &mut Server::new(ratio, sigma), &mut NoObserver);
    (outcome.status, outcome.trials.len() as f64)
}

/// Same, different and undecided for each truth.
pub(crate) fn tables() {
    let error = (0.05 * 0.95 / STUDIES as f64).sqrt();
    println!(
        "\n**Does a setting matter?** {STUDIES} studies a row, {}. Where the truth lies at the margin, `same` is a false \"no \
         difference\": at most 5 % and two standard errors, {:.1} %.\n\n| margin | noise | true difference | same | different | \
         undecided | trials, mean |\n|---|---|---|---|---|---|---|",
        seeds(STUDIES),
        100.0 * (0.05 + 2.0 * error)
    );
    for margin in MARGINS {
        for sigma in SIGMAS {
            for truth in TRUTHS {
                let studies = of_seeds(STUDIES, |seed| asked(margin, truth, sigma, seed));
                let ended = |status| percent(&studies, |study| study.0 == status);
                let trials: Vec<f64> = studies.iter().map(|study| study.1).collect();
                println!(
                    "| {:.0} % | {:.0} % | {:.0} % | {:.1} % | {:.1} % | {:.1} % | {:.1} |",
                    100.0 * margin,
                    100.0 * sigma,
                    100.0 * truth * margin,
                    ended(Status::Same),
                    ended(Status::Answered),
                    ended(Status::Undecided),
                    mean(&trials)
                );
            }
        }
    }
}
