//! What requests cost, learnt by route: how long they hold a slot, at the median of the last ones.
//!
//! A route is a method and a path in which numbers and ids are folded together: `/orders/17` and
//! `/orders/18` are one. Before it has been seen a few times its cost is unknown, and it is in no
//! class that asks for one. Once its median has reached a threshold, the route stays in the class
//! until the median is below two thirds of it, so that it does not go to and fro.
//!
//! Clients choose paths, so the table is bounded: [`ROUTES_MAX`] routes of [`NAME_MAX`] bytes and
//! 63 times each, half a megabyte in all. What finds no room is learnt together, as one route of
//! its own. Nobody is pushed out of the table by names that were made up: those that have not come
//! again make room first, and one whose cost is known only after it has not been asked for in a
//! while.

mod route;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::request::Parts;

use crate::matching::plain_path;
use crate::settings::Settings;
pub(crate) use route::Route;

/// Routes whose cost is known.
pub(crate) const ROUTES_MAX: usize = 1024;
/// Bytes of a route's name; what differs only after them is one route.
const NAME_MAX: usize = 160;
/// Routes that are looked at for one that can make room.
const LOOKED_AT_MAX: usize = 8;
/// A route whose cost is not known yet makes room after so long without a request.
const UNKNOWN_IDLE: Duration = Duration::from_secs(1);
/// One whose cost is known, after so long.
const KNOWN_IDLE: Duration = Duration::from_secs(600);

/// The routes that were seen, and what they cost.
#[derive(Debug)]
pub(crate) struct Routes {
    /// Of each class that asks for a cost, its index and the least cost.
    rules: Arc<[CostRule]>,
    table: Mutex<Table>,
    /// What finds no room in the table.
    rest: Arc<Route>,
    begun: Instant,
}

/// A class that asks for a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CostRule {
    /// Its index.
    pub(crate) class: usize,
    /// The least cost.
    pub(crate) at_least: Duration,
}

#[derive(Debug, Default)]
struct Table {
    routes: HashMap<Arc<str>, Arc<Route>>,
    /// All of them, in the order in which they are looked at for one that can make room.
    order: VecDeque<Arc<str>>,
}

/// A route and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RouteSeen {
    pub(crate) name: String,
    /// The first class that asks for its cost.
    pub(crate) class: Option<usize>,
    pub(crate) cost: Duration,
}

impl Routes {
    /// What the classes of these settings need; `None`: none of them asks for a cost. What `before`
    /// has learnt stays known if the classes ask for the same.
    pub(crate) fn new(settings: &Settings, before: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let classes = settings.classes.iter().enumerate();
        let rules: Arc<[CostRule]> = classes
            .filter_map(|(class, of)| {
                let at_least = of.matches.cost?;
                Some(CostRule { class, at_least })
            })
            .collect();
        if rules.is_empty() {
            return None;
        }
        let same = before.filter(|before| before.rules == rules);
        Some(same.map_or_else(|| Arc::new(Self::of_rules(rules)), Arc::clone))
    }

    fn of_rules(rules: Arc<[CostRule]>) -> Self {
        Self {
            rest: Arc::new(Route::new(&rules)),
            rules,
            table: Mutex::default(),
            begun: Instant::now(),
        }
    }

    /// The route of a request.
    pub(crate) fn of(&self, request: &Parts) -> Arc<Route> {
        self.of_at(request, Instant::now())
    }

    fn of_at(&self, request: &Parts, now: Instant) -> Arc<Route> {
        self.named(&name(request), now)
    }

    fn named(&self, name: &str, now: Instant) -> Arc<Route> {
        let now_ms = self.milliseconds(now);
        let mut table = self.lock();
        let known = table.routes.get(name).map(Arc::clone);
        let route = known.unwrap_or_else(|| {
            if table.has_room(now_ms) {
                table.take_in(name, Route::new(&self.rules))
            } else {
                Arc::clone(&self.rest)
            }
        });
        drop(table);
        route.asked_for(now_ms);
        route
    }

    /// How many routes are in the table.
    pub(crate) fn count(&self) -> usize {
        self.lock().routes.len()
    }

    /// The costliest routes, at most so many.
    pub(crate) fn costliest(&self, most: usize) -> Vec<RouteSeen> {
        let table = self.lock();
        let routes = table
            .routes
            .iter()
            .map(|(name, route)| (name.to_string(), Arc::clone(route)));
        let all = routes.chain([("everything else".to_owned(), Arc::clone(&self.rest))]);
        let mut seen: Vec<RouteSeen> = all
            .filter_map(|(name, route)| {
                let mut classes = self.rules.iter().map(|rule| rule.class);
                Some(RouteSeen {
                    name,
                    class: classes.find(|&class| route.is_of(class)),
                    cost: route.cost()?,
                })
            })
            .collect();
        drop(table);
        seen.sort_by(|a, b| b.cost.cmp(&a.cost).then_with(|| a.name.cmp(&b.name)));
        seen.truncate(most);
        seen
    }

    fn milliseconds(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.begun).as_millis() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn take_in(&mut self, name: &str, route: Route) -> Arc<Route> {
        let (name, route): (Arc<str>, _) = (name.into(), Arc::new(route));
        self.order.push_back(Arc::clone(&name));
        self.routes.insert(name, Arc::clone(&route));
        route
    }

    /// Whether one more has room, perhaps in the place of another.
    fn has_room(&mut self, now_ms: u64) -> bool {
        if self.routes.len() < ROUTES_MAX {
            return true;
        }
        for _ in 0..LOOKED_AT_MAX {
            let Some(name) = self.order.pop_front() else {
                return false;
            };
            let is_idle = self.routes.get(&name).is_none_or(|route| {
                let idle = Duration::from_millis(now_ms.saturating_sub(route.asked_for_at()));
                idle > if route.cost().is_some() {
                    KNOWN_IDLE
                } else {
                    UNKNOWN_IDLE
                }
            });
            if is_idle {
                self.routes.remove(&name);
                return true;
            }
            self.order.push_back(name);
        }
        false
    }
}

/// Method and path, with what varies in the path folded together.
fn name(request: &Parts) -> String {
    let mut name = weir_accesslog::pattern(&plain_path(request.uri.path()));
    name.insert(0, ' ');
    name.insert_str(0, request.method.as_str());
    if name.len() > NAME_MAX {
        let end = (0..=NAME_MAX).rev().find(|&at| name.is_char_boundary(at));
        name.truncate(end.unwrap_or(0));
    }
    name
}

#[cfg(test)]
mod tests;
