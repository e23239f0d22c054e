//! The functions of XPath 1.0 (section 4), and those of 2.0 that plans use most.

use std::collections::HashMap;

use super::super::tree::Node;
use super::evaluate::{Evaluator, Here};
use super::index::pay_for;
use super::parse::Expression;
use super::value::{Trouble, Value, number_of};

/// A function by its name, with the fewest and the most values that it takes.
const ONE: [(&str, usize, usize); 25] = [
    ("last", 0, 0),
    ("position", 0, 0),
    ("count", 1, 1),
    ("local-name", 0, 1),
    ("namespace-uri", 0, 1),
    ("name", 0, 1),
    ("string", 0, 1),
    ("concat", 2, usize::MAX),
    ("starts-with", 2, 2),
    ("contains", 2, 2),
    ("substring-before", 2, 2),
    ("substring-after", 2, 2),
    ("substring", 2, 3),
    ("string-length", 0, 1),
    ("normalize-space", 0, 1),
    ("translate", 3, 3),
    ("boolean", 1, 1),
    ("not", 1, 1),
    ("true", 0, 0),
    ("false", 0, 0),
    ("number", 0, 1),
    ("sum", 1, 1),
    ("floor", 1, 1),
    ("ceiling", 1, 1),
    ("round", 1, 1),
];

const TWO: [(&str, usize, usize); 6] = [
    ("upper-case", 1, 1),
    ("lower-case", 1, 1),
    ("ends-with", 2, 2),
    ("exists", 1, 1),
    ("empty", 1, 1),
    ("string-join", 2, 2),
];

/// Whether a function of this name is known in XPath 1.0 or 2.0.
pub(crate) fn is_function(name: &str) -> bool {
    ONE.iter().chain(&TWO).any(|(known, ..)| *known == name)
}

/// Calls a function.
pub(super) fn call(
    evaluator: &Evaluator<'_, '_>,
    name: &str,
    arguments: &[Expression],
    here: Here,
) -> Result<Value, Trouble> {
    let two: &[_] = if evaluator.is_two { &TWO } else { &[] };
    let found = ONE.iter().chain(two).find(|(known, ..)| *known == name);
    let Some((_, fewest, most)) = found else {
        return Err(Trouble::Function(name.to_owned()));
    };
    if !(*fewest..=*most).contains(&arguments.len()) {
        return Err(Trouble::Arguments(name.to_owned()));
    }
    Call {
        evaluator,
        arguments,
        here,
    }
    .value(name)
}

struct Call<'c, 'e, 'd> {
    evaluator: &'c Evaluator<'e, 'd>,
    arguments: &'c [Expression],
    here: Here,
}

impl<'d> Call<'_, '_, 'd> {
    fn value(&self, name: &str) -> Result<Value, Trouble> {
        Ok(match name {
            "last" => Value::Number(self.here.size as f64),
            "position" => Value::Number(self.here.position as f64),
            "count" => {
                Value::Number(self.evaluator.nodes(&self.arguments[0], self.here)?.len() as f64)
            }
            "local-name" => self.named(|node| Some(node.name()?.local.to_owned()))?,
            "namespace-uri" => self.named(|node| Some(node.name()?.uri?.to_owned()))?,
            "name" => self.named(Node::prefixed_name)?,
            "string" => Value::Text(self.text_or_here()?),
            "concat" => Value::Text(self.concatenated()?),
            "starts-with" => self.two(|text, part| Value::Boolean(text.starts_with(part)))?,
            "contains" => self.two(|text, part| Value::Boolean(text.contains(part)))?,
            "ends-with" => self.two(|text, part| Value::Boolean(text.ends_with(part)))?,
            "substring-before" => self.two(|text, part| {
                let found = text.split_once(part);
                Value::Text(found.map_or("", |(before, _)| before).to_owned())
            })?,
            "substring-after" => self.two(|text, part| {
                let found = text.split_once(part);
                Value::Text(found.map_or("", |(_, after)| after).to_owned())
            })?,
            "substring" => Value::Text(self.substring()?),
            "string-length" => Value::Number(self.text_or_here()?.chars().count() as f64),
            "normalize-space" => {
                let text = self.text_or_here()?;
                let words = text.split([' ', '\t', '\r', '\n']);
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                Value::Text(words.join(" "))
            }
            "translate" => Value::Text(self.translated()?),
            "boolean" => Value::Boolean(self.first()?.boolean()),
            "not" => Value::Boolean(!self.first()?.boolean()),
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            "number" => Value::Number(match self.arguments {
                [] => number_of(&self.text_or_here()?),
                _ => self.number(0)?,
            }),
            "sum" => {
                let evaluator = self.evaluator;
                let mut sum = 0.0;
                for place in evaluator.nodes(&self.arguments[0], self.here)? {
                    sum += number_of(&evaluator.index.text(place, evaluator.budget)?);
                }
                Value::Number(sum)
            }
            "floor" => Value::Number(self.number(0)?.floor()),
            "ceiling" => Value::Number(self.number(0)?.ceil()),
            "round" => Value::Number(rounded(self.number(0)?)),
            "upper-case" => Value::Text(self.text(0)?.to_uppercase()),
            "lower-case" => Value::Text(self.text(0)?.to_lowercase()),
            "exists" => Value::Boolean(self.is_there()?),
            "empty" => Value::Boolean(!self.is_there()?),
            "string-join" => Value::Text(self.joined()?),
            other => return Err(Trouble::Function(other.to_owned())),
        })
    }

