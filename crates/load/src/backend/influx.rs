//! What is sent to `InfluxDB`: its line protocol, with the measurement, tags and fields of JMeter
//! 5.6.3, measured.

use std::fmt::Write as _;
use std::time::SystemTime;

use weir_plan::Backend as Element;

use super::argument;
use super::sums::{Metric, Names, Sums, Values, Window, percentile, percentiles};

/// A Backend Listener for `InfluxDB`.
#[derive(Debug)]
pub(super) struct Influx {
    measurement: String,
    /// `,application=…`, already written.
    application: String,
    /// Tags of the plan's own (`TAG_…`), already written.
    tags: String,
    event_tags: String,
    title: String,
    percentiles: Vec<f64>,
    pub(super) sums: Sums,
}

impl Influx {
    /// By the arguments of the element; the error says what is wrong with them.
    pub(super) fn new(element: &Element<String>, window: Window) -> Result<Self, String> {
        let argument =
            |wanted: &str, default: &str| argument(element, wanted).unwrap_or(default).to_owned();
        let own = element.arguments.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("TAG_")?;
            Some(format!(",{}={}", escaped(name), escaped(value)))
        });
        let event_tags = match argument("eventTags", "").as_str() {
            "" => String::new(),
            tags => format!(",tags={}", escaped(tags)),
        };
        let names = match argument("summaryOnly", "false").to_lowercase().as_str() {
            "true" => Names::None,
            _ => Names::found("samplersRegex", &argument("samplersRegex", ".*"))?,
        };
        let percentiles = percentiles(element)?.into_iter();
        Ok(Self {
            measurement: escaped(&argument("measurement", "jmeter")),
            application: format!(",application={}", escaped(&argument("application", ""))),
            tags: own.collect(),
            event_tags,
            title: argument("testTitle", "Test"),
            percentiles: percentiles.map(|(_, percent)| percent).collect(),
            sums: Sums::new(names, window),
        })
    }

    /// The test has started, or ended.
    pub(super) fn event(&self, what: &str) -> String {
        let Self {
            application,
            tags,
            event_tags,
            ..
        } = self;
        let text = format!("{} {what}", self.title);
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        let at = nanos();
        format!("events{application},title=ApacheJMeter{tags}{event_tags} text=\"{text}\" {at}\n")
    }

    /// The figures of an interval, which ends.
    pub(super) fn figures(&mut self) -> String {
        let mut lines = Lines {
            head: format!("{}{}", self.measurement, self.application),
            tags: &self.tags,
            percentiles: &self.percentiles,
            at: nanos(),
            out: String::new(),
        };
        let sums = &self.sums;
        lines.sum(&sums.all);
        for (name, metric) in &sums.by_name {
            lines.named(name, metric);
        }
        let [least, most, mean] = sums.users();
        let (started, ended) = (sums.started, sums.ended);
        let users = format!("minAT={least},maxAT={most},meanAT={mean}");
        lines.push(
            "internal",
            &format!("{users},startedT={started},endedT={ended}"),
        );
        let out = lines.out;
        self.sums.reset();
        out
    }
}

/// Lines while they are written.
struct Lines<'a> {
    head: String,
    tags: &'a str,
    percentiles: &'a [f64],
    at: u128,
    out: String,
}

impl Lines<'_> {
    fn push(&mut self, transaction: &str, fields: &str) {
        let Self { head, tags, at, .. } = self;
        let _ = writeln!(
            self.out,
            "{head},transaction={transaction}{tags} {fields} {at}"
        );
    }

    fn percentiles(&self, of: &Values, fields: &mut String) {
        let ordered = of.ordered();
        for percent in self.percentiles {
            if let Some(value) = percentile(&ordered, *percent) {
                let _ = write!(fields, ",pct{percent:?}={value:?}");
            }
        }
    }

    fn sum(&mut self, metric: &Metric) {
        let count = metric.succeeded + metric.failed;
        if count == 0 {
            return;
        }
        let mut fields = format!("count={count},countError={}", metric.failed);
        // JMeter: of those that succeeded.
        summary(&metric.of_succeeded, &mut fields);
        traffic(metric, &mut fields);
        self.percentiles(&metric.of_all, &mut fields);
        self.push("all,statut=all", &fields);
    }

    fn named(&mut self, name: &str, metric: &Metric) {
        let name = escaped(name);
        let all = metric.succeeded + metric.failed;
        let kinds = [
            ("all", all, &metric.of_all),
            ("ok", metric.succeeded, &metric.of_succeeded),
            ("ko", metric.failed, &metric.of_failed),
        ];
        for (status, count, values) in kinds.into_iter().filter(|(_, count, _)| *count > 0) {
            let mut fields = format!("count={count}");
            summary(values, &mut fields);
            traffic(metric, &mut fields);
            self.percentiles(values, &mut fields);
            self.push(&format!("{name},statut={status}"), &fields);
        }
        for ((code, message), count) in &metric.errors {
            let (code, message) = (escaped(code), escaped(message));
            let tags = format!("{name},responseCode={code},responseMessage={message}");
            self.push(&tags, &format!("count={count}"));
        }
    }
}

/// Mean, least and greatest.
fn summary(values: &Values, fields: &mut String) {
    let values = values.summary().into_iter().flatten();
    for (name, value) in ["avg", "min", "max"].into_iter().zip(values) {
        let _ = write!(fields, ",{name}={value:?}");
    }
}

fn traffic(metric: &Metric, fields: &mut String) {
    let (sent, received) = (metric.sent_bytes, metric.received_bytes);
    let _ = write!(fields, ",hit={},sb={sent},rb={received}", metric.hits);
}

/// A text as a tag's value.
fn escaped(text: &str) -> String {
    let text = text.trim().replace('\n', "\\n");
    let text = text.replace(' ', "\\ ").replace(',', "\\,");
    text.replace('=', "\\=")
}

/// Nanoseconds since 1970, of which JMeter knows the milliseconds.
fn nanos() -> u128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_millis() * 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_tag() {
        assert_eq!(escaped(" a b,c=d\ne "), "a\\ b\\,c\\=d\\ne");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let new = |name: &str, value: &str| {
            let element = Element {
                to: weir_plan::Database::Influx,
                arguments: vec![(name.to_owned(), value.to_owned())],
            };
            Influx::new(&element, Window::of(false, None, None)).err()
        };
        assert!(new("samplersRegex", "(").is_some_and(|says| says.contains("samplersRegex")));
        assert!(new("percentiles", "90;x").is_some_and(|says| says.contains("\"x\"")));
        assert_eq!(new("percentiles", "90; 99.9;"), None);
    }
}
