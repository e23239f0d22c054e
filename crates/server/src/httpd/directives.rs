//! The directives that bound what an Apache httpd serves, and what each needs to take effect.
//!
//! Defaults and what a graceful restart cannot change are those of the server's own manual
//! (`mod/mpm_common.html`, `mod/core.html`, version 2.4); that `ListenBacklog` and `ServerLimit`
//! keep their old values over a restart was also seen.

use std::collections::BTreeMap;

use crate::error::TargetError;
use crate::server::NATIVE;

/// How the server turns connections into work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mpm {
    /// A process for every connection.
    Prefork,
    /// Processes with threads; a connection needs a thread only while a request is worked on.
    #[default]
    Event,
}

impl Mpm {
    /// Its name in the server's configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prefork => "prefork",
            Self::Event => "event",
        }
    }

    /// The directives that bound how many workers there are, whatever their number is said to be.
    pub(crate) fn bounds_workers(self) -> &'static [&'static str] {
        match self {
            Self::Prefork => &[SERVER_LIMIT],
            Self::Event => &[SERVER_LIMIT, THREAD_LIMIT, THREADS_PER_CHILD],
        }
    }
}

/// What has to be done for a new value to be used, the gentlest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// `-k graceful`: requests that run are finished.
    Graceful,
    /// `-k restart`: all workers start anew, the listening socket stays.
    Restart,
    /// Stop and start.
    Start,
}

/// The values of all directives, by name.
pub(crate) type Values = BTreeMap<&'static str, u64>;

pub(crate) const THREADS: &str = "threads";
pub(super) const BACKLOG: &str = "backlog";
pub(crate) const MAX_REQUEST_WORKERS: &str = "MaxRequestWorkers";
pub(super) const LISTEN_BACKLOG: &str = "ListenBacklog";
pub(super) const LIFETIME: &str = "MaxConnectionsPerChild";
const SERVER_LIMIT: &str = "ServerLimit";
const THREADS_PER_CHILD: &str = "ThreadsPerChild";
const THREAD_LIMIT: &str = "ThreadLimit";
const ASYNC_FACTOR: &str = "AsyncRequestWorkerFactor";

/// A directive that bounds what the server serves.
pub(crate) struct Directive {
    pub(crate) name: &'static str,
    prefork: Option<u64>,
    event: Option<u64>,
    change: Change,
}

const fn directive(
    name: &'static str,
    prefork: Option<u64>,
    event: Option<u64>,
    change: Change,
) -> Directive {
    Directive {
        name,
        prefork,
        event,
        change,
    }
}

#[rustfmt::skip] // A table: name, default of prefork and of event, what a change needs.
static DIRECTIVES: [Directive; 15] = [
    directive(LISTEN_BACKLOG,           Some(511), Some(511), Change::Start),
    directive(SERVER_LIMIT,             Some(256), Some(16),  Change::Start),
    directive(THREAD_LIMIT,             None,      Some(64),  Change::Start),
    // Only a restart that is not graceful starts this many.
    directive("StartServers",           Some(5),   Some(3),   Change::Restart),
    directive("MinSpareServers",        Some(5),   None,      Change::Graceful),
    directive("MaxSpareServers",        Some(10),  None,      Change::Graceful),
    directive("MinSpareThreads",        None,      Some(75),  Change::Graceful),
    directive("MaxSpareThreads",        None,      Some(250), Change::Graceful),
    directive(THREADS_PER_CHILD,        None,      Some(25),  Change::Restart),
    directive(MAX_REQUEST_WORKERS,      Some(256), Some(400), Change::Graceful),
    directive(ASYNC_FACTOR,             None,      Some(2),   Change::Graceful),
    directive(LIFETIME,                 Some(0),   Some(0),   Change::Graceful),
    directive("Timeout",                Some(60),  Some(60),  Change::Graceful),
    directive("KeepAliveTimeout",       Some(5),   Some(5),   Change::Graceful),
    directive("MaxKeepAliveRequests",   Some(100), Some(100), Change::Graceful),
];

/// Directives of the server itself; the others are the MPM's.
const OF_SERVER: [&str; 3] = ["Timeout", "KeepAliveTimeout", "MaxKeepAliveRequests"];
/// Older names that the server still takes, with those that it has for the same now.
const OLD_NAMES: [(&str, &str); 2] = [
    ("MaxClients", MAX_REQUEST_WORKERS),
    ("MaxRequestsPerChild", LIFETIME),
];

/// Directives for which 0 means "without limit"; no other can be 0.
const MAY_BE_ZERO: [&str; 4] = [
    LIFETIME,
    "KeepAliveTimeout",
    "MaxKeepAliveRequests",
    ASYNC_FACTOR,
];

