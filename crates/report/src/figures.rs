//! Figures with the intervals of estimates.

use weir_metric::SignalUnit;
use weir_stats::Estimate;

pub(crate) use weir_metric::number;

/// Writes a figure with the interval of its estimate.
pub(crate) trait WithEstimate {
    /// The value with the interval of an estimate, when there is one: `79.3 % (77.8–80.6)`.
    fn with_estimate(self, value: f64, estimate: Option<&Estimate>) -> String;

    /// The value with half the length of that interval: `79.3 ±1.4 %`.
    fn with_doubt(self, value: f64, estimate: Option<&Estimate>) -> String;
}

impl WithEstimate for SignalUnit {
    fn with_estimate(self, value: f64, estimate: Option<&Estimate>) -> String {
        estimate.map_or_else(
            || self.text(value),
            |estimate| self.with_interval(value, estimate.low, estimate.high),
        )
    }

    fn with_doubt(self, value: f64, estimate: Option<&Estimate>) -> String {
        self.plus_minus(value, estimate.map(Estimate::half_width))
    }
}

/// The unit of a figure that stands in a trial's record; a plain number where nothing is known of
/// it.
pub(crate) fn unit_of(figure: &str) -> SignalUnit {
    weir_metric::figure(figure).map_or(SignalUnit::Number, |known| known.unit)
}
