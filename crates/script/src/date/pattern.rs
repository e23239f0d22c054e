//! A pattern as a list of items, and writing dates with it.

use std::fmt::Write as _;

use super::fields::{Field, Fields};

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatePattern {
    pub(super) items: Vec<Item>,
}

/// What cannot be read in a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("the letter {0} is not supported")]
    Letter(char),
    #[error("{0} is not supported or no pattern")]
    Count(String),
    #[error("a quote or bracket is not closed")]
    Unclosed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Literal(String),
    Number {
        field: Field,
        width: Width,
    },
    /// Digits of the fraction of a second.
    Fraction(usize),
    /// The last two digits of a year from 2000.
    ShortYear(Field),
    Text(Field, Style),
    Offset(OffsetStyle),
    /// `GMT+2`, or `GMT+02:00` when full.
    Gmt {
        full: bool,
    },
    ZoneId,
    ZoneName,
    /// Left out when reading where it does not fit, and when writing where a field is missing.
    Optional(Vec<Item>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) min: usize,
    pub(super) max: usize,
    /// A number longer than `min` has a sign.
    pub(super) signed_beyond: bool,
}

impl Width {
    const ANY: Self = Self {
        min: 1,
        max: 19,
        signed_beyond: false,
    };

    const fn fixed(width: usize) -> Self {
        Self {
            min: width,
            max: width,
            signed_beyond: false,
        }
    }

    fn is_fixed(self) -> bool {
        self.min == self.max
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Short,
    Full,
    Narrow,
}

/// How an offset is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetStyle {
    pub(super) colon: bool,
    /// Minutes only when there are some.
    pub(super) short: bool,
    /// What stands for no offset at all.
    pub(super) zero: &'static str,
}

impl Item {
    /// How many digits this number always has; `None`: it is no such number.
    pub(super) fn fixed_digits(&self) -> Option<usize> {
        match self {
            Self::Number { width, .. } if width.is_fixed() => Some(width.min),
            Self::Fraction(digits) => Some(*digits),
            Self::ShortYear(_) => Some(2),
            _ => None,
        }
    }
}

impl DatePattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        let mut rest = pattern.chars().peekable();
        let mut open: Vec<Vec<Item>> = vec![Vec::new()];
        while let Some(c) = rest.next() {
            let item = match c {
                'A'..='Z' | 'a'..='z' => {
                    let mut count = 1;
                    while rest.next_if_eq(&c).is_some() {
                        count += 1;
                    }
                    letter(c, count)?
                }
                '\'' => Item::Literal(quoted(&mut rest)?),
                '[' => {
                    open.push(Vec::new());
                    continue;
                }
                ']' => {
                    let inner = open.pop().filter(|_| !open.is_empty());
                    Item::Optional(inner.ok_or(PatternError::Unclosed)?)
                }
                '{' | '}' | '#' => return Err(PatternError::Letter(c)),
                _ => Item::Literal(c.to_string()),
            };
            open.last_mut().ok_or(PatternError::Unclosed)?.push(item);
        }
        // Java closes what is still open.
        while open.len() > 1 {
            let inner = open.pop().unwrap_or_default();
            open.last_mut()
                .ok_or(PatternError::Unclosed)?
                .push(Item::Optional(inner));
        }
        Ok(Self {
            items: open.pop().unwrap_or_default(),
        })
    }

    /// Whether names of a language appear.
    pub(crate) fn has_names(&self) -> bool {
        fn any(items: &[Item]) -> bool {
            items.iter().any(|item| match item {
                Item::Text(..) | Item::ZoneName => true,
                Item::Optional(items) => any(items),
                _ => false,
            })
        }
        any(&self.items)
    }

    /// The date as text; `None` when it lacks a field.
    pub(crate) fn format(&self, fields: &Fields) -> Option<String> {
        let mut out = String::new();
        write_items(&self.items, fields, &mut out)?;
        Some(out)
    }
}

/// Reads up to the closing quote; two quotes are one.
fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, PatternError> {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        if c != '\'' {
            text.push(c);
        } else if rest.next_if_eq(&'\'').is_some() {
            text.push('\'');
        } else {
            return Ok(if text.is_empty() {
                "'".to_owned()
            } else {
                text
            });
        }
    }
    Err(PatternError::Unclosed)
}

