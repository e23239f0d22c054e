//! The page of invalid trials has an entry for every reason, and for no other.

use std::collections::BTreeSet;

use weir_record::InvalidReason;

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../docs/reference/invalid-trials.md"
);

#[test]
fn every_reason_has_its_entry() {
    let schema = serde_json::to_value(schemars::schema_for!(InvalidReason)).unwrap();
    let reasons = schema["oneOf"].as_array().unwrap();
    let ids: BTreeSet<&str> = reasons
        .iter()
        .map(|reason| reason["properties"]["id"]["const"].as_str().unwrap())
        .collect();
    let page = std::fs::read_to_string(PAGE).unwrap();
    let entries: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    assert!(ids.len() > 10, "{ids:?}");
    assert_eq!(entries, ids);
}
