//! What operators stand between: literals, names, lists and maps, objects, closures, texts with
//! code in them.

use std::sync::Arc;

use super::types::{is_primitive, is_reserved};
use super::{Parser, is_sign};
use crate::syntax::{Code, Expression, ExpressionKind as Kind};
use crate::token::{Kind as TokenKind, Literal, Piece, tokens};
use crate::{Language, SyntaxError};

impl Parser {
    pub(super) fn primary(&mut self) -> Result<Expression, SyntaxError> {
        let token = self.token().clone();
        let line = token.line;
        let kind = match token.kind {
            TokenKind::Literal(literal) => {
                self.advance();
                Kind::Literal(literal)
            }
            TokenKind::Interpolated(pieces) => {
                self.advance();
                self.interpolated(pieces, line)?
            }
            TokenKind::Sign("(") => {
                self.advance();
                let inside = self.expression()?;
                self.expect(")")?;
                return Ok(inside);
            }
            TokenKind::Sign("[") => self.list_or_map("]")?,
            TokenKind::Sign("{") if self.language == Language::Groovy => {
                return self.closure();
            }
            TokenKind::Sign("{") if self.language.is_jexl() => self.list_or_map("}")?,
            TokenKind::Name(name) => return self.named(&name, line),
            _ => return Err(self.unexpected("an expression was expected")),
        };
        Expression::new(kind, line)
    }

    fn named(&mut self, name: &Arc<str>, line: u32) -> Result<Expression, SyntaxError> {
        if &**name == "new" && !is_sign(self.ahead(1), "(") {
            self.advance();
            let kind = self.creation()?;
            return Expression::new(kind, line);
        }
        if is_primitive(name) && is_sign(self.ahead(1), ".") {
            self.advance();
            return Expression::new(Kind::Class(Arc::clone(name)), line);
        }
        if is_reserved(name) && !(self.language.is_jexl() || &**name == "in") {
            return Err(self.unexpected("an expression was expected"));
        }
        self.advance();
        let is_call = self.is_sign("(") && self.goes_on();
        let kind = match is_call
            .then(|| self.call_arguments())
            .transpose()?
            .flatten()
        {
            Some(arguments) => Kind::Call {
                name: Arc::clone(name),
                arguments,
            },
            None => Kind::Name(Arc::clone(name)),
        };
        Expression::new(kind, line)
    }

    /// What follows `new`.
    fn creation(&mut self) -> Result<Kind, SyntaxError> {
        let mut class = self.name()?.to_string();
        while self.takes(".") {
            class.push('.');
            class.push_str(&self.name()?);
        }
        let class: Arc<str> = class.into();
        if let Some(length) = self.angle_brackets() {
            for _ in 0..length {
                self.advance();
            }
        }
        if self.is_sign("[") {
            return self.new_array(class);
        }
        let arguments = self.arguments()?;
        if self.is_sign("{") && self.goes_on() {
            return Err(self.unexpected("classes without names are not known"));
        }
        Ok(Kind::New { class, arguments })
    }

    /// The tokens of `<…>` or `<>` after the class.
    fn angle_brackets(&self) -> Option<usize> {
        if !self.is_sign("<") {
            return None;
        }
        let mut open = 0_i32;
        (0..40).find_map(|length| {
            open += match &self.ahead(length).kind {
                TokenKind::Sign("<") => 1,
                TokenKind::Sign(">") => -1,
                TokenKind::Sign(">>") => -2,
                TokenKind::Sign(">>>") => -3,
                _ => 0,
            };
            (open <= 0).then_some(length + 1)
        })
    }

    fn new_array(&mut self, class: Arc<str>) -> Result<Kind, SyntaxError> {
        let mut lengths = Vec::new();
        while self.is_sign("[") {
            self.advance();
            if self.takes("]") {
                continue;
            }
            lengths.push(self.expression()?);
            self.expect("]")?;
        }
        if lengths.is_empty() {
            let items = self.braced_items()?;
            return Ok(Kind::Array { class, items });
        }
        Ok(Kind::NewArray { class, lengths })
    }

