//! Whether a condition of a configuration holds, as far as that is known.

use super::Scope;

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unsure,
}

impl Truth {
    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(super) fn turned(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unsure => Self::Unsure,
        }
    }

    /// Where lines stand in a section with this condition.
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::Yes => Scope::Whole,
            Self::No => Scope::Nothing,
            Self::Unsure => Scope::Perhaps,
        }
    }
}

/// The condition of `<IfVersion>` for a server of a version: an operator, `=` when there is none,
/// and up to three numbers (manual of `mod_version`). Regular expressions are not understood.
pub(super) fn of_version(words: &[&str], version: Option<[u64; 3]>) -> Truth {
    let (operator, number) = match words {
        [number] => ("=", *number),
        [operator, number] => (*operator, *number),
        _ => return Truth::Unsure,
    };
    let (operator, is_wanted) = operator
        .strip_prefix('!')
        .map_or((operator, true), |operator| (operator, false));
    let (Some(own), Some(asked)) = (version, numbers(number)) else {
        return Truth::Unsure;
    };
    let holds = match operator {
        "=" | "==" | "" => own == asked,
        ">" => own > asked,
        ">=" => own >= asked,
        "<" => own < asked,
        "<=" => own <= asked,
        _ => return Truth::Unsure,
    };
    Truth::of(holds == is_wanted)
}

/// `2.4.62`; numbers that are missing are 0.
pub(super) fn numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let mut parts = text.split('.');
    for number in &mut numbers {
        match parts.next() {
            Some(part) => *number = part.parse().ok()?,
            None => break,
        }
    }
    parts.next().is_none().then_some(numbers)
}
