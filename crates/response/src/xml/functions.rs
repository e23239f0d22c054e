//! The functions of XPath 2.0 that plans use most, beside those of XPath 1.0.

use sxd_xpath::context::Evaluation;
use sxd_xpath::function::{Args, Error, Function};
use sxd_xpath::{Context, Value};

/// Makes the functions known.
pub(super) fn add(context: &mut Context<'_>) {
    for (name, function) in FUNCTIONS {
        context.set_function(*name, *function);
    }
}

/// Their names, for those who must know before anything runs.
pub(super) fn is_known(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name)
}

#[derive(Clone, Copy)]
enum Added {
    UpperCase,
    LowerCase,
    EndsWith,
    Exists,
    Empty,
    StringJoin,
}

const FUNCTIONS: &[(&str, Added)] = &[
    ("upper-case", Added::UpperCase),
    ("lower-case", Added::LowerCase),
    ("ends-with", Added::EndsWith),
    ("exists", Added::Exists),
    ("empty", Added::Empty),
    ("string-join", Added::StringJoin),
];

impl Function for Added {
    fn evaluate<'d>(
        &self,
        _context: &Evaluation<'_, 'd>,
        arguments: Vec<Value<'d>>,
    ) -> Result<Value<'d>, Error> {
        let mut arguments = Args(arguments);
        let wanted = match self {
            Self::EndsWith | Self::StringJoin => 2,
            _ => 1,
        };
        arguments.exactly(wanted)?;
        let is_there = |value: Option<Value<'_>>| match value {
            Some(Value::Nodeset(nodes)) => nodes.size() > 0,
            _ => true,
        };
        Ok(match self {
            Self::UpperCase => Value::String(arguments.pop_string()?.to_uppercase()),
            Self::LowerCase => Value::String(arguments.pop_string()?.to_lowercase()),
            Self::EndsWith => {
                let end = arguments.pop_string()?;
                Value::Boolean(arguments.pop_string()?.ends_with(&end))
            }
            Self::Exists => Value::Boolean(is_there(arguments.0.pop())),
            Self::Empty => Value::Boolean(!is_there(arguments.0.pop())),
            Self::StringJoin => {
                let between = arguments.pop_string()?;
                let texts = match arguments.0.pop() {
                    Some(Value::Nodeset(nodes)) => {
                        let nodes = nodes.document_order();
                        nodes
                            .iter()
                            .map(sxd_xpath::nodeset::Node::string_value)
                            .collect()
                    }
                    Some(value) => vec![value.into_string()],
                    None => Vec::new(),
                };
                Value::String(texts.join(&between))
            }
        })
    }
}