impl Directive {
    /// Whether it is the MPM's, and holds for the whole server only.
    pub(crate) fn is_of_mpm(&self) -> bool {
        !OF_SERVER.contains(&self.name)
    }

    pub(crate) fn default_of(&self, mpm: Mpm) -> Option<u64> {
        match mpm {
            Mpm::Prefork => self.prefork,
            Mpm::Event => self.event,
        }
    }
}

/// The values that a server has whose configuration says nothing.
pub(crate) fn defaults(mpm: Mpm) -> Values {
    DIRECTIVES
        .iter()
        .filter_map(|directive| Some((directive.name, directive.default_of(mpm)?)))
        .collect()
}

/// The directives that an MPM has.
pub(crate) fn directives(mpm: Mpm) -> impl Iterator<Item = &'static Directive> {
    let has = move |directive: &&Directive| directive.default_of(mpm).is_some();
    DIRECTIVES.iter().filter(has)
}

/// The directive of this name, in any case of letters, that an MPM has.
pub(super) fn directive_named(mpm: Mpm, name: &str) -> Option<&'static Directive> {
    let old = OLD_NAMES
        .iter()
        .find(|(old, _)| old.eq_ignore_ascii_case(name));
    let name = old.map_or(name, |(_, new)| new);
    directives(mpm).find(|known| known.name.eq_ignore_ascii_case(name))
}

/// What a server makes of values that do not fit together when it starts (`prefork.c` and
/// `event.c`, 2.4), with a sentence for every one that it changes. What is missing is not changed.
pub(crate) fn settled(mpm: Mpm, values: &Values) -> (Values, Vec<String>) {
    let mut settled = values.clone();
    let mut says = Vec::new();
    let mut cut = |name: &'static str, to: u64, why: &str, settled: &mut Values| {
        if let Some(from) = settled.insert(name, to) {
            says.push(format!("{name} is {from}, but httpd runs with {to}: {why}"));
        }
    };
    let of = |name: &str, settled: &Values| settled.get(name).copied();
    let per_process = match mpm {
        Mpm::Prefork => 1,
        Mpm::Event => {
            let (Some(threads), Some(most)) =
                (of(THREADS_PER_CHILD, values), of(THREAD_LIMIT, values))
            else {
                return (settled, says);
            };
            if threads > most {
                let why = format!("{THREAD_LIMIT} is {most}");
                cut(THREADS_PER_CHILD, most, &why, &mut settled);
            }
            threads.min(most).max(1)
        }
    };
    let (Some(workers), Some(limit)) = (of(MAX_REQUEST_WORKERS, values), of(SERVER_LIMIT, values))
    else {
        return (settled, says);
    };
    let processes = workers / per_process;
    let whole = processes.max(1) * per_process;
    if processes > limit {
        let why = match mpm {
            Mpm::Prefork => format!("{SERVER_LIMIT} is {limit}"),
            Mpm::Event => {
                format!("{SERVER_LIMIT} is {limit}, and a process has {per_process} threads")
            }
        };
        cut(MAX_REQUEST_WORKERS, limit * per_process, &why, &mut settled);
    } else if whole != workers {
        let why = format!("a process has {per_process} threads");
        cut(MAX_REQUEST_WORKERS, whole, &why, &mut settled);
    }
    (settled, says)
}

/// As studies name a directive.
pub(crate) fn stage_of(directive: &Directive) -> String {
    match directive.name {
        LISTEN_BACKLOG => BACKLOG.to_owned(),
        MAX_REQUEST_WORKERS => THREADS.to_owned(),
        name => format!("{NATIVE}{name}"),
    }
}

/// `base` with the limits that are named set. `ServerLimit` and, for event, `ThreadsPerChild`
/// follow the number of workers unless they are named themselves.
pub(super) fn with(
    mpm: Mpm,
    base: &Values,
    limits: &BTreeMap<String, f64>,
) -> Result<Values, TargetError> {
    let mut values = base.clone();
    let mut named: BTreeMap<&'static str, &str> = BTreeMap::new();
    for (name, limit) in limits {
        let directive = directive_of(mpm, name)?;
        let least = if MAY_BE_ZERO.contains(&directive) {
            0.0
        } else {
            1.0
        };
        if !(*limit >= least && limit.fract() == 0.0 && *limit <= f64::from(u32::MAX)) {
            return Err(TargetError::Limit {
                stage: name.clone(),
                value: limit.to_string(),
            });
        }
        if let Some(other) = named.insert(directive, name)
            && values.get(directive) != Some(&(*limit as u64))
        {
            return Err(TargetError::Setting {
                name: name.clone(),
                says: format!("`{other}` sets the same ({directive}) to another value"),
            });
        }
        values.insert(directive, *limit as u64);
    }
    follow(mpm, &mut values, &named)?;
    Ok(values)
}

