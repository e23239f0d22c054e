//! Texts by a format, as `String.format` makes them.

use super::text::{length, letter};
use crate::Value;
use crate::arithmetic::{self, Number};
use crate::machine::{BYTES_MAX, Stop};
use crate::number::Rounding;

/// `String.format`.
pub(super) fn formatted(format: &str, arguments: &[Value]) -> Result<String, Stop> {
    let arguments = match arguments {
        [one] => match one.as_list() {
            Some(list) if list.array_of.is_some() => list.items.borrow().clone(),
            _ => arguments.to_vec(),
        },
        several => several.to_vec(),
    };
    let mut out = String::new();
    let mut next = 0;
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = String::new();
        let conversion = loop {
            match rest.next() {
                Some(c) if c.is_ascii_alphabetic() || c == '%' => break c,
                Some(c) => spec.push(c),
                None => {
                    return Err(Stop::thrown(
                        "java.util.UnknownFormatConversionException",
                        "Conversion = '%'",
                    ));
                }
            }
        };
        match conversion {
            '%' => out.push('%'),
            'n' => out.push('\n'),
            _ => {
                let at = if let Some((place, after)) = spec.split_once('$') {
                    let place: usize = place.parse().unwrap_or(0);
                    spec = after.to_owned();
                    place.wrapping_sub(1)
                } else {
                    next += 1;
                    next - 1
                };
                let Some(value) = arguments.get(at) else {
                    return Err(Stop::thrown(
                        "java.util.MissingFormatArgumentException",
                        format!("Format specifier '%{spec}{conversion}'"),
                    ));
                };
                out.push_str(&converted(&spec, conversion, value)?);
                if out.len() > BYTES_MAX {
                    return Err(Stop::Bound("it takes too much memory"));
                }
            }
        }
    }
    Ok(out)
}

/// Widest field.
const WIDTH_MAX: usize = 10_000;

fn converted(spec: &str, conversion: char, value: &Value) -> Result<String, Stop> {
    let flags: String = spec
        .chars()
        .take_while(|c| "-+ 0,(#".contains(*c))
        .collect();
    let (width, precision) = match spec[flags.len()..].split_once('.') {
        Some((width, precision)) => (width, precision.parse::<usize>().ok()),
        None => (&spec[flags.len()..], None),
    };
    let width: usize = width.parse().unwrap_or(0).min(WIDTH_MAX);
    let precision = precision.map(|precision| precision.min(WIDTH_MAX));
    let wrong = || {
        Stop::thrown(
            "java.util.IllegalFormatConversionException",
            format!("{conversion} != {}", arithmetic::class_name(value)),
        )
    };
    let mut text = match conversion {
        's' | 'S' => {
            let text = value.to_text();
            match precision {
                Some(most) => text.chars().take(most).collect(),
                None => text,
            }
        }
        'd' => match Number::of(value) {
            Some(number @ (Number::Int(_) | Number::Long(_))) => number.long().to_string(),
            Some(Number::Decimal(decimal)) if decimal.is_whole() => decimal.whole().to_string(),
            _ if value.is_null() => "null".to_owned(),
            _ => return Err(wrong()),
        },
        'f' => match Number::of(value) {
            Some(number @ (Number::Double(_) | Number::Decimal(_))) => {
                let rounded =
                    crate::number::Decimal::of_double(number.double()).and_then(|decimal| {
                        let digits = (precision.unwrap_or(6) as u32).cast_signed();
                        decimal.rounded(digits, Rounding::HalfUp)
                    });
                match rounded {
                    Some(rounded) => rounded.to_string(),
                    None => format!("{:.*}", precision.unwrap_or(6), number.double()),
                }
            }
            _ => return Err(wrong()),
        },
        'x' | 'X' => match value {
            Value::Int(value) => format!("{value:x}"),
            Value::Long(value) => format!("{value:x}"),
            _ => return Err(wrong()),
        },
        'c' => letter(value)?.to_string(),
        'b' => match value {
            Value::Bool(value) => value.to_string(),
            other => (!other.is_null()).to_string(),
        },
        _ => {
            return Err(Stop::unknown(format!("%{conversion} in a format")));
        }
    };
    if flags.contains(',') {
        text = grouped(&text);
    }
    if flags.contains('+') && !text.starts_with('-') && matches!(conversion, 'd' | 'f') {
        text.insert(0, '+');
    }
    if conversion.is_uppercase() {
        text = text.to_uppercase();
    }
    let missing = width.saturating_sub(length(&text));
    if flags.contains('-') {
        text.extend(std::iter::repeat_n(' ', missing));
    } else if flags.contains('0') {
        let sign = usize::from(text.starts_with(['-', '+']));
        text.insert_str(sign, &"0".repeat(missing));
    } else {
        text.insert_str(0, &" ".repeat(missing));
    }
    Ok(text)
}

/// With a comma between each three digits.
fn grouped(text: &str) -> String {
    let (whole, fraction) = match text.find('.') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let mut out = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(fraction);
    out
}