    fn first(&self) -> Result<Value, Trouble> {
        self.evaluator.value(&self.arguments[0], self.here)
    }

    /// The text of an argument, paid for.
    fn text(&self, argument: usize) -> Result<String, Trouble> {
        let text = self.evaluator.text(&self.arguments[argument], self.here)?;
        pay_for(text.len(), self.evaluator.budget)?;
        Ok(text)
    }

    fn number(&self, argument: usize) -> Result<f64, Trouble> {
        self.evaluator.number(&self.arguments[argument], self.here)
    }

    fn text_or_here(&self) -> Result<String, Trouble> {
        match self.arguments {
            [] => {
                let index = self.evaluator.index;
                Ok(index.text(self.here.place, self.evaluator.budget)?)
            }
            _ => self.text(0),
        }
    }

    /// What the first node is called; nothing of no node.
    fn named(&self, name: impl Fn(Node<'d>) -> Option<String>) -> Result<Value, Trouble> {
        let place = match self.arguments {
            [] => Some(self.here.place),
            [nodes, ..] => self.evaluator.nodes(nodes, self.here)?.first().copied(),
        };
        let name = place.and_then(|place| name(self.evaluator.index.entry(place).node));
        Ok(Value::Text(name.unwrap_or_default()))
    }

    fn two(&self, give: impl Fn(&str, &str) -> Value) -> Result<Value, Trouble> {
        Ok(give(&self.text(0)?, &self.text(1)?))
    }

    fn concatenated(&self) -> Result<String, Trouble> {
        let mut all = String::new();
        for argument in 0..self.arguments.len() {
            let part = self.text(argument)?;
            self.evaluator.budget.find(part.len())?;
            all.push_str(&part);
        }
        Ok(all)
    }

    fn substring(&self) -> Result<String, Trouble> {
        let text = self.text(0)?;
        let from = rounded(self.number(1)?);
        let to = match self.arguments.len() {
            2 => f64::INFINITY,
            _ => from + rounded(self.number(2)?),
        };
        let characters = text.chars().zip(1_u32..);
        let inside = characters.filter(|(_, at)| {
            let at = f64::from(*at);
            at >= from && at < to
        });
        Ok(inside.map(|(character, _)| character).collect())
    }

    fn translated(&self) -> Result<String, Trouble> {
        let (text, from, to) = (self.text(0)?, self.text(1)?, self.text(2)?);
        let mut becomes = HashMap::new();
        let to = to.chars().map(Some).chain(std::iter::repeat(None));
        for (from, to) in from.chars().zip(to) {
            becomes.entry(from).or_insert(to);
        }
        let one = |c: char| becomes.get(&c).copied().unwrap_or(Some(c));
        Ok(text.chars().filter_map(one).collect())
    }

    fn is_there(&self) -> Result<bool, Trouble> {
        Ok(match self.first()? {
            Value::Nodes(nodes) => !nodes.is_empty(),
            _ => true,
        })
    }

    fn joined(&self) -> Result<String, Trouble> {
        let evaluator = self.evaluator;
        let between = self.text(1)?;
        let nodes = match self.first()? {
            Value::Nodes(nodes) => nodes,
            value => return Ok(value.text(evaluator.reading())?),
        };
        let mut joined = String::new();
        for (place, n) in nodes.into_iter().zip(0..) {
            let text = evaluator.index.text(place, evaluator.budget)?;
            let between = if n == 0 { "" } else { &between };
            evaluator.budget.find(text.len() + between.len())?;
            joined.extend([between, &text]);
        }
        Ok(joined)
    }
}

/// To the nearest whole number, up from the middle.
fn rounded(number: f64) -> f64 {
    let below = number.floor();
    if number - below < 0.5 {
        below
    } else {
        number.ceil()
    }
}
