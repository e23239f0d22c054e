//! Plans found in public repositories, if the workplace has them beside the workspace.

use std::path::{Path, PathBuf};

use weir_jmx::{Severity, read};

/// The plans, and whether each is one that somebody uses rather than an example.
fn corpus() -> Option<Vec<(PathBuf, bool)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans/corpus");
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).ok()?;
    let rows = index.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        (folder.join(cells[0]), cells[4] == "real")
    });
    Some(rows.collect())
}

/// Every plan is read, and what is said about it has a place and says what to do.
///
/// How many run in full is the concern of `weir check`, which also looks at functions.
#[test]
fn real_plans_give_an_answer() {
    let Some(plans) = corpus() else {
        println!("no corpus beside the workspace: only the plans of the repository were read");
        return;
    };
    for (path, is_real) in &plans {
        let reading = read(path).unwrap_or_else(|error| panic!("{error}"));
        let unsupported: Vec<String> = reading.unsupported().map(ToString::to_string).collect();
        println!(
            "{} ({}): {} group(s), {} not supported",
            path.file_name().unwrap_or_default().display(),
            if *is_real { "real" } else { "example" },
            reading.plan.groups.len(),
            unsupported.len()
        );
        for finding in &unsupported {
            println!("    {finding}");
        }
        for finding in &reading.findings {
            assert!(finding.at.line > 0 && !finding.says.is_empty(), "{finding}");
            let is_refusal = finding.severity == Severity::Unsupported;
            assert!(
                !is_refusal || !finding.lost.is_empty() && !finding.instead.is_empty(),
                "{finding}"
            );
        }
    }
    assert!(plans.iter().filter(|(_, is_real)| *is_real).count() > 30);
}