    /// Reads `{1, 2}`.
    pub(super) fn braced_items(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        self.expect("{")?;
        let mut items = Vec::new();
        while !self.takes("}") {
            if !items.is_empty() {
                self.expect(",")?;
                if self.takes("}") {
                    break;
                }
            }
            items.push(self.expression()?);
        }
        Ok(items)
    }

    pub(super) fn is_map_of_jexl(&self) -> bool {
        let is_key = matches!(
            self.ahead(1).kind,
            TokenKind::Literal(_) | TokenKind::Name(_)
        );
        self.language.is_jexl()
            && ((is_key && is_sign(self.ahead(2), ":")) || is_sign(self.ahead(1), ":"))
    }

    /// Reads `[1, 2]`, `[a: 1]`, `[:]`, and the same in braces.
    fn list_or_map(&mut self, end: &'static str) -> Result<Kind, SyntaxError> {
        self.advance();
        if is_sign(self.token(), ":") && is_sign(self.ahead(1), end) {
            self.advance();
            self.advance();
            return Ok(Kind::Map(Vec::new()));
        }
        let mut items = Vec::new();
        let mut entries = Vec::new();
        while !self.takes(end) {
            if !(items.is_empty() && entries.is_empty()) {
                self.expect(",")?;
                if self.takes(end) {
                    break;
                }
            }
            let key = self.key()?;
            if self.takes(":") {
                entries.push((key, self.expression()?));
            } else {
                items.push(key);
            }
        }
        match (items.is_empty(), entries.is_empty()) {
            (_, true) => Ok(Kind::List(items)),
            (true, false) => Ok(Kind::Map(entries)),
            (false, false) => Err(self.unexpected("a list with keys for some of its items")),
        }
    }

    /// An item of a list, or the key of a map: a bare name is a text.
    fn key(&mut self) -> Result<Expression, SyntaxError> {
        if let TokenKind::Name(name) = &self.token().kind
            && is_sign(self.ahead(1), ":")
            && self.language == Language::Groovy
        {
            let key = Literal::Text(Arc::clone(name));
            let line = self.line();
            self.advance();
            return Expression::new(Kind::Literal(key), line);
        }
        self.expression()
    }

    fn interpolated(&mut self, pieces: Vec<Piece>, line: u32) -> Result<Kind, SyntaxError> {
        let mut parts = Vec::new();
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Expression::new(Kind::Literal(Literal::Text(text)), line)?,
                Piece::Code(code) => self.code(&code, line)?,
            });
        }
        Ok(Kind::Interpolated(parts))
    }

    /// An expression that stands in a text.
    fn code(&mut self, code: &str, line: u32) -> Result<Expression, SyntaxError> {
        let tokens = tokens(code, self.language, line)?;
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let at = std::mem::take(&mut self.at);
        let parsed = if self.is_end() {
            Expression::new(Kind::Literal(Literal::Null), line)
        } else {
            self.expression()
        };
        let rest = if self.is_end() {
            Ok(())
        } else {
            Err(self.unexpected("the reference in the text does not end here"))
        };
        self.tokens = outer;
        self.at = at;
        let parsed = parsed?;
        rest?;
        Ok(parsed)
    }

    /// Reads `{ a, b -> … }`.
    pub(super) fn closure(&mut self) -> Result<Expression, SyntaxError> {
        let line = self.line();
        self.expect("{")?;
        let parameters = if self.has_parameters(0) {
            Some(self.parameters("->")?)
        } else {
            None
        };
        let body = self.nested(Self::rest_of_block)?;
        self.parsed.closures.push(Code { parameters, body });
        Expression::new(Kind::Closure(self.parsed.closures.len() - 1), line)
    }

    /// Whether names and an arrow come after so many tokens.
    pub(super) fn has_parameters(&self, from: usize) -> bool {
        for ahead in 0..60 {
            match &self.ahead(from + ahead).kind {
                TokenKind::Sign("->") => return true,
                TokenKind::Sign("," | "<" | ">" | "." | "[" | "]" | "=")
                | TokenKind::Name(_)
                | TokenKind::Literal(_) => {}
                _ => return false,
            }
        }
        false
    }
}
