//! The MD5 Hex Assertion.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};
use weir_plan::Md5HexAssertion;

use crate::{AssertionOutcome, SampleView};

pub(super) fn check(
    element: &Md5HexAssertion<String>,
    sample: &SampleView<'_>,
) -> AssertionOutcome {
    let (name, wanted) = (&element.name, &element.digest);
    if sample.body.is_empty() {
        return AssertionOutcome::nothing_there(name);
    }
    if wanted.is_empty() {
        return AssertionOutcome::failed(name, "MD5Hex to test against is empty");
    }
    let mut digest = String::new();
    for byte in Md5::digest(sample.body) {
        let _ = write!(digest, "{byte:02x}");
    }
    if digest.eq_ignore_ascii_case(wanted) {
        return AssertionOutcome::passed(name);
    }
    let message = format!("Error asserting MD5 sum : got {digest} but should have been {wanted}");
    AssertionOutcome::failed(name, message)
}
