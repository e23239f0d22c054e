//! Numbers with units in the gateway's file.

use std::time::Duration;

use weir_metric::{Quantity, Unit, parse_duration};
use weir_userfile::{Section, cannot, number};

/// More a second than any machine takes; beyond it the gap between two requests is below a
/// nanosecond.
const RATE_MAX: f64 = 1e8;
/// Less than one a day is a typing error.
const RATE_MIN: f64 = 1.0 / 86_400.0;
/// More requests in flight than any process has open files for.
const CONCURRENCY_MAX: f64 = 1e6;
/// Less than one request in flight for a hundredth of the time is a typing error.
const CONCURRENCY_MIN: f64 = 0.01;

/// A time from `least` to `most`.
pub(super) fn time(
    section: &Section<'_>,
    key: &'static str,
    least: Duration,
    most: Duration,
) -> Option<Duration> {
    let text = section.text(key)?;
    match parse_duration(text.get_ref()) {
        Ok(time) if (least..=most).contains(&time) => Some(time),
        Ok(_) => {
            section.problems().add_with_help(
                text.span(),
                format!("`{key}` is `{}`", text.get_ref()),
                format!("write a time from {least:?} to {most:?}"),
            );
            None
        }
        Err(error) => {
            section.problems().add_with_help(
                text.span(),
                cannot(&error),
                format!("write `{key} = \"200ms\"` or `{key} = \"5s\"`"),
            );
            None
        }
    }
}

/// Requests a second or a minute.
pub(super) fn rate(section: &Section<'_>, key: &'static str) -> Option<f64> {
    let text = section.text(key)?;
    let typed = text.get_ref();
    let says = match Quantity::parse(typed) {
        Ok(rate) if !rate.unit.agrees_with(Unit::PerSecond) => {
            format!("`{typed}` is no rate: it does not say per what time")
        }
        Ok(rate) if (RATE_MIN..=RATE_MAX).contains(&rate.base()) => return Some(rate.base()),
        Ok(_) => format!("`{typed}` is outside of what can be held: one a day to 100,000,000/s"),
        Err(error) => cannot(&error),
    };
    let help = format!("write requests per second or minute, such as `{key} = \"50/s\"`");
    section.problems().add_with_help(text.span(), says, help);
    None
}

/// Requests in flight, whole or not.
pub(super) fn concurrency(section: &Section<'_>, key: &'static str) -> Option<f64> {
    let value = section.value(key)?;
    match number(value.get_ref()) {
        Some(limit) if (CONCURRENCY_MIN..=CONCURRENCY_MAX).contains(&limit) => Some(limit),
        _ => section.wrong_type(
            key,
            value,
            "a number of requests in flight, from 0.01 to 1,000,000, such as 40",
        ),
    }
}

/// A size in bytes.
pub(super) fn bytes(
    section: &Section<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u32>,
) -> Option<u32> {
    let text = section.text(key)?;
    let size = Quantity::parse(text.get_ref())
        .ok()
        .filter(|size| size.unit.agrees_with(Unit::Kibibytes))
        .map(Quantity::base)
        .filter(|size| (f64::from(*range.start())..=f64::from(*range.end())).contains(size));
    if size.is_none() {
        section.problems().add_with_help(
            text.span(),
            format!("`{key}` is `{}`", text.get_ref()),
            format!(
                "write a size from {} KiB to {} KiB, such as \"16 KiB\"",
                range.start() / 1024,
                range.end() / 1024
            ),
        );
    }
    size.map(|size| size as u32)
}
