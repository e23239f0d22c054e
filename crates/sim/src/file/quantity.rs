//! Numbers with units in a network file: times, rates, shares, distributions.

use toml::Spanned;
use weir_metric::{Quantity, Unit, parse_duration, parse_share};
use weir_userfile::{At, Problems, Section, number};

use crate::distribution::Distribution;

/// The keys of a distribution, each with what it is.
const SHAPES: [&str; 8] = [
    "constant",
    "exponential",
    "erlang",
    "hyperexponential",
    "lognormal",
    "uniform",
    "normal",
    "folded-normal",
];
/// Most exponential parts of an Erlang distribution: with more it is a constant.
const STAGES_MAX: u32 = 10_000;

/// A time that is not negative.
pub(super) fn seconds(section: &Section<'_>, key: &'static str) -> Option<f64> {
    let text = section.text(key)?;
    read_seconds(section.problems(), key, &text)
}

/// A time that is not 0 either.
pub(super) fn positive_seconds(section: &Section<'_>, key: &'static str) -> Option<f64> {
    let text = section.text(key)?;
    let seconds = read_seconds(section.problems(), key, &text)?;
    if seconds == 0.0 {
        let says = format!("`{key}` is no time at all");
        section.problems().add(text.span(), says);
        return None;
    }
    Some(seconds)
}

fn read_seconds(problems: &Problems, key: &str, text: &Spanned<String>) -> Option<f64> {
    let typed = text.get_ref();
    if typed.trim_start().starts_with('-') {
        problems.add(
            text.span(),
            format!("`{key}` is `{typed}`: a time cannot be negative"),
        );
        return None;
    }
    match parse_duration(typed) {
        // The number itself: a Duration would round it to nanoseconds.
        Ok(_) => Quantity::parse(typed).ok().map(Quantity::base),
        Err(error) => {
            problems.add(text.span(), format!("cannot {error}"));
            None
        }
    }
}

/// Something per second: `"50/s"`, `"300/min"`.
pub(super) fn rate(section: &Section<'_>, key: &'static str) -> Option<f64> {
    let text = section.text(key)?;
    read_rate(section.problems(), &text)
}

pub(super) fn read_rate(problems: &Problems, text: &Spanned<String>) -> Option<f64> {
    let typed = text.get_ref();
    match Quantity::parse(typed) {
        Ok(rate) if rate.unit.agrees_with(Unit::PerSecond) && rate.number >= 0.0 => {
            Some(rate.base())
        }
        Ok(rate) if rate.number < 0.0 => {
            problems.add(text.span(), format!("`{typed}`: a rate cannot be negative"));
            None
        }
        _ => {
            problems.add_with_help(
                text.span(),
                format!("`{typed}` is no rate"),
                "write requests per second or minute, such as `50/s`",
            );
            None
        }
    }
}

/// A share of one, in percent.
pub(super) fn share(section: &Section<'_>, key: &'static str) -> Option<f64> {
    section.parsed(key, parse_share).map(Spanned::into_inner)
}

/// A factor that is not negative.
pub(super) fn factor(section: &Section<'_>, key: &'static str) -> Option<f64> {
    let value = section.value(key)?;
    match number(value.get_ref()) {
        Some(factor) if factor >= 0.0 => Some(factor),
        _ => section.wrong_type(key, value, "a number that is not negative"),
    }
}

/// How long something takes: a time in quotes, which is always the same, or a table with the kind
/// of distribution.
pub(super) fn distribution(section: &Section<'_>, key: &'static str) -> Option<Distribution> {
    let value = section.value(key)?;
    if let Some(text) = value.get_ref().as_str() {
        let text = Spanned::new(value.span(), text.to_owned());
        return read_seconds(section.problems(), key, &text).map(Distribution::constant);
    }
    let table = section.section_of(key, value)?;
    let distribution = shape(&table, value);
    table.finish();
    distribution
}

fn shape(table: &Section<'_>, value: At<'_>) -> Option<Distribution> {
    let found: Vec<&str> = SHAPES
        .into_iter()
        .filter(|shape| table.table().contains_key(*shape))
        .collect();
    let [shape] = found.as_slice() else {
        // Asked for, so that they are not said to be unknown.
        table.know(&SHAPES);
        table.problems().add_with_help(
            value.span(),
            "a distribution has exactly one kind",
            format!(
                "write `{{ exponential = \"20 ms\" }}` or one of: {}",
                SHAPES.join(", ")
            ),
        );
        return None;
    };
    match *shape {
        "constant" => seconds(table, "constant").map(Distribution::constant),
        "exponential" => seconds(table, "exponential").map(Distribution::exponential),
        "erlang" => {
            let mean = seconds(table, "erlang")?;
            let stages = table.whole("stages", 1..=STAGES_MAX);
            if stages.is_none() && table.value("stages").is_none() {
                table.missing("stages", "stages = 4");
            }
            Some(Distribution::erlang(mean, stages?.into_inner()))
        }
        "hyperexponential" => {
            let mean = seconds(table, "hyperexponential")?;
            scv(table, 1.0).map(|scv| Distribution::hyperexponential(mean, scv))
        }
        "lognormal" => {
            let mean = positive_seconds(table, "lognormal")?;
            scv(table, 0.0).map(|scv| Distribution::lognormal(mean, scv))
        }
        "uniform" => uniform(table, value),
        "normal" => {
            let mean = seconds(table, "normal")?;
            deviation(table).map(|deviation| Distribution::truncated_normal(mean, deviation))
        }
        _ => {
            let mean = seconds(table, "folded-normal")?;
            deviation(table).map(|deviation| Distribution::folded_normal(mean, deviation))
        }
    }
}

/// A squared coefficient of variation.
fn scv(table: &Section<'_>, min: f64) -> Option<f64> {
    let Some(value) = table.value("scv") else {
        table.missing("scv", "scv = 4");
        return None;
    };
    match number(value.get_ref()) {
        Some(scv) if scv >= min => Some(scv),
        _ => table.wrong_type(
            "scv",
            value,
            &format!("the squared coefficient of variation, a number from {min}"),
        ),
    }
}

fn deviation(table: &Section<'_>) -> Option<f64> {
    if table.value("deviation").is_none() {
        table.missing("deviation", "deviation = \"5 ms\"");
    }
    seconds(table, "deviation")
}

fn uniform(table: &Section<'_>, value: At<'_>) -> Option<Distribution> {
    let ends = table.texts("uniform")?;
    let ends: Vec<f64> = ends
        .iter()
        .filter_map(|end| read_seconds(table.problems(), "uniform", end))
        .collect();
    match *ends.as_slice() {
        [low, high] if low <= high => Some(Distribution::uniform(low, high)),
        _ => {
            table.problems().add_with_help(
                value.span(),
                "`uniform` needs its two ends, the smaller one first",
                "write `{ uniform = [\"5 ms\", \"15 ms\"] }`",
            );
            None
        }
    }
}
