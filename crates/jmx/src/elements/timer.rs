//! Timers: pauses before a sample.

use weir_plan::Timer;

use crate::element::Element;

/// `ConstantTimer`.
pub(crate) fn constant(element: &Element<'_>) -> Timer {
    Timer::Constant {
        delay_ms: element.text_or_empty("ConstantTimer.delay"),
    }
}

/// `GaussianRandomTimer`: the "range" is the standard deviation.
pub(crate) fn gaussian(element: &Element<'_>) -> Timer {
    Timer::Gaussian {
        delay_ms: element.text_or_empty("ConstantTimer.delay"),
        deviation_ms: element.text_or_empty("RandomTimer.range"),
    }
}
