//! The line of stages of a server of which only the names of its settings are known.

use std::collections::{BTreeMap, BTreeSet};

use weir_record::Stage;

use crate::error::TargetError;
use crate::kinds::Kind;
use crate::server::NATIVE;

/// The stages among settings, outermost first, with the limits that are known.
pub(crate) fn stages(
    kind: &Kind,
    settable: &BTreeSet<String>,
    found: &BTreeMap<String, f64>,
) -> Vec<Stage> {
    let known = kind.stages.iter().map(|words| words.stage);
    let pools = settable.iter().filter(|name| name.starts_with("pool."));
    known
        .filter(|name| settable.contains(*name))
        .chain(pools.map(String::as_str))
        .map(|name| kind.stage(name, found.get(name).copied(), true))
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
        let stages = stages(
            &crate::command::KIND,
            &names.into_iter().collect(),
            &found.into_iter().collect(),
        );
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
