//! Expressions.

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::{Machine, Stop};
use crate::arithmetic::{self, Number, jexl};
use crate::class::Answer;
use crate::pattern::Matcher;
use crate::syntax::{Access, Expression, ExpressionKind as Kind, Operator, Unary};
use crate::token::Literal;
use crate::value::{Closure, Thing};
use crate::{Language, Value, library};

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Answer {
        self.step(1)?;
        self.line = expression.line;
        self.deeper(|machine| machine.evaluate_here(expression))
    }

    fn evaluate_here(&mut self, expression: &Expression) -> Answer {
        match &expression.kind {
            Kind::Literal(literal) => Ok(literal_value(literal)),
            Kind::Interpolated(parts) => self.interpolated(parts),
            Kind::Name(name) => self.named(name),
            Kind::Class(name) => library::class_value(name),
            Kind::List(items) => {
                let items = self.all(items)?;
                if self.language().is_jexl() {
                    self.takes_bytes(items.len() * size_of::<Value>())?;
                    return Ok(Value::array("Object", items));
                }
                self.list(items)
            }
            Kind::Map(entries) => self.map(entries),
            Kind::Range { ends, inclusive } => self.range(&ends.0, &ends.1, *inclusive),
            Kind::NewArray { class, lengths } => self.new_array(class, lengths),
            Kind::Array { class, items } => {
                let items = self.all(items)?;
                self.takes_bytes(items.len() * size_of::<Value>())?;
                Ok(Value::array(class, items))
            }
            Kind::New { class, arguments } => {
                let arguments = self.all(arguments)?;
                library::make(self, class, &arguments)
            }
            Kind::Property { of, name, access } => self.property(of, name, *access),
            Kind::Index(two) => {
                let of = self.evaluate(&two.0)?;
                let at = self.evaluate(&two.1)?;
                library::element(self, &of, &at)
            }
            Kind::Call { name, arguments } => self.call_function(name, arguments),
            Kind::CallMethod {
                of,
                name,
                access,
                arguments,
            } => self.call_method(of, name, *access, arguments),
            Kind::Unary(unary, of) => self.unary(*unary, of),
            Kind::Binary(operator, two) => {
                let left = self.evaluate(&two.0)?;
                let right = self.evaluate(&two.1)?;
                self.binary(*operator, &left, &right)
            }
            Kind::And(two) => Ok(Value::Bool(self.holds(&two.0)? && self.holds(&two.1)?)),
            Kind::Or(two) => Ok(Value::Bool(self.holds(&two.0)? || self.holds(&two.1)?)),
            Kind::Choice(three) => {
                if self.holds(&three.0)? {
                    self.evaluate(&three.1)
                } else {
                    self.evaluate(&three.2)
                }
            }
            Kind::Elvis(two) => {
                let left = self.evaluate(&two.0)?;
                if self.truth_of_any(&left) {
                    Ok(left)
                } else {
                    self.evaluate(&two.1)
                }
            }
            Kind::Assign { operator, places } => self.assign(*operator, &places.0, &places.1),
            Kind::Step { of, by, is_prefix } => self.step_variable(of, *by, *is_prefix),
            Kind::Cast(class, of) => {
                let of = self.evaluate(of)?;
                library::cast(self, of, class)
            }
            Kind::As(class, of) => {
                let of = self.evaluate(of)?;
                library::convert_as(self, of, class)
            }
            Kind::IsInstance(class, of) => {
                let of = self.evaluate(of)?;
                library::is_instance(&of, class).map(Value::Bool)
            }
            Kind::Closure(code) => {
                self.closures += 1;
                Ok(Value::thing(Thing::Closure(Closure {
                    code: *code,
                    scope: self.scope,
                    run: Rc::clone(&self.run),
                })))
            }
            Kind::Empty(of) => {
                let of = self.evaluate(of)?;
                Ok(Value::Bool(library::is_empty(&of)))
            }
            Kind::Size(of) => {
                let of = self.evaluate(of)?;
                library::size(&of)
            }
        }
    }

    pub(super) fn all(&mut self, expressions: &[Expression]) -> Result<Vec<Value>, Stop> {
        expressions
            .iter()
            .map(|expression| self.evaluate(expression))
            .collect()
    }

    fn interpolated(&mut self, parts: &[Expression]) -> Answer {
        let mut text = String::new();
        for part in parts {
            match self.evaluate(part)? {
                Value::Text(part) => text.push_str(&part),
                other => text.push_str(&self.shown(&other)?),
            }
            self.takes_bytes(0)?;
            if text.len() > super::BYTES_MAX {
                return Err(Stop::Bound("it takes too much memory"));
            }
        }
        self.text(text)
    }

    fn named(&mut self, name: &Arc<str>) -> Answer {
        if let Some(value) = self.name(name) {
            return Ok(value);
        }
        if !self.language().is_jexl()
            && let Ok(class) = library::class_value(name)
        {
            return Ok(class);
        }
        match self.language() {
            Language::BeanShell => Ok(Value::Void),
            Language::Groovy
                if name.starts_with(char::is_uppercase) && !library::is_bound(name) =>
            {
                Err(Stop::unknown(format!("the name {name}")))
            }
            Language::Groovy => Err(Stop::thrown(
                "groovy.lang.MissingPropertyException",
                format!("No such property: {name} for class: Script1"),
            )),
            _ => Err(Stop::thrown(
                "org.apache.commons.jexl3.JexlException$Variable",
                format!("undefined variable '{name}'"),
            )),
        }
    }

    fn map(&mut self, written: &[(Expression, Expression)]) -> Answer {
        let map = Value::map(Vec::new());
        for (key, value) in written {
            let key = self.evaluate(key)?;
            let value = self.evaluate(value)?;
            library::put(self, &map, key, value)?;
        }
        Ok(map)
    }

    fn range(&mut self, from: &Expression, to: &Expression, inclusive: bool) -> Answer {
        let from = self.evaluate(from)?;
        let to = self.evaluate(to)?;
        library::range(self, &from, &to, inclusive)
    }

    fn new_array(&mut self, class: &Arc<str>, lengths: &[Expression]) -> Answer {
        let [length] = lengths else {
            return Err(Stop::unknown("arrays of arrays"));
        };
        let length = self.evaluate(length)?;
        let length = Number::of(&length).map_or(-1, Number::long);
        let Ok(length) = usize::try_from(length) else {
            return Err(Stop::thrown(
                "java.lang.NegativeArraySizeException",
                length.to_string(),
            ));
        };
        self.takes_bytes(length.saturating_mul(size_of::<Value>()))?;
        let item = library::default_of_item(class);
        Ok(Value::array(class, vec![item; length]))
    }

    fn property(&mut self, of: &Expression, name: &Arc<str>, access: Access) -> Answer {
        let place = of;
        let of = self.evaluate(of)?;
        if let (Value::Void, Language::BeanShell) = (&of, self.language()) {
            let place = super::call::path(place);
            return Err(Stop::thrown(
                "bsh.EvalError",
                format!("Class or variable not found: {place}.{name}"),
            ));
        }
        match access {
            Access::Safe if of.is_null() => Ok(Value::Null),
            Access::Spread => {
                let items = library::items(self, &of)?;
                let mut spread = Vec::with_capacity(items.len());
                for item in &items {
                    self.step(1)?;
                    spread.push(library::property(self, item, name)?);
                }
                self.list(spread)
            }
            _ => library::property(self, &of, name),
        }
    }

    fn unary(&mut self, unary: Unary, of: &Expression) -> Answer {
        if unary == Unary::Not {
            return Ok(Value::Bool(!self.holds(of)?));
        }
        let value = self.evaluate(of)?;
        if unary == Unary::BitNot
            && let Value::Text(source) = &value
        {
            return library::compile_pattern(source, 0);
        }
        let number = Number::of(&value);
        let number = match &value {
            Value::Text(text) if self.language().is_jexl() => text.parse().ok().map(Number::Long),
            _ => number,
        };
        let Some(number) = number else {
            return Err(Stop::unknown("a sign before what is no number"));
        };
        Ok(match (unary, number) {
            (Unary::Negate, Number::Int(value)) => Value::Int(value.wrapping_neg()),
            (Unary::Negate, Number::Long(value)) => Value::Long(value.wrapping_neg()),
            (Unary::Negate, Number::Double(value)) => Value::Double(-value),
            (Unary::Negate, Number::Decimal(value)) => {
                Value::decimal(value.negated().unwrap_or(value))
            }
            (Unary::BitNot, Number::Int(value)) => Value::Int(!value),
            (Unary::BitNot, Number::Long(value)) => Value::Long(!value),
            (_, number) => number.value(),
        })
    }

    /// Whether a value is true where the language asks for a condition.
    pub(super) fn truth(&self, value: &Value) -> Result<bool, Stop> {
        match (self.language(), value) {
            (Language::Groovy, _) => Ok(arithmetic::is_true(value)),
            (Language::BeanShell, Value::Bool(value)) => Ok(*value),
            (Language::BeanShell, _) => Err(Stop::thrown(
                "bsh.EvalError",
                "Condition must evaluate to a Boolean or boolean.",
            )),
            _ => Ok(jexl::is_true(value)),
        }
    }

    /// As `truth`, where anything can be asked.
    fn truth_of_any(&self, value: &Value) -> bool {
        self.truth(value)
            .unwrap_or_else(|_| arithmetic::is_true(value))
    }

    pub(crate) fn binary(&mut self, operator: Operator, left: &Value, right: &Value) -> Answer {
        let answer = match operator {
            Operator::Equal => self.equal(left, right),
            Operator::NotEqual => !self.equal(left, right),
            Operator::Same => arithmetic::same(left, right),
            Operator::NotSame => !arithmetic::same(left, right),
            Operator::Less => self.compare(left, right)?.is_lt(),
            Operator::LessOrEqual => self.compare(left, right)?.is_le(),
            Operator::Greater => self.compare(left, right)?.is_gt(),
            Operator::GreaterOrEqual => self.compare(left, right)?.is_ge(),
            Operator::Compare => {
                let ordering = self.compare(left, right)?;
                return Ok(Value::Int(ordering as i32));
            }
            Operator::Match => library::matches(left, right)?,
            Operator::NotMatch => !library::matches(left, right)?,
            Operator::Find => {
                let pattern = library::pattern_of(right)?;
                let matcher = Matcher::new(pattern, left.to_shared_text());
                return Ok(Value::thing(Thing::Matcher(Rc::new(matcher))));
            }
            Operator::In => library::is_case(self, right, left)?,
            Operator::NotIn => !library::is_case(self, right, left)?,
            _ => return self.calculated(operator, left, right),
        };
        Ok(Value::Bool(answer))
    }

    fn equal(&self, left: &Value, right: &Value) -> bool {
        match self.language() {
            Language::BeanShell => arithmetic::same(left, right),
            language if language.is_jexl() => jexl::equal(left, right),
            _ => arithmetic::equal(left, right),
        }
    }

    fn compare(&self, left: &Value, right: &Value) -> Result<Ordering, Stop> {
        match self.language() {
            Language::Groovy => arithmetic::compare(left, right),
            Language::BeanShell => match (Number::of(left), Number::of(right)) {
                (Some(left), Some(right)) => Ok(left.compare(right).unwrap_or(Ordering::Less)),
                _ => Err(Stop::thrown(
                    "bsh.EvalError",
                    "illegal use of a comparison between objects or undefined values",
                )),
            },
            _ => Ok(jexl::compare(left, right)),
        }
    }

    fn calculated(&mut self, operator: Operator, left: &Value, right: &Value) -> Answer {
        let language = self.language();
        if language.is_jexl() {
            let answer = jexl::binary(operator, left, right, language)?;
            self.takes_bytes(answer.bytes_of_text())?;
            return Ok(answer);
        }
        if let (Value::Bool(left), Value::Bool(right)) = (left, right) {
            let answer = match operator {
                Operator::BitAnd => left & right,
                Operator::BitOr => left | right,
                Operator::BitXor => left ^ right,
                _ => return Err(Stop::unknown("this operator between booleans")),
            };
            return Ok(Value::Bool(answer));
        }
        if let Some(answer) = library::operator(self, operator, left, right)? {
            return Ok(answer);
        }
        match (Number::of(left), Number::of(right)) {
            (Some(left), Some(right)) => {
                let done = arithmetic::calculate(operator, left, right, language);
                if let Err(stop) = &done {
                    // Spelt so by BeanShell.
                    self.tell_of(stop, || "Arithemetic Exception in binary op".to_owned());
                }
                done
            }
            _ if left.is_null() || right.is_null() => Err(Stop::null_pointer(format!(
                "Cannot execute an operator on {} and {}",
                left.to_text(),
                right.to_text()
            ))),
            _ => Err(Stop::unknown(format!(
                "this operator between {} and {}",
                arithmetic::class_name(left),
                arithmetic::class_name(right)
            ))),
        }
    }
}

fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Long(value) => Value::Long(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::Float(value) => Value::Float(*value),
        Literal::Decimal(value) => Value::decimal(*value),
        Literal::Char(value) => Value::Char(*value),
        Literal::Text(value) => Value::Text(Arc::clone(value)),
    }
}
