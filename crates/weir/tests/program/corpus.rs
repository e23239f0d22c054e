//! `weir check` over plans found in public repositories, if the workplace has them beside the
//! workspace: how many of them run natively.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::path::Path;

use crate::support::Place;

/// What has been reached, of plans that somebody uses and of examples; it only goes up. Of
/// the first, 36 are 90 %.
const NATIVE_MIN: [usize; 2] = [36, 29];

#[test]
fn plans_of_other_people() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans/corpus");
    let Ok(index) = std::fs::read_to_string(folder.join("INDEX.tsv")) else {
        println!("no corpus beside the workspace: nothing was checked");
        return;
    };
    let rows: Vec<Vec<&str>> = index
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    let reached = ["real", "example"].map(|kind| {
        let names = rows.iter().filter(|cells| cells[4] == kind);
        let paths: Vec<_> = names.map(|cells| folder.join(cells[0])).collect();
        let mut words = vec!["check"];
        words.extend(paths.iter().map(|path| path.to_str().unwrap()));
        let done = Place::new().weir(&words);
        assert_eq!(done.stderr, "", "every plan can be read");
        println!("{}", done.stdout);
        let ending = |end: &str| {
            done.stdout
                .lines()
                .filter(|line| line.ends_with(end))
                .count()
        };
        let in_full = ending(": runs natively in full");
        let runs = in_full + ending("warning above") + ending("warnings above");
        println!(
            "{runs} of {} {kind} plans run natively, {in_full} of them in full",
            paths.len()
        );
        assert_eq!(runs + ending("cannot be run natively"), paths.len());
        runs
    });
    assert!(
        reached
            .iter()
            .zip(NATIVE_MIN)
            .all(|(reached, min)| *reached >= min),
        "{reached:?} plans run natively, {NATIVE_MIN:?} did before"
    );
}
