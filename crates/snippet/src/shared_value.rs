//! Values that outlive their script and that users share: those that never change.

use crate::Value;
use crate::number::Decimal;
use crate::value::DecimalValue;

/// A number, a truth value or a character, as a property of JMeter may hold it beside texts.
#[derive(Debug, Clone, Copy)]
pub struct SharedValue(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Float(f32),
    Decimal(Decimal),
    Char(char),
}

impl SharedValue {
    /// What is neither a text nor an object; `None` for those.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(Self(match value {
            Value::Bool(value) => Kind::Bool(*value),
            Value::Int(value) => Kind::Int(*value),
            Value::Long(value) => Kind::Long(*value),
            Value::Double(value) => Kind::Double(*value),
            Value::Float(value) => Kind::Float(*value),
            Value::Decimal(DecimalValue(value)) => Kind::Decimal(*value),
            Value::Char(value) => Kind::Char(*value),
            Value::Null | Value::Void | Value::Text(_) | Value::Object(_) => return None,
        }))
    }

    pub(crate) fn value(self) -> Value {
        match self.0 {
            Kind::Bool(value) => Value::Bool(value),
            Kind::Int(value) => Value::Int(value),
            Kind::Long(value) => Value::Long(value),
            Kind::Double(value) => Value::Double(value),
            Kind::Float(value) => Value::Float(value),
            Kind::Decimal(value) => Value::decimal(value),
            Kind::Char(value) => Value::Char(value),
        }
    }
}
