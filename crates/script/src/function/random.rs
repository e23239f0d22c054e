//! Chance, from the user's own source.

use rand::{Rng as _, RngExt as _};

use super::{Answer, Argument, Call, CallError, Function, Known, Name, Prepared};
use super::{dates, not_a_number, push};
use crate::Scope;

/// Longest text of `__RandomString`, in characters.
const LENGTH_MAX: i32 = 1 << 24;

/// Most values of one variable that `__RandomFromMultipleVars` looks at.
const VALUES_MAX: i32 = 1_000_000;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__Random", (2, 3), Answer::Changes, |call, scope, out| {
        let range = match &call.prepared {
            Prepared::Range(range) => Ok(*range),
            _ => Range::read(&call.argument(0, scope), &call.argument(1, scope)),
        };
        match range {
            Ok(Range { min, max }) => push(out, scope.random.random_range(min..=max)),
            Err(says) => scope.fail(says),
        }
    })
    .stores(2, Name::Trimmed)
    .prepares(prepare_range),
    Function::new("__RandomString", (1, 3), Answer::Changes, text).stores(2, Name::Trimmed),
    Function::new("__RandomDate", (3, 5), Answer::Changes, dates::random)
        .stores(4, Name::Trimmed)
        .prepares(dates::prepare_random),
    Function::new(
        "__RandomFromMultipleVars",
        (1, 2),
        Answer::Changes,
        variable,
    )
    .stores(1, Name::Trimmed),
    Function::new("__UUID", (0, 0), Answer::Changes, |_, scope, out| {
        push_uuid(scope, out);
    }),
];

/// Both ends are included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    min: i64,
    max: i64,
}

impl Range {
    fn read(min: &str, max: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().map_err(|_| not_a_number(text));
        let (min, max) = (number(min)?, number(max)?);
        // Java draws below the number after the maximum, which the largest number does not have.
        if min > max || max == i64::MAX {
            let says = "java.lang.IllegalArgumentException: bound must be greater than origin";
            return Err(says.to_owned());
        }
        Ok(Self { min, max })
    }
}

fn prepare_range(arguments: &[Argument], _: &Known<'_>) -> Result<Prepared, CallError> {
    for (argument, what) in arguments.iter().zip(["minimum", "maximum"]) {
        if let Some(text) = argument.constant()
            && text.trim().parse::<i64>().is_err()
        {
            let says = format!("the {what} of __Random is \"{text}\"");
            return Err(CallError::new(says).instead("write a whole number"));
        }
    }
    let (Some(min), Some(max)) = (arguments[0].constant(), arguments[1].constant()) else {
        return Ok(Prepared::Nothing);
    };
    match Range::read(min, max) {
        Ok(range) => Ok(Prepared::Range(range)),
        Err(_) => Err(CallError::new(format!(
            "__Random has a minimum of {min} above its maximum of {max}"
        ))
        .instead("swap the two")),
    }
}

fn text(call: &Call, scope: &mut Scope, out: &mut String) {
    let length = call.argument(0, scope);
    let Ok(length) = length.parse::<i32>() else {
        return scope.fail(not_a_number(&length));
    };
    if !(0..=LENGTH_MAX).contains(&length) {
        let says = "java.lang.IllegalArgumentException: Requested random string length";
        return scope.fail(format!("{says} {length} is not in 0 to {LENGTH_MAX}"));
    }
    let chars: Vec<char> = call.argument(1, scope).chars().collect();
    for _ in 0..length {
        let c = if chars.is_empty() {
            any_char(scope)
        } else {
            chars[scope.random.random_range(0..chars.len())]
        };
        out.push(c);
    }
}

/// Any character, as in Java: most of them cannot be seen.
fn any_char(scope: &mut Scope) -> char {
    loop {
        let code = scope.random.random_range(1..=u32::from(char::MAX));
        if let Some(c) = char::from_u32(code) {
            return c;
        }
    }
}

/// One of all values of several variables; a variable that an extractor filled has many.
fn variable(call: &Call, scope: &mut Scope, out: &mut String) {
    let names = call.argument(0, scope);
    let mut values: Vec<&str> = Vec::new();
    for name in names.trim().split('|').filter(|name| !name.is_empty()) {
        let name = name.trim();
        let variables = &scope.variables;
        let count = variables.get(&format!("{name}_matchNr"));
        let count = match count.map(|text| text.trim().parse::<i32>().map_err(|_| text)) {
            Some(Ok(count)) => count,
            Some(Err(text)) => {
                let says = not_a_number(text);
                return scope.fail(says);
            }
            None => 0,
        };
        if count > 0 {
            let each = (1..=count.min(VALUES_MAX)).map(|n| format!("{name}_{n}"));
            // One that is missing is among them, as Java writes it.
            values.extend(each.map(|name| variables.get(&name).unwrap_or("null")));
        } else {
            values.extend(variables.get(name).filter(|value| !value.is_empty()));
        }
    }
    if !values.is_empty() {
        out.push_str(values[scope.random.random_range(0..values.len())]);
    }
}

/// RFC 9562, section 5.4: 122 random bits, version 4, variant 10.
fn push_uuid(scope: &mut Scope, out: &mut String) {
    let bits = (u128::from(scope.random.next_u64()) << 64) | u128::from(scope.random.next_u64());
    let version = (bits & !(0xf << 76)) | (0x4 << 76);
    let variant = (version & !(0b11 << 62)) | (0b10 << 62);
    let field = |shift: u32, digits: u32| (variant >> shift) & ((1 << (4 * digits)) - 1);
    push(
        out,
        format_args!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            field(96, 8),
            field(80, 4),
            field(64, 4),
            field(48, 4),
            field(0, 12)
        ),
    );
}
