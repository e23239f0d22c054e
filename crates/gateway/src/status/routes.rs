//! What routes have cost, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::live::Live;
use crate::routes::ROUTES_MAX;

/// Routes that are told.
const ROUTES_SHOWN: usize = 20;

/// What has been learnt of routes: a method and a path, with numbers and ids in it folded together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoutesStatus {
    /// Routes in the table.
    pub known: usize,
    /// How many there may be; others are learnt together.
    pub most: usize,
    /// The costliest of them, at most 20.
    pub costliest: Vec<RouteStatus>,
}

/// What has been learnt of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteStatus {
    /// Its name, such as `GET /orders/{n}`.
    pub route: String,
    /// The class that it is in for its cost; a class above that one in the file may still take
    /// requests of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How long its requests hold a slot, at the median of the last ones, in milliseconds.
    pub cost_ms: f64,
}

impl RoutesStatus {
    /// What has been learnt under the settings in force.
    pub(super) fn of(live: &Live) -> Option<Self> {
        let routes = live.routes.as_ref()?;
        let costliest = routes.costliest(ROUTES_SHOWN).into_iter().map(|seen| {
            let class = seen.class.and_then(|class| live.classes.get(class));
            RouteStatus {
                route: seen.name,
                class: class.map(ToString::to_string),
                cost_ms: seen.cost.as_secs_f64() * 1000.0,
            }
        });
        Some(Self {
            known: routes.count(),
            most: ROUTES_MAX,
            costliest: costliest.collect(),
        })
    }
}
