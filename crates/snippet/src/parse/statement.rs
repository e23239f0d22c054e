//! Statements.

use std::sync::Arc;

use super::types::is_reserved;
use super::{Parser, is_sign, is_word};
use crate::syntax::{
    Case, Catch, Code, Declared, Expression, ExpressionKind, ForLoop, Function, Parameter,
    Statement, Type,
};
use crate::token::Kind;
use crate::{Language, SyntaxError};

impl Parser {
    pub(super) fn statements_until_end(&mut self) -> Result<Vec<Statement>, SyntaxError> {
        let mut statements = Vec::new();
        while !self.is_end() {
            statements.extend(self.statement()?);
        }
        Ok(statements)
    }

    /// Reads `{ … }`.
    pub(super) fn block(&mut self) -> Result<Vec<Statement>, SyntaxError> {
        self.expect("{")?;
        self.rest_of_block()
    }

    /// Reads up to the closing brace.
    pub(super) fn rest_of_block(&mut self) -> Result<Vec<Statement>, SyntaxError> {
        let mut statements = Vec::new();
        while !self.takes("}") {
            if self.is_end() {
                return Err(self.unexpected("\"}\" was expected"));
            }
            statements.extend(self.statement()?);
        }
        Ok(statements)
    }

    /// Reads a statement; definitions and imports are none.
    fn statement(&mut self) -> Result<Option<Statement>, SyntaxError> {
        self.nested(Self::statement_here)
    }

    fn statement_here(&mut self) -> Result<Option<Statement>, SyntaxError> {
        if self.takes(";") {
            return Ok(None);
        }
        let is_closure = self.language == Language::Groovy && self.has_parameters(1);
        if self.is_sign("{") && !is_closure && !self.is_map_of_jexl() {
            return self.block().map(Statement::Block).map(Some);
        }
        if let Some(word) = self.keyword() {
            return self.keyword_statement(word);
        }
        if self.language.is_jexl() && self.is_word("var") {
            let statement = self.declaration()?;
            self.end_statement()?;
            return Ok(Some(statement));
        }
        if !self.language.is_jexl() {
            if let Some(prefix) = self.definition_prefix() {
                self.definition(prefix)?;
                return Ok(None);
            }
            if self.begins_declaration() {
                let statement = self.declaration()?;
                self.end_statement()?;
                return Ok(Some(statement));
            }
        }
        let expression = self.expression_statement()?;
        self.end_statement()?;
        Ok(Some(Statement::Expression(expression)))
    }

