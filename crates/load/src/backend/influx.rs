//! What is sent to `InfluxDB`: its line protocol, with the measurement, tags and fields of JMeter
//! 5.6.3, measured.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::time::SystemTime;

use fancy_regex::Regex;
use weir_plan::Backend as Element;
use weir_record::{LABELS_MAX, OTHER_LABELS};

use super::{Heard, argument};

/// How many values percentiles and means are taken of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    values: usize,
    /// Each interval begins without any.
    is_timed: bool,
}

impl Window {
    /// JMeter's defaults are the last 100 values, and 5,000 for windows of one interval.
    pub(super) fn of(is_timed: bool, fixed: Option<u64>, timed: Option<u64>) -> Self {
        let values = if is_timed {
            timed.unwrap_or(5_000)
        } else {
            fixed.unwrap_or(100)
        };
        Self {
            values: usize::try_from(values).unwrap_or(usize::MAX).max(1),
            is_timed,
        }
    }
}

/// The last values.
#[derive(Debug, Default)]
struct Values(VecDeque<f64>);

impl Values {
    fn add(&mut self, value: f64, window: Window) {
        if self.0.len() == window.values {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// Mean, least and greatest; nothing if there is none.
    fn summary(&self) -> Option<[f64; 3]> {
        let values = || self.0.iter().copied();
        let mean = values().sum::<f64>() / self.0.len() as f64;
        Some([mean, values().reduce(f64::min)?, values().reduce(f64::max)?])
    }

    /// Mean, least and greatest, as fields.
    fn fields(&self, out: &mut String) {
        let values = self.summary().into_iter().flatten();
        for (name, value) in ["avg", "min", "max"].into_iter().zip(values) {
            let _ = write!(out, ",{name}={value:?}");
        }
    }

    fn ordered(&self) -> Vec<f64> {
        let mut ordered: Vec<f64> = self.0.iter().copied().collect();
        ordered.sort_by(f64::total_cmp);
        ordered
    }
}

/// A percentile of ordered values as Apache Commons Math estimates it: at `p (n + 1)`, between two
/// of them along a line.
fn percentile(ordered: &[f64], percent: f64) -> Option<f64> {
    let place = percent / 100.0 * (ordered.len() as f64 + 1.0);
    let (first, last) = (ordered.first()?, ordered.last()?);
    if place < 1.0 {
        return Some(*first);
    }
    let below = place.floor();
    let lower = ordered.get(below as usize - 1).unwrap_or(last);
    let upper = ordered.get(below as usize);
    Some(upper.map_or(*last, |upper| lower + (place - below) * (upper - lower)))
}

/// What was heard of the samples of one name, or of all.
#[derive(Debug, Default)]
struct Metric {
    succeeded: u64,
    failed: u64,
    hits: u64,
    sent_bytes: u64,
    received_bytes: u64,
    /// By code and message.
    errors: BTreeMap<(String, String), u64>,
    of_all: Values,
    of_succeeded: Values,
    of_failed: Values,
}

impl Metric {
    fn add(&mut self, heard: &Heard, is_sum: bool, window: Window) {
        let elapsed = heard.elapsed_ms as f64;
        self.of_all.add(elapsed, window);
        if heard.success {
            self.succeeded += 1;
            self.of_succeeded.add(elapsed, window);
        } else {
            self.failed += 1;
            self.of_failed.add(elapsed, window);
            *self.errors.entry(error_of(heard)).or_default() += 1;
        }
        if is_sum && heard.is_repeated {
            return;
        }
        self.hits += heard.hits;
        self.sent_bytes += heard.sent_bytes;
        self.received_bytes += heard.received_bytes;
    }

    /// Begins the next interval.
    fn reset(&mut self, window: Window) {
        (self.succeeded, self.failed, self.hits) = (0, 0, 0);
        (self.sent_bytes, self.received_bytes) = (0, 0);
        self.errors.clear();
        if window.is_timed {
            for values in [
                &mut self.of_all,
                &mut self.of_succeeded,
                &mut self.of_failed,
            ] {
                values.0.clear();
            }
        }
    }
}

/// The code and message that an error is counted under.
fn error_of(heard: &Heard) -> (String, String) {
    if !heard.failure_message.is_empty() {
        return (
            "Assertion failed".to_owned(),
            heard.failure_message.to_string(),
        );
    }
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    (or(&heard.code, "0"), or(&heard.message, "None"))
}

/// All that is added up for one Backend Listener.
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
    names: Regex,
    only_sum: bool,
    window: Window,
    sum: Metric,
    by_name: BTreeMap<String, Metric>,
    users: Values,
    started: u32,
    ended: u32,
}

impl Influx {
    /// By the arguments of the element; the error says what is wrong with them.
    pub(super) fn new(element: &Element<String>, window: Window) -> Result<Self, String> {
        let argument =
            |wanted: &str, default: &str| argument(element, wanted).unwrap_or(default).to_owned();
        let pattern = argument("samplersRegex", ".*");
        let names = Regex::new(&pattern)
            .map_err(|error| format!("samplersRegex \"{pattern}\" cannot be read: {error}"))?;
        let listed = argument("percentiles", "");
        let mut percentiles = Vec::new();
        for text in listed
            .split(';')
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            let number = text
                .parse()
                .ok()
                .filter(|percent| (0.0..=100.0).contains(percent));
            percentiles.push(number.ok_or_else(|| format!("percentiles: \"{text}\" is none"))?);
        }
        let own = element.arguments.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("TAG_")?;
            Some(format!(",{}={}", escaped(name), escaped(value)))
        });
        let event_tags = match argument("eventTags", "").as_str() {
            "" => String::new(),
            tags => format!(",tags={}", escaped(tags)),
        };
        Ok(Self {
            measurement: escaped(&argument("measurement", "jmeter")),
            application: format!(",application={}", escaped(&argument("application", ""))),
            tags: own.collect(),
            event_tags,
            title: argument("testTitle", "Test"),
            percentiles,
            names,
            only_sum: argument("summaryOnly", "false").eq_ignore_ascii_case("true"),
            window,
            sum: Metric::default(),
            by_name: BTreeMap::new(),
            users: Values::default(),
            started: 0,
            ended: 0,
        })
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, heard: &Heard) {
        self.users.add(f64::from(heard.active), self.window);
        self.started = self.started.max(heard.users.started);
        self.ended = self.ended.max(heard.users.finished());
        self.sum.add(heard, true, self.window);
        if self.only_sum || !self.names.is_match(&*heard.label).unwrap_or(false) {
            return;
        }
        if let Some(metric) = self.by_name.get_mut(&*heard.label) {
            metric.add(heard, false, self.window);
            return;
        }
        let is_full = self.by_name.len() >= LABELS_MAX;
        let name = if is_full { OTHER_LABELS } else { &heard.label };
        let metric = self.by_name.entry(name.to_owned()).or_default();
        metric.add(heard, false, self.window);
    }

    /// All users have ended.
    pub(super) fn end(&mut self) {
        self.ended = self.started;
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
        lines.sum(&self.sum);
        for (name, metric) in &self.by_name {
            lines.named(name, metric);
        }
        let [mean, least, most] = self.users.summary().unwrap_or_default();
        lines.push(
            "internal",
            &format!(
                "minAT={},maxAT={},meanAT={},startedT={},endedT={}",
                least as u64, most as u64, mean as u64, self.started, self.ended
            ),
        );
        let out = lines.out;
        self.sum.reset(self.window);
        for metric in self.by_name.values_mut() {
            metric.reset(self.window);
        }
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
        metric.of_succeeded.fields(&mut fields);
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
            values.fields(&mut fields);
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

    fn values(of: &[f64], window: Window) -> Values {
        let mut values = Values::default();
        for value in of {
            values.add(*value, window);
        }
        values
    }

    /// JMeter wrote these of the same values.
    #[test]
    fn percentiles_are_those_of_commons_math() {
        let window = Window::of(false, None, None);
        let of = [
            1.0, 15.0, 43.0, 43.0, 43.0, 45.0, 45.0, 46.0, 47.0, 47.0, 84.0, 87.0, 1201.0, 1686.0,
        ];
        let all = values(&of, window);
        assert_eq!(percentile(&all.ordered(), 90.0), Some(1443.5));
        assert_eq!(percentile(&all.ordered(), 95.0), Some(1686.0));
        assert_eq!(percentile(&all.ordered(), 1.0), Some(1.0));
        assert_eq!(percentile(&[7.0], 50.0), Some(7.0));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn only_the_last_values_count() {
        let window = Window::of(false, Some(2), None);
        let mut fields = String::new();
        values(&[100.0, 1.0, 2.5], window).fields(&mut fields);
        assert_eq!(fields, ",avg=1.75,min=1.0,max=2.5");
    }

    #[test]
    fn texts_cannot_leave_their_tag() {
        assert_eq!(escaped(" a b,c=d\ne "), "a\\ b\\,c\\=d\\ne");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let new = |name: &str, value: &str| {
            let element = Element {
                arguments: vec![(name.to_owned(), value.to_owned())],
            };
            Influx::new(&element, Window::of(false, None, None)).err()
        };
        assert!(new("samplersRegex", "(").is_some_and(|says| says.contains("samplersRegex")));
        assert!(new("percentiles", "90;x").is_some_and(|says| says.contains("\"x\"")));
        assert_eq!(new("percentiles", "90; 99.9;"), None);
    }
}