fn letter(c: char, count: usize) -> Result<Item, PatternError> {
    let number = |field, width| Ok(Item::Number { field, width });
    let wrong = || Err(PatternError::Count(c.to_string().repeat(count)));
    let one_or_two = |field| match count {
        1 => number(field, Width::ANY),
        2 => number(field, Width::fixed(2)),
        _ => wrong(),
    };
    let numeric_or_text = |field| match count {
        1 | 2 => one_or_two(field),
        3 => Ok(Item::Text(field, Style::Short)),
        4 => Ok(Item::Text(field, Style::Full)),
        5 => Ok(Item::Text(field, Style::Narrow)),
        _ => wrong(),
    };
    match c {
        'y' => year(Field::YearOfEra, count)
            .ok_or(())
            .or_else(|()| wrong()),
        'u' => year(Field::Year, count).ok_or(()).or_else(|()| wrong()),
        'Y' => year(Field::WeekYear, count).ok_or(()).or_else(|()| wrong()),
        'M' | 'L' => numeric_or_text(Field::Month),
        'Q' | 'q' => numeric_or_text(Field::Quarter),
        'E' => match count {
            1..=3 => Ok(Item::Text(Field::Weekday, Style::Short)),
            4 => Ok(Item::Text(Field::Weekday, Style::Full)),
            5 => Ok(Item::Text(Field::Weekday, Style::Narrow)),
            _ => wrong(),
        },
        'c' if count == 2 => wrong(),
        'e' | 'c' => match count {
            1 | 2 => one_or_two(Field::WeekdayFromSunday),
            3 => Ok(Item::Text(Field::Weekday, Style::Short)),
            4 => Ok(Item::Text(Field::Weekday, Style::Full)),
            5 => Ok(Item::Text(Field::Weekday, Style::Narrow)),
            _ => wrong(),
        },
        'G' => match count {
            1..=3 => Ok(Item::Text(Field::Era, Style::Short)),
            4 => Ok(Item::Text(Field::Era, Style::Full)),
            5 => Ok(Item::Text(Field::Era, Style::Narrow)),
            _ => wrong(),
        },
        'a' if count == 1 => Ok(Item::Text(Field::AmPm, Style::Short)),
        'd' => one_or_two(Field::Day),
        'D' => match count {
            1 => number(Field::DayOfYear, Width::ANY),
            2 | 3 => number(
                Field::DayOfYear,
                Width {
                    min: count,
                    ..Width::fixed(3)
                },
            ),
            _ => wrong(),
        },
        'F' if count == 1 => number(Field::WeekdayInMonth, Width::ANY),
        'H' => one_or_two(Field::Hour),
        'k' => one_or_two(Field::HourFrom1),
        'K' => one_or_two(Field::HalfDayHour),
        'h' => one_or_two(Field::HalfDayHourFrom1),
        'm' => one_or_two(Field::Minute),
        's' => one_or_two(Field::Second),
        'w' => one_or_two(Field::Week),
        'W' if count == 1 => number(Field::WeekOfMonth, Width::ANY),
        'S' if count <= 9 => Ok(Item::Fraction(count)),
        'A' | 'n' | 'N' if count <= 19 => {
            let field = match c {
                'A' => Field::MilliOfDay,
                'n' => Field::Nano,
                _ => Field::NanoOfDay,
            };
            number(
                field,
                Width {
                    max: 19,
                    ..Width::fixed(count)
                },
            )
        }
        'Z' | 'X' | 'x' | 'O' | 'V' | 'z' => zone(c, count).ok_or(()).or_else(|()| wrong()),
        _ if "aFWSAnN".contains(c) => wrong(),
        _ => Err(PatternError::Letter(c)),
    }
}

fn year(field: Field, count: usize) -> Option<Item> {
    let width = match count {
        1 => Width::ANY,
        2 => return Some(Item::ShortYear(field)),
        3..=19 => Width {
            min: count,
            max: 19,
            signed_beyond: true,
        },
        _ => return None,
    };
    // Java: only from four digits on does a longer year have a sign; three are padded.
    let signed_beyond = count > 3;
    Some(Item::Number {
        field,
        width: Width {
            signed_beyond,
            ..width
        },
    })
}

fn zone(c: char, count: usize) -> Option<Item> {
    let offset = |colon, short, zero| Some(Item::Offset(OffsetStyle { colon, short, zero }));
    match (c, count) {
        ('X', 1) => offset(false, true, "Z"),
        ('X', 2) => offset(false, false, "Z"),
        ('X', 3) | ('Z', 5) => offset(true, false, "Z"),
        ('x', 1) => offset(false, true, "+00"),
        ('x', 2) | ('Z', 1..=3) => offset(false, false, "+0000"),
        ('x', 3) => offset(true, false, "+00:00"),
        ('O', 1) => Some(Item::Gmt { full: false }),
        ('O' | 'Z', 4) => Some(Item::Gmt { full: true }),
        ('V', 2) => Some(Item::ZoneId),
        ('z', 1..=3) => Some(Item::ZoneName),
        _ => None,
    }
}

