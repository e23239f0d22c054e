//! What scripts make of samples is what is counted: the table, the JSON and the rows say the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use weir_record::JtlReader;

use crate::recorded::server::CaseServer;

#[test]
fn classes_and_codes_are_those_of_the_rows() {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded/cases")
        .join("changed-by-scripts.jmx");
    let server = CaseServer::start();
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["run", "--json", "result.json", "-l", "rows.jtl"])
        .arg(format!("-Jport={}", server.port))
        .arg(plan)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    let result = std::fs::read(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
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
