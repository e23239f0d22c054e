//! Expressions, by the strength of their operators, and what hangs on an operand: members,
//! elements, calls.

use std::sync::Arc;

use super::{Parser, is_sign, is_word};
use crate::syntax::{Access, Expression, ExpressionKind as Kind, Operator, Unary};
use crate::token::{Kind as TokenKind, Literal};
use crate::{Language, SyntaxError};

/// What stands between two operands.
enum Infix {
    Operator(Operator),
    And,
    Or,
    Range { inclusive: bool },
    IsInstance,
    IsNotInstance,
    As,
}

/// Where names of whole classes begin.
const PACKAGES: [&str; 10] = [
    "java", "javax", "org", "com", "net", "io", "groovy", "kg", "us", "jakarta",
];

const UNARY: u8 = 14;

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expression, SyntaxError> {
        self.nested(Self::assignment)
    }

    fn boxed(left: Expression, right: Expression) -> Box<(Expression, Expression)> {
        Box::new((left, right))
    }

    fn assignment(&mut self) -> Result<Expression, SyntaxError> {
        let left = self.choice()?;
        let line = self.line();
        let operator = match &self.token().kind {
            TokenKind::Sign("=") => None,
            TokenKind::Sign("+=") => Some(Operator::Plus),
            TokenKind::Sign("-=") => Some(Operator::Minus),
            TokenKind::Sign("*=") => Some(Operator::Times),
            TokenKind::Sign("/=") => Some(Operator::Divide),
            TokenKind::Sign("%=") => Some(Operator::Remainder),
            TokenKind::Sign("&=") => Some(Operator::BitAnd),
            TokenKind::Sign("|=") => Some(Operator::BitOr),
            TokenKind::Sign("^=") => Some(Operator::BitXor),
            TokenKind::Sign("<<=") => Some(Operator::ShiftLeft),
            TokenKind::Sign(">>=") => Some(Operator::ShiftRight),
            TokenKind::Sign(">>>=") => Some(Operator::ShiftRightUnsigned),
            TokenKind::Sign("**=") => Some(Operator::Power),
            _ => return Ok(left),
        };
        if !matches!(
            left.kind,
            Kind::Name(_) | Kind::Property { .. } | Kind::Index(_)
        ) {
            return Err(self.unexpected("nothing can be assigned to what stands before it"));
        }
        self.advance();
        let right = self.expression()?;
        let places = Self::boxed(left, right);
        Expression::new(Kind::Assign { operator, places }, line)
    }

    fn choice(&mut self) -> Result<Expression, SyntaxError> {
        let condition = self.binary(0)?;
        let line = self.line();
        if self.takes("?:") {
            let other = self.expression()?;
            return Expression::new(Kind::Elvis(Self::boxed(condition, other)), line);
        }
        if !self.takes("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        Expression::new(Kind::Choice(Box::new((condition, then, otherwise))), line)
    }

    /// The operator here, how strong it binds, and how many tokens it has.
    fn infix(&self) -> Option<(Infix, u8, usize)> {
        let token = self.token();
        if !self.goes_on() && (is_sign(token, "+") || is_sign(token, "-")) {
            return None;
        }
        let one = |infix, strength| Some((infix, strength, 1));
        let operator = |operator, strength| Some((Infix::Operator(operator), strength, 1));
        match &token.kind {
            TokenKind::Sign(sign) => match *sign {
                "||" => one(Infix::Or, 3),
                "&&" => one(Infix::And, 4),
                "|" => operator(Operator::BitOr, 5),
                "^" => operator(Operator::BitXor, 6),
                "&" => operator(Operator::BitAnd, 7),
                "==" => operator(Operator::Equal, 8),
                "!=" => operator(Operator::NotEqual, 8),
                "===" => operator(Operator::Same, 8),
                "!==" => operator(Operator::NotSame, 8),
                "<=>" => operator(Operator::Compare, 8),
                "=~" if self.language.is_jexl() => operator(Operator::Match, 8),
                "!~" => operator(Operator::NotMatch, 8),
                "=~" => operator(Operator::Find, 8),
                "==~" => operator(Operator::Match, 8),
                "<" => operator(Operator::Less, 9),
                "<=" => operator(Operator::LessOrEqual, 9),
                ">" => operator(Operator::Greater, 9),
                ">=" => operator(Operator::GreaterOrEqual, 9),
                "!" if is_word(self.ahead(1), "in") => {
                    Some((Infix::Operator(Operator::NotIn), 9, 2))
                }
                "!" if is_word(self.ahead(1), "instanceof") => Some((Infix::IsNotInstance, 9, 2)),
                ".." => one(Infix::Range { inclusive: true }, 10),
                "..<" => one(Infix::Range { inclusive: false }, 10),
                "<<" => operator(Operator::ShiftLeft, 10),
                ">>" => operator(Operator::ShiftRight, 10),
                ">>>" => operator(Operator::ShiftRightUnsigned, 10),
                "+" => operator(Operator::Plus, 11),
                "-" => operator(Operator::Minus, 11),
                "*" => operator(Operator::Times, 12),
                "/" => operator(Operator::Divide, 12),
                "%" => operator(Operator::Remainder, 12),
                "**" => operator(Operator::Power, 15),
                _ => None,
            },
            TokenKind::Name(word) => self.word_operator(word),
            _ => None,
        }
    }

    fn word_operator(&self, word: &str) -> Option<(Infix, u8, usize)> {
        let operator = |operator, strength| Some((Infix::Operator(operator), strength, 1));
        match word {
            "instanceof" => Some((Infix::IsInstance, 9, 1)),
            "in" if self.language == Language::Groovy => operator(Operator::In, 9),
            "as" if self.language == Language::Groovy => Some((Infix::As, 9, 1)),
            _ if !self.language.is_jexl() => None,
            "or" => Some((Infix::Or, 3, 1)),
            "and" => Some((Infix::And, 4, 1)),
            "eq" => operator(Operator::Equal, 8),
            "ne" => operator(Operator::NotEqual, 8),
            "lt" => operator(Operator::Less, 9),
            "le" => operator(Operator::LessOrEqual, 9),
            "gt" => operator(Operator::Greater, 9),
            "ge" => operator(Operator::GreaterOrEqual, 9),
            "div" => operator(Operator::Divide, 12),
            "mod" => operator(Operator::Remainder, 12),
            _ => None,
        }
    }

    fn binary(&mut self, weakest: u8) -> Result<Expression, SyntaxError> {
        let mut left = self.unary()?;
        while let Some((infix, strength, length)) = self.infix() {
            if strength <= weakest {
                break;
            }
            let line = self.line();
            for _ in 0..length {
                self.advance();
            }
            let kind = match infix {
                Infix::IsInstance => Kind::IsInstance(self.written_type()?, Box::new(left)),
                Infix::IsNotInstance => {
                    let kind = Kind::IsInstance(self.written_type()?, Box::new(left));
                    Kind::Unary(Unary::Not, Box::new(Expression::new(kind, line)?))
                }
                Infix::As => Kind::As(self.written_type()?, Box::new(left)),
                Infix::Operator(Operator::Power) => {
                    // From right to left.
                    let right = self.nested(|parser| parser.binary(strength - 1))?;
                    Kind::Binary(Operator::Power, Self::boxed(left, right))
                }
                infix => {
                    let right = self.binary(strength)?;
                    let two = Self::boxed(left, right);
                    match infix {
                        Infix::And => Kind::And(two),
                        Infix::Or => Kind::Or(two),
                        Infix::Range { inclusive } => Kind::Range {
                            ends: two,
                            inclusive,
                        },
                        Infix::Operator(operator) => Kind::Binary(operator, two),
                        Infix::IsInstance | Infix::IsNotInstance | Infix::As => {
                            unreachable!("their right sides are types")
                        }
                    }
                }
            };
            left = Expression::new(kind, line)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, SyntaxError> {
        self.nested(Self::unary_here)
    }

    fn unary_here(&mut self) -> Result<Expression, SyntaxError> {
        let line = self.line();
        let unary = match &self.token().kind {
            TokenKind::Sign("!") => Some(Unary::Not),
            TokenKind::Sign("-") => Some(Unary::Negate),
            TokenKind::Sign("+") => Some(Unary::Plus),
            TokenKind::Sign("~") => Some(Unary::BitNot),
            TokenKind::Name(word) if &**word == "not" && self.language.is_jexl() => {
                Some(Unary::Not)
            }
            _ => None,
        };
        if let Some(unary) = unary {
            self.advance();
            let of = self.operand_of(unary)?;
            return Expression::new(Kind::Unary(unary, Box::new(of)), line);
        }
        for (sign, by) in [("++", 1), ("--", -1)] {
            if self.takes(sign) {
                let of = self.unary()?;
                return Self::step(of, by, true, line);
            }
        }
        if self.language.is_jexl()
            && let Some(kind) = self.size_or_empty()?
        {
            return Expression::new(kind, line);
        }
        if self.is_sign("(") && !self.language.is_jexl() && self.is_cast() {
            self.advance();
            let class = self.written_type()?;
            self.expect(")")?;
            let of = self.unary()?;
            return Expression::new(Kind::Cast(class, Box::new(of)), line);
        }
        let mut of = self.postfix()?;
        while self.goes_on() {
            let by = match &self.token().kind {
                TokenKind::Sign("++") => 1,
                TokenKind::Sign("--") => -1,
                _ => break,
            };
            self.advance();
            of = Self::step(of, by, false, line)?;
        }
        Ok(of)
    }

    /// `-2 ** 2` is `-(2 ** 2)`.
    fn operand_of(&mut self, unary: Unary) -> Result<Expression, SyntaxError> {
        if unary == Unary::Not {
            self.unary()
        } else {
            self.nested(|parser| parser.binary(UNARY))
        }
    }

    fn step(of: Expression, by: i8, is_prefix: bool, line: u32) -> Result<Expression, SyntaxError> {
        if !matches!(
            of.kind,
            Kind::Name(_) | Kind::Property { .. } | Kind::Index(_)
        ) {
            return Err(SyntaxError::new(line, "only variables can be counted up"));
        }
        let of = Box::new(of);
        Expression::new(Kind::Step { of, by, is_prefix }, line)
    }

    /// `size x`, `size(x)`, `empty x` of JEXL.
    fn size_or_empty(&mut self) -> Result<Option<Kind>, SyntaxError> {
        let is_size = self.is_word("size");
        if !(is_size || self.is_word("empty")) || is_sign(self.ahead(1), "=") {
            return Ok(None);
        }
        self.advance();
        let of = Box::new(self.unary()?);
        Ok(Some(if is_size {
            Kind::Size(of)
        } else {
            Kind::Empty(of)
        }))
    }

    fn postfix(&mut self) -> Result<Expression, SyntaxError> {
        let mut of = self.primary()?;
        loop {
            let line = self.line();
            let access = match &self.token().kind {
                TokenKind::Sign(".") => Some(Access::Plain),
                TokenKind::Sign("?.") => Some(Access::Safe),
                TokenKind::Sign("*.") => Some(Access::Spread),
                _ => None,
            };
            let kind = if let Some(access) = access {
                self.advance();
                self.member(of, access)?
            } else if self.is_sign("[") && self.goes_on() {
                self.advance();
                let mut index = self.expression()?;
                if self.is_sign(",") && self.language == Language::Groovy {
                    let mut several = vec![index];
                    while self.takes(",") {
                        several.push(self.expression()?);
                    }
                    index = Expression::new(Kind::List(several), line)?;
                }
                self.expect("]")?;
                Kind::Index(Self::boxed(of, index))
            } else if self.is_sign("(") && self.goes_on() && self.may_give_closure(&of) {
                // A closure that is called where it stands, or where it is given.
                let arguments = self.call_arguments()?.unwrap_or_default();
                Kind::CallMethod {
                    of: Box::new(of),
                    name: "call".into(),
                    access: Access::Plain,
                    arguments,
                }
            } else {
                return Ok(of);
            };
            of = Expression::new(kind, line)?;
        }
    }

    /// Whether what an expression gives can be called: not what is a text or number by its look.
    fn may_give_closure(&self, of: &Expression) -> bool {
        match &of.kind {
            Kind::Closure(_) | Kind::Index(_) => true,
            Kind::Call { .. }
            | Kind::CallMethod { .. }
            | Kind::Choice(_)
            | Kind::Elvis(_)
            | Kind::Cast(..)
            | Kind::As(..) => self.language == Language::Groovy,
            _ => false,
        }
    }

    /// What follows the dot.
    fn member(&mut self, of: Expression, access: Access) -> Result<Kind, SyntaxError> {
        let name: Arc<str> = match &self.token().kind {
            TokenKind::Name(name) => Arc::clone(name),
            TokenKind::Literal(Literal::Text(name)) if self.language == Language::Groovy => {
                Arc::clone(name)
            }
            // JEXL: an element by its number.
            TokenKind::Literal(Literal::Int(at)) if self.language.is_jexl() => {
                let index = Expression::new(Kind::Literal(Literal::Int(*at)), self.line())?;
                self.advance();
                return Ok(Kind::Index(Self::boxed(of, index)));
            }
            _ => return Err(self.unexpected("a name was expected")),
        };
        self.advance();
        if let Kind::Name(root) = &of.kind
            && access == Access::Plain
            && PACKAGES.contains(&&**root)
            && !self.is_sign("(")
        {
            return self.class(&format!("{root}.{name}"));
        }
        if let Some(arguments) = self.call_arguments()? {
            return Ok(Kind::CallMethod {
                of: Box::new(of),
                name,
                access,
                arguments,
            });
        }
        Ok(Kind::Property {
            of: Box::new(of),
            name,
            access,
        })
    }

    /// The rest of a class's whole name, up to the part in upper case.
    fn class(&mut self, begins: &str) -> Result<Kind, SyntaxError> {
        let mut name = begins.to_owned();
        while !ends_in_class(&name) {
            if !self.takes(".") {
                break;
            }
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(Kind::Class(name.into()))
    }

    /// The arguments of a call, if it is one: in brackets, and in Groovy a closure after them.
    pub(super) fn call_arguments(&mut self) -> Result<Option<Vec<Expression>>, SyntaxError> {
        let mut arguments = if self.is_sign("(") && self.goes_on() {
            Some(self.arguments()?)
        } else {
            None
        };
        while self.language == Language::Groovy && self.is_sign("{") && self.goes_on() {
            let closure = self.closure()?;
            arguments.get_or_insert_default().push(closure);
        }
        Ok(arguments)
    }

    pub(super) fn arguments(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expression()?);
            if self.is_sign(":") {
                return Err(self.unexpected("arguments with names are not known"));
            }
        }
        Ok(arguments)
    }
}

fn ends_in_class(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.starts_with(char::is_uppercase)
}
