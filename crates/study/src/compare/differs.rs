//! What differs in what was measured: a change of a figure may have its cause there.

use std::collections::BTreeSet;

use weir_record::{RunManifest, TargetFacts};

use super::pairs::Cell;
use super::{RunSide, RunTrial};

/// Facts of the machine that change by themselves.
const VOLATILE: [&str; 2] = ["cpu-mhz", "load"];

/// Everything known that differs.
pub(super) fn between(a: &RunSide, b: &RunSide, cells: &[Cell<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(a), Some(b)) = (&a.manifest, &b.manifest) {
        found.extend(manifests(a, b));
    }
    if let (Some(a), Some(b)) = (&a.plan, &b.plan)
        && a != b
    {
        found.push("the plan that was sent".to_owned());
    }
    if let (Some(a), Some(b)) = (&a.target, &b.target) {
        found.extend(targets(a, b));
    }
    for cell in cells {
        found.extend(trials(cell));
    }
    found.dedup();
    found
}

fn manifests(a: &RunManifest, b: &RunManifest) -> Vec<String> {
    let mut found = Vec::new();
    if a.weir != b.weir {
        found.push(format!("Weir itself: {} and {}", a.weir, b.weir));
    }
    if a.study != b.study && !a.study.is_empty() && !b.study.is_empty() {
        found.push("the study file".to_owned());
    }
    let names: BTreeSet<&String> = a.machine.keys().chain(b.machine.keys()).collect();
    for name in names {
        if VOLATILE.contains(&name.rsplit('.').next().unwrap_or(name)) {
            continue;
        }
        let (a, b) = (a.machine.get(name), b.machine.get(name));
        if a != b {
            let shown = |fact: Option<&String>| fact.map_or("not known", String::as_str).to_owned();
            found.push(format!(
                "the machine's {name}: {} and {}",
                shown(a),
                shown(b)
            ));
        }
    }
    found
}

fn targets(a: &TargetFacts, b: &TargetFacts) -> Vec<String> {
    let mut found = Vec::new();
    if a.kind != b.kind {
        found.push(format!("the kind of server: {} and {}", a.kind, b.kind));
    }
    if a.cpus != b.cpus {
        found.push(format!("the target's CPUs: {} and {}", a.cpus, b.cpus));
    }
    for stage in &a.stages {
        let Some(other) = b.stage(&stage.name) else {
            continue;
        };
        if stage.limit != other.limit {
            let shown =
                |limit: Option<f64>| limit.map_or("none".to_owned(), |limit| limit.to_string());
            found.push(format!(
                "the limit of {} as found: {} and {}",
                stage.name,
                shown(stage.limit),
                shown(other.limit)
            ));
        }
    }
    found
}

fn trials(cell: &Cell<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let (Some(a), Some(b)) = (cell.a.first(), cell.b.first()) else {
        return found;
    };
    let (users_a, users_b) = (a.record.population, b.record.population);
    if users_a != users_b {
        found.push(format!("the users: {users_a} and {users_b}"));
    }
    let names: BTreeSet<&String> = a
        .record
        .levels
        .keys()
        .chain(b.record.levels.keys())
        .collect();
    for name in names.into_iter().filter(|name| *name != "users") {
        let shown = |trial: &RunTrial| {
            let level = trial.record.levels.get(name);
            level.map_or_else(|| "as found".to_owned(), ToString::to_string)
        };
        let (a, b) = (shown(a), shown(b));
        if a != b {
            found.push(format!("{name}: {a} and {b}"));
        }
    }
    for (of, other, side) in [(a, b, "A"), (b, a, "B")] {
        let only: Vec<&str> = of
            .record
            .classes
            .keys()
            .filter(|label| !other.record.classes.contains_key(*label))
            .map(String::as_str)
            .collect();
        if !only.is_empty() {
            found.push(format!("labels that only {side} has: {}", listed(&only)));
        }
    }
    found
}

/// The first of them, and how many more.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names
        .iter()
        .take(SHOWN)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
