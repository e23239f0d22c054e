//! A script that was read, and what can become of it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::host::{Bindings, Host};
use crate::machine::Machine;
use crate::parse::parse;
use crate::syntax::{Code, Expression, ExpressionKind, Function, Statement};
use crate::{Language, Throwable, Value, check, library};

/// A script that was read.
#[derive(Debug)]
pub struct Program {
    pub(crate) language: Language,
    pub(crate) statements: Vec<Statement>,
    pub(crate) closures: Vec<Code>,
    pub(crate) functions: Vec<Function>,
    keeps_state: bool,
}

/// A script that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {says}")]
pub struct SyntaxError {
    /// The line in the script, from 1.
    pub line: u32,
    /// What is wrong.
    pub says: String,
}

impl SyntaxError {
    pub(crate) fn new(line: u32, says: impl Into<String>) -> Self {
        Self {
            line,
            says: says.into(),
        }
    }
}

/// Something in a script that is not known here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// The line in the script, from 1.
    pub line: u32,
    /// What it is.
    pub what: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in line {} of the script", self.what, self.line)
    }
}

/// Why a script gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The script threw an exception, as it does in JMeter.
    #[error("{0}")]
    Thrown(Throwable),
    /// The script needs something that is not known here.
    #[error("Weir does not know {0}")]
    Unknown(Unknown),
    /// The script took more than it may.
    #[error("the script was stopped: {0}")]
    Bound(&'static str),
}

/// The names of a `BeanShell` interpreter, which may outlive a script.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub(crate) names: Vec<(Arc<str>, Value)>,
}

impl State {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.names.iter().find(|(known, _)| **known == *name);
        found.map(|(_, value)| value)
    }

    /// All names with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.names.iter().map(|(name, value)| (&**name, value))
    }

    /// Gives a name a value.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.names.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, old)) => *old = value,
            None => self.names.push((name.into(), value)),
        }
    }
}

impl Program {
    /// Reads a script.
    ///
    /// # Errors
    /// It is not of the part of the language that is known.
    pub fn parse(source: &str, language: Language) -> Result<Self, SyntaxError> {
        let parsed = parse(source, language)?;
        let mut program = Self {
            language,
            statements: parsed.statements,
            closures: parsed.closures,
            functions: parsed.functions,
            keeps_state: false,
        };
        program.keeps_state = language == Language::BeanShell && reads_before_it_sets(&program);
        Ok(program)
    }

    /// What is not known of the classes, methods and functions that the script uses, as far as that
    /// shows before it runs.
    pub fn unknown(&self) -> Vec<Unknown> {
        check::unknown(self)
    }

    /// Whether the script may see what an earlier run of it left in its names.
    pub fn keeps_state(&self) -> bool {
        self.keeps_state
    }

    /// Whether a name stands in the script: what is behind it must be bound.
    pub fn mentions(&self, name: &str) -> bool {
        let mut mentions = false;
        self.for_each_expression(&mut |expression| {
            mentions |= matches!(&expression.kind, ExpressionKind::Name(found) if **found == *name);
        });
        mentions
    }

    /// Runs the script; the answer is its value.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn run(
        &self,
        host: &mut dyn Host,
        bindings: &mut Bindings,
        state: &mut State,
    ) -> Result<Value, Failure> {
        Machine::new(self, host, bindings, state).run()
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Function> {
        // Of two with the same name the later one counts.
        let mut functions = self.functions.iter().rev();
        functions.find(|function| *function.name == *name)
    }

    /// All code of the script: its own, and that of functions and closures.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &[Statement]> {
        let functions = self.functions.iter().map(|function| &*function.code.body);
        let closures = self.closures.iter().map(|code| &*code.body);
        std::iter::once(&*self.statements)
            .chain(functions)
            .chain(closures)
    }

    pub(crate) fn for_each_expression<'p>(&'p self, visit: &mut dyn FnMut(&'p Expression)) {
        for body in self.bodies() {
            for statement in body {
                for_each_in(statement, visit);
            }
        }
    }
}

/// The statements right below.
pub(crate) fn statements_below(statement: &Statement) -> Vec<&Statement> {
    match statement {
        Statement::If(_, then, otherwise) => {
            let mut below = vec![&**then];
            below.extend(otherwise.as_deref());
            below
        }
        Statement::While(_, body)
        | Statement::DoWhile(body, _)
        | Statement::ForEach { body, .. } => vec![body],
        Statement::For(of) => of.first.iter().chain([&of.body]).collect(),
        Statement::Switch(_, cases) => cases.iter().flat_map(|case| &case.body).collect(),
        Statement::Try {
            body,
            catches,
            finally,
        } => {
            let catches = catches.iter().flat_map(|catch| &catch.body);
            body.iter().chain(catches).chain(finally).collect()
        }
        Statement::Block(statements) => statements.iter().collect(),
        _ => Vec::new(),
    }
}

