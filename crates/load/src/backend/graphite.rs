//! What is sent to Graphite: a name, a value and a date of each figure, as JMeter 5.6.3 does,
//! measured; in lines, or in the words of Python's pickle.

use std::fmt::{Display, Write as _};
use std::time::SystemTime;

use weir_plan::Backend as Element;

use super::argument;
use super::sums::{Metric, Names, Sums, Values, Window, percentile, percentiles};

/// How figures are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// `NAME VALUE SECONDS`, a line each.
    Text,
    /// A list of Python's, after its length.
    Pickle,
}

/// A Backend Listener for Graphite.
#[derive(Debug)]
pub(super) struct Graphite {
    words: Words,
    prefix: String,
    percentiles: Vec<(String, f64)>,
    pub(super) sums: Sums,
}

impl Graphite {
    /// By the arguments of the element; the error says what is wrong with them.
    pub(super) fn new(element: &Element<String>, window: Window) -> Result<Self, String> {
        let argument = |wanted: &str, default: &str| -> String {
            argument(element, wanted).unwrap_or(default).to_owned()
        };
        let is = |wanted: &str, default: &str| argument(wanted, default).to_lowercase() == "true";
        let sender = argument("graphiteMetricsSender", "TextGraphiteMetricsSender");
        let list = argument("samplersList", "");
        let names = if is("summaryOnly", "true") {
            Names::None
        } else if is("useRegexpForSamplersList", "false") {
            // JMeter: the whole name has to match.
            Names::found("samplersList", &format!("^(?:{list})$"))?
        } else {
            Names::Listed(list.split(';').map(str::to_owned).collect())
        };
        let percentiles = percentiles(element)?.into_iter();
        Ok(Self {
            words: if sender.ends_with("PickleGraphiteMetricsSender") {
                Words::Pickle
            } else {
                Words::Text
            },
            prefix: argument("rootMetricsPrefix", "jmeter."),
            percentiles: percentiles
                .map(|(name, percent)| (one_word(&name), percent))
                .collect(),
            sums: Sums::new(names, window),
        })
    }

    /// The figures of an interval, which ends.
    pub(super) fn figures(&mut self) -> Vec<u8> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut written = Written {
            words: self.words,
            at: since.unwrap_or_default().as_secs(),
            out: String::new(),
        };
        let sums = &self.sums;
        let named = sums.by_name.iter();
        let named = named.map(|(name, metric)| (one_word(name), metric));
        for (name, metric) in [("all".to_owned(), &sums.all)].into_iter().chain(named) {
            let context = format!("{}{name}", self.prefix);
            written.metric(&context, metric, &self.percentiles);
        }
        let [least, most, mean] = sums.users();
        let users = [
            ("minAT", least),
            ("maxAT", most),
            ("meanAT", mean),
            ("startedT", u64::from(sums.started)),
            ("endedT", u64::from(sums.ended)),
        ];
        for (name, value) in users {
            written.push(&format!("{}test", self.prefix), name, value);
        }
        self.sums.reset();
        written.whole()
    }
}

/// Figures while they are written.
struct Written {
    words: Words,
    /// Seconds since 1970.
    at: u64,
    out: String,
}

impl Written {
    fn push(&mut self, context: &str, name: &str, value: impl Display) {
        let at = self.at;
        let _ = match self.words {
            Words::Text => writeln!(self.out, "{context}.{name} {value} {at}"),
            Words::Pickle => write!(self.out, "(S'{context}.{name}'\n(L{at}L\nS'{value}'\ntta"),
        };
    }

    /// What nothing was heard of in the interval is not written.
    fn metric(&mut self, context: &str, metric: &Metric, percentiles: &[(String, f64)]) {
        let all = metric.succeeded + metric.failed;
        if all == 0 {
            return;
        }
        let counts = [
            ("ok.count", metric.succeeded),
            ("ko.count", metric.failed),
            ("a.count", all),
            ("h.count", metric.hits),
            ("sb.bytes", metric.sent_bytes),
            ("rb.bytes", metric.received_bytes),
        ];
        for (name, count) in counts {
            self.push(context, name, count);
        }
        let kinds = [
            ("ok", metric.succeeded, &metric.of_succeeded),
            ("ko", metric.failed, &metric.of_failed),
            ("a", all, &metric.of_all),
        ];
        for (kind, _, values) in kinds.into_iter().filter(|(_, count, _)| *count > 0) {
            self.values(&format!("{context}.{kind}"), values, percentiles);
        }
    }

    fn values(&mut self, context: &str, values: &Values, percentiles: &[(String, f64)]) {
        let Some([mean, least, most]) = values.summary() else {
            return;
        };
        for (name, value) in [("min", least), ("max", most), ("avg", mean)] {
            self.push(context, name, format_args!("{value:?}"));
        }
        let ordered = values.ordered();
        for (name, percent) in percentiles {
            if let Some(value) = percentile(&ordered, *percent) {
                self.push(context, &format!("pct{name}"), format_args!("{value:?}"));
            }
        }
    }

    fn whole(self) -> Vec<u8> {
        match self.words {
            Words::Text => self.out.into_bytes(),
            Words::Pickle => {
                let list = format!("(l{}.", self.out);
                let length = u32::try_from(list.len()).unwrap_or(u32::MAX);
                [&length.to_be_bytes(), list.as_bytes()].concat()
            }
        }
    }
}

/// A text as a part of a name, in which dots part the words.
fn one_word(text: &str) -> String {
    text.replace(' ', "-").replace('.', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of what JMeter wrote.
    #[test]
    fn a_pickle_is_as_long_as_it_says() {
        let mut written = Written {
            words: Words::Pickle,
            at: 1_795_867_309,
            out: String::new(),
        };
        written.push("jmeter.test", "minAT", 1);
        let whole = written.whole();
        assert_eq!(&whole[..4], (whole.len() as u32 - 4).to_be_bytes());
        let says = b"(l(S'jmeter.test.minAT'\n(L1795867309L\nS'1'\ntta.";
        assert_eq!(&whole[4..], says);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let new = |arguments: &[(&str, &str)]| {
            let arguments = arguments.iter();
            let element = Element {
                to: weir_plan::Database::Graphite,
                arguments: arguments
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
            };
            Graphite::new(&element, Window::of(false, None, None)).err()
        };
        let says = new(&[
            ("summaryOnly", "false"),
            ("useRegexpForSamplersList", "true"),
            ("samplersList", "("),
        ]);
        assert!(says.is_some_and(|says| says.contains("samplersList")));
        assert!(new(&[("percentiles", "90;x")]).is_some_and(|says| says.contains("\"x\"")));
        assert_eq!(new(&[]), None);
    }
}
