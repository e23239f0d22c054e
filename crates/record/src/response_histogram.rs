//! How response times are counted.

use hdrhistogram::Histogram;

/// Significant decimal digits that every histogram of response times keeps.
const SIGNIFICANT_DIGITS: u8 = 3;

/// A new empty histogram of response times in microseconds, up to an hour.
pub fn response_histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are within the library's bounds");
    histogram.auto(true);
    histogram
}
