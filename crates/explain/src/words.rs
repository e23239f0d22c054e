//! Figures in sentences.

use crate::hypothesis::Unit;

/// A figure with its unit, as people read it.
pub fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => percent(value),
        Unit::Seconds => time(value),
        Unit::Count => number(value),
        Unit::PerSecond => format!("{} /s", number(value)),
        Unit::PerRequest => format!("{} per request", number(value)),
    }
}

/// A share of one as percent.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 && percent != 0.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Seconds in the unit that suits them.
pub(crate) fn time(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".to_owned(),
        size if size < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        size if size < 0.1 => format!("{:.1} ms", seconds * 1e3),
        size if size < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// A number with three digits or so.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.01 => format!("{value:.4}"),
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A text that begins a sentence.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_that_suits_them() {
        for (value, unit, expected) in [
            (0.123, Unit::Share, "12 %"),
            (0.0123, Unit::Share, "1.2 %"),
            (0.0, Unit::Share, "0 %"),
            (0.000_2, Unit::Seconds, "200 µs"),
            (0.012, Unit::Seconds, "12.0 ms"),
            (0.34, Unit::Seconds, "340 ms"),
            (2.5, Unit::Seconds, "2.50 s"),
            (3.25, Unit::Count, "3.25"),
            (150.0, Unit::PerSecond, "150 /s"),
            (0.005, Unit::PerRequest, "0.0050 per request"),
        ] {
            assert_eq!(figure(value, unit), expected);
        }
    }
}
