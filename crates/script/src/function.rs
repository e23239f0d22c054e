//! The functions that a text may call, each with JMeter's exact meaning.
//!
//! A function is compiled once; whatever its arguments can get wrong is found then, so that
//! rendering never fails. Functions that read something are listed in [`compile`]; a name that is
//! not there is a problem of the plan, although JMeter would send it as it stands.

use std::fmt::Write as _;

use rand::{Rng as _, RngExt as _};

use crate::parse::Call;
use crate::text::{Piece, render_pieces};
use crate::{Properties, Scope};

/// A compiled call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Function {
    /// `__P(name,default)` and `__property(name,variable,default)` whose answer is not known yet.
    Property {
        name: Vec<Piece>,
        otherwise: Vec<Piece>,
    },
    /// `__threadNum`.
    ThreadNum,
    /// `__threadGroupName`.
    ThreadGroupName,
    /// `__Random(min,max,variable)`, both ends included.
    Random { min: i64, max: i64 },
    /// `__time(/divisor,variable)`.
    Time { divisor: i64 },
    /// `__UUID`: random, version 4.
    Uuid,
    /// Keeps the answer in a variable too.
    Store {
        answer: Vec<Piece>,
        variable: Box<str>,
    },
}

/// What is wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallError {
    pub(crate) says: String,
    pub(crate) instead: Option<String>,
}

impl CallError {
    fn new(says: String, instead: impl Into<String>) -> Self {
        Self {
            says,
            instead: Some(instead.into()),
        }
    }
}

/// The functions and the number of arguments that JMeter accepts.
const FUNCTIONS: [(&str, usize, usize); 7] = [
    ("__P", 1, 2),
    ("__Random", 2, 3),
    ("__UUID", 0, 0),
    ("__property", 1, 3),
    ("__threadGroupName", 0, 0),
    ("__threadNum", 0, 0),
    ("__time", 0, 2),
];

/// Compiles a call whose arguments are compiled already, into pieces.
pub(crate) fn compile(
    function: &str,
    mut arguments: Vec<Vec<Piece>>,
    properties: &Properties,
) -> Result<Vec<Piece>, CallError> {
    check_count(function, arguments.len())?;
    let mut take = |index: usize| arguments.get_mut(index).map(std::mem::take);
    match function {
        "__P" => {
            let name = take(0).unwrap_or_default();
            let otherwise = take(1).unwrap_or_else(|| vec![Piece::literal("1")]);
            Ok(property(name, otherwise, properties))
        }
        "__property" => {
            let name = take(0).unwrap_or_default();
            let otherwise = take(2).unwrap_or_else(|| name.clone());
            let store = constant(function, "variable", take(1))?;
            Ok(stored(property(name, otherwise, properties), &store))
        }
        "__threadNum" => Ok(vec![Piece::Function(Function::ThreadNum)]),
        "__threadGroupName" => Ok(vec![Piece::Function(Function::ThreadGroupName)]),
        "__Random" => {
            let min = integer(function, "minimum", take(0))?;
            let max = integer(function, "maximum", take(1))?;
            let store = constant(function, "variable", take(2))?;
            if min > max {
                let says = format!("{function} has a minimum of {min} above its maximum of {max}");
                return Err(CallError::new(says, "swap the two"));
            }
            let answer = vec![Piece::Function(Function::Random { min, max })];
            Ok(stored(answer, store.trim()))
        }
        "__time" => {
            let format = constant(function, "format", take(0))?;
            let store = constant(function, "variable", take(1))?;
            let divisor = time_divisor(&format)?;
            Ok(stored(
                vec![Piece::Function(Function::Time { divisor })],
                store.trim(),
            ))
        }
        _ => Ok(vec![Piece::Function(Function::Uuid)]),
    }
}

/// The variable that a call sets, if it sets one.
pub(crate) fn variable_set(call: &Call) -> Option<&[crate::parse::Part]> {
    let index = match call.function.as_str() {
        "__property" | "__time" => 1,
        "__Random" => 2,
        _ => return None,
    };
    let variable = call.arguments.get(index)?;
    (!variable.is_empty()).then_some(variable)
}