/// The directive behind the name of a stage or a `native.WORD`.
fn directive_of(mpm: Mpm, name: &str) -> Result<&'static str, TargetError> {
    let word = match name {
        THREADS => MAX_REQUEST_WORKERS,
        BACKLOG => LISTEN_BACKLOG,
        _ => name.strip_prefix(NATIVE).unwrap_or_default(),
    };
    let known = || directives(mpm).map(|directive| directive.name);
    directive_named(mpm, word)
        .map(|directive| directive.name)
        .ok_or_else(|| {
            let natives: Vec<String> = known().map(|word| format!("{NATIVE}{word}")).collect();
            TargetError::NoSuchStage {
                stage: name.to_owned(),
                known: format!("{BACKLOG}, {THREADS}, {}", natives.join(", ")),
            }
        })
}

/// Adapts what bounds the number of workers from above.
fn follow(
    mpm: Mpm,
    values: &mut Values,
    named: &BTreeMap<&'static str, &str>,
) -> Result<(), TargetError> {
    let workers = values[MAX_REQUEST_WORKERS];
    let per_process = match mpm {
        Mpm::Prefork => 1,
        Mpm::Event => {
            if named.contains_key(MAX_REQUEST_WORKERS) && !named.contains_key(THREADS_PER_CHILD) {
                let threads = threads_per_child(workers, values[THREAD_LIMIT], values);
                values.insert(
                    THREADS_PER_CHILD,
                    threads.ok_or_else(|| uneven(workers, values))?,
                );
            }
            values[THREADS_PER_CHILD]
        }
    };
    if !workers.is_multiple_of(per_process) {
        return Err(uneven(workers, values));
    }
    let processes = workers / per_process;
    if values[SERVER_LIMIT] < processes {
        if named.contains_key(SERVER_LIMIT) {
            return Err(TargetError::Setting {
                name: format!("{NATIVE}{SERVER_LIMIT}"),
                says: format!(
                    "{MAX_REQUEST_WORKERS} {workers} needs {processes} processes, and the limit of them is {}",
                    values[SERVER_LIMIT]
                ),
            });
        }
        values.insert(SERVER_LIMIT, processes);
    }
    Ok(())
}

/// Fewest threads a process should have when their number follows from that of all workers: with
/// fewer, a server of threads becomes one of processes.
const THREADS_PER_CHILD_LEAST: u64 = 8;

/// The threads of a process that divide the workers evenly: those that are set, or else as many as
/// may be.
fn threads_per_child(workers: u64, most: u64, values: &Values) -> Option<u64> {
    let set = values[THREADS_PER_CHILD];
    if workers.is_multiple_of(set) {
        return Some(set);
    }
    if workers <= most {
        return Some(workers);
    }
    (THREADS_PER_CHILD_LEAST..=most)
        .rev()
        .find(|threads| workers.is_multiple_of(*threads))
}

fn uneven(workers: u64, values: &Values) -> TargetError {
    let per_process = values[THREADS_PER_CHILD];
    let below = workers / per_process * per_process;
    TargetError::Setting {
        name: THREADS.to_owned(),
        says: format!(
            "{MAX_REQUEST_WORKERS} {workers} is not a whole number of processes with {per_process} threads each \
             ({THREADS_PER_CHILD}); {} and {} are",
            below.max(per_process),
            below + per_process
        ),
    }
}

/// What has to be done to go from one set of values to another; nothing when they are the same.
pub(super) fn change(from: &Values, to: &Values) -> Option<Change> {
    DIRECTIVES
        .iter()
        .filter(|directive| from.get(directive.name) != to.get(directive.name))
        .map(|directive| directive.change)
        .max()
}

