//! Other people's plans, where they are at hand: read for what is known of them, copied, read
//! again.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]
#![expect(
    clippy::print_stderr,
    reason = "a test that finds nothing to test says so"
)]

use std::fs;
use std::path::{Path, PathBuf};

use weir_jmeter::{Changes, PlanFile};
use weir_script::{Properties, Target};

/// Plans below a directory beside the workspace.
fn plans(below: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let mut directories = vec![root.join(below)];
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jmx") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_target_reaches_every_http_sampler_of_real_plans() {
    let plans: Vec<PathBuf> = ["plans/corpus", "jmeter/suite", "jmeter/cases"]
        .into_iter()
        .flat_map(plans)
        .collect();
    if plans.is_empty() {
        eprintln!("skipped: there are no plans of other people beside the workspace");
        return;
    }
    let none = Properties::new();
    let target: Target = "http://127.0.0.1:9".parse().unwrap();
    let changes = Changes {
        target: Some(&target),
        until_stopped: true,
        arguments: vec![("added".to_owned(), "1".to_owned())],
        ..Changes::default()
    };
    let mut read = 0;
    for path in &plans {
        // Some name files to include that are not here, or are no plans; then they are refused.
        let Ok(plan) = PlanFile::read(path, &none) else {
            continue;
        };
        read += 1;
        let into = tempfile::tempdir().unwrap();
        let copy = plan.copy(&changes, into.path()).unwrap();
        let again = PlanFile::read(&copy, &none).unwrap();
        let (before, after) = (plan.facts(&none).unwrap(), again.facts(&none).unwrap());
        let name = path.display();
        assert!(
            after.servers.iter().all(|planned| planned.server == target),
            "{name}: {:?}",
            after.servers
        );
        let reached = |facts: &weir_jmeter::PlanFacts| {
            let unknown = facts.unknown.iter();
            unknown.filter(|unknown| !unknown.is_overridden).count()
        };
        assert!(reached(&after) <= reached(&before), "{name}");
        assert_eq!(before.population, after.population, "{name}");
    }
    assert!(
        read * 10 >= plans.len() * 9,
        "only {read} of {} plans were read",
        plans.len()
    );
    eprintln!("{read} of {} plans were read", plans.len());
}