fn check_count(function: &str, count: usize) -> Result<(), CallError> {
    let Some((_, least, most)) = FUNCTIONS.iter().find(|(name, ..)| *name == function) else {
        let names: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        return Err(CallError::new(
            format!("the function {function} is not supported"),
            format!("supported are {}", names.join(", ")),
        ));
    };
    if (*least..=*most).contains(&count) {
        return Ok(());
    }
    let takes = match (least, most) {
        (0, 0) => "takes no argument".to_owned(),
        _ => format!("takes {least} to {most} arguments"),
    };
    Err(CallError {
        says: format!("the function {function} has {count} arguments, but {takes}"),
        instead: None,
    })
}

fn property(name: Vec<Piece>, otherwise: Vec<Piece>, properties: &Properties) -> Vec<Piece> {
    match crate::text::constant(&name) {
        Some(name) => match properties.get(&name) {
            Some(value) => Piece::literals(value),
            None => otherwise,
        },
        None => vec![Piece::Function(Function::Property { name, otherwise })],
    }
}

fn stored(answer: Vec<Piece>, variable: &str) -> Vec<Piece> {
    if variable.is_empty() {
        return answer;
    }
    vec![Piece::Function(Function::Store {
        answer,
        variable: variable.into(),
    })]
}

fn constant(
    function: &str,
    argument: &str,
    pieces: Option<Vec<Piece>>,
) -> Result<String, CallError> {
    let pieces = pieces.unwrap_or_default();
    crate::text::constant(&pieces).ok_or_else(|| {
        CallError::new(
            format!("the {argument} of {function} changes while the test runs"),
            "write a text, a property or a user-defined variable",
        )
    })
}

fn integer(function: &str, argument: &str, pieces: Option<Vec<Piece>>) -> Result<i64, CallError> {
    let text = constant(function, argument, pieces)?;
    text.trim().parse().map_err(|_| {
        CallError::new(
            format!("the {argument} of {function} is \"{text}\""),
            "write a whole number",
        )
    })
}

/// JMeter: no format is milliseconds, `/n` divides them by n, anything else is a date format.
fn time_divisor(format: &str) -> Result<i64, CallError> {
    if format.is_empty() {
        return Ok(1);
    }
    let divisor = format.strip_prefix('/').and_then(|n| n.parse::<u32>().ok());
    match divisor {
        Some(divisor) if divisor > 0 => Ok(i64::from(divisor)),
        _ => Err(CallError::new(
            format!("the format \"{format}\" of __time is not supported"),
            "use no format for milliseconds or /1000 for seconds",
        )),
    }
}

impl Function {
    /// Appends the answer of the call.
    pub(crate) fn render(&self, scope: &mut Scope, out: &mut String) {
        match self {
            Self::Property { name, otherwise } => {
                let mut key = String::new();
                render_pieces(name, scope, &mut key);
                match scope.variables.properties().get(&key) {
                    Some(value) => out.push_str(value),
                    None => render_pieces(otherwise, scope, out),
                }
            }
            Self::ThreadNum => push(out, scope.user),
            Self::ThreadGroupName => out.push_str(&scope.group),
            Self::Random { min, max } => push(out, scope.random.random_range(*min..=*max)),
            Self::Time { divisor } => push(out, scope.epoch_ms / divisor),
            Self::Uuid => push_uuid(scope, out),
            Self::Store { answer, variable } => {
                let start = out.len();
                render_pieces(answer, scope, out);
                scope.variables.set(variable, &out[start..]);
            }
        }
    }
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("writing to a String never fails");
}

/// RFC 9562, section 5.4: 122 random bits, version 4, variant 10.
fn push_uuid(scope: &mut Scope, out: &mut String) {
    let bits = (u128::from(scope.random.next_u64()) << 64) | u128::from(scope.random.next_u64());
    let version = (bits & !(0xf << 76)) | (0x4 << 76);
    let variant = (version & !(0b11 << 62)) | (0b10 << 62);
    let field = |shift: u32, digits: u32| (variant >> shift) & ((1 << (4 * digits)) - 1);
    write!(
        out,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        field(96, 8),
        field(80, 4),
        field(64, 4),
        field(48, 4),
        field(0, 12)
    )
    .expect("writing to a String never fails");
}
