//! Form-encoded text, decoded as Java does it.

use crate::Charset;

/// Why a field that is taken as already encoded is not; the texts are `java.net.URLDecoder`'s.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text ends in an escape.
    #[error("URLDecoder: Incomplete trailing escape (%) pattern")]
    Incomplete,
    /// A number with a minus sign.
    #[error("URLDecoder: Illegal hex characters in escape (%) pattern - negative value")]
    Negative,
    /// What follows the percent sign is no number.
    #[error(
        "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index {index} in: \
         \"{digits}\""
    )]
    NotHex {
        /// Which of the two characters.
        index: usize,
        /// Both.
        digits: String,
    },
}

/// Decodes form-encoded text as `java.net.URLDecoder` does: `+` is a space, a run of `%XX` is text
/// whose malformed parts become U+FFFD, and other characters stand as they are.
pub fn decode_form(text: &str, charset: Charset) -> Result<String, DecodeError> {
    let mut out = String::with_capacity(text.len());
    let mut run = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '%' {
            run.push(decode_escape(&mut rest)?);
            continue;
        }
        push_run(&mut out, &mut run, charset);
        out.push(if c == '+' { ' ' } else { c });
    }
    push_run(&mut out, &mut run, charset);
    Ok(out)
}

fn push_run(out: &mut String, run: &mut Vec<u8>, charset: Charset) {
    if !run.is_empty() {
        out.push_str(&charset.decode(run));
        run.clear();
    }
}

/// Two characters after `%`, as `Integer.parseInt` reads them: a sign is allowed.
fn decode_escape(rest: &mut std::str::Chars<'_>) -> Result<u8, DecodeError> {
    let (Some(first), Some(second)) = (rest.next(), rest.next()) else {
        return Err(DecodeError::Incomplete);
    };
    let not_hex = |index| DecodeError::NotHex {
        index,
        digits: [first, second].iter().collect(),
    };
    let high = match first {
        '+' | '-' => 0,
        _ => first.to_digit(16).ok_or_else(|| not_hex(0))?,
    };
    let low = second.to_digit(16).ok_or_else(|| not_hex(1))?;
    if first == '-' && low > 0 {
        return Err(DecodeError::Negative);
    }
    Ok((high * 16 + low) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured with JMeter 5.6.3.
    #[test]
    fn what_is_decoded() {
        for (text, decoded) in [
            ("%41%2b+%C3%A9", "A+ é"),
            ("%ff", "\u{fffd}"),
            ("%+1x", "\u{1}x"),
            ("%41%f0%9f%98z", "A\u{fffd}z"),
            ("%41%C3", "A\u{fffd}"),
        ] {
            assert_eq!(
                decode_form(text, Charset::UTF_8),
                Ok(decoded.to_owned()),
                "{text}"
            );
        }
    }

    /// Measured with JMeter 5.6.3.
    #[test]
    fn what_cannot_be_decoded() {
        for (text, message) in [
            ("100%", "Incomplete trailing escape (%) pattern"),
            ("1%2", "Incomplete trailing escape (%) pattern"),
            (
                "%-1",
                "Illegal hex characters in escape (%) pattern - negative value",
            ),
            (
                "1%zz",
                "Illegal hex characters in escape (%) pattern - Error at index 0 in: \"zz\"",
            ),
            (
                "x%41%4g%42",
                "Illegal hex characters in escape (%) pattern - Error at index 1 in: \"4g\"",
            ),
        ] {
            let error = decode_form(text, Charset::UTF_8).map_err(|error| error.to_string());
            assert_eq!(error, Err(format!("URLDecoder: {message}")), "{text}");
        }
    }
}
