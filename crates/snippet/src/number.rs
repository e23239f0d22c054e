//! Numbers as Java has them: decimals with a scale, and how numbers are written.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number, `unscaled × 10^-scale`, as `java.math.BigDecimal` but with at most 38 digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    unscaled: i128,
    scale: i32,
}

/// Digits that a quotient has more than its operands (Groovy's `BigDecimalMath`).
const EXTRA_DIGITS: u32 = 10;
/// Furthest that the point may be from the digits: sums of such scales fit.
const SCALE_MAX: i32 = 100_000;
/// Digits after the point that such a quotient may keep.
const QUOTIENT_SCALE_MIN: i32 = 10;

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

/// How many digits a number has.
fn digits(unscaled: i128) -> u32 {
    unscaled
        .unsigned_abs()
        .checked_ilog10()
        .map_or(1, |log| log + 1)
}

impl Decimal {
    pub(crate) fn integer(value: i128) -> Self {
        Self {
            unscaled: value,
            scale: 0,
        }
    }

    /// Its digits, and how many of them stand after the point.
    pub(crate) fn parts(self) -> (i128, i32) {
        (self.unscaled, self.scale)
    }

    /// Reads `12`, `-1.50`, `3e2`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let has_digits = whole.contains(|c: char| c.is_ascii_digit()) || !fraction.is_empty();
        if !has_digits || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        if scale.checked_abs()? > 1_000 {
            return None;
        }
        Some(Self {
            unscaled: format!("{whole}{fraction}").parse().ok()?,
            scale,
        })
    }

    /// The number that the double's shortest text stands for.
    pub(crate) fn of_double(value: f64) -> Option<Self> {
        value
            .is_finite()
            .then(|| Self::parse(&java_double(value)))
            .flatten()
    }

    pub(crate) fn to_double(self) -> f64 {
        format!("{}e{}", self.unscaled, -self.scale)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// Cut to a whole number.
    pub(crate) fn whole(self) -> i128 {
        match u32::try_from(self.scale) {
            Ok(scale) => power(scale).map_or(0, |power| self.unscaled / power),
            Err(_) => power(self.scale.unsigned_abs())
                .and_then(|power| self.unscaled.checked_mul(power))
                .unwrap_or(0),
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.unscaled == 0
    }

    /// Whether it is a whole number.
    pub(crate) fn is_whole(self) -> bool {
        Self::integer(self.whole()).compare(self) == Some(Ordering::Equal)
    }

    pub(crate) fn negated(self) -> Option<Self> {
        Some(Self {
            unscaled: self.unscaled.checked_neg()?,
            ..self
        })
    }

    fn aligned(self, other: Self) -> Option<(i128, i128, i32)> {
        let scale = self.scale.max(other.scale);
        let lift = |of: Self| {
            let more = u32::try_from(scale - of.scale).ok()?;
            of.unscaled.checked_mul(power(more)?)
        };
        Some((lift(self)?, lift(other)?, scale))
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Self {
            unscaled: left.checked_add(right)?,
            scale,
        })
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated()?)
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        Some(Self {
            unscaled: self.unscaled.checked_mul(other.unscaled)?,
            scale: Some(self.scale + other.scale).filter(|scale| scale.abs() <= SCALE_MAX)?,
        })
    }

    pub(crate) fn remainder(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Self {
            unscaled: left.checked_rem(right)?,
            scale,
        })
    }

    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        let (left, right, _) = self.aligned(other)?;
        Some(left.cmp(&right))
    }

    /// The quotient as Groovy has it: exact where that is possible, else cut off. The divisor is
    /// not 0.
    pub(crate) fn divided_by(self, other: Self) -> Option<Self> {
        let preferred = Some(self.scale - other.scale).filter(|scale| scale.abs() <= SCALE_MAX)?;
        if let Some(exact) = self.exact_quotient(other, preferred) {
            return Some(exact);
        }
        let precision = digits(self.unscaled).max(digits(other.unscaled)) + EXTRA_DIGITS;
        let scale_max = self.scale.max(other.scale).max(QUOTIENT_SCALE_MIN);
        // Enough digits that the quotient has the precision, then rounded half up to it.
        let lift = (precision + digits(other.unscaled) + 1).saturating_sub(digits(self.unscaled));
        let lifted = self.unscaled.checked_mul(power(lift)?)?;
        let mut quotient = Self {
            unscaled: lifted.checked_div(other.unscaled)?,
            scale: preferred + i32::try_from(lift).ok()?,
        };
        let surplus = digits(quotient.unscaled).saturating_sub(precision);
        quotient = quotient.rounded(
            quotient.scale - i32::try_from(surplus).ok()?,
            Rounding::HalfUp,
        )?;
        if quotient.scale > scale_max {
            quotient = quotient.rounded(scale_max, Rounding::HalfUp)?;
        }
        Some(quotient)
    }

    fn exact_quotient(self, other: Self, preferred: i32) -> Option<Self> {
        // A quotient ends iff the divisor, reduced, has no factors but 2 and 5.
        for more in 0..=30_u32 {
            let lifted = self.unscaled.checked_mul(power(more)?)?;
            if lifted.checked_rem(other.unscaled)? == 0 {
                return Some(Self {
                    unscaled: lifted.checked_div(other.unscaled)?,
                    scale: preferred + i32::try_from(more).ok()?,
                });
            }
        }
        None
    }

    /// With so many digits after the point.
    pub(crate) fn rounded(self, scale: i32, rounding: Rounding) -> Option<Self> {
        if scale >= self.scale {
            let more = power(u32::try_from(scale - self.scale).ok()?)?;
            return Some(Self {
                unscaled: self.unscaled.checked_mul(more)?,
                scale,
            });
        }
        let unit = power(u32::try_from(self.scale - scale).ok()?)?;
        let (quotient, rest) = (self.unscaled / unit, self.unscaled % unit);
        let half = rest.abs().cmp(&(unit - rest.abs()));
        let away = rest != 0
            && match rounding {
                Rounding::Up => true,
                Rounding::Down => false,
                Rounding::Ceiling => rest > 0,
                Rounding::Floor => rest < 0,
                Rounding::HalfUp => half.is_ge(),
                Rounding::HalfDown => half.is_gt(),
                Rounding::HalfEven => half.is_gt() || (half.is_eq() && quotient % 2 != 0),
            };
        Some(Self {
            unscaled: quotient + i128::from(away) * self.unscaled.signum(),
            scale,
        })
    }
}

