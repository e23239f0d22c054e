//! An error told whole, in one sentence.

use std::error::Error;

/// `failed to read a.jmx: No such file or directory`: an error's own words with those of what
/// caused it, unless they already say so.
///
/// Errors of Weir's crates read as fragments that fit after "failed to".
pub fn failed_to(error: &dyn Error) -> String {
    let mut text = format!("failed to {error}");
    let mut next = error.source();
    while let Some(cause) = next {
        let says = cause.to_string();
        if !text.contains(&says) {
            text.push_str(": ");
            text.push_str(&says);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimelineError;

    #[test]
    fn causes_are_told_once() {
        let cause = std::io::Error::other("no space left");
        let error = TimelineError::Io(cause);
        assert_eq!(
            failed_to(&error),
            "failed to write a timeline: no space left"
        );
        let plain = std::fmt::Error;
        assert!(failed_to(&plain).starts_with("failed to "));
    }
}
