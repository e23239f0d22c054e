//! A Tomcat's stages: their names, limits, and where their figures are read.

use std::collections::BTreeMap;

use weir_probe::{MbeanRead, mbeans};
use weir_record::Stage;

use super::KIND;

/// The funnel with these limits.
pub(super) fn stages(limits: &BTreeMap<String, f64>) -> impl Iterator<Item = Stage> + use<> {
    let stage = |name: &str| {
        let limit = limits.get(name).copied();
        // A limit below 0 is none.
        KIND.stage(name, limit.filter(|limit| *limit >= 0.0), limit.is_some())
    };
    let front = ["backlog", "connections", "request-queue", "threads"].map(stage);
    let pools = limits.keys().filter(|name| name.starts_with("pool."));
    let pools: Vec<Stage> = pools.map(|name| stage(name)).collect();
    front.into_iter().chain(pools)
}

/// The `MBeans` that tell them, with that of the executor whose threads the connector takes.
pub(crate) fn reads(executor: Option<MbeanRead>) -> Vec<MbeanRead> {
    [
        executor.into_iter().collect(),
        mbeans::tomcat(),
        mbeans::tomcat_jdbc(),
        mbeans::hikari(),
        mbeans::stress(),
        mbeans::machine(),
    ]
    .concat()
}
