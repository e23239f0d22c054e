//! How many arrivals a second there are to be, as it changes over time.
//!
//! The rate λ(t) is piecewise linear, so the arrivals that are expected up to a moment,
//! Λ(t) = ∫ λ, and the moment at which a number of them is expected, Λ⁻¹(n), have closed forms.
//! Every arrival process of the load engine is drawn from them.

use std::fmt;
use std::str::FromStr;

use weir_metric::parse_duration;

/// A stretch of time in which the rate changes linearly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePiece {
    /// Arrivals a second at its start.
    pub from_per_s: f64,
    /// Arrivals a second at its end.
    pub to_per_s: f64,
    /// Its length in seconds; infinite only when the rate does not change.
    pub seconds: f64,
}

impl RatePiece {
    /// This rate for ever.
    pub fn endless(per_s: f64) -> Self {
        Self {
            from_per_s: per_s,
            to_per_s: per_s,
            seconds: f64::INFINITY,
        }
    }

    /// Arrivals that are expected in all of it.
    pub fn total(&self) -> f64 {
        let mean = f64::midpoint(self.from_per_s, self.to_per_s);
        // Nothing for ever is nothing.
        if mean > 0.0 { mean * self.seconds } else { 0.0 }
    }

    /// Seconds from its start to the moment at which so many arrivals are expected; its end when it
    /// has fewer.
    ///
    /// a·t + (b − a)/(2T)·t² = n, solved in the form that does not cancel.
    pub fn time_of(&self, count: f64) -> f64 {
        if count <= 0.0 {
            return 0.0;
        }
        let slope = if self.seconds.is_finite() && self.seconds > 0.0 {
            (self.to_per_s - self.from_per_s) / self.seconds
        } else {
            0.0
        };
        let root = (self.from_per_s * self.from_per_s + 2.0 * slope * count)
            .max(0.0)
            .sqrt();
        let time = 2.0 * count / (self.from_per_s + root);
        if time.is_nan() {
            self.seconds
        } else {
            time.min(self.seconds)
        }
    }
}

/// A rate over time, as it is typed: `5000`, `100..2000/60s`, `500/1min,5000/5s,500/1min`.
///
/// Pieces follow each other; the rate of the last one holds for as long as the load runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RateProfile {
    pieces: Vec<RatePiece>,
}

/// A rate that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the rate `{found}`: {why}")]
pub struct RateError {
    found: String,
    why: &'static str,
}

/// More a second than any load generator sends; beyond it, times are no longer exact to a
/// nanosecond.
const PER_SECOND_MAX: f64 = 1e8;

impl RateProfile {
    /// One rate all the time.
    pub fn constant(per_s: f64) -> Self {
        Self {
            pieces: vec![RatePiece::endless(per_s)],
        }
    }

    /// The pieces; the last one is endless unless the profile was cut.
    pub fn pieces(&self) -> &[RatePiece] {
        &self.pieces
    }

    /// Seconds until only the last rate is left; 0 for a rate that never changes.
    pub fn seconds(&self) -> f64 {
        let lengths = self.pieces.iter().map(|piece| piece.seconds);
        lengths.filter(|seconds| seconds.is_finite()).sum()
    }

    /// This rate up to so many seconds, and nothing after them.
    #[must_use]
    pub fn until(&self, seconds: f64) -> Self {
        let mut left = seconds;
        let mut pieces = Vec::new();
        for piece in &self.pieces {
            if left <= 0.0 {
                break;
            }
            let length = piece.seconds.min(left);
            let share = if piece.seconds.is_finite() {
                length / piece.seconds
            } else {
                0.0
            };
            pieces.push(RatePiece {
                from_per_s: piece.from_per_s,
                to_per_s: piece.from_per_s + share * (piece.to_per_s - piece.from_per_s),
                seconds: length,
            });
            left -= length;
        }
        Self { pieces }
    }

    /// This shape at another height.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let pieces = self.pieces.iter().map(|piece| RatePiece {
            from_per_s: piece.from_per_s * factor,
            to_per_s: piece.to_per_s * factor,
            ..*piece
        });
        Self {
            pieces: pieces.collect(),
        }
    }
}

impl FromStr for RateProfile {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let wrong = |why| RateError {
            found: text.trim().to_owned(),
            why,
        };
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut pieces = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let piece = piece(part).map_err(wrong)?;
            if piece.seconds.is_infinite() && at + 1 < parts.len() {
                return Err(wrong(
                    "only the last rate may go without a length; write `500/1min,2000`",
                ));
            }
            pieces.push(piece);
        }
        if let Some(last) = pieces.last().filter(|last| last.seconds.is_finite()) {
            pieces.push(RatePiece::endless(last.to_per_s));
        }
        if pieces.iter().all(|piece| piece.total() <= 0.0) {
            return Err(wrong("nothing would be sent; write more than 0"));
        }
        Ok(Self { pieces })
    }
}

fn piece(text: &str) -> Result<RatePiece, &'static str> {
    const HOW: &str = "a rate is written `5000`, `100..2000/60s` or `500/1min,5000/5s`";
    let mut parts = text.split('/').map(str::trim);
    let rates = parts.next().ok_or(HOW)?;
    let mut unit_s = 1.0;
    let mut seconds = f64::INFINITY;
    for part in parts {
        match part {
            "s" => unit_s = 1.0,
            "min" => unit_s = 60.0,
            "h" => unit_s = 3_600.0,
            length => {
                let length = parse_duration(length).map_err(|_| HOW)?;
                if length.is_zero() || seconds.is_finite() {
                    return Err(HOW);
                }
                seconds = length.as_secs_f64();
            }
        }
    }
    let (from, to) = rates.split_once("..").unwrap_or((rates, rates));
    let rate = |text: &str| {
        let number: f64 = text.trim().parse().map_err(|_| HOW)?;
        let per_s = number / unit_s;
        if (0.0..=PER_SECOND_MAX).contains(&per_s) {
            Ok(per_s)
        } else {
            Err("a rate is 0 to 100,000,000 a second")
        }
    };
    let (from_per_s, to_per_s) = (rate(from)?, rate(to)?);
    if seconds.is_infinite() && rates.contains("..") {
        return Err("a ramp needs a length; write `100..2000/60s`");
    }
    Ok(RatePiece {
        from_per_s,
        to_per_s,
        seconds,
    })
}

