//! A file of cases: solved and simulated one by one, summed up by family.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use weir_oracle::{Case, CaseResult, Effort};
use weir_sim::Watcher;

use crate::error::ExpectedError;
use crate::progress::Parts;
use crate::{interrupt, output};

/// What `--json` writes.
#[derive(Debug, Serialize)]
struct CasesFile {
    cases: Vec<CaseResult>,
}

/// What became of the cases of one family.
#[derive(Debug, Default)]
struct Family {
    passed: usize,
    failed: usize,
    skipped: usize,
    simulated: usize,
    within: usize,
    undecided: usize,
    worst: f64,
    /// Why its cases were not simulated: the reason of the first.
    not_simulated: Option<String>,
}

pub(super) fn run(file: &Path, json: Option<&Path>) -> Result<u8, ExpectedError> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        ExpectedError::Input(format!("failed to read `{}`: {error}", file.display()))
    })?;
    let cases = weir_oracle::read(&text)
        .map_err(|error| ExpectedError::Input(format!("{}: failed to {error}", file.display())))?;
    let results = run_all(&cases)?;
    let failed = results
        .iter()
        .filter(|result| !result.passed && !result.skipped)
        .count();
    // With `--json -` standard output is for programs.
    if json != Some(Path::new("-")) {
        output::data_lines(&summary(&results));
    }
    if let Some(json) = json {
        output::json_to(json, &CasesFile { cases: results })?;
    }
    Ok(u8::from(failed > 0))
}

/// Solves and simulates all cases, and says how far it is.
fn run_all(cases: &[Case]) -> Result<Vec<CaseResult>, ExpectedError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let progress = Progress {
        parts: Mutex::new(Parts::new()),
        interrupted: interrupt::flag()?,
    };
    let mut results = Vec::with_capacity(cases.len());
    for (index, case) in cases.iter().enumerate() {
        progress.begin(format!(
            "case {} of {}: {}",
            index + 1,
            cases.len(),
            case.name
        ));
        results.push(weir_oracle::run(case, &Effort::full(threads, &progress)));
        if progress.is_interrupted() {
            return Err(ExpectedError::Interrupted);
        }
    }
    progress.finish();
    Ok(results)
}

/// Says which case is solved or simulated, and stops when the user says so.
struct Progress {
    parts: Mutex<Parts>,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    fn begin(&self, case: String) {
        if let Ok(mut parts) = self.parts.lock() {
            parts.begin(case);
        }
    }

    fn finish(&self) {
        if let Ok(parts) = self.parts.lock() {
            parts.finish();
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

impl Watcher for Progress {
    fn passed(&self, _: f64, _: usize) -> bool {
        if let Ok(mut parts) = self.parts.lock() {
            parts.go_on();
        }
        !self.is_interrupted()
    }
}

/// A line for each family, then one for each case that failed or was skipped, and what the
/// simulator had to leave open.
fn summary(results: &[CaseResult]) -> String {
    let families = families(results);
    let longest = families.keys().map(|name| name.len()).max();
    let width = longest.unwrap_or(0).max("family".len());
    let mut lines = vec![format!(
        "{:width$}  passed  failed  skipped  largest difference  simulated  values within  undecided",
        "family"
    )];
    for (name, family) in &families {
        lines.push(format!(
            "{name:width$}  {:6}  {:6}  {:7}  {:18}  {:9}  {:13}  {:9}",
            family.passed,
            family.failed,
            family.skipped,
            format!("{:.1e}", family.worst),
            family.simulated,
            family.within,
            family.undecided,
        ));
    }
    for (name, family) in &families {
        if let Some(because) = &family.not_simulated {
            lines.push(format!("not simulated {name}: {because}"));
        }
    }
    for result in results {
        let open = result.undecided.iter();
        lines.extend(open.map(|open| format!("undecided {}: {open}", result.name)));
    }
    for result in results.iter().filter(|result| !result.passed) {
        let word = if result.skipped { "skipped" } else { "failed" };
        lines.push(format!(
            "{word} {}: {}",
            result.name,
            result.because.join("; ")
        ));
    }
    let count = |wanted: fn(&&CaseResult) -> bool| results.iter().filter(wanted).count();
    lines.push(format!(
        "{} cases: {} passed, {} failed, {} skipped; {} simulated, {} values within, {} undecided",
        results.len(),
        count(|result| result.passed),
        count(|result| !result.passed && !result.skipped),
        count(|result| result.skipped),
        count(|result| !result.simulated.is_empty()),
        families.values().map(|family| family.within).sum::<usize>(),
        families
            .values()
            .map(|family| family.undecided)
            .sum::<usize>(),
    ));
    lines.join("\n")
}

fn families(results: &[CaseResult]) -> BTreeMap<&str, Family> {
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    for result in results {
        let family = families.entry(&result.family).or_default();
        if result.skipped {
            family.skipped += 1;
        } else if result.passed {
            family.passed += 1;
        } else {
            family.failed += 1;
        }
        family.simulated += usize::from(!result.simulated.is_empty());
        family.within += result.within;
        family.undecided += result.undecided.len();
        family.worst = family.worst.max(result.worst);
        if family.not_simulated.is_none() {
            family.not_simulated.clone_from(&result.not_simulated);
        }
    }
    families
}
