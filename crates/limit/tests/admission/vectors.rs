//! The committed vectors, which other languages replay too.

use weir_limit::replay::{Script, Vector};

#[test]
fn every_vector_is_replayed_as_it_was_recorded() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let vector: Vector = serde_json::from_str(&text).unwrap();
        if let Err(mismatch) = vector.replay() {
            panic!("{}: {mismatch}", path.display());
        }
        count += 1;
    }
    assert!(count >= 14, "{count} vectors");
}

/// A vector that says something else is told where.
#[test]
fn a_wrong_vector_is_found_at_its_step() {
    let text = include_str!("../../vectors/rate.json");
    let mut vector: Vector = serde_json::from_str(text).unwrap();
    if let Script::Admission { steps, .. } = &mut vector.script {
        steps[7].told.clear();
    }
    assert_eq!(vector.replay().unwrap_err().step, 7);
}
