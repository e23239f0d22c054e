//! Reading dates: Java's strict parsing, then its smart resolving.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::fields::{Field, Fields};
use super::pattern::{DatePattern, Item, OffsetStyle, Style, Width, name, named_values};

/// What stands for fields that a text does not have; JMeter fills a date in this way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) year: i64,
    pub(crate) offset_s: i32,
}

/// What was read, before it is put together.
#[derive(Debug, Clone, Default)]
struct Parsed {
    numbers: Vec<(Field, i64)>,
    offset_s: Option<i32>,
    zone: Option<TimeZone>,
}

impl Parsed {
    fn get(&self, field: Field) -> Option<i64> {
        let found = self.numbers.iter().find(|(of, _)| *of == field);
        found.map(|(_, value)| *value)
    }

    /// A field that stands there twice has to say one thing.
    fn put(&mut self, field: Field, value: i64) -> Option<()> {
        if let Some(earlier) = self.get(field) {
            return (earlier == value).then_some(());
        }
        self.numbers.push((field, value));
        Some(())
    }
}

impl DatePattern {
    /// Reads a whole text; `None` when it does not fit or makes no sense.
    pub(crate) fn parse(&self, text: &str, defaults: Option<Defaults>) -> Option<Fields> {
        let mut parsed = Parsed::default();
        let rest = read_items(&self.items, text, &mut parsed)?;
        if rest.is_empty() {
            resolve(&parsed, defaults)
        } else {
            None
        }
    }
}

fn read_items<'a>(items: &[Item], text: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    let mut rest = text;
    for (index, item) in items.iter().enumerate() {
        rest = match item {
            Item::Literal(literal) => rest.strip_prefix(&**literal)?,
            Item::Number { field, width } => {
                let reserved = reserved(&items[index + 1..], *width);
                let (value, rest) = read_number(rest, *width, reserved)?;
                parsed.put(*field, value)?;
                rest
            }
            Item::ShortYear(field) => {
                let (value, rest) = read_digits(rest, 2)?;
                parsed.put(*field, 2000 + value)?;
                rest
            }
            Item::Fraction(digits) => {
                let (value, rest) = read_digits(rest, *digits)?;
                let scale = u32::try_from(9 - digits).ok()?;
                parsed.put(Field::Nano, value * 10_i64.pow(scale))?;
                rest
            }
            Item::Text(field, style) => read_text(rest, *field, *style, parsed)?,
            Item::Offset(style) => {
                let (offset, rest) = read_offset(rest, *style)?;
                parsed.offset_s = Some(offset);
                rest
            }
            Item::Gmt { .. } => read_gmt(rest, parsed)?,
            Item::ZoneId | Item::ZoneName => read_zone(rest, parsed)?,
            Item::Optional(items) => {
                let mut attempt = parsed.clone();
                match read_items(items, rest, &mut attempt) {
                    Some(rest) => {
                        *parsed = attempt;
                        rest
                    }
                    None => rest,
                }
            }
        };
    }
    Some(rest)
}

/// How many digits the fixed numbers right after a longer one need.
fn reserved(after: &[Item], width: Width) -> usize {
    if width.min == width.max {
        return 0;
    }
    after.iter().map_while(Item::fixed_digits).sum()
}

fn read_digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let digits = text.get(..count)?;
    let all = digits.bytes().all(|b| b.is_ascii_digit());
    let value = all.then(|| digits.parse().ok()).flatten()?;
    Some((value, &text[count..]))
}

fn read_number(text: &str, width: Width, reserved: usize) -> Option<(i64, &str)> {
    let signs = width.signed_beyond || width.min == 1 && width.max == 19;
    let negative = signs && text.starts_with('-');
    let plus = width.signed_beyond && text.starts_with('+');
    let digits = &text[usize::from(negative || plus)..];
    let found = digits.bytes().take_while(u8::is_ascii_digit).count();
    let length = found.min(width.max + reserved).saturating_sub(reserved);
    let length = length.min(width.max);
    if length < width.min {
        return None;
    }
    // With a sign a year has more digits than it has to have, and without one no more.
    if width.signed_beyond && !negative && (length > width.min) != plus {
        return None;
    }
    let value: i64 = digits[..length].parse().ok()?;
    Some((if negative { -value } else { value }, &digits[length..]))
}

