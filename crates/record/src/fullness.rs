//! From when on a stage or the CPU counts as full: the same for the search, findings, explanations
//! and pages.

/// A stage is full when this share of its places is taken on average: one that is always wanted
/// still has gaps when a request leaves it and the next comes in.
pub const STAGE_FULL: f64 = 0.95;

/// The CPUs may be the cause when this share of them is busy: the queue in front of a CPU that is
/// 90 % busy is nine times as long as the work itself (M/M/1: U / (1 - U)).
pub const CPU_FULL: f64 = 0.90;

/// From this share on they are called saturated: what is left is lost between requests.
pub const CPU_SATURATED: f64 = 0.95;

/// Whether a stage with so many of its places taken on average is full; one without a limit never
/// is.
///
/// ```
/// use weir_record::is_full;
///
/// assert!(is_full(Some(9.6), Some(10.0)));
/// assert!(!is_full(Some(9.4), Some(10.0)));
/// assert!(!is_full(Some(9.6), None) && !is_full(None, Some(10.0)));
/// ```
pub fn is_full(occupancy: Option<f64>, limit: Option<f64>) -> bool {
    matches!((occupancy, limit), (Some(taken), Some(limit)) if limit > 0.0 && taken >= STAGE_FULL * limit)
}
