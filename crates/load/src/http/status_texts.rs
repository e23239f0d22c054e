//! Status codes and reason phrases as shared texts.
//!
//! Every sample has them, nearly all have the same few. Each runtime keeps those it has met.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Reason phrases kept for each status code; servers use one or two. A server that makes up more
/// gets texts of its own for each response.
const PHRASES_MAX: usize = 8;

/// The texts that a runtime has met.
#[derive(Debug, Default)]
pub(crate) struct StatusTexts {
    by_status: BTreeMap<u16, Known>,
}

#[derive(Debug)]
struct Known {
    code: Arc<str>,
    reasons: Vec<Arc<str>>,
}

/// What a response's first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// The status code.
    pub(crate) number: u16,
    /// The status code as text.
    pub(crate) code: Arc<str>,
    /// The reason phrase.
    pub(crate) reason: Arc<str>,
}

impl StatusTexts {
    /// The texts of a status.
    pub(crate) fn status(&mut self, number: u16, reason: &str) -> Status {
        let known = self.by_status.entry(number).or_insert_with(|| Known {
            code: number.to_string().into(),
            reasons: Vec::new(),
        });
        let kept = known.reasons.iter().find(|kept| ***kept == *reason);
        let reason = kept.cloned().unwrap_or_else(|| {
            let reason: Arc<str> = reason.into();
            if known.reasons.len() < PHRASES_MAX {
                known.reasons.push(Arc::clone(&reason));
            }
            reason
        });
        Status {
            number,
            code: Arc::clone(&known.code),
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_few_phrases_for_each_code() {
        let mut texts = StatusTexts::default();
        let first = texts.status(200, "OK");
        let second = texts.status(200, "OK");
        assert!(Arc::ptr_eq(&first.reason, &second.reason));
        for number in 0..100 {
            assert_eq!(
                &*texts.status(200, &number.to_string()).reason,
                number.to_string()
            );
        }
        assert_eq!(texts.by_status[&200].reasons.len(), PHRASES_MAX);
    }
}