/// The expressions that stand in a statement itself.
pub(crate) fn expressions_of(statement: &Statement) -> Vec<&Expression> {
    match statement {
        Statement::Expression(of)
        | Statement::Unpack(_, of)
        | Statement::If(of, ..)
        | Statement::While(of, _)
        | Statement::DoWhile(_, of)
        | Statement::ForEach { of, .. }
        | Statement::Return(Some(of))
        | Statement::Throw(of)
        | Statement::Assert(of) => vec![of],
        Statement::Declare(_, declared) => declared
            .iter()
            .filter_map(|declared| declared.value.as_ref())
            .collect(),
        Statement::For(of) => of.condition.iter().chain(&of.each).collect(),
        Statement::Switch(of, cases) => {
            let cases = cases.iter().filter_map(|case| case.of.as_ref());
            std::iter::once(of).chain(cases).collect()
        }
        _ => Vec::new(),
    }
}

fn for_each_in<'p>(statement: &'p Statement, visit: &mut dyn FnMut(&'p Expression)) {
    for expression in expressions_of(statement) {
        for_each_below(expression, visit);
    }
    for below in statements_below(statement) {
        for_each_in(below, visit);
    }
}

pub(crate) fn for_each_below<'p>(
    expression: &'p Expression,
    visit: &mut dyn FnMut(&'p Expression),
) {
    visit(expression);
    for below in expression.kind.below() {
        for_each_below(below, visit);
    }
}

/// Whether some name may be read before this run has set it: then an earlier run shows.
///
/// Names are surely set by the statements of the script itself, outside of blocks.
fn reads_before_it_sets(program: &Program) -> bool {
    let mut set: BTreeSet<&str> = BTreeSet::new();
    for statement in &program.statements {
        let (name, value) = match statement {
            Statement::Declare(_, declared) => {
                for declared in declared {
                    if declared
                        .value
                        .as_ref()
                        .is_some_and(|value| reads_other(value, &set))
                    {
                        return true;
                    }
                    set.insert(&declared.name);
                }
                continue;
            }
            Statement::Expression(Expression {
                kind:
                    ExpressionKind::Assign {
                        operator: None,
                        places,
                    },
                ..
            }) => match &places.0.kind {
                ExpressionKind::Name(name) => (Some(&**name), &places.1),
                _ => (None, &places.1),
            },
            other => {
                let mut locals = set.clone();
                if statement_reads_other(other, &mut locals) {
                    return true;
                }
                continue;
            }
        };
        if reads_other(value, &set) {
            return true;
        }
        set.extend(name);
    }
    let mut others = program.functions.iter().flat_map(|of| &of.code.body);
    others.any(|statement| statement_reads_other(statement, &mut set.clone()))
}

fn statement_reads_other<'p>(statement: &'p Statement, locals: &mut BTreeSet<&'p str>) -> bool {
    match statement {
        Statement::Declare(_, declared) => {
            for declared in declared {
                let value = declared.value.as_ref();
                if value.is_some_and(|value| reads_other(value, locals)) {
                    return true;
                }
                locals.insert(&declared.name);
            }
            return false;
        }
        Statement::ForEach { name, .. } => {
            locals.insert(name);
        }
        Statement::Try { catches, .. } => {
            locals.extend(catches.iter().map(|catch| &*catch.name));
        }
        Statement::For(of) => {
            for first in &of.first {
                if statement_reads_other(first, locals) {
                    return true;
                }
            }
        }
        _ => {}
    }
    let own = expressions_of(statement);
    own.iter().any(|of| reads_other(of, locals))
        || statements_below(statement)
            .iter()
            .any(|below| statement_reads_other(below, locals))
}

fn reads_other(expression: &Expression, set: &BTreeSet<&str>) -> bool {
    let mut reads = false;
    for_each_below(expression, &mut |expression| {
        if let ExpressionKind::Name(name) = &expression.kind {
            let is_class = name.starts_with(char::is_uppercase);
            reads |= !(is_class || set.contains(&**name) || library::is_bound(name));
        }
    });
    reads
}
