//! What scripts make of samples is what is counted: the table, the JSON and the rows say the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use weir_record::JtlReader;

use crate::recorded::server::CaseServer;

/// Runs one of the recorded plans in a folder, with a result file and JSON.
fn run(plan: &str, folder: &Path) -> (Output, Value) {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded/cases")
        .join(plan);
    let server = CaseServer::start();
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["run", "--json", "result.json", "-l", "rows.jtl"])
        .arg(format!("-Jport={}", server.port))
        .arg(plan)
        .current_dir(folder)
        .output()
        .unwrap();
    let result = std::fs::read(folder.join("result.json")).unwrap();
    (ran, serde_json::from_slice(&result).unwrap())
}

/// How often something was done to the samples of a run, and what is said of it.
fn adjustment<'r>(result: &'r Value, id: &str) -> (u64, &'r str) {
    let all = result["trial"]["adjustments"].as_array().unwrap();
    let one = all.iter().find(|one| one["id"] == id);
    let one = one.unwrap_or_else(|| panic!("{id}: {all:?}"));
    (
        one["count"].as_u64().unwrap(),
        one["says"].as_str().unwrap(),
    )
}

/// One group has a sample whose post-processor ignores it, one whose assertion does, each twice.
#[test]
fn samples_that_nobody_hears_of_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (_, result) = run("changed-by-scripts.jmx", folder.path());
    let (count, says) = adjustment(&result, "samples-ignored");
    assert_eq!(count, 4, "{says}");
    let folder = tempfile::tempdir().unwrap();
    let (_, result) = run("responses.jmx", folder.path());
    let (count, says) = adjustment(&result, "samples-lost");
    assert!(count > 0 && says.contains("extractor"), "{count}: {says}");
}

#[test]
fn classes_and_codes_are_those_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (ran, result) = run("changed-by-scripts.jmx", folder.path());
    let shown = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    let classes = result["trial"]["classes"].as_object().unwrap();
    let counted: BTreeMap<String, BTreeMap<String, u64>> = classes
        .iter()
        .map(|(label, class)| {
            let codes = class["errors"]["by_code"].as_object().unwrap();
            let codes = codes.iter().map(|(c, n)| (c.clone(), n.as_u64().unwrap()));
            (label.clone(), codes.collect())
        })
        .collect();
    let mut in_rows = BTreeMap::<String, BTreeMap<String, u64>>::new();
    let mut samples = BTreeMap::<String, u64>::new();
    let rows = std::fs::File::open(folder.path().join("rows.jtl")).unwrap();
    for row in JtlReader::new(std::io::BufReader::new(rows)).unwrap() {
        let row = row.unwrap();
        *samples.entry(row.label.to_string()).or_default() += 1;
        let codes = in_rows.entry(row.label.to_string()).or_default();
        if !row.success {
            *codes.entry(row.response_code.to_string()).or_default() += 1;
        }
    }
    assert_eq!(counted, in_rows);
    assert!(in_rows.len() >= 5, "{in_rows:?}");
    for (label, count) in samples {
        let line = shown
            .lines()
            .find(|line| line.starts_with(&format!("{label}  ")))
            .unwrap_or_else(|| panic!("{label}: {shown}"));
        let shown = line[label.len()..].split_whitespace().next().unwrap();
        assert_eq!(shown, count.to_string(), "{line}");
    }
}
