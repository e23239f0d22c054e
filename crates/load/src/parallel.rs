//! How many resources of a page are fetched at once.

use weir_plan::HttpRequest;
use weir_script::Text;

/// The most at once, whatever the plan says.
pub(crate) const PARALLEL_MAX: usize = 64;
/// At once, if the plan gives no number: JMeter's default.
pub(crate) const PARALLEL: usize = 6;

/// How many connections to one server a request may need.
pub(crate) fn at_once(request: &HttpRequest<Text>) -> u64 {
    let parallel = request.embedded.as_ref().and_then(|e| e.parallel.as_ref());
    let Some(parallel) = parallel else { return 1 };
    let number = parallel.constant().map(|text| text.trim().parse::<usize>());
    let number = number.map_or(PARALLEL_MAX, |parsed| parsed.unwrap_or(PARALLEL));
    number.clamp(1, PARALLEL_MAX) as u64
}
