//! Listeners: `ResultCollector`, which is all of JMeter's graphical ones and its writer of result
//! files, `BackendListener`, and jp@gc `AutoStop`.

use weir_plan::{AutoStop, AutoStopLimit, Backend, Database, Listener, Logged, Template};

use crate::element::Element;
use crate::elements::arguments;

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
        sends: None,
        only,
        save: element.object("saveConfig"),
    })
}

/// A Backend Listener whose figures Weir sends; the error says what there is for the others.
pub(crate) fn backend(element: &Element<'_>) -> Result<Listener, &'static str> {
    let class = element.text_or_empty("classname").text;
    let to = if class.ends_with(".InfluxdbBackendListenerClient") {
        Database::Influx
    } else if class.ends_with(".GraphiteBackendListenerClient") {
        Database::Graphite
    } else {
        return Err("nothing is sent to it: Weir sends to InfluxDB and Graphite alone");
    };
    let list = element.element("arguments");
    let entries = list.map(|list| arguments::variables(&list));
    let arguments = entries.unwrap_or_default().into_iter();
    let backend = Backend {
        to,
        arguments: arguments
            .map(|argument| (argument.name.text, argument.value))
            .collect(),
    };
    let value = |wanted: &str| {
        let value: Option<&Template> = backend.argument(wanted);
        value.map_or("", |value| value.text.trim())
    };
    let (sender, known) = match to {
        Database::Influx => (
            value("influxdbMetricsSender"),
            [".HttpMetricsSender", ".UdpMetricsSender"],
        ),
        Database::Graphite => (
            value("graphiteMetricsSender"),
            [".TextGraphiteMetricsSender", ".PickleGraphiteMetricsSender"],
        ),
    };
    let is_known = known.iter().any(|known| sender.ends_with(known));
    if !is_known && !sender.contains("${") {
        return Err("nothing is sent to it: its metrics sender is none of JMeter's");
    }
    if value("influxdbUrl").starts_with("https:") {
        return Err("nothing is sent to it: Weir sends over http:// alone");
    }
    Ok(Listener {
        id: element.id(),
        name: element.name_template(),
        file: element.text_or("filename", ""),
        sends: Some(backend),
        only: None,
        save: Vec::new(),
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
