//! One second's signals by name.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a signal as it stands in timelines: `cpu`, `tcp.8080.accept-queue`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignalName(Cow<'static, str>);

impl SignalName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for SignalName {
    fn from(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

impl From<String> for SignalName {
    fn from(name: String) -> Self {
        Self(Cow::Owned(name))
    }
}

// Lets a reading be asked with plain text; holds because `Cow<str>` orders and compares as `str`.
impl Borrow<str> for SignalName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SignalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What was read in one second. A signal that could not be read is not in the map.
pub type Reading = BTreeMap<SignalName, f64>;

/// Puts a figure into a reading, when there is one and it is a number.
pub(crate) fn put(reading: &mut Reading, name: impl Into<SignalName>, figure: Option<f64>) {
    if let Some(figure) = figure.filter(|figure| figure.is_finite()) {
        reading.insert(name.into(), figure);
    }
}

/// Growth of a counter per second, or `None` when it ran backwards (the counter was started anew)
/// or no time has passed.
pub(crate) fn rate(earlier: u64, later: u64, elapsed_s: f64) -> Option<f64> {
    let grown = later.checked_sub(earlier)?;
    (elapsed_s > 0.0).then(|| grown as f64 / elapsed_s)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_asked_with_plain_text_and_sorted_by_it() {
        let mut reading = Reading::new();
        put(&mut reading, "cpu.user", Some(0.5));
        put(&mut reading, format!("tcp.{}.established", 80), Some(3.0));
        put(&mut reading, "cpu", Some(0.75));
        assert_eq!(reading["tcp.80.established"], 3.0);
        let names: Vec<&str> = reading.keys().map(SignalName::as_str).collect();
        assert_eq!(names, ["cpu", "cpu.user", "tcp.80.established"]);
    }

    #[test]
    fn what_is_not_a_number_is_absent() {
        let mut reading = Reading::new();
        put(&mut reading, "cpu", None);
        put(&mut reading, "cpu.user", Some(f64::NAN));
        put(&mut reading, "threads.limit", Some(f64::INFINITY));
        assert!(reading.is_empty());
    }

    #[test]
    fn a_counter_that_ran_backwards_has_no_rate() {
        assert_eq!(rate(100, 150, 2.0), Some(25.0));
        assert_eq!(rate(150, 100, 2.0), None);
        assert_eq!(rate(100, 150, 0.0), None);
    }
}