fn write_items(items: &[Item], fields: &Fields, out: &mut String) -> Option<()> {
    for item in items {
        match item {
            Item::Literal(text) => out.push_str(text),
            Item::Number { field, width } => write_number(fields.get(*field)?, *width, out)?,
            Item::Fraction(digits) => {
                let nano = format!("{:09}", fields.get(Field::Nano)?);
                out.push_str(&nano[..*digits]);
            }
            Item::ShortYear(field) => {
                push(
                    out,
                    format_args!("{:02}", fields.get(*field)?.rem_euclid(100)),
                );
            }
            Item::Text(field, style) => out.push_str(name(*field, fields.get(*field)?, *style)?),
            Item::Offset(style) => write_offset(fields.offset_s?, *style, out),
            Item::Gmt { full } => write_gmt(fields.offset_s?, *full, out),
            Item::ZoneId => out.push_str(&fields.zone_id()?),
            Item::ZoneName => out.push_str(&fields.zone_name()?),
            Item::Optional(items) => {
                let start = out.len();
                if write_items(items, fields, out).is_none() {
                    out.truncate(start);
                }
            }
        }
    }
    Some(())
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("writing to a String never fails");
}

fn write_number(value: i64, width: Width, out: &mut String) -> Option<()> {
    let digits = value.unsigned_abs().to_string();
    if digits.len() > width.max {
        return None;
    }
    if value < 0 {
        out.push('-');
    } else if width.signed_beyond && digits.len() > width.min {
        out.push('+');
    }
    out.extend(std::iter::repeat_n(
        '0',
        width.min.saturating_sub(digits.len()),
    ));
    out.push_str(&digits);
    Some(())
}

fn write_offset(offset_s: i32, style: OffsetStyle, out: &mut String) {
    if offset_s == 0 {
        return out.push_str(style.zero);
    }
    let minutes = offset_s.abs() / 60;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    out.push(if offset_s < 0 { '-' } else { '+' });
    push(out, format_args!("{hours:02}"));
    if !style.short || minutes != 0 {
        let colon = if style.colon { ":" } else { "" };
        push(out, format_args!("{colon}{minutes:02}"));
    }
}

fn write_gmt(offset_s: i32, full: bool, out: &mut String) {
    out.push_str("GMT");
    if offset_s == 0 {
        return;
    }
    let minutes = offset_s.abs() / 60;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    out.push(if offset_s < 0 { '-' } else { '+' });
    if full {
        push(out, format_args!("{hours:02}:{minutes:02}"));
    } else if minutes == 0 {
        push(out, hours);
    } else {
        push(out, format_args!("{hours}:{minutes:02}"));
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const QUARTERS: [&str; 4] = ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"];
const SHORT_QUARTERS: [&str; 4] = ["Q1", "Q2", "Q3", "Q4"];
const NARROW_QUARTERS: [&str; 4] = ["1", "2", "3", "4"];

/// The English name of a value.
pub(super) fn name(field: Field, value: i64, style: Style) -> Option<&'static str> {
    let at = |names: &[&'static str], first: i64| {
        let index = usize::try_from(value - first).ok()?;
        names.get(index).copied()
    };
    let cut = |name: &'static str| match style {
        Style::Full => name,
        Style::Short => &name[..3],
        Style::Narrow => &name[..1],
    };
    match (field, style) {
        (Field::Month, _) => at(&MONTHS, 1).map(cut),
        (Field::Weekday, _) => at(&WEEKDAYS, 1).map(cut),
        (Field::Quarter, Style::Short) => at(&SHORT_QUARTERS, 1),
        (Field::Quarter, Style::Full) => at(&QUARTERS, 1),
        (Field::Quarter, Style::Narrow) => at(&NARROW_QUARTERS, 1),
        (Field::AmPm, _) => at(&["AM", "PM"], 0),
        (Field::Era, Style::Short) => at(&["BC", "AD"], 0),
        (Field::Era, Style::Full) => at(&["Before Christ", "Anno Domini"], 0),
        (Field::Era, Style::Narrow) => at(&["B", "A"], 0),
        _ => None,
    }
}

/// All values that a field has names for.
pub(super) fn named_values(field: Field) -> std::ops::RangeInclusive<i64> {
    match field {
        Field::Month => 1..=12,
        Field::Weekday => 1..=7,
        Field::Quarter => 1..=4,
        _ => 0..=1,
    }
}
