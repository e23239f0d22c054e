//! Operators: each language's own meaning of them.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use crate::machine::Stop;
use crate::number::Decimal;
use crate::syntax::Operator;
use crate::value::{DecimalValue, Thing};
use crate::{Language, Value, work};

/// A number in the widest kind that its partner needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Int(i32),
    Long(i64),
    Decimal(Decimal),
    Double(f64),
}

impl Number {
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Int(value) => Self::Int(*value),
            Value::Long(value) => Self::Long(*value),
            Value::Double(value) => Self::Double(*value),
            Value::Float(value) => Self::Double(f64::from(*value)),
            Value::Decimal(DecimalValue(value)) => Self::Decimal(*value),
            Value::Char(value) => Self::Int(*value as i32),
            Value::Object(object) => match &object.0 {
                Thing::Counter(number) => Self::Long(number.get()),
                _ => return None,
            },
            _ => return None,
        })
    }

    pub(crate) fn double(self) -> f64 {
        match self {
            Self::Int(value) => f64::from(value),
            Self::Long(value) => value as f64,
            Self::Decimal(value) => value.to_double(),
            Self::Double(value) => value,
        }
    }

    /// Cut to a whole number, as casts of Java do.
    pub(crate) fn long(self) -> i64 {
        match self {
            Self::Int(value) => i64::from(value),
            Self::Long(value) => value,
            Self::Decimal(value) => value.whole() as i64,
            Self::Double(value) => value as i64,
        }
    }

    fn decimal(self) -> Option<Decimal> {
        match self {
            Self::Int(value) => Some(Decimal::integer(i128::from(value))),
            Self::Long(value) => Some(Decimal::integer(i128::from(value))),
            Self::Decimal(value) => Some(value),
            Self::Double(value) => Decimal::of_double(value),
        }
    }

    pub(crate) fn value(self) -> Value {
        match self {
            Self::Int(value) => Value::Int(value),
            Self::Long(value) => Value::Long(value),
            Self::Decimal(value) => Value::decimal(value),
            Self::Double(value) => Value::Double(value),
        }
    }

    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Double(_), _) | (_, Self::Double(_)) => {
                self.double().partial_cmp(&other.double())
            }
            (Self::Decimal(_), _) | (_, Self::Decimal(_)) => {
                self.decimal()?.compare(other.decimal()?)
            }
            _ => Some(self.long().cmp(&other.long())),
        }
    }
}

fn too_large() -> Stop {
    Stop::unknown("numbers with more than 38 digits")
}

fn by_zero() -> Stop {
    Stop::thrown("java.lang.ArithmeticException", "Division by zero")
}

/// `left operator right` of numbers.
pub(crate) fn calculate(
    operator: Operator,
    left: Number,
    right: Number,
    language: Language,
) -> Result<Value, Stop> {
    use Number::{Double, Int, Long};
    if operator == Operator::Power {
        return power(left, right);
    }
    let is_exact_division = operator == Operator::Divide && language == Language::Groovy;
    Ok(match (left, right) {
        (Double(_), _) | (_, Double(_)) => {
            doubles(operator, left.double(), right.double(), language)?
        }
        (Int(left), Int(right)) if !is_exact_division => integers(operator, left, right, language)?,
        (Int(_) | Long(_), Int(_) | Long(_)) if !is_exact_division => {
            longs(operator, left.long(), right.long(), language)?
        }
        _ => {
            let left = left.decimal().ok_or_else(too_large)?;
            let right = right.decimal().ok_or_else(too_large)?;
            decimals(operator, left, right)?
        }
    })
}

fn division_by_zero(language: Language) -> Stop {
    if language == Language::BeanShell {
        Stop::thrown("java.lang.ArithmeticException", "/ by zero")
    } else {
        by_zero()
    }
}

/// `left operator right` of whole numbers of a kind, which wrap at its ends.
macro_rules! wrapping {
    ($operator:expr, $left:expr, $right:expr, $language:expr) => {{
        let (left, right) = ($left, $right);
        Ok::<_, Stop>(match $operator {
            Operator::Plus => left.wrapping_add(right),
            Operator::Minus => left.wrapping_sub(right),
            Operator::Times => left.wrapping_mul(right),
            Operator::Divide | Operator::Remainder if right == 0 => {
                return Err(division_by_zero($language));
            }
            Operator::Divide => left.wrapping_div(right),
            Operator::Remainder => left.wrapping_rem(right),
            Operator::BitAnd => left & right,
            Operator::BitOr => left | right,
            Operator::BitXor => left ^ right,
            Operator::ShiftLeft => left.wrapping_shl(right as u32),
            Operator::ShiftRight => left.wrapping_shr(right as u32),
            Operator::ShiftRightUnsigned => left
                .cast_unsigned()
                .wrapping_shr(right as u32)
                .cast_signed(),
            _ => return Err(Stop::unknown("this operator between numbers")),
        })
    }};
}