fn read_text<'a>(
    text: &'a str,
    field: Field,
    style: Style,
    parsed: &mut Parsed,
) -> Option<&'a str> {
    let names = named_values(field).filter_map(|value| Some((value, name(field, value, style)?)));
    let fits = names.filter(|(_, name)| text.starts_with(name));
    let (value, name) = fits.max_by_key(|(_, name)| name.len())?;
    parsed.put(field, value)?;
    Some(&text[name.len()..])
}

fn read_offset(text: &str, style: OffsetStyle) -> Option<(i32, &str)> {
    if let Some(rest) = text.strip_prefix(style.zero) {
        return Some((0, rest));
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, mut rest) = read_digits(&text[1..], 2)?;
    let mut minutes = 0;
    let minute_text = if style.colon {
        rest.strip_prefix(':')
    } else {
        Some(rest)
    };
    match minute_text.and_then(|text| read_digits(text, 2)) {
        Some((value, after)) => (minutes, rest) = (value, after),
        None if style.short => {}
        None => return None,
    }
    let legal = hours <= 18 && minutes < 60;
    let seconds = i32::try_from((hours * 60 + minutes) * 60).ok()?;
    legal.then_some((sign * seconds, rest))
}

fn read_gmt<'a>(text: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    let rest = text.strip_prefix("GMT")?;
    if !rest.starts_with(['+', '-']) {
        parsed.offset_s = Some(0);
        return Some(rest);
    }
    let style = OffsetStyle {
        colon: true,
        short: true,
        zero: "Z",
    };
    let (offset, rest) = read_offset(rest, style)?;
    parsed.offset_s = Some(offset);
    Some(rest)
}

/// The longest name of a zone that the text starts with.
fn read_zone<'a>(text: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    let legal = |b: &u8| b.is_ascii_alphanumeric() || b"/_+-".contains(b);
    let most = text.bytes().take_while(legal).count();
    for length in (1..=most.min(64)).rev() {
        let name = if &text[..length] == "Z" {
            "UTC"
        } else {
            &text[..length]
        };
        if let Ok(zone) = TimeZone::get(name) {
            parsed.zone = Some(zone);
            return Some(&text[length..]);
        }
    }
    None
}

fn resolve(parsed: &Parsed, defaults: Option<Defaults>) -> Option<Fields> {
    let mut filled = parsed.clone();
    if let Some(Defaults { year, offset_s }) = defaults {
        // A default says nothing where its own field was read, and contradicts others: JMeter then
        // takes the text as no date.
        for (field, value) in [
            (Field::YearOfEra, year),
            (Field::Month, 1),
            (Field::Day, 1),
            (Field::Hour, 0),
            (Field::Minute, 0),
            (Field::Second, 0),
        ] {
            if filled.get(field).is_none() {
                filled.put(field, value)?;
            }
        }
        // The default of the milliseconds is 0, whatever the nanoseconds are.
        if filled.get(Field::Nano).unwrap_or(0) >= 1_000_000 {
            return None;
        }
        filled.offset_s.get_or_insert(offset_s);
    }
    let parsed = &filled;
    let mut fields = Fields {
        month: parsed.get(Field::Month),
        day: parsed.get(Field::Day),
        day_of_year: parsed.get(Field::DayOfYear),
        weekday: weekday(parsed).ok()?,
        year: year(parsed).ok()?,
        offset_s: parsed.offset_s,
        zone: parsed.zone.clone(),
        ..Fields::default()
    };
    let next_day = resolve_time(parsed, &mut fields)?;
    resolve_date(&mut fields)?;
    if let Some(date) = fields.date
        && next_day
    {
        fields.date = Some(date.tomorrow().ok()?);
    }
    Some(fields)
}

/// Two ways to say the same, or a value beyond its range.
struct Contradiction;

/// The weekday, if it was named.
fn weekday(parsed: &Parsed) -> Result<Option<i64>, Contradiction> {
    let from_sunday = parsed.get(Field::WeekdayFromSunday);
    let from_sunday = from_sunday.map(|day| (day + 5) % 7 + 1);
    agree(parsed.get(Field::Weekday), from_sunday)
}

fn agree(one: Option<i64>, other: Option<i64>) -> Result<Option<i64>, Contradiction> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Err(Contradiction),
        _ => Ok(one.or(other)),
    }
}

fn year(parsed: &Parsed) -> Result<Option<i64>, Contradiction> {
    let of_era = match (parsed.get(Field::YearOfEra), parsed.get(Field::Era)) {
        (Some(year), _) if year < 1 => return Err(Contradiction),
        (Some(year), Some(0)) => Some(1 - year),
        (year, _) => year,
    };
    agree(of_era, parsed.get(Field::Year))
}

