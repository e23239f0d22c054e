//! Values on an axis: round ticks, and where they stand in the picture.

/// An axis from one value to another over a stretch of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// A tick: where it stands, and what is written at it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: String,
    pub(super) says: String,
}

/// An axis has about so many ticks.
const TICKS: f64 = 6.0;

impl Scale {
    /// The place of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = (value - self.low) / (self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    /// The place as it is written into the picture.
    pub(super) fn text(&self, value: f64) -> String {
        place(self.at(value))
    }

    /// Ticks at round values: steps of 1, 2 or 5 times a power of ten.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let rough = (self.high - self.low) / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(power);
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|count| {
                let value = count as f64 * step;
                Tick {
                    at: self.text(value),
                    says: format!("{value:.decimals$}"),
                }
            })
            .collect()
    }
}

/// A place in the picture, to a tenth of a point.
pub(super) fn place(at: f64) -> String {
    format!("{at:.1}")
}

/// A value of a table, to four digits.
pub(super) fn figure(value: f64) -> String {
    let digits = if value == 0.0 {
        0
    } else {
        (3 - value.abs().log10().floor() as i32).clamp(0, 6)
    };
    format!("{value:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let scale = Scale {
            low: 0.0,
            high: 143.0,
            from: 10.0,
            to: 296.0,
        };
        let ticks = scale.ticks();
        let says: Vec<&str> = ticks.iter().map(|tick| tick.says.as_str()).collect();
        assert_eq!(says, ["0", "50", "100"]);
        assert_eq!(ticks[1].at, "110.0");
        let small = Scale {
            low: -0.011,
            high: 0.011,
            ..scale
        };
        let says: Vec<String> = small.ticks().into_iter().map(|tick| tick.says).collect();
        assert_eq!(says, ["-0.010", "-0.005", "0.000", "0.005", "0.010"]);
    }

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(figure(1234.567), "1235");
        assert_eq!(figure(0.123_456), "0.1235");
        assert_eq!(figure(0.0), "0");
    }
}
