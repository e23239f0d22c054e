//! The line of stages of a server of which only the names of its settings are known.

use std::collections::{BTreeMap, BTreeSet};

use weir_record::{Stage, WhenFull};

use crate::error::TargetError;
use crate::server::NATIVE;

/// The stages in their order, with what happens at each when it is full.
const ORDER: [(&str, WhenFull); 3] = [
    ("backlog", WhenFull::Refuse),
    ("connections", WhenFull::Wait),
    ("threads", WhenFull::Wait),
];

/// The stages among settings, outermost first, with the limits that are known.
pub(crate) fn stages(settable: &BTreeSet<String>, found: &BTreeMap<String, f64>) -> Vec<Stage> {
    let stage = |name: &str, when_full| Stage {
        name: name.to_owned(),
        native: None,
        limit: found.get(name).copied(),
        settable: true,
        when_full,
    };
    let known = ORDER
        .iter()
        .filter(|(name, _)| settable.contains(*name))
        .map(|(name, when_full)| stage(name, *when_full));
    let pools = settable.iter().filter(|name| name.starts_with("pool."));
    known
        .chain(pools.map(|name| stage(name, WhenFull::Block)))
        .collect()
}

/// A limit of a stage is a whole number from 1; the server's own words may also be 0.
pub(crate) fn check_limit(name: &str, limit: f64) -> Result<(), TargetError> {
    let least = if name.starts_with(NATIVE) { 0.0 } else { 1.0 };
    if limit >= least && limit.fract() == 0.0 {
        return Ok(());
    }
    Err(TargetError::Limit {
        stage: name.to_owned(),
        value: limit.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_stand_in_the_order_of_the_funnel() {
        let names = ["native.x", "pool.db", "threads", "backlog"].map(str::to_owned);
        let found = [("threads".to_owned(), 8.0)];
        let stages = stages(&names.into_iter().collect(), &found.into_iter().collect());
        let told: Vec<(&str, Option<f64>)> = stages
            .iter()
            .map(|stage| (stage.name.as_str(), stage.limit))
            .collect();
        assert_eq!(
            told,
            [("backlog", None), ("threads", Some(8.0)), ("pool.db", None)]
        );
    }

    #[test]
    fn limits_are_whole_numbers() {
        for (name, limit, fits) in [
            ("threads", 1.0, true),
            ("threads", 0.0, false),
            ("threads", 1.5, false),
            ("native.x", 0.0, true),
            ("native.x", -1.0, false),
        ] {
            assert_eq!(check_limit(name, limit).is_ok(), fits, "{name} {limit}");
        }
    }
}
