//! Where types stand: in declarations, casts and definitions.

use super::{Parser, is_sign};
use crate::syntax::Type;
use crate::token::Kind;
use crate::{Language, SyntaxError};

const PRIMITIVES: [&str; 9] = [
    "boolean", "byte", "char", "double", "float", "int", "long", "short", "void",
];

/// Words that no variable is named by.
const WORDS: [&str; 24] = [
    "assert",
    "break",
    "case",
    "catch",
    "continue",
    "def",
    "do",
    "else",
    "finally",
    "for",
    "if",
    "import",
    "in",
    "instanceof",
    "new",
    "package",
    "return",
    "switch",
    "synchronized",
    "throw",
    "try",
    "while",
    "final",
    "as",
];

pub(super) fn is_primitive(name: &str) -> bool {
    PRIMITIVES.contains(&name)
}

pub(super) fn is_reserved(name: &str) -> bool {
    WORDS.contains(&name)
}

fn begins_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

impl Parser {
    /// Whether a name of a class stands here by its look: primitive, or its last part is in upper
    /// case. The answer is the number of tokens with what is in angle brackets and the brackets of
    /// arrays.
    pub(super) fn type_length(&self, from: usize) -> Option<usize> {
        let Kind::Name(first) = &self.ahead(from).kind else {
            return None;
        };
        let mut length = 1;
        let mut last = first;
        while is_sign(self.ahead(from + length), ".")
            && let Kind::Name(name) = &self.ahead(from + length + 1).kind
            && !begins_upper(last)
        {
            last = name;
            length += 2;
        }
        if !(is_primitive(last) || begins_upper(last)) {
            return None;
        }
        length += self.generics_length(from + length)?;
        while is_sign(self.ahead(from + length), "[") && is_sign(self.ahead(from + length + 1), "]")
        {
            length += 2;
        }
        Some(length)
    }

    /// The tokens of `<…>`, if it stands there and is closed.
    fn generics_length(&self, from: usize) -> Option<usize> {
        if !is_sign(self.ahead(from), "<") {
            return Some(0);
        }
        let mut open = 0_i32;
        for length in 0..40 {
            open += match &self.ahead(from + length).kind {
                Kind::Sign("<") => 1,
                Kind::Sign(">") => -1,
                Kind::Sign(">>") => -2,
                Kind::Sign(">>>") => -3,
                Kind::Sign("," | "." | "?" | "[" | "]" | "&") | Kind::Name(_) => 0,
                _ => return None,
            };
            if open <= 0 {
                return Some(length + 1);
            }
        }
        None
    }

    /// Reads a type; what stands in angle brackets does not matter.
    pub(super) fn written_type(&mut self) -> Result<Type, SyntaxError> {
        let mut class = self.name()?.to_string();
        while self.is_sign(".") && matches!(self.ahead(1).kind, Kind::Name(_)) {
            self.advance();
            class.push('.');
            class.push_str(&self.name()?);
        }
        let generics = self.generics_length(0).unwrap_or(0);
        for _ in 0..generics {
            self.advance();
        }
        let mut arrays = 0;
        while self.is_sign("[") && is_sign(self.ahead(1), "]") {
            self.advance();
            self.advance();
            arrays += 1;
        }
        Ok(Type {
            class: class.into(),
            arrays,
        })
    }

    /// Whether a declaration of variables with a type begins here.
    pub(super) fn is_typed_declaration(&self) -> bool {
        let Some(length) = self.type_length(0) else {
            return false;
        };
        let Kind::Name(name) = &self.ahead(length).kind else {
            return false;
        };
        if is_reserved(name) {
            return false;
        }
        let ends_line = self.language == Language::Groovy && self.ahead(length + 1).begins_line;
        ends_line
            || matches!(
                self.ahead(length + 1).kind,
                Kind::Sign("=" | ";" | "," | ":" | "[" | "}") | Kind::End
            )
            || super::is_word(self.ahead(length + 1), "in")
    }

    /// Whether a function is defined here: the tokens before its name.
    pub(super) fn definition_prefix(&self) -> Option<usize> {
        let mut prefix = 0;
        while let Kind::Name(word) = &self.ahead(prefix).kind
            && matches!(
                &**word,
                "public" | "private" | "protected" | "static" | "final" | "def"
            )
        {
            prefix += 1;
        }
        let length = self.type_length(prefix);
        let prefix = match length {
            Some(length) if matches!(self.ahead(prefix + length).kind, Kind::Name(_)) => {
                prefix + length
            }
            _ => prefix,
        };
        let Kind::Name(name) = &self.ahead(prefix).kind else {
            return None;
        };
        let is_bare = prefix == 0 && self.language != Language::BeanShell;
        if is_reserved(name) || is_bare || !is_sign(self.ahead(prefix + 1), "(") {
            return None;
        }
        let close = self.closing(prefix + 1)?;
        is_sign(self.ahead(close + 1), "{").then_some(prefix)
    }

    /// The place of the bracket that closes the one at this place.
    pub(super) fn closing(&self, from: usize) -> Option<usize> {
        let mut open = 0_usize;
        for place in from.. {
            match &self.ahead(place).kind {
                Kind::Sign("(" | "[" | "{") => open += 1,
                Kind::Sign(")" | "]" | "}") => {
                    open = open.checked_sub(1)?;
                    if open == 0 {
                        return Some(place);
                    }
                }
                Kind::End => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether a cast begins at this bracket.
    pub(super) fn is_cast(&self) -> bool {
        let Some(length) = self.type_length(1) else {
            return false;
        };
        if !is_sign(self.ahead(1 + length), ")") {
            return false;
        }
        let is_primitive = matches!(&self.ahead(1).kind, Kind::Name(name) if is_primitive(name));
        match &self.ahead(2 + length).kind {
            Kind::Literal(_) | Kind::Interpolated(_) | Kind::Sign("(" | "!" | "~" | "[") => true,
            Kind::Name(name) => !is_reserved(name) || &**name == "new",
            Kind::Sign("+" | "-") => is_primitive,
            _ => false,
        }
    }
}