fn integers(operator: Operator, left: i32, right: i32, language: Language) -> Result<Value, Stop> {
    if language.is_jexl() {
        return longs(operator, i64::from(left), i64::from(right), language);
    }
    wrapping!(operator, left, right, language).map(Value::Int)
}

fn longs(operator: Operator, left: i64, right: i64, language: Language) -> Result<Value, Stop> {
    let whole: i64 = wrapping!(operator, left, right, language)?;
    // JEXL gives the narrowest kind.
    match i32::try_from(whole) {
        Ok(narrow) if language.is_jexl() => Ok(Value::Int(narrow)),
        _ => Ok(Value::Long(whole)),
    }
}

fn doubles(operator: Operator, left: f64, right: f64, language: Language) -> Result<Value, Stop> {
    if language.is_jexl()
        && right == 0.0
        && matches!(operator, Operator::Divide | Operator::Remainder)
    {
        return Err(by_zero());
    }
    Ok(Value::Double(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => left % right,
        _ => return Err(Stop::unknown("this operator between numbers")),
    }))
}

fn decimals(operator: Operator, left: Decimal, right: Decimal) -> Result<Value, Stop> {
    let answer = match operator {
        Operator::Plus => left.plus(right),
        Operator::Minus => left.minus(right),
        Operator::Times => left.times(right),
        Operator::Divide | Operator::Remainder if right.is_zero() => return Err(by_zero()),
        Operator::Divide => left.divided_by(right),
        Operator::Remainder => left.remainder(right),
        _ => return Err(Stop::unknown("this operator between numbers")),
    };
    answer.map(Value::decimal).ok_or_else(too_large)
}

/// Groovy's `**`.
fn power(left: Number, right: Number) -> Result<Value, Stop> {
    let exponent = u32::try_from(right.long()).ok();
    let whole = match (left, right, exponent) {
        (Number::Int(_) | Number::Long(_), Number::Int(_) | Number::Long(_), Some(exponent)) => {
            let base = i128::from(left.long());
            Some(base.checked_pow(exponent).ok_or_else(too_large)?)
        }
        _ => None,
    };
    Ok(match whole {
        Some(whole) => match (i32::try_from(whole), i64::try_from(whole)) {
            (Ok(whole), _) => Value::Int(whole),
            (_, Ok(whole)) => Value::Long(whole),
            _ => Value::decimal(Decimal::integer(whole)),
        },
        None => Value::Double(left.double().powf(right.double())),
    })
}

/// Whether Groovy takes a value for true; the other languages ask only booleans.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Void => false,
        Value::Bool(value) => *value,
        Value::Char(value) => *value != '\0',
        Value::Text(text) => !text.is_empty(),
        Value::Object(object) => match &object.0 {
            Thing::List(list) => !list.items.borrow().is_empty(),
            Thing::Map(map) => !map.borrow().is_empty(),
            Thing::Matcher(matcher) => matcher.pattern.find(&matcher.text, 0).is_some(),
            Thing::Iterator(rest) => !rest.borrow().is_empty(),
            Thing::Builder(text) => !text.borrow().is_empty(),
            _ => true,
        },
        number => Number::of(number).is_some_and(|number| number.double() != 0.0),
    }
}

/// `==` of Groovy, and `equals` of lists and maps.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    equal_to_depth(left, right, 30)
}

/// What a comparison of two values takes, in bytes that are copied meanwhile.
const COMPARISON: usize = 2;

fn equal_to_depth(left: &Value, right: &Value, depth: u32) -> bool {
    work::note(COMPARISON);
    if depth == 0 || work::is_too_much() {
        return false;
    }
    match (left, right) {
        (Value::Null | Value::Void, Value::Null | Value::Void) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => {
            let same = left == right;
            work::note(if same { left.len() } else { 0 });
            same
        }
        (Value::Text(text), Value::Char(c)) | (Value::Char(c), Value::Text(text)) => {
            text.chars().eq([*c])
        }
        (Value::Object(left), Value::Object(right)) => things_equal(&left.0, &right.0, depth - 1),
        (left, right) => match (Number::of(left), Number::of(right)) {
            (Some(left), Some(right)) => left.compare(right) == Some(Ordering::Equal),
            _ => false,
        },
    }
}