/// Most connections that an event server holds at once: `(AsyncRequestWorkerFactor + 1) ×
/// MaxRequestWorkers` (the manual of the directive); prefork holds one a process.
pub(super) fn connections(mpm: Mpm, values: &Values) -> u64 {
    let factor = match mpm {
        Mpm::Prefork => 0,
        Mpm::Event => values[ASYNC_FACTOR],
    };
    (factor + 1) * values[MAX_REQUEST_WORKERS]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn set(mpm: Mpm, limits: &[(&str, f64)]) -> Result<Values, String> {
        let limits = limits
            .iter()
            .map(|(name, limit)| ((*name).to_owned(), *limit));
        with(mpm, &defaults(mpm), &limits.collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn stages_and_native_words_mean_directives() {
        let values = set(
            Mpm::Prefork,
            &[
                ("threads", 50.0),
                ("backlog", 32.0),
                ("native.maxconnectionsperchild", 1.0),
            ],
        )
        .unwrap();
        assert_eq!(values[MAX_REQUEST_WORKERS], 50);
        assert_eq!(values[LISTEN_BACKLOG], 32);
        assert_eq!(values["MaxConnectionsPerChild"], 1);
        assert_eq!(values["StartServers"], 5, "what is not named stays");
    }

    #[test]
    fn what_the_server_cannot_take_is_refused_with_the_way_out() {
        for (mpm, limits, says) in [
            (
                Mpm::Prefork,
                &[("pool.db", 3.0)][..],
                "backlog, threads, native.ListenBacklog",
            ),
            (
                Mpm::Prefork,
                &[("native.ThreadsPerChild", 3.0)],
                "set `native.ThreadsPerChild`",
            ),
            (Mpm::Prefork, &[("threads", 0.0)], "a whole number from 1"),
            (
                Mpm::Event,
                &[("native.MaxSpareThreads", 1.5)],
                "a whole number",
            ),
            (
                Mpm::Prefork,
                &[("threads", 50.0), ("native.MaxRequestWorkers", 60.0)],
                "sets the same (MaxRequestWorkers) to another value",
            ),
            (
                Mpm::Prefork,
                &[("threads", 300.0), ("native.ServerLimit", 100.0)],
                "needs 300 processes",
            ),
            (
                Mpm::Event,
                &[("threads", 110.0), ("native.ThreadsPerChild", 25.0)],
                "100 and 125 are",
            ),
            (Mpm::Event, &[("threads", 101.0)], "100 and 125 are"),
        ] {
            let error = set(mpm, limits).unwrap_err();
            assert!(error.contains(says), "{limits:?}: {error}");
        }
    }

    #[test]
    fn what_bounds_the_workers_follows_their_number() {
        let values = set(Mpm::Prefork, &[("threads", 300.0)]).unwrap();
        assert_eq!(values[SERVER_LIMIT], 300);
        for (workers, threads, processes) in
            [(37, 37, 1), (400, 25, 16), (96, 48, 2), (600, 25, 24)]
        {
            let values = set(Mpm::Event, &[("threads", f64::from(workers))]).unwrap();
            assert_eq!(values[THREADS_PER_CHILD], threads, "{workers}");
            assert!(values[SERVER_LIMIT] >= processes, "{workers}");
            assert!(values[THREADS_PER_CHILD] <= values[THREAD_LIMIT]);
        }
    }

    /// As `prefork.c` and `event.c` have it when they start.
    #[test]
    fn limits_that_do_not_fit_together_are_cut_as_the_server_cuts_them() {
        for (mpm, set, workers) in [
            (Mpm::Prefork, &[(MAX_REQUEST_WORKERS, 500)][..], 256),
            (
                Mpm::Prefork,
                &[(SERVER_LIMIT, 500), (MAX_REQUEST_WORKERS, 500)],
                500,
            ),
            (Mpm::Event, &[], 400),
            (Mpm::Event, &[(MAX_REQUEST_WORKERS, 420)], 400),
            (Mpm::Event, &[(MAX_REQUEST_WORKERS, 90)], 75),
            (Mpm::Event, &[(MAX_REQUEST_WORKERS, 10)], 25),
            (
                Mpm::Event,
                &[(THREADS_PER_CHILD, 100), (MAX_REQUEST_WORKERS, 300)],
                256,
            ),
            (Mpm::Event, &[(SERVER_LIMIT, 4)], 100),
        ] {
            let mut values = defaults(mpm);
            values.extend(set.iter().copied());
            let (after, says) = settled(mpm, &values);
            assert_eq!(after[MAX_REQUEST_WORKERS], workers, "{set:?}");
            assert_eq!(says.is_empty(), after == values, "{says:?}");
        }
    }

    #[test]
    fn the_gentlest_change_that_takes_effect_is_chosen() {
        let base = defaults(Mpm::Prefork);
        let after = |limits: &[(&str, f64)]| change(&base, &set(Mpm::Prefork, limits).unwrap());
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[("threads", 256.0)]), None, "as it is");
        assert_eq!(after(&[("threads", 50.0)]), Some(Change::Graceful));
        assert_eq!(
            after(&[("threads", 50.0), ("native.StartServers", 50.0)]),
            Some(Change::Restart)
        );
        assert_eq!(
            after(&[("threads", 400.0)]),
            Some(Change::Start),
            "ServerLimit grows"
        );
        assert_eq!(after(&[("backlog", 32.0)]), Some(Change::Start));
    }

    #[test]
    fn an_event_server_holds_more_connections_than_it_has_workers() {
        assert_eq!(connections(Mpm::Event, &defaults(Mpm::Event)), 1200);
        assert_eq!(connections(Mpm::Prefork, &defaults(Mpm::Prefork)), 256);
    }
}
