//! `weir check` over plans found in public repositories, if the workplace has them beside the
//! workspace: how many of those that somebody uses run natively in full.

mod support;

use std::path::{Path, PathBuf};

use support::Place;

/// What has been reached; it only goes up. The aim is 90 % of them.
const IN_FULL_MIN: usize = 1;

#[test]
fn plans_that_people_use() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans/corpus");
    let Ok(index) = std::fs::read_to_string(folder.join("INDEX.tsv")) else {
        println!("no corpus beside the workspace: nothing was checked");
        return;
    };
    let real: Vec<PathBuf> = index
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|cells| cells[4] == "real")
        .map(|cells| folder.join(cells[0]))
        .collect();
    let mut words = vec!["check"];
    words.extend(real.iter().map(|path| path.to_str().unwrap()));
    let done = Place::new().weir(&words);
    assert!(done.stderr.is_empty(), "every plan can be read: {}", done.stderr);
    println!("{}", done.stdout);
    let in_full = done.stdout.lines().filter(|line| line.ends_with(": runs natively in full"));
    let in_full = in_full.count();
    println!("{in_full} of {} plans run natively in full", real.len());
    assert!(in_full >= IN_FULL_MIN, "it was {IN_FULL_MIN} before");
}
