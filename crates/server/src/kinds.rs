//! The kinds of server in words: each funnel with the server's own terms, and what Weir does with
//! it.
//!
//! A kind describes itself in its own folder, and what a running server tells of its stages
//! ([`weir_record::TargetFacts`]) is made from the same words.

use weir_record::{Stage, WhenFull};

use crate::{builtin, command, external, httpd, liberty, postgresql, spring_boot, tomcat};

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name in a study: `[target.NAME]`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its stages, outermost first.
    pub stages: &'static [StageInWords],
    /// Where it comes from.
    pub install: &'static str,
    /// How it is started.
    pub start: &'static str,
    /// Where the figures of its stages are read.
    pub watch: &'static str,
    /// How it is stopped.
    pub stop: &'static str,
    /// How what was changed is put back.
    pub put_back: &'static str,
}

/// A stage of a kind's funnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageInWords {
    /// Its name in studies and reports; `pool.NAME` stands for all pools.
    pub stage: &'static str,
    /// The server's own word for its limit; empty: it has none.
    pub limit: &'static str,
    /// What is to be known of the limit beside its word; empty: nothing.
    pub limit_note: &'static str,
    /// What of its figures is known.
    pub tells: &'static str,
    /// What becomes of who finds it full.
    pub when_full: WhenFull,
    /// What happens when it is full, in words.
    pub when_full_words: &'static str,
    /// How the limit is set.
    pub set: &'static str,
}

/// A stage that says nothing yet.
pub(crate) const STAGE: StageInWords = StageInWords {
    stage: "",
    limit: "",
    limit_note: "",
    tells: "",
    when_full: WhenFull::Wait,
    when_full_words: "",
    set: NOT_SET,
};
pub(crate) const LIVE: &str = "while it runs";
/// How a server that Weir starts ends.
pub(crate) const ENDS_WITH_WEIR: &str = "SIGTERM; the kernel sends it when Weir ends without";
pub(crate) const NOT_SET: &str = "not set by Weir";
/// The kernel's queue in front of any server.
pub(crate) const BACKLOG: StageInWords = StageInWords {
    stage: "backlog",
    tells: "accept queue (kernel)",
    when_full: WhenFull::Refuse,
    when_full_words: "the kernel drops the connection request",
    ..STAGE
};
/// Connections of a server that lets those above its limit wait outside.
pub(crate) const CONNECTIONS: StageInWords = StageInWords {
    stage: "connections",
    tells: "occupancy",
    when_full_words: "waits in the backlog",
    set: LIVE,
    ..STAGE
};
/// The requests in front of the threads.
pub(crate) const REQUEST_QUEUE: StageInWords = StageInWords {
    stage: "request-queue",
    tells: "waiting, derived from the connections",
    when_full_words: "it has no limit but the connections",
    ..STAGE
};
/// The threads behind them.
pub(crate) const THREADS: StageInWords = StageInWords {
    stage: "threads",
    tells: "occupancy",
    when_full_words: "waits in the request queue",
    set: LIVE,
    ..STAGE
};
/// All the pools that a server has.
pub(crate) const POOL: StageInWords = StageInWords {
    stage: "pool.NAME",
    when_full: WhenFull::Block,
    when_full_words: "the thread waits",
    ..STAGE
};
/// How the names of pools begin.
pub(crate) const POOLS: &str = "pool.";

/// The kinds that there are.
pub const KINDS: [&Kind; 8] = [
    &builtin::KIND,
    &tomcat::KIND,
    &spring_boot::KIND,
    &liberty::KIND,
    &httpd::KIND,
    &command::KIND,
    &external::KIND,
    &postgresql::KIND,
];

/// The kind of this name.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.into_iter().find(|kind| kind.name == name)
}

impl Kind {
    fn words(&self, name: &str) -> Option<&StageInWords> {
        let of_name = |words: &&StageInWords| {
            words.stage == name || (name.starts_with(POOLS) && words.stage.starts_with(POOLS))
        };
        self.stages.iter().find(of_name)
    }

    /// Whether it has a stage of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.words(name).is_some()
    }

    /// The facts of one of its stages.
    pub(crate) fn stage(&self, name: &str, limit: Option<f64>, settable: bool) -> Stage {
        let words = self.words(name);
        let words = words.expect("a kind describes all of its stages");
        Stage {
            name: name.to_owned(),
            native: (!words.limit.is_empty()).then(|| words.limit.to_owned()),
            limit,
            settable,
            when_full: words.when_full,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn every_kind_says_everything() {
        for kind in KINDS {
            for words in [
                kind.what,
                kind.install,
                kind.start,
                kind.watch,
                kind.stop,
                kind.put_back,
            ] {
                assert!(!words.is_empty(), "{}", kind.name);
            }
            assert!(!kind.stages.is_empty(), "{}", kind.name);
            for stage in kind.stages {
                for words in [stage.stage, stage.tells, stage.when_full_words, stage.set] {
                    assert!(!words.is_empty(), "{} {}", kind.name, stage.stage);
                }
            }
            assert_eq!(kind_named(kind.name).unwrap(), kind);
        }
    }

    #[test]
    fn facts_have_the_words_of_the_kind() {
        let stage = tomcat::KIND.stage("pool.db", Some(10.0), true);
        assert_eq!(stage.name, "pool.db");
        assert_eq!(stage.native.as_deref(), Some("maxActive"));
        assert_eq!(stage.when_full, WhenFull::Block);
        let queue = tomcat::KIND.stage("request-queue", None, false);
        assert_eq!(queue.native, None);
    }
}
