//! The line of stages of a server that Weir has no program of its own for: what is known of its
//! kind, and the names of its settings.

use std::collections::{BTreeMap, BTreeSet};

use weir_metric::stage_place;
use weir_record::Stage;

use crate::error::TargetError;
use crate::kinds::{Kind, NOT_SET, StageInWords};
use crate::server::NATIVE;

/// A stage that is not the server's own: it is told only where its server is watched too.
const NOT_SEEN: [&str; 1] = ["database"];

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

/// The whole funnel of a server of a kind that is known, settable or not, outermost first: stages
/// that have no limit of their own, those with a limit that is known or that can be set, and the
/// pools. What the kind does not have and can be set all the same stands as `other` says.
pub(crate) fn whole(
    kind: &Kind,
    other: &Kind,
    settable: &BTreeSet<String>,
    limits: &BTreeMap<String, Option<f64>>,
) -> Vec<Stage> {
    let unlimited = |words: &&StageInWords| words.limit.is_empty() && words.set == NOT_SET;
    let names: BTreeSet<&str> = kind
        .stages
        .iter()
        .filter(unlimited)
        .map(|words| words.stage)
        .filter(|name| !NOT_SEEN.contains(name))
        .chain(settable.iter().map(String::as_str))
        .chain(limits.keys().map(String::as_str))
        .filter(|name| !name.starts_with(NATIVE))
        .collect();
    let mut stages: Vec<Stage> = names
        .into_iter()
        .map(|name| {
            let kind = if kind.has(name) { kind } else { other };
            let limit = limits.get(name).copied().flatten();
            kind.stage(name, limit, settable.contains(name))
        })
        .collect();
    stages.sort_by(|a, b| (stage_place(&a.name), &a.name).cmp(&(stage_place(&b.name), &b.name)));
    stages
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
    fn what_is_known_of_a_kind_is_its_funnel_settable_or_not() {
        let names = ["native.x", "threads", "pool.db"].map(str::to_owned);
        let limits = [
            ("threads", Some(20.0)),
            ("connections", Some(8192.0)),
            ("backlog", None),
            ("native.minSpareThreads", Some(10.0)),
        ];
        let told = |kind: &Kind| -> Vec<String> {
            let limits = limits.map(|(name, limit)| (name.to_owned(), limit));
            whole(
                kind,
                &crate::external::KIND,
                &names.iter().cloned().collect(),
                &limits.into_iter().collect(),
            )
            .into_iter()
            .map(|stage| {
                let limit = stage
                    .limit
                    .map_or("-".to_owned(), |limit| limit.to_string());
                let word = stage.native.unwrap_or_default();
                let settable = if stage.settable { " settable" } else { "" };
                format!("{} {word}={limit}{settable}", stage.name)
            })
            .collect()
        };
        assert_eq!(
            told(&crate::tomcat::KIND),
            [
                "backlog acceptCount=-",
                "connections maxConnections=8192",
                "request-queue =-",
                "threads maxThreads=20 settable",
                "pool.db maxActive=- settable",
            ]
        );
        // It has no pools, and one can be set all the same.
        assert_eq!(
            told(&crate::httpd::KIND).last().map(String::as_str),
            Some("pool.db =- settable")
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
