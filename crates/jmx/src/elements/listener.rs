//! Listeners: `ResultCollector`, which is all of JMeter's graphical ones and its writer of result
//! files, and jp@gc `AutoStop`.

use weir_plan::{AutoStop, AutoStopLimit, Listener, Logged};

use crate::element::Element;

/// The file that a listener writes; without one it does nothing outside JMeter's windows.
pub(crate) fn read(element: &Element<'_>) -> Option<Listener> {
    let file = element
        .text("filename")
        .filter(|file| !file.text.trim().is_empty())?;
    let failed = element.is("ResultCollector.error_logging");
    let succeeded = element.is("ResultCollector.success_only_logging");
    // With both, JMeter logs all.
    let only = match (failed, succeeded) {
        (true, false) => Some(Logged::Failed),
        (false, true) => Some(Logged::Succeeded),
        (true, true) | (false, false) => None,
    };
    Some(Listener {
        id: element.id(),
        name: element.name_template(),
        file,
        only,
        save: element.object("saveConfig"),
    })
}

/// What stops the test.
pub(crate) fn auto_stop(element: &Element<'_>) -> AutoStop {
    let limit = |above: &str, seconds: &str| AutoStopLimit {
        above: element.text_or_empty(above),
        seconds: element.text_or_empty(seconds),
    };
    AutoStop {
        name: element.name_template(),
        response_time_ms: limit("avg_response_time", "avg_response_time_length"),
        latency_ms: limit("avg_response_latency", "avg_response_latency_length"),
        errors_percent: limit("error_rate", "error_rate_length"),
    }
}

/// Conditions that newer versions of the plugin have and Weir does not.
pub(crate) fn beyond_auto_stop(element: &Element<'_>) -> Vec<String> {
    let conditions = [
        ("percentile_response_time", "a percentile"),
        ("rel_percentile_window_secs", "the growth of a percentile"),
        ("error_count", "a number of errors"),
    ];
    let asked = conditions.into_iter().filter(|(property, _)| {
        let text = element.text_or_empty(property).text;
        !matches!(text.trim(), "" | "0")
    });
    asked
        .map(|(_, what)| format!("stopping at {what} is not supported"))
        .collect()
}
