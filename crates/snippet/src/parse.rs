//! From tokens to a tree: one parser for the family of Java.
//!
//! The languages share nearly all of their statements and operators; where they differ, the
//! parser asks which one it reads.

mod expression;
mod primary;
mod statement;
mod types;

use std::sync::Arc;

use crate::syntax::{Code, Function, Statement};
use crate::token::{Kind, Token, tokens};
use crate::{Language, SyntaxError};

/// Deepest nesting of statements, brackets and references in texts.
const DEPTH_MAX: u32 = 60;

/// What a script is made of.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) statements: Vec<Statement>,
    pub(crate) closures: Vec<Code>,
    pub(crate) functions: Vec<Function>,
}

/// Reads a script.
pub(crate) fn parse(source: &str, language: Language) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser {
        tokens: tokens(source, language, 1)?,
        at: 0,
        language,
        depth: 0,
        parsed: Parsed::default(),
    };
    let statements = parser.statements_until_end()?;
    parser.parsed.statements = statements;
    Ok(parser.parsed)
}

struct Parser {
    /// The last one is [`Kind::End`].
    tokens: Vec<Token>,
    at: usize,
    language: Language,
    depth: u32,
    parsed: Parsed,
}

impl Parser {
    fn token(&self) -> &Token {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + by).min(last)]
    }

    fn line(&self) -> u32 {
        self.token().line
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_sign(&self, sign: &str) -> bool {
        is_sign(self.token(), sign)
    }

    fn is_word(&self, word: &str) -> bool {
        is_word(self.token(), word)
    }

    fn is_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn takes(&mut self, sign: &str) -> bool {
        let takes = self.is_sign(sign);
        if takes {
            self.advance();
        }
        takes
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let takes = self.is_word(word);
        if takes {
            self.advance();
        }
        takes
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), SyntaxError> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("\"{sign}\" was expected")))
    }

    fn name(&mut self) -> Result<Arc<str>, SyntaxError> {
        if let Kind::Name(name) = &self.token().kind {
            let name = Arc::clone(name);
            self.advance();
            return Ok(name);
        }
        Err(self.unexpected("a name was expected"))
    }

    fn unexpected(&self, says: &str) -> SyntaxError {
        let found = match &self.token().kind {
            Kind::Literal(_) | Kind::Interpolated(_) => "a value".to_owned(),
            Kind::Name(name) => name.to_string(),
            Kind::Sign(sign) => (*sign).to_owned(),
            Kind::End => "the end".to_owned(),
        };
        SyntaxError::new(self.line(), format!("unexpected {found}: {says}"))
    }

    /// Whether the statement may go on with this token.
    fn goes_on(&self) -> bool {
        !(self.language.ends_at_lines() && self.token().begins_line)
    }

    /// Runs a part of the parser one level deeper.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SyntaxError::new(
                self.line(),
                "the script is nested too deep",
            ));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }
}

fn is_sign(token: &Token, sign: &str) -> bool {
    matches!(token.kind, Kind::Sign(found) if found == sign)
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(&token.kind, Kind::Name(name) if **name == *word)
}
