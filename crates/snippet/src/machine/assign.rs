//! Assignments.

use std::sync::Arc;

use super::{Machine, Stop};
use crate::arithmetic::Number;
use crate::class::Answer;
use crate::syntax::{Expression, ExpressionKind as Kind, Operator, Type};
use crate::{Language, Value, library};

/// Where a value goes.
enum Target {
    Name(Arc<str>),
    Property(Value, Arc<str>),
    Element(Value, Value),
}

impl Machine<'_> {
    pub(super) fn assign(
        &mut self,
        operator: Option<Operator>,
        place: &Expression,
        value: &Expression,
    ) -> Answer {
        let target = self.target(place)?;
        let value = match operator {
            None => self.evaluate(value)?,
            Some(operator) => {
                let old = self.read(&target)?;
                let value = self.evaluate(value)?;
                self.binary(operator, &old, &value)?
            }
        };
        self.write(&target, value)
    }

    pub(super) fn step_variable(&mut self, place: &Expression, by: i8, is_prefix: bool) -> Answer {
        let target = self.target(place)?;
        let old = self.read(&target)?;
        let operator = if by > 0 {
            Operator::Plus
        } else {
            Operator::Minus
        };
        if Number::of(&old).is_none() && old.is_null() {
            return Err(Stop::null_pointer("Cannot count up nothing"));
        }
        let new = self.binary(operator, &old, &Value::Int(1))?;
        let new = self.write(&target, new)?;
        Ok(if is_prefix { new } else { old })
    }

    fn target(&mut self, place: &Expression) -> Result<Target, Stop> {
        match &place.kind {
            Kind::Name(name) => Ok(Target::Name(Arc::clone(name))),
            Kind::Property { of, name, .. } => {
                let of = self.evaluate(of)?;
                Ok(Target::Property(of, Arc::clone(name)))
            }
            Kind::Index(two) => {
                let of = self.evaluate(&two.0)?;
                let at = self.evaluate(&two.1)?;
                Ok(Target::Element(of, at))
            }
            _ => Err(Stop::unknown("an assignment to this")),
        }
    }

    fn read(&mut self, target: &Target) -> Answer {
        match target {
            Target::Name(name) => match self.name(name) {
                Some(value) => Ok(value),
                None if self.language() == Language::Groovy => Err(Stop::thrown(
                    "groovy.lang.MissingPropertyException",
                    format!("No such property: {name} for class: Script1"),
                )),
                None => Ok(Value::Void),
            },
            Target::Property(of, name) => library::property(self, of, name),
            Target::Element(of, at) => library::element(self, of, at),
        }
    }

    fn write(&mut self, target: &Target, value: Value) -> Answer {
        match target {
            Target::Name(name) => self.write_name(name, value),
            Target::Property(of, name) => {
                library::set_property(self, of, name, value.clone())?;
                Ok(value)
            }
            Target::Element(of, at) => {
                library::set_element(self, of, at, value.clone())?;
                Ok(value)
            }
        }
    }

    fn write_name(&mut self, name: &Arc<str>, value: Value) -> Answer {
        let value = if matches!(value, Value::Void) && self.language() != Language::BeanShell {
            Value::Null
        } else {
            value
        };
        let class = self.local(name).map(|local| local.class.clone());
        let Some(class) = class else {
            // JMeter's BeanShell keeps a name that is new in a block to the block.
            let root = match self.language() {
                Language::BeanShell => self.scope,
                _ => self.scopes[self.scope].root,
            };
            self.declare_in(root, name, value.clone(), None)?;
            return Ok(value);
        };
        let value = self.fitting(value, class.as_ref())?;
        if let Some(local) = self.local(name) {
            local.value = value.clone();
        }
        Ok(value)
    }

    /// The value in the type of the variable that it goes to.
    pub(super) fn fitting(&mut self, value: Value, class: Option<&Type>) -> Answer {
        match class {
            None => Ok(match value {
                Value::Void if self.language() != Language::BeanShell => Value::Null,
                value => value,
            }),
            Some(class) => library::fit(self, value, class),
        }
    }
}
