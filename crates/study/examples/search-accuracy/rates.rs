//! The largest rate of arrivals.

use weir_record::{NoObserver, Status};
use weir_study::{Ask, StudyFile, find};

use crate::SIGMAS;
use crate::runs::{mean, of_seeds, percent, quantile, seeds};
use crate::truth::arrivals::{Ends, OpenServer};

/// Systems of each noise and kind.
const SYSTEMS: u64 = 200;

/// One search against the truth.
#[derive(Debug, Clone, Copy)]
struct Study {
    /// Relative error in per cent, and whether the interval holds the truth; of an answer.
    answered: Option<(f64, bool)>,
    trials: f64,
}

fn searched(ends: Ends, sigma: f64, seed: u64) -> Study {
    let mut server = OpenServer::drawn(ends, sigma, seed);
    let file = format!(
        "schema = \"weir/study/1\"\nseed = {seed}\n[target.builtin]\n[load]\nurl = \"/\"\n[find]\nvary = \"rate\"\n\
         subject-to = [\"{}\", \"errors <= 0.1 %\"]\nbudget = \"100 min\"\n",
        server.asked
    );
    let Ask::Find(spec) = StudyFile::parse(&file).unwrap().ask else {
        panic!("a study with [find]");
    };
    let outcome = find(&spec, &mut server, &mut NoObserver);
    let decided = outcome.status != Status::Undecided;
    let answered = outcome.answer.filter(|_| decided).map(|answer| {
        let error = 100.0 * (answer.value - server.truth).abs() / server.truth;
        let covered = answer.low <= server.truth && server.truth <= answer.high + 1.0;
        (error, covered)
    });
    Study {
        answered,
        trials: f64::from(server.trials),
    }
}

/// Rates that a CPU goal, a response time or what piles up ends.
pub(crate) fn tables() {
    println!(
        "\n**Largest rate of arrivals**, {SYSTEMS} systems for each noise and kind, {}; M/M/c with 1 to 8 CPUs, the check \
         at the answer included.\n\n| noise | what ends the range | error of the answer, median | p90 | undecided | interval \
         holds the truth | trials, mean (p90) |\n|---|---|---|---|---|---|---|",
        seeds(SYSTEMS)
    );
    for sigma in SIGMAS {
        for ends in Ends::ALL {
            let studies = of_seeds(SYSTEMS, |seed| searched(ends, sigma, seed));
            let answered: Vec<(f64, bool)> =
                studies.iter().filter_map(|study| study.answered).collect();
            let errors: Vec<f64> = answered.iter().map(|answer| answer.0).collect();
            let trials: Vec<f64> = studies.iter().map(|study| study.trials).collect();
            println!(
                "| {:.0} % | {} | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.1} ({:.0}) |",
                100.0 * sigma,
                ends.name(),
                quantile(&errors, 0.5),
                quantile(&errors, 0.9),
                percent(&studies, |study| study.answered.is_none()),
                percent(&answered, |answer| answer.1),
                mean(&trials),
                quantile(&trials, 0.9)
            );
        }
    }
}
