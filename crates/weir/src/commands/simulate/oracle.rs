//! A file of cases: solved one by one, summed up by family.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use weir_oracle::{Case, CaseResult, Halves};

use crate::error::ExpectedError;
use crate::{output, progress};

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
    worst: f64,
}

pub(super) fn run(file: &Path, json: Option<&Path>) -> Result<u8, ExpectedError> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        ExpectedError::Input(format!("failed to read `{}`: {error}", file.display()))
    })?;
    let cases = weir_oracle::read(&text)
        .map_err(|error| ExpectedError::Input(format!("{}: failed to {error}", file.display())))?;
    let results = solved(&cases);
    let failed = results
        .iter()
        .filter(|result| !result.passed && !result.skipped)
        .count();
    // With `--json -` standard output is for programs.
    if json != Some(Path::new("-")) {
        output::data(&summary(&results));
    }
    if let Some(json) = json {
        output::json_to(json, &CasesFile { cases: results })?;
    }
    Ok(u8::from(failed > 0))
}

fn solved(cases: &[Case]) -> Vec<CaseResult> {
    let mut told = Instant::now();
    cases
        .iter()
        .enumerate()
        .map(|(index, case)| {
            if told.elapsed() > progress::SILENCE {
                told = Instant::now();
                output::talk(&format!(
                    "case {} of {}: {}",
                    index + 1,
                    cases.len(),
                    case.name
                ));
            }
            weir_oracle::run(case, Halves::Both)
        })
        .collect()
}

/// A line for each family, then one for each case that failed or was skipped.
fn summary(results: &[CaseResult]) -> String {
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
        family.simulated += usize::from(result.simulated > 0);
        family.worst = family.worst.max(result.worst);
    }
    let width = families
        .keys()
        .map(|name| name.len())
        .max()
        .unwrap_or(0)
        .max(6);
    let mut lines = vec![format!(
        "{:width$}  passed  failed  skipped  simulated  largest difference",
        "family"
    )];
    for (name, family) in &families {
        lines.push(format!(
            "{name:width$}  {:6}  {:6}  {:7}  {:9}  {:.1e}",
            family.passed, family.failed, family.skipped, family.simulated, family.worst
        ));
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
        "{} cases: {} passed, {} failed, {} skipped",
        results.len(),
        count(|result| result.passed),
        count(|result| !result.passed && !result.skipped),
        count(|result| result.skipped)
    ));
    lines.join("\n")
}
