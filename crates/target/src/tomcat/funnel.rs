//! A Tomcat's stages: their names, limits, and where their figures are read.

use std::collections::BTreeMap;

use weir_probe::{MbeanRead, mbeans};
use weir_record::{Stage, WhenFull};

use super::live::SETTINGS;

/// The funnel with these limits.
pub(super) fn stages(limits: &BTreeMap<String, f64>) -> impl Iterator<Item = Stage> + use<> {
    let of_connector = |name: &str, when_full| Stage {
        name: name.to_owned(),
        native: SETTINGS
            .iter()
            .find(|setting| setting.name == name)
            .map(|setting| setting.attribute.to_owned()),
        limit: limits.get(name).copied(),
        settable: limits.contains_key(name),
        when_full,
    };
    let pools = limits.iter().filter(|(name, _)| name.starts_with("pool."));
    let pools = pools.map(|(name, limit)| Stage {
        name: name.clone(),
        native: Some("maxActive".to_owned()),
        limit: Some(*limit),
        settable: true,
        when_full: WhenFull::Block,
    });
    let front = [
        of_connector("backlog", WhenFull::Refuse),
        of_connector("connections", WhenFull::Wait),
        of_connector("request-queue", WhenFull::Wait),
        of_connector("threads", WhenFull::Wait),
    ];
    front
        .into_iter()
        .chain(pools)
        .collect::<Vec<_>>()
        .into_iter()
}

/// The `MBeans` that tell them.
pub(crate) fn reads() -> Vec<MbeanRead> {
    [
        mbeans::tomcat(),
        mbeans::tomcat_jdbc(),
        mbeans::hikari(),
        mbeans::stress(),
    ]
    .concat()
}
