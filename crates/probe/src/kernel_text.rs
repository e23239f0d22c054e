//! Words and numbers in the text files of the kernel, without allocation.

/// The words of a line or a file, whatever white space stands between them.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// The lines of a file, without their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// A decimal number without sign.
pub(crate) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit <= 9)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A hexadecimal number without prefix.
pub(crate) fn hexadecimal(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    // The standard parser would take a leading plus sign, which the kernel never writes.
    text.bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then_some(())?;
    u64::from_str_radix(text, 16).ok()
}

/// The first word after the key at the start of a line, as a number: `VmRSS:   1234 kB`.
pub(crate) fn number_after(text: &[u8], key: &[u8]) -> Option<u64> {
    lines(text)
        .find_map(|line| line.strip_prefix(key))
        .and_then(|rest| words(rest).next())
        .and_then(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_are_none() {
        for text in ["", "-1", "+1", "1x", " 1", "18446744073709551616"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        for text in ["", "+1", "g", "-1", "10000000000000000"] {
            assert_eq!(hexadecimal(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_found_at_the_start_of_its_line_only() {
        let text = b"nonvoluntary_ctxt_switches:\t9\nvoluntary_ctxt_switches:\t150\n";
        assert_eq!(number_after(text, b"voluntary_ctxt_switches:"), Some(150));
        assert_eq!(number_after(text, b"ctxt_switches:"), None);
    }

    proptest! {
        #[test]
        fn every_number_is_read_back(value: u64) {
            prop_assert_eq!(number(value.to_string().as_bytes()), Some(value));
            prop_assert_eq!(hexadecimal(format!("{value:X}").as_bytes()), Some(value));
        }
    }
}