impl fmt::Display for RateProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, piece) in self.pieces.iter().enumerate() {
            let endless = piece.seconds.is_infinite();
            let repeats = at > 0 && endless && {
                let before = self.pieces[at - 1].to_per_s;
                before.to_bits() == piece.from_per_s.to_bits()
            };
            if repeats {
                break;
            }
            if at > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}", piece.from_per_s)?;
            if piece.from_per_s.to_bits() != piece.to_per_s.to_bits() {
                write!(f, "..{}", piece.to_per_s)?;
            }
            if !endless {
                write!(f, "/{}s", piece.seconds)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(from_per_s: f64, to_per_s: f64, seconds: f64) -> RatePiece {
        RatePiece {
            from_per_s,
            to_per_s,
            seconds,
        }
    }

    /// By hand: 100 to 2,000 a second in 60 s are 63,000; after 30 s it is 1,050 a second and
    /// 17,250 have come.
    #[test]
    fn a_ramp_is_integrated() {
        let ramp = piece(100.0, 2_000.0, 60.0);
        assert!((ramp.total() - 63_000.0).abs() < 1e-9);
        assert!((ramp.time_of(17_250.0) - 30.0).abs() < 1e-9);
        assert!((ramp.time_of(63_000.0) - 60.0).abs() < 1e-9);
        let down = piece(2_000.0, 0.0, 60.0);
        assert!((down.time_of(60_000.0) - 60.0).abs() < 1e-6);
        assert!((piece(0.0, 10.0, 10.0).time_of(12.5) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_constant_rate_is_exact() {
        let constant = RatePiece::endless(5_000.0);
        for count in [0.0, 1.0, 49_999.0, 50_000.0, 3e9] {
            let error = (constant.time_of(count) - count / 5_000.0).abs();
            assert!(error <= f64::EPSILON * count, "{count}");
        }
        assert_eq!(
            piece(0.0, 0.0, 5.0).time_of(1.0).to_bits(),
            5.0_f64.to_bits()
        );
        assert!(RatePiece::endless(0.0).total() <= 0.0);
    }

    #[test]
    fn it_is_written_in_one_word() {
        for (text, pieces) in [
            ("5000", vec![RatePiece::endless(5_000.0)]),
            ("5000/s", vec![RatePiece::endless(5_000.0)]),
            ("600/min", vec![RatePiece::endless(10.0)]),
            (
                "100..2000/60s",
                vec![piece(100.0, 2_000.0, 60.0), RatePiece::endless(2_000.0)],
            ),
            (
                "60..120/min/2min, 5",
                vec![piece(1.0, 2.0, 120.0), RatePiece::endless(5.0)],
            ),
            (
                "500/1min,5000/5s,500",
                vec![
                    piece(500.0, 500.0, 60.0),
                    piece(5_000.0, 5_000.0, 5.0),
                    RatePiece::endless(500.0),
                ],
            ),
        ] {
            let read: RateProfile = text.parse().unwrap();
            assert_eq!(read.pieces(), pieces, "{text}");
            assert_eq!(read.to_string().parse(), Ok(read), "{text}");
        }
        let stepped: RateProfile = "500/1min,5000/5s,500".parse().unwrap();
        assert!((stepped.seconds() - 65.0).abs() < 1e-9);
        assert!((stepped.times(2.0).pieces()[1].from_per_s - 10_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_profile_can_be_cut() {
        let whole: RateProfile = "100..200/10s,50".parse().unwrap();
        let cut = |seconds| whole.until(seconds).pieces().to_vec();
        assert_eq!(cut(5.0), [piece(100.0, 150.0, 5.0)]);
        assert_eq!(
            cut(12.0),
            [piece(100.0, 200.0, 10.0), piece(50.0, 50.0, 2.0)]
        );
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "",
            "fast",
            "-5",
            "0",
            "1..2",
            "5,6",
            "5/0s",
            "5/1s/1s",
            "1e9",
            "nan",
            "0..0/5s",
            "5 requests",
        ] {
            let error = text.parse::<RateProfile>();
            assert!(error.is_err(), "{text}: {error:?}");
        }
    }

    proptest! {
        #[test]
        fn times_rise_and_reach_the_end(
            from in 0.0_f64..1e5, to in 0.0_f64..1e5, seconds in 0.01_f64..1e4, a in 0.0_f64..1.0,
            b in 0.0_f64..1.0,
        ) {
            let piece = piece(from, to, seconds);
            let (low, high) = (a.min(b) * piece.total(), a.max(b) * piece.total());
            prop_assert!(piece.time_of(low) <= piece.time_of(high) + 1e-7 * seconds);
            prop_assert!(piece.time_of(high) <= seconds);
            // Λ(Λ⁻¹(n)) = n.
            let time = piece.time_of(high);
            let back = from * time + (to - from) / (2.0 * seconds) * time * time;
            prop_assert!((back - high).abs() <= 1e-6 * piece.total().max(1.0));
        }
    }
}
