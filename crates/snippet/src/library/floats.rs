//! `Float`, and how decimals are rounded.

use super::numbers::{OF_NUMBERS, of_text_or_number, rounded_by};
use super::operators::OPERATORS;
use super::{integer, java_time};
use crate::Value;
use crate::class::{Class, routine};
use crate::machine::Stop;
use crate::number::Rounding;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&FLOAT, &java_time::ROUNDING_MODE];

pub(super) static FLOAT: Class = Class {
    make: Some(routine("Float", 1, |_, _, arguments| {
        of_text_or_number(&arguments[0], "Float")
    })),
    statics: &[
        routine("parseFloat", 1, |_, _, arguments| {
            of_text_or_number(&arguments[0], "Float")
        }),
        routine("valueOf", 1, |_, _, arguments| {
            of_text_or_number(&arguments[0], "Float")
        }),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
    ],
    constants: &[
        ("MAX_VALUE", |_| Value::Float(f32::MAX)),
        ("NaN", |_| Value::Float(f32::NAN)),
    ],
    methods: &[OF_NUMBERS, OPERATORS],
    ..Class::named("java.lang.Float")
};

/// The way of rounding that an argument names, by a `RoundingMode` or its number.
pub(super) fn rounding(argument: &Value) -> Result<Rounding, Stop> {
    let number = match argument.as_thing() {
        Some(Thing::Named(names, at)) if names.are_roundings() => i64::from(*at),
        _ => integer(argument)?,
    };
    Rounding::numbered(number).ok_or_else(|| Stop::unknown("this way of rounding"))
}

/// As `setScale`.
pub(super) fn set_scale(of: &Value, arguments: &[Value]) -> crate::class::Answer {
    let rounding = match arguments.get(1) {
        Some(rounding) => self::rounding(rounding)?,
        None => return Err(Stop::unknown("setScale without a way of rounding")),
    };
    rounded_by(of, integer(&arguments[0])?, rounding)
}
