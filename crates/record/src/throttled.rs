//! From when on a quota of CPU time holds a server up.

/// Share of its periods in which a control group is stopped, from which on that matters: a period
/// lasts 100 ms mostly, so that a request meets the end of one and waits for the next; stopped in
/// less than one of ten, at most a tenth of the requests wait for that.
pub const THROTTLED_MIN: f64 = 0.1;
