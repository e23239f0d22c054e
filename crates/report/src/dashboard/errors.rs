//! What failed, by kind.

use std::collections::BTreeMap;

use weir_record::SampleRow;

/// Kinds that are counted each on their own; all others are one more.
const KINDS_MAX: usize = 1_000;
const OTHER_KINDS: &str = "(other errors)";
/// What a failure is called that neither code nor message explains.
const ASSERTION_FAILED: &str = "Assertion failed";

/// Failed samples of one label, by kind.
#[derive(Debug, Default)]
pub(super) struct Errors {
    kinds: BTreeMap<String, u64>,
}

impl Errors {
    pub(super) fn add(&mut self, row: &SampleRow) {
        if row.success {
            return;
        }
        let kind = kind(row);
        if let Some(count) = self.kinds.get_mut(&kind) {
            *count += 1;
            return;
        }
        let kind = if self.kinds.len() < KINDS_MAX {
            kind
        } else {
            OTHER_KINDS.to_owned()
        };
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// Kinds with their counts, the most frequent first.
    pub(super) fn ranked(&self) -> Vec<(&str, u64)> {
        let mut ranked: Vec<(&str, u64)> = self
            .kinds
            .iter()
            .map(|(kind, count)| (kind.as_str(), *count))
            .collect();
        ranked.sort_by(|(one, a), (two, b)| b.cmp(a).then(one.cmp(two)));
        ranked
    }
}

/// `code/message`; when the code is a good one, the assertion's words (JMeter).
fn kind(row: &SampleRow) -> String {
    let (code, message) = (&*row.response_code, &*row.response_message);
    let is_good = code
        .parse::<u16>()
        .is_ok_and(|code| (200..400).contains(&code));
    if is_good || (code.is_empty() && !row.failure_message.trim().is_empty()) {
        return match &*row.failure_message {
            "" => ASSERTION_FAILED.to_owned(),
            says => says.to_owned(),
        };
    }
    if message.is_empty() {
        code.to_owned()
    } else {
        format!("{code}/{message}")
    }
}