fn things_equal(left: &Thing, right: &Thing, depth: u32) -> bool {
    match (left, right) {
        (Thing::List(left), Thing::List(right)) if left.set.is_some() || right.set.is_some() => {
            // A set is equal to a set only, in whatever order.
            let are_sets = left.set.is_some() && right.set.is_some();
            let (left, right) = (left.items.borrow(), right.items.borrow());
            are_sets
                && left.len() == right.len()
                && left.iter().all(|item| {
                    let mut right = right.iter();
                    right.any(|other| equal_to_depth(item, other, depth))
                })
        }
        (Thing::List(left), Thing::List(right)) => {
            let (left, right) = (left.items.borrow(), right.items.borrow());
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(left, right)| equal_to_depth(left, right, depth))
        }
        (Thing::Map(left), Thing::Map(right)) => {
            let (left, right) = (left.borrow(), right.borrow());
            left.len() == right.len()
                && left.iter().all(|(key, value)| {
                    let mut right = right.iter();
                    right.any(|(other, found)| {
                        equal_to_depth(key, other, depth) && equal_to_depth(value, found, depth)
                    })
                })
        }
        (Thing::Date(left), Thing::Date(right)) => left.get() == right.get(),
        (Thing::Calendar(left), Thing::Calendar(right)) => {
            Rc::ptr_eq(left, right) || left.borrow_mut().equals(&mut right.borrow_mut())
        }
        (Thing::Counter(left), Thing::Counter(right)) => left.get() == right.get(),
        (Thing::Instant(left), Thing::Instant(right)) => left == right,
        (Thing::Temporal(left), Thing::Temporal(right)) => {
            left.compare(right) == Some(Ordering::Equal)
        }
        (Thing::Duration(left), Thing::Duration(right)) => left == right,
        (Thing::Period(left), Thing::Period(right)) => left == right,
        (Thing::ZoneId(left), Thing::ZoneId(right)) => left.name == right.name,
        (Thing::Uuid(left), Thing::Uuid(right)) | (Thing::File(left), Thing::File(right)) => {
            left == right
        }
        (Thing::Class(left), Thing::Class(right)) => std::ptr::eq(*left, *right),
        _ => is_same_thing(left, right),
    }
}

fn is_same_thing(left: &Thing, right: &Thing) -> bool {
    match (left, right) {
        (Thing::List(left), Thing::List(right)) => Rc::ptr_eq(left, right),
        (Thing::Map(left), Thing::Map(right)) => Rc::ptr_eq(left, right),
        (Thing::Builder(left), Thing::Builder(right)) => Rc::ptr_eq(left, right),
        (Thing::Calendar(left), Thing::Calendar(right)) => Rc::ptr_eq(left, right),
        (Thing::Cookie(left), Thing::Cookie(right)) => Rc::ptr_eq(left, right),
        (Thing::Random(left), Thing::Random(right)) => Rc::ptr_eq(left, right),
        (Thing::Thrown(left), Thing::Thrown(right)) => Rc::ptr_eq(left, right),
        (Thing::Class(left), Thing::Class(right)) | (Thing::Single(left), Thing::Single(right)) => {
            std::ptr::eq(*left, *right)
        }
        (Thing::Named(left, one), Thing::Named(right, other)) => {
            std::ptr::eq(*left, *right) && one == other
        }
        (Thing::Previous, Thing::Previous) | (Thing::Own, Thing::Own) => true,
        _ => false,
    }
}

/// `==` of Java: numbers by value, objects by whether they are the same.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Arc::ptr_eq(left, right),
        (Value::Object(left), Value::Object(right)) => is_same_thing(&left.0, &right.0),
        (Value::Void, Value::Null) | (Value::Null, Value::Void) => false,
        _ => equal(left, right),
    }
}

/// `<=>` of Groovy, and `compareTo`.
pub(crate) fn compare(left: &Value, right: &Value) -> Result<Ordering, Stop> {
    let ordering = match (left, right) {
        (Value::Null | Value::Void, Value::Null | Value::Void) => Some(Ordering::Equal),
        (Value::Null | Value::Void, _) => Some(Ordering::Less),
        (_, Value::Null | Value::Void) => Some(Ordering::Greater),
        (Value::Text(left), Value::Text(right)) => {
            Some(left.encode_utf16().cmp(right.encode_utf16()))
        }
        (Value::Text(text), Value::Char(c)) => Some((**text).cmp(&c.to_string())),
        (Value::Char(c), Value::Text(text)) => Some((*c.to_string()).cmp(text)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Object(left), Value::Object(right)) => match (&left.0, &right.0) {
            (Thing::Date(left), Thing::Date(right)) => Some(left.get().cmp(&right.get())),
            (Thing::Calendar(left), Thing::Calendar(right)) => {
                let left = left.borrow_mut().millis();
                Some(left.cmp(&right.borrow_mut().millis()))
            }
            (Thing::Instant(left), Thing::Instant(right)) => Some(left.cmp(right)),
            (Thing::Temporal(left), Thing::Temporal(right)) => left.compare(right),
            (Thing::Duration(left), Thing::Duration(right)) => Some(left.cmp(right)),
            (Thing::Named(left, one), Thing::Named(right, other))
                if std::ptr::eq(*left, *right) =>
            {
                Some(one.cmp(other))
            }
            _ => None,
        },
        (left, right) => match (Number::of(left), Number::of(right)) {
            (Some(left), Some(right)) => Some(left.compare(right).unwrap_or(Ordering::Less)),
            _ => None,
        },
    };
    ordering.ok_or_else(|| {
        Stop::thrown(
            "groovy.lang.GroovyRuntimeException",
            format!(
                "Cannot compare {} with value '{}' and {} with value '{}'",
                class_name(left),
                left.to_text(),
                class_name(right),
                right.to_text()
            ),
        )
    })
}

