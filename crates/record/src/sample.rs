//! One finished sample, with everything inside it.
//!
//! Every sample of a load becomes a [`SampleRow`], so the row holds what nearly all result files
//! show and nothing else. What only some files ask for (headers, bodies, assertions) lies in one
//! box that is absent otherwise, and sub-samples in a vector that allocates nothing while it is
//! empty.

use std::sync::Arc;

/// What a response's content type says of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataType {
    /// Nothing was received, or nothing is known.
    #[default]
    Empty,
    /// Text.
    Text,
    /// Anything else.
    Binary,
}

impl DataType {
    /// As result files write it.
    pub fn spelling(self) -> &'static str {
        match self {
            Self::Empty => "",
            Self::Text => "text",
            Self::Binary => "bin",
        }
    }

    /// What result files mean by a text.
    pub(crate) fn of(spelling: &str) -> Self {
        match spelling {
            "text" => Self::Text,
            "bin" => Self::Binary,
            _ => Self::Empty,
        }
    }
}

/// One finished sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleRow {
    /// Start of the sample, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// From the start of the request, connecting included, to the last byte, in milliseconds.
    pub elapsed_ms: u64,
    /// The sample's label.
    pub label: Arc<str>,
    /// Status code, or JMeter's name of what went wrong.
    pub response_code: Arc<str>,
    /// Reason phrase, or JMeter's text of what went wrong.
    pub response_message: Arc<str>,
    /// `<group> <group number>-<user number>`.
    pub thread_name: Arc<str>,
    /// What the body was.
    pub data_type: DataType,
    /// Whether the sample succeeded.
    pub success: bool,
    /// The message of the first assertion that failed.
    pub failure_message: Arc<str>,
    /// Bytes received: head and body as they were on the wire.
    pub received_bytes: u64,
    /// Bytes sent: head and body.
    pub sent_bytes: u64,
    /// Users running in the group at the end of the sample.
    pub group_threads: u32,
    /// Users running in the test at the end of the sample.
    pub all_threads: u32,
    /// The URL that was requested; empty when there is none.
    pub url: Arc<str>,
    /// From the start to the first byte of the body, in milliseconds; 0 without a body.
    pub latency_ms: u64,
    /// Time within the sample that does not count, in milliseconds.
    pub idle_ms: u64,
    /// Time to connect, in milliseconds.
    pub connect_ms: u64,
    /// The samples this one is made of: redirects, embedded resources, the steps of a transaction.
    pub children: Vec<SampleRow>,
    /// What only some result files show.
    pub details: Option<Box<SampleDetails>>,
    /// Whether this sums up other samples: a Transaction Controller's. Sums over a test leave it
    /// out.
    pub is_transaction: bool,
    /// Whether it was an HTTP request, which XML files write as another element.
    pub is_http: bool,
}

/// What JMeter's message of a transaction begins with; result files tell transactions by it.
pub(crate) const TRANSACTION_MESSAGE: &str = "Number of samples in transaction : ";

impl SampleRow {
    /// When the sample ended, in milliseconds since 1970: time that does not count as response time
    /// included.
    pub fn end_ms(&self) -> u64 {
        self.timestamp_ms
            .saturating_add(self.elapsed_ms)
            .saturating_add(self.idle_ms)
    }

    /// This sample and all samples inside it, each before its own parts.
    pub fn depth_first(&self) -> impl Iterator<Item = &Self> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let row = waiting.pop()?;
            waiting.extend(row.children.iter().rev());
            Some(row)
        })
    }

    /// A transaction in which nothing was sampled.
    pub fn is_empty_transaction(&self) -> bool {
        self.is_transaction
            && self
                .response_message
                .strip_prefix(TRANSACTION_MESSAGE)
                .is_some_and(|count| count.starts_with("0,"))
    }
}

/// What only some result files show of a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleDetails {
    /// Header of the request as it was sent, without the request line.
    pub request_headers: String,
    /// Status line and header of the response.
    pub response_headers: String,
    /// The decoded body; `None` when there is none to speak of, which is not the same as empty.
    pub response_data: Option<Vec<u8>>,
    /// What a sampler that is not HTTP sent, if it says so.
    pub sampler_data: Option<String>,
    /// Request method.
    pub method: String,
    /// The request's body, or the query of a request without one.
    pub query: String,
    /// Cookies that were sent.
    pub cookies: String,
    /// Where a redirect pointed; empty: nowhere.
    pub redirect_location: String,
    /// Character set of the body as the response names it; empty: not named.
    pub encoding: String,
    /// File that the response was saved to.
    pub file_name: String,
    /// Every assertion that judged the sample, in order.
    pub assertions: Vec<AssertionResult>,
    /// Values of the variables of [`SaveConfiguration::variables`](crate::SaveConfiguration), in
    /// their order; `None` for those that the user does not have.
    pub variables: Vec<Option<String>>,
}

/// What one assertion said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AssertionResult {
    /// The assertion's name.
    pub name: String,
    /// The sample is not as it should be.
    pub failure: bool,
    /// The assertion itself could not be carried out.
    pub error: bool,
    /// Why; some assertions also have a message, an empty one, when the sample passed.
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, children: Vec<SampleRow>) -> SampleRow {
        SampleRow {
            label: label.into(),
            children,
            ..SampleRow::default()
        }
    }

    #[test]
    fn parts_come_after_their_whole() {
        let tree = row(
            "a",
            vec![
                row("b", vec![row("c", Vec::new()), row("d", Vec::new())]),
                row("e", Vec::new()),
            ],
        );
        let labels: Vec<&str> = tree.depth_first().map(|row| &*row.label).collect();
        assert_eq!(labels, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn a_row_without_details_stays_small() {
        // Two cache lines of texts and numbers each; a row is made for every sample.
        assert!(size_of::<SampleRow>() <= 256, "{}", size_of::<SampleRow>());
    }

    #[test]
    fn empty_transactions_are_told_by_their_message() {
        let mut row = row("t", Vec::new());
        row.is_transaction = true;
        row.response_message =
            "Number of samples in transaction : 0, number of failing samples : 0".into();
        assert!(row.is_empty_transaction());
        row.response_message =
            "Number of samples in transaction : 10, number of failing samples : 0".into();
        assert!(!row.is_empty_transaction());
    }
}