    /// A word that begins a statement of its own.
    fn keyword(&self) -> Option<&'static str> {
        const WORDS: [&str; 18] = [
            "if",
            "while",
            "do",
            "for",
            "foreach",
            "switch",
            "return",
            "break",
            "continue",
            "throw",
            "try",
            "import",
            "package",
            "assert",
            "class",
            "interface",
            "enum",
            "synchronized",
        ];
        let word = WORDS.into_iter().find(|word| self.is_word(word))?;
        let of_jexl = matches!(
            word,
            "if" | "while" | "do" | "for" | "foreach" | "return" | "break" | "continue"
        );
        let of_others = word != "foreach";
        let known = if self.language.is_jexl() {
            of_jexl
        } else {
            of_others
        };
        known.then_some(word)
    }

    fn keyword_statement(&mut self, word: &str) -> Result<Option<Statement>, SyntaxError> {
        let line = self.line();
        self.advance();
        let statement = match word {
            "if" => {
                let condition = self.condition()?;
                let then = self.body()?;
                let has_else =
                    self.is_word("else") || (self.is_sign(";") && is_word(self.ahead(1), "else"));
                let otherwise = if has_else {
                    self.takes(";");
                    self.advance();
                    Some(Box::new(self.body()?))
                } else {
                    None
                };
                return Ok(Some(Statement::If(condition, Box::new(then), otherwise)));
            }
            "while" => Statement::While(self.condition()?, Box::new(self.body()?)),
            "do" => {
                let body = self.body()?;
                if !self.takes_word("while") {
                    return Err(self.unexpected("\"while\" was expected"));
                }
                let condition = self.condition()?;
                self.end_statement()?;
                Statement::DoWhile(Box::new(body), condition)
            }
            "for" | "foreach" => self.for_loop()?,
            "switch" => self.switch()?,
            "return" => {
                let is_bare = self.ends_here();
                let value = if is_bare {
                    None
                } else {
                    Some(self.expression()?)
                };
                self.end_statement()?;
                Statement::Return(value)
            }
            "break" | "continue" => {
                if matches!(self.token().kind, Kind::Name(_)) && self.goes_on() {
                    return Err(SyntaxError::new(line, "labels of loops are not known"));
                }
                self.end_statement()?;
                if word == "break" {
                    Statement::Break
                } else {
                    Statement::Continue
                }
            }
            "throw" => {
                let thrown = self.expression()?;
                self.end_statement()?;
                Statement::Throw(thrown)
            }
            "try" => self.try_statement()?,
            "import" => {
                self.import(line)?;
                return Ok(None);
            }
            "package" => {
                self.written_type()?;
                self.end_statement()?;
                return Ok(None);
            }
            "assert" => {
                let asserted = self.expression()?;
                if self.takes(":") {
                    self.expression()?;
                }
                self.end_statement()?;
                Statement::Assert(asserted)
            }
            "synchronized" => {
                // One user runs a script at a time, and users share nothing but properties.
                self.condition()?;
                Statement::Block(self.block()?)
            }
            _ => {
                let says = format!("the definition of a class with \"{word}\" is not known");
                return Err(SyntaxError::new(line, says));
            }
        };
        Ok(Some(statement))
    }

    fn condition(&mut self) -> Result<Expression, SyntaxError> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    /// One statement, be it a block.
    fn body(&mut self) -> Result<Statement, SyntaxError> {
        if self.takes(";") {
            return Ok(Statement::Nothing);
        }
        Ok(self.statement()?.unwrap_or(Statement::Nothing))
    }

    /// Whether a statement may end before this token.
    fn ends_here(&self) -> bool {
        self.is_sign(";") || self.is_sign("}") || self.is_end() || !self.goes_on()
    }

    fn end_statement(&mut self) -> Result<(), SyntaxError> {
        if self.takes(";") || self.is_sign("}") || self.is_end() || !self.goes_on() {
            return Ok(());
        }
        // JEXL needs nothing between statements.
        if self.language.is_jexl() {
            return Ok(());
        }
        Err(self.unexpected("the statement does not end here"))
    }

    /// Classes are known by their names with or without an import; one that is imported and not
    /// used needs not be known.
    fn import(&mut self, line: u32) -> Result<(), SyntaxError> {
        let is_static = self.takes_word("static");
        self.name()?;
        while self.takes(".") {
            if self.takes("*") {
                break;
            }
            self.name()?;
        }
        if self.takes_word("as") || is_static {
            let says = "imports of functions and under other names are not known";
            return Err(SyntaxError::new(line, says));
        }
        self.end_statement()
    }

    fn begins_declaration(&self) -> bool {
        let is_word_of_declaration = ["def", "final", "var", "static"]
            .iter()
            .any(|word| self.is_word(word));
        let names_something = matches!(self.ahead(1).kind, Kind::Name(_))
            || (self.is_word("def") && is_sign(self.ahead(1), "("));
        (is_word_of_declaration && names_something) || self.is_typed_declaration()
    }

    /// Reads `int a = 1, b`.
    fn declaration(&mut self) -> Result<Statement, SyntaxError> {
        let class = self.declared_type()?;
        if class.is_none() && self.takes("(") {
            let mut names = Vec::new();
            loop {
                if self.type_length(0).is_some() && matches!(self.ahead(1).kind, Kind::Name(_)) {
                    self.written_type()?;
                }
                names.push(self.name()?);
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(")")?;
            self.expect("=")?;
            return Ok(Statement::Unpack(names, self.expression()?));
        }
        let mut declared = Vec::new();
        let mut class = class;
        loop {
            let name = self.name()?;
            while self.is_sign("[") && is_sign(self.ahead(1), "]") {
                self.advance();
                self.advance();
                if let Some(class) = &mut class {
                    class.arrays += 1;
                }
            }
            let value = if self.takes("=") {
                Some(self.initializer(class.as_ref())?)
            } else {
                None
            };
            declared.push(Declared { name, value });
            if !self.takes(",") {
                return Ok(Statement::Declare(class, declared));
            }
        }
    }

    /// The value of a declaration, which may be `{1, 2}` for arrays.
    fn initializer(&mut self, class: Option<&Type>) -> Result<Expression, SyntaxError> {
        let line = self.line();
        match class {
            Some(class) if class.arrays > 0 && self.is_sign("{") => {
                let items = self.braced_items()?;
                let class = Arc::clone(&class.class);
                Expression::new(ExpressionKind::Array { class, items }, line)
            }
            _ => self.expression(),
        }
    }

    /// The words and the type before the names of a declaration.
    fn declared_type(&mut self) -> Result<Option<Type>, SyntaxError> {
        let mut has_word = false;
        while ["def", "final", "var", "static"]
            .iter()
            .any(|word| self.is_word(word))
        {
            self.advance();
            has_word = true;
        }
        let Some(length) = self.type_length(0) else {
            return Ok(None);
        };
        let is_type = matches!(self.ahead(length).kind, Kind::Name(_));
        if has_word && !is_type {
            return Ok(None);
        }
        self.written_type().map(Some)
    }

    fn definition(&mut self, prefix: usize) -> Result<(), SyntaxError> {
        for _ in 0..prefix {
            self.advance();
        }
        let name = self.name()?;
        self.expect("(")?;
        let parameters = self.parameters(")")?;
        let body = self.block()?;
        self.parsed.functions.push(Function {
            name,
            code: Code {
                parameters: Some(parameters),
                body,
            },
        });
        Ok(())
    }

    /// Reads parameters and the sign that ends them.
    pub(super) fn parameters(&mut self, end: &'static str) -> Result<Vec<Parameter>, SyntaxError> {
        let mut parameters = Vec::new();
        while !self.takes(end) {
            if !parameters.is_empty() {
                self.expect(",")?;
            }
            let class = self.declared_type_of_parameter()?;
            let name = self.name()?;
            let default = if self.takes("=") {
                Some(self.expression()?)
            } else {
                None
            };
            parameters.push(Parameter {
                class,
                name,
                default,
            });
        }
        Ok(parameters)
    }

    fn declared_type_of_parameter(&mut self) -> Result<Option<Type>, SyntaxError> {
        while self.is_word("def") || self.is_word("final") {
            self.advance();
        }
        match self.type_length(0) {
            Some(length) if matches!(self.ahead(length).kind, Kind::Name(_)) => {
                self.written_type().map(Some)
            }
            _ => Ok(None),
        }
    }

    fn for_loop(&mut self) -> Result<Statement, SyntaxError> {
        self.expect("(")?;
        if let Some(name) = self.each_name()? {
            let of = self.expression()?;
            self.expect(")")?;
            let body = Box::new(self.body()?);
            return Ok(Statement::ForEach { name, of, body });
        }
        let mut first = Vec::new();
        while !self.is_sign(";") {
            if !first.is_empty() {
                self.expect(",")?;
            }
            first.push(if self.begins_declaration() {
                self.declaration()?
            } else {
                Statement::Expression(self.expression()?)
            });
        }
        self.expect(";")?;
        let condition = if self.is_sign(";") {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect(";")?;
        let mut each = Vec::new();
        while !self.is_sign(")") {
            if !each.is_empty() {
                self.expect(",")?;
            }
            each.push(self.expression()?);
        }
        self.expect(")")?;
        let body = self.body()?;
        Ok(Statement::For(Box::new(ForLoop {
            first,
            condition,
            each,
            body,
        })))
    }

    /// The name in `for (Type name : …)` or `for (name in …)`, if it is such a loop.
    fn each_name(&mut self) -> Result<Option<Arc<str>>, SyntaxError> {
        let mut from = 0;
        while is_word(self.ahead(from), "def")
            || is_word(self.ahead(from), "final")
            || is_word(self.ahead(from), "var")
        {
            from += 1;
        }
        if let Some(length) = self.type_length(from)
            && matches!(&self.ahead(from + length).kind, Kind::Name(name) if !is_reserved(name))
        {
            from += length;
        }
        let separator = self.ahead(from + 1);
        let is_each = is_sign(separator, ":") || is_word(separator, "in");
        if !is_each || !matches!(self.ahead(from).kind, Kind::Name(_)) {
            return Ok(None);
        }
        for _ in 0..from {
            self.advance();
        }
        let name = self.name()?;
        self.advance();
        Ok(Some(name))
    }

    fn switch(&mut self) -> Result<Statement, SyntaxError> {
        let of = self.condition()?;
        self.expect("{")?;
        let mut cases: Vec<Case> = Vec::new();
        while !self.takes("}") {
            let of = if self.takes_word("case") {
                Some(self.expression()?)
            } else if self.takes_word("default") {
                None
            } else {
                return Err(self.unexpected("\"case\" was expected"));
            };
            self.expect(":")?;
            let mut body = Vec::new();
            while !(self.is_word("case") || self.is_word("default") || self.is_sign("}")) {
                if self.is_end() {
                    return Err(self.unexpected("\"}\" was expected"));
                }
                body.extend(self.statement()?);
            }
            cases.push(Case { of, body });
        }
        Ok(Statement::Switch(of, cases))
    }

    fn try_statement(&mut self) -> Result<Statement, SyntaxError> {
        if self.is_sign("(") {
            return Err(self.unexpected("resources of a try are not known"));
        }
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.takes_word("catch") {
            self.expect("(")?;
            self.takes_word("final");
            let mut classes = Vec::new();
            if !is_sign(self.ahead(1), ")") {
                classes.push(self.written_type()?.class);
                while self.takes("|") {
                    classes.push(self.written_type()?.class);
                }
            }
            let name = self.name()?;
            self.expect(")")?;
            catches.push(Catch {
                classes,
                name,
                body: self.block()?,
            });
        }
        let finally = if self.takes_word("finally") {
            self.block()?
        } else {
            Vec::new()
        };
        Ok(Statement::Try {
            body,
            catches,
            finally,
        })
    }

    /// An expression, or in Groovy a call without brackets: `log.info "text"`.
    fn expression_statement(&mut self) -> Result<Expression, SyntaxError> {
        if self.language != Language::Groovy || !self.begins_bare_call() {
            return self.expression();
        }
        let line = self.line();
        let mut names = vec![self.name()?];
        while self.takes(".") {
            names.push(self.name()?);
        }
        let mut arguments = vec![self.expression()?];
        while self.takes(",") {
            arguments.push(self.expression()?);
        }
        let name = names.pop().unwrap_or_else(|| "".into());
        let mut names = names.into_iter();
        let Some(root) = names.next() else {
            return Expression::new(ExpressionKind::Call { name, arguments }, line);
        };
        let mut of = Expression::new(ExpressionKind::Name(root), line)?;
        for name in names {
            let property = ExpressionKind::Property {
                of: Box::new(of),
                name,
                access: crate::syntax::Access::Plain,
            };
            of = Expression::new(property, line)?;
        }
        let call = ExpressionKind::CallMethod {
            of: Box::new(of),
            name,
            access: crate::syntax::Access::Plain,
            arguments,
        };
        Expression::new(call, line)
    }

    fn begins_bare_call(&self) -> bool {
        let Kind::Name(first) = &self.token().kind else {
            return false;
        };
        if is_reserved(first) {
            return false;
        }
        let mut from = 1;
        while is_sign(self.ahead(from), ".") && matches!(self.ahead(from + 1).kind, Kind::Name(_)) {
            from += 2;
        }
        let next = self.ahead(from);
        if next.begins_line {
            return false;
        }
        match &next.kind {
            Kind::Literal(_) | Kind::Interpolated(_) => true,
            Kind::Name(word) => !matches!(&**word, "in" | "instanceof" | "as"),
            _ => false,
        }
    }
}