/// What becomes of digits that are cut off, in the order of `RoundingMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    Up,
    Down,
    Ceiling,
    Floor,
    HalfUp,
    HalfDown,
    HalfEven,
}

impl Rounding {
    /// The one with this number.
    pub(crate) fn numbered(number: i64) -> Option<Self> {
        let all = [
            Self::Up,
            Self::Down,
            Self::Ceiling,
            Self::Floor,
            Self::HalfUp,
            Self::HalfDown,
            Self::HalfEven,
        ];
        all.get(usize::try_from(number).ok()?).copied()
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other) == Some(Ordering::Equal)
    }
}

/// As `BigDecimal.toString` writes it.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let all = self.unscaled.unsigned_abs().to_string();
        let adjusted = i64::try_from(all.len()).unwrap_or(0) - 1 - i64::from(self.scale);
        if self.scale == 0 {
            return write!(f, "{sign}{all}");
        }
        if self.scale > 0 && adjusted >= -6 {
            let scale = self.scale as usize;
            let padded = format!("{all:0>width$}", width = scale + 1);
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            return write!(f, "{sign}{whole}.{fraction}");
        }
        let (first, rest) = all.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        write!(f, "{sign}{first}{point}{rest}E{adjusted:+}")
    }
}

/// As `Double.toString` writes it.
pub(crate) fn java_double(value: f64) -> String {
    written(value, &format!("{value:?}"), &format!("{value:e}"))
}

/// As `Float.toString` writes it.
pub(crate) fn java_float(value: f32) -> String {
    written(
        f64::from(value),
        &format!("{value:?}"),
        &format!("{value:e}"),
    )
}

/// A number by its size: as it stands, or with an exponent.
fn written(value: f64, plain: &str, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = value.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return plain.to_owned();
    }
    match scientific.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0E{exponent}"),
        Some((mantissa, exponent)) => format!("{mantissa}E{exponent}"),
        None => scientific.to_owned(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    /// What Groovy 3.0.20 prints for the same divisions.
    #[test]
    fn quotients_as_groovy_prints_them() {
        for (left, right, expect) in [
            ("10", "4", "2.5"),
            ("10", "5", "2"),
            ("10", "3", "3.3333333333"),
            ("1", "8", "0.125"),
            ("2", "3", "0.6666666667"),
            ("1.5", "0.5", "3"),
            ("-7", "2", "-3.5"),
        ] {
            let quotient = decimal(left).divided_by(decimal(right)).unwrap();
            assert_eq!(quotient.to_string(), expect, "{left} / {right}");
        }
    }

    #[test]
    fn sums_keep_the_larger_scale() {
        assert_eq!(
            decimal("1.10").plus(decimal("2")).unwrap().to_string(),
            "3.10"
        );
        assert_eq!(
            decimal("1.5").times(decimal("2.0")).unwrap().to_string(),
            "3.00"
        );
        assert_eq!(decimal("1.0"), decimal("1.00"));
        assert_eq!(Decimal::parse("."), None);
        assert_eq!(Decimal::parse("1.-5"), None);
    }

    /// The texts that the documentation of `Double.toString` gives rules for.
    #[test]
    fn doubles_as_java_writes_them() {
        for (value, expect) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (0.001, "0.001"),
            (1e-4, "1.0E-4"),
            (1e7, "1.0E7"),
            (123_456_789.125, "1.23456789125E8"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(java_double(value), expect);
        }
    }
}