/// The name of a value's class, with its package.
pub(crate) fn class_name(value: &Value) -> &'static str {
    match value {
        Value::Null | Value::Void => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Int(_) => "java.lang.Integer",
        Value::Long(_) => "java.lang.Long",
        Value::Double(_) => "java.lang.Double",
        Value::Float(_) => "java.lang.Float",
        Value::Decimal(_) => "java.math.BigDecimal",
        Value::Char(_) => "java.lang.Character",
        Value::Text(_) => "java.lang.String",
        Value::Object(_) => crate::library::class_of(value).name,
    }
}

/// JEXL's operators, which make numbers of texts where they can.
pub(crate) mod jexl {
    use super::{Language, Number, Operator, Ordering, Stop, Value, calculate};

    /// What an operand is as a number: nothing and empty texts are 0.
    fn number(value: &Value) -> Option<Number> {
        match value {
            Value::Null | Value::Void => Some(Number::Int(0)),
            Value::Bool(value) => Some(Number::Int(i32::from(*value))),
            Value::Text(text) if text.is_empty() => Some(Number::Int(0)),
            Value::Text(text) => {
                if let Ok(number) = text.parse::<i64>() {
                    return Some(Number::Long(number));
                }
                let number = text.parse::<f64>().ok()?;
                text.bytes()
                    .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
                    .then_some(Number::Double(number))
            }
            other => Number::of(other),
        }
    }

    pub(crate) fn binary(
        operator: Operator,
        left: &Value,
        right: &Value,
        language: Language,
    ) -> Result<Value, Stop> {
        if left.is_null() || right.is_null() {
            return Err(Stop::thrown(
                "org.apache.commons.jexl3.JexlException$Operator",
                "null in an operation",
            ));
        }
        let has_text = matches!(left, Value::Text(_)) || matches!(right, Value::Text(_));
        let concatenates = || Value::text(left.to_text() + &right.to_text());
        if operator == Operator::Plus && has_text && language == Language::Jexl3 {
            return Ok(concatenates());
        }
        match (number(left), number(right)) {
            (Some(left), Some(right)) => calculate(operator, left, right, language),
            _ if operator == Operator::Plus => Ok(concatenates()),
            _ => Err(Stop::thrown(
                "java.lang.ArithmeticException",
                "an operand is no number",
            )),
        }
    }

    pub(crate) fn equal(left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::Null | Value::Void, other) | (other, Value::Null | Value::Void) => {
                other.is_null()
            }
            (Value::Text(left), Value::Text(right)) => left == right,
            (Value::Bool(of), other) | (other, Value::Bool(of)) => is_true(other) == *of,
            (Value::Object(_), Value::Object(_)) => super::equal(left, right),
            _ => match (number(left), number(right)) {
                (Some(left), Some(right)) => left.compare(right) == Some(Ordering::Equal),
                _ => left.to_text() == right.to_text(),
            },
        }
    }

    pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
        if let (Value::Text(left), Value::Text(right)) = (left, right) {
            return left.encode_utf16().cmp(right.encode_utf16());
        }
        match (number(left), number(right)) {
            (Some(left), Some(right)) => left.compare(right).unwrap_or(Ordering::Less),
            _ => left.to_text().cmp(&right.to_text()),
        }
    }

    pub(crate) fn is_true(value: &Value) -> bool {
        match value {
            Value::Null | Value::Void => false,
            Value::Bool(value) => *value,
            Value::Text(text) => text.eq_ignore_ascii_case("true"),
            Value::Object(_) => true,
            other => Number::of(other).is_some_and(|number| {
                let number = number.double();
                number != 0.0 && !number.is_nan()
            }),
        }
    }
}
