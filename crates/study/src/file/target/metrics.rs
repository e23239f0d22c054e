//! `metrics` and `names`: where a server of any kind tells about itself, and what its words mean.
//!
//! ```toml
//! metrics = "/metrics"
//! names = { "threads.occupancy" = "app_busy_threads", "threads.wait" = "rate(app_wait_seconds_sum) / rate(app_requests)" }
//! ```

use std::collections::BTreeMap;

use toml::Spanned;
use weir_metric::SignalUnit;
use weir_userfile::Section;

use crate::file::factor::flat;

/// Pages of metrics and the names of what stands on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetricsSpec {
    /// URLs, or paths on the server itself.
    pub pages: Vec<String>,
    /// The metrics that signals are read from, beside those that Weir knows.
    pub names: Vec<MetricName>,
}

/// A signal and where it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricName {
    /// The signal, with the place of its name in the study.
    pub signal: Spanned<String>,
    /// The metric.
    pub metric: MetricWords,
    /// A counter by whose growth the growth of the metric is divided.
    pub per: Option<MetricWords>,
    /// Whether the growth per second counts, and not the figure itself.
    pub growth: bool,
    /// The unit of the figure, for the application's own (`… in s`); Weir's signals have theirs.
    pub unit: Option<SignalUnit>,
}

impl MetricsSpec {
    /// The units of the application's own figures, as `result.json` has them.
    pub fn own_units(&self) -> BTreeMap<String, String> {
        let told = self.names.iter().filter_map(|name| {
            let unit = name.unit?.symbol().to_owned();
            Some((name.signal.get_ref().clone(), unit))
        });
        told.collect()
    }
}

/// A metric by name and labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricWords {
    /// Its name; `*` stands for anything.
    pub name: String,
    /// Values that its labels must have.
    pub labels: BTreeMap<String, String>,
}

pub(super) fn read(section: &Section<'_>) -> MetricsSpec {
    let pages = match section.value("metrics") {
        Some(value) if value.get_ref().as_array().is_some() => section
            .texts("metrics")
            .unwrap_or_default()
            .into_iter()
            .map(Spanned::into_inner)
            .collect(),
        Some(_) => section
            .text("metrics")
            .map(Spanned::into_inner)
            .into_iter()
            .collect(),
        None => Vec::new(),
    };
    let names = section
        .section("names", "`names`")
        .map(|names| read_names(&names))
        .unwrap_or_default();
    if let (Some(first), true) = (names.first(), pages.is_empty()) {
        section.problems().add_with_help(
            first.signal.span(),
            "`names` says what metrics mean, and there is no page of metrics",
            "write where it is: `metrics = \"/metrics\"`",
        );
    }
    MetricsSpec { pages, names }
}

fn read_names(section: &Section<'_>) -> Vec<MetricName> {
    let mut names = Vec::new();
    for (signal, span, value) in flat(section.table()) {
        match value.get_ref().as_str().and_then(with_unit) {
            Some((_, Some(_))) if weir_metric::describe(&signal).is_some_and(|known| known.unit != SignalUnit::Number) => {
                section.problems().add_with_help(
                    value.span(),
                    format!("`{signal}` has its unit already"),
                    "only the application's own figures, `app.NAME`, are given one",
                );
            }
            Some(((metric, per, growth), unit)) => names.push(MetricName {
                signal: Spanned::new(span, signal),
                metric,
                per,
                growth,
                unit,
            }),
            None => section.problems().add_with_help(
                value.span(),
                format!("`{signal}` is read from no metric that can be understood"),
                "write \"NAME\", \"NAME{label=\\\"value\\\"}\", \"rate(NAME)\" or \"rate(NAME) / rate(NAME)\"; \
                 behind a figure of the application's own ` in s`, ` in /s`, ` in B` or ` in %` (a share of one)",
            ),
        }
    }
    names
}

/// What a figure is read from: a metric, one by whose growth it is divided, and whether it grows.
type Read = (MetricWords, Option<MetricWords>, bool);

/// Reads what [`parse`] does, and the unit behind it: `rate(a) / rate(b) in s`.
fn with_unit(text: &str) -> Option<(Read, Option<SignalUnit>)> {
    match text.rsplit_once(" in ") {
        Some((read, symbol)) => {
            let unit = SignalUnit::of_symbol(symbol.trim())?;
            Some((parse(read)?, Some(unit)))
        }
        None => Some((parse(text)?, None)),
    }
}

/// Reads `NAME{label="value"}`, `rate(…)` or `rate(…) / rate(…)`.
fn parse(text: &str) -> Option<Read> {
    let rate = |text: &str| words(text.trim().strip_prefix("rate(")?.strip_suffix(')')?);
    if let Some((metric, per)) = text.split_once(" / ") {
        return Some((rate(metric)?, Some(rate(per)?), true));
    }
    match rate(text) {
        Some(metric) => Some((metric, None, true)),
        None => Some((words(text)?, None, false)),
    }
}

fn words(text: &str) -> Option<MetricWords> {
    let text = text.trim();
    let (name, labels) = match text.split_once('{') {
        Some((name, rest)) => (name, rest.strip_suffix('}')?),
        None => (text, ""),
    };
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_:*?".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_of_name) {
        return None;
    }
    let labels = labels
        .split(',')
        .map(str::trim)
        .filter(|label| !label.is_empty());
    let labels = labels.map(|label| {
        let (name, value) = label.split_once('=')?;
        let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some((name.trim().to_owned(), value.to_owned()))
    });
    Some(MetricWords {
        name: name.to_owned(),
        labels: labels.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn metrics_are_read_as_they_are_written_elsewhere() {
        let (metric, per, growth) = parse("app_busy{pool=\"a\", kind=\"b|c\"}").unwrap();
        assert_eq!(metric.name, "app_busy");
        assert_eq!(metric.labels["kind"], "b|c");
        assert_eq!((per, growth), (None, false));
        let (metric, per, growth) =
            parse("rate(wait_seconds_sum) / rate(wait_seconds_count)").unwrap();
        assert_eq!(metric.name, "wait_seconds_sum");
        assert_eq!(per.unwrap().name, "wait_seconds_count");
        assert!(growth);
        assert!(parse("rate(requests_total)").unwrap().2);
        for wrong in [
            "",
            "a b",
            "a{",
            "a{b}",
            "a{b=c}",
            "rate(a) / b",
            "{a=\"b\"}",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_figure_of_the_applications_own_may_have_a_unit() {
        let unit = |text: &str| with_unit(text).map(|(_, unit)| unit);
        let own = "rate(flow_seconds_total) / rate(flow_messages_total)";
        assert_eq!(unit(own), Some(None));
        for (symbol, known) in [
            ("s", SignalUnit::Seconds),
            ("/s", SignalUnit::PerSecond),
            ("B", SignalUnit::Bytes),
            ("%", SignalUnit::Share),
        ] {
            assert_eq!(unit(&format!("{own} in {symbol}")), Some(Some(known)));
        }
        assert_eq!(unit(&format!("{own} in parsec")), None);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            let _ = parse(&text);
        }
    }
}
