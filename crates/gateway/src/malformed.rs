//! Why what a client has sent is no request that may be passed on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why what a client has sent is no request that may be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It is no head of HTTP, or one that is too large.
    Head,
    /// The method is none that a gateway takes.
    Method,
    /// What is asked for is none, or too long.
    Target,
    /// There are too many fields.
    Fields,
    /// Where the body ends could be understood in two ways.
    Framing,
    /// Something is expected that is unknown.
    Expectation,
    /// It does not say for which host it is, or says it twice.
    Host,
    /// A trusted proxy did not say for whom its connection is.
    ProxyProtocol,
    /// Its head had begun and did not become whole in time, or there was no room for more of it.
    Unfinished,
}

const NAMES: [&str; 9] = [
    "head",
    "method",
    "target",
    "fields",
    "framing",
    "expectation",
    "host",
    "proxy_protocol",
    "unfinished",
];

impl Malformed {
    /// For logs and metrics.
    pub(crate) const fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// How often each was so since the gateway began.
#[derive(Debug, Default)]
pub(crate) struct MalformedCounts([AtomicU64; NAMES.len()]);

impl MalformedCounts {
    /// Once more.
    pub(crate) fn count(&self, why: Malformed) {
        self.0[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// By their names.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        NAMES.map(str::to_owned).into_iter().zip(counts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_name() {
        assert_eq!(Malformed::Head.name(), "head");
        assert_eq!(Malformed::Framing.name(), "framing");
        assert_eq!(Malformed::Unfinished.name(), "unfinished");
    }
}