/// Answers whether midnight at the end of the day was meant.
fn resolve_time(parsed: &Parsed, fields: &mut Fields) -> Option<bool> {
    let hour = hour(parsed).ok()?;
    let minute = parsed.get(Field::Minute);
    let second = parsed.get(Field::Second);
    let nano = parsed.get(Field::Nano);
    let in_range = |value: Option<i64>, end: i64| value.is_none_or(|v| (0..end).contains(&v));
    if !in_range(minute, 60) || !in_range(second, 60) || !in_range(nano, 1_000_000_000) {
        return None;
    }
    let of_day = match (parsed.get(Field::NanoOfDay), parsed.get(Field::MilliOfDay)) {
        (Some(nanos), _) => Some(nanos),
        (None, millis) => millis.map(|millis| millis.saturating_mul(1_000_000)),
    };
    if let Some(nanos) = of_day {
        let seconds = nanos / 1_000_000_000;
        fields.hour = Some(seconds / 3600).filter(|hour| (0..24).contains(hour));
        fields.hour?;
        fields.minute = Some(seconds / 60 % 60);
        fields.second = Some(seconds % 60);
        fields.nano = Some(nanos % 1_000_000_000);
        return Some(false);
    }
    // Smaller fields that are not there are 0, unless one smaller still is.
    let gap = minute.is_none() && (second.or(nano)).is_some() || second.is_none() && nano.is_some();
    let zero = |value: Option<i64>| {
        if hour.is_some() && !gap {
            value.or(Some(0))
        } else {
            value
        }
    };
    fields.hour = hour;
    fields.minute = zero(minute);
    fields.second = zero(second);
    fields.nano = zero(nano);
    if hour != Some(24) {
        return in_range(hour, 24).then_some(false);
    }
    fields.hour = Some(0);
    let midnight = [fields.minute, fields.second, fields.nano] == [Some(0); 3];
    midnight.then_some(true)
}

/// The hour, from whichever way it was written.
fn hour(parsed: &Parsed) -> Result<Option<i64>, Contradiction> {
    let mut hour = parsed.get(Field::Hour);
    if let Some(from_1) = parsed.get(Field::HourFrom1) {
        if !(1..=24).contains(&from_1) {
            return Err(Contradiction);
        }
        hour = agree(hour, Some(from_1 % 24))?;
    }
    let half = match parsed.get(Field::HalfDayHourFrom1) {
        Some(half) if !(1..=12).contains(&half) => return Err(Contradiction),
        Some(half) => Some(half % 12),
        None => parsed.get(Field::HalfDayHour),
    };
    if half.is_some_and(|half| !(0..12).contains(&half)) {
        return Err(Contradiction);
    }
    if let (Some(half), Some(half_day)) = (half, parsed.get(Field::AmPm)) {
        hour = agree(hour, Some(half_day * 12 + half))?;
    }
    Ok(hour)
}

fn resolve_date(fields: &mut Fields) -> Option<()> {
    let month = fields.month;
    let day = fields.day;
    let in_range = |value: Option<i64>, end: i64| value.is_none_or(|v| (1..=end).contains(&v));
    if !in_range(month, 12) || !in_range(day, 31) || !in_range(fields.day_of_year, 366) {
        return None;
    }
    let Some(year) = fields.year else {
        return Some(());
    };
    let year = i16::try_from(year).ok()?;
    let date = if let (Some(month), Some(day)) = (month, day) {
        let first = Date::new(year, i8::try_from(month).ok()?, 1).ok()?;
        // Smart: a day that the month does not have is its last.
        let last = first.days_in_month();
        let day = i8::try_from(day).ok()?.min(last);
        Date::new(year, first.month(), day).ok()?
    } else if let Some(day) = fields.day_of_year {
        let first = Date::new(year, 1, 1).ok()?;
        let day = i16::try_from(day).ok()?;
        first.with().day_of_year(day).build().ok()?
    } else {
        return Some(());
    };
    let same = |known: Option<i64>, of: i64| known.is_none_or(|known| known == of);
    if !same(fields.day_of_year, date.day_of_year().into())
        || !same(fields.weekday, date.weekday().to_monday_one_offset().into())
    {
        return None;
    }
    fields.date = Some(date);
    Some(())
}
