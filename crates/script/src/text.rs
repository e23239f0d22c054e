//! Compiled texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use weir_plan::{Position, Template};

use crate::files::FileUse;
use crate::function::{self, Call, CallError, Known, Occurrence};
use crate::parse::{self, Part, SyntaxError};
use crate::settable::Changes;
use crate::{GlobalVariables, Problem, Scope};

/// Deepest nesting of texts that are evaluated while the test runs: a variable whose value
/// evaluates itself would go on for ever. JMeter's stack overflows there, which ends the user.
const DEPTH_MAX: u32 = 32;

/// A text of a plan, compiled: what can be known before the test is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pieces: Vec<Piece>,
    at: Position,
}

/// A part of a compiled text; two literals never stand side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(Box<str>),
    Variable(Box<str>),
    Call(Box<Call>),
}

impl Piece {
    pub(crate) fn literal(text: &str) -> Self {
        Self::Literal(text.into())
    }

    /// The text as pieces: none when it is empty.
    pub(crate) fn literals(text: &str) -> Vec<Self> {
        if text.is_empty() {
            Vec::new()
        } else {
            vec![Self::literal(text)]
        }
    }

    pub(crate) fn changes_by_itself(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Variable(_) => false,
            Self::Call(call) => call.changes_by_itself(),
        }
    }

    pub(crate) fn depends_on_user(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Variable(_) => false,
            Self::Call(call) => call.depends_on_user(),
        }
    }
}

impl Text {
    /// A text without references.
    pub fn literal(text: &str) -> Self {
        Self {
            pieces: Piece::literals(text),
            at: Position::default(),
        }
    }

    /// Compiles a text that stands outside a plan.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn compile(
        template: &Template,
        globals: &GlobalVariables,
        changes: Changes,
    ) -> Result<Self, Vec<Problem>> {
        let mut compiler = Compiler::new(globals.clone(), changes);
        let text = compiler.compile(template);
        if compiler.problems.is_empty() {
            Ok(text)
        } else {
            Err(compiler.problems)
        }
    }

    /// The whole text, when it is the same for all users and samples.
    pub fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the text may differ between users because of who they are.
    pub(crate) fn depends_on_user(&self) -> bool {
        self.pieces.iter().any(Piece::depends_on_user)
    }

    /// Whether the text may be another one each time, though no variable has changed.
    pub(crate) fn changes_by_itself(&self) -> bool {
        self.pieces.iter().any(Piece::changes_by_itself)
    }

    /// Where the text stands in the plan.
    pub fn at(&self) -> Position {
        self.at
    }

    /// Appends the text as it is for this user now; a constant text does not allocate beyond
    /// `out` itself.
    ///
    /// Call it once for each text and sample: functions such as `__Random` give another answer
    /// each time. A variable that has no value stays as `${name}`, as in JMeter.
    pub fn render(&self, scope: &mut Scope, out: &mut String) {
        render_pieces(&self.pieces, scope, out);
    }

    /// The text as it is for this user now, borrowed when it never changes.
    pub(crate) fn as_rendered(&self, scope: &mut Scope) -> Cow<'_, str> {
        match self.constant() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.rendered(scope)),
        }
    }

    /// What the text starts with, whoever the user is.
    pub(crate) fn start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(text)) => text,
            _ => "",
        }
    }

    /// The text as it is for this user now.
    pub fn rendered(&self, scope: &mut Scope) -> String {
        let mut out = String::new();
        self.render(scope, &mut out);
        out
    }
}

pub(crate) fn render_pieces(pieces: &[Piece], scope: &mut Scope, out: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Literal(text) => out.push_str(text),
            Piece::Variable(name) => match scope.variables.get(name) {
                Some(value) => out.push_str(value),
                None => out.extend(["${", name, "}"]),
            },
            Piece::Call(call) => call.render(scope, out),
        }
    }
}

/// Pieces as they are written in a plan.
pub(crate) fn written(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => out.push_str(text),
            Piece::Variable(name) => out.extend(["${", name, "}"]),
            Piece::Call(call) => out.extend(["${", call.name(), "(…)}"]),
        }
    }
    out
}

/// The text that the pieces always make.
pub(crate) fn constant(pieces: &[Piece]) -> Option<&str> {
    match pieces {
        [] => Some(""),
        [Piece::Literal(text)] => Some(text),
        _ => None,
    }
}

/// Evaluates a text that is only known now, as `__eval` and `__evalVar` do.
///
/// Like JMeter, a text that cannot be compiled is nothing.
pub(crate) fn render_now(text: &str, scope: &mut Scope, out: &mut String) {
    if scope.memory().depth >= DEPTH_MAX {
        scope.fail("java.lang.StackOverflowError: texts that evaluate each other");
        return;
    }
    let globals = scope.variables.globals().clone();
    let parts = parse::parse_evaluated(text).unwrap_or_default();
    match pieces_now(parts, &globals) {
        Ok(pieces) => {
            scope.memory().depth += 1;
            render_pieces(&pieces, scope, out);
            scope.memory().depth -= 1;
        }
        Err(error) if error.fails_when_called => scope.fail(error.says),
        Err(_) => {}
    }
}

fn pieces_now(parts: Vec<Part>, globals: &GlobalVariables) -> Result<Vec<Piece>, CallError> {
    let mut pieces = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => append(&mut pieces, Piece::Literal(text.into())),
            Part::Variable(name) => append(&mut pieces, Piece::Variable(name.into())),
            Part::Call(call) => {
                let arguments = call.arguments.into_iter();
                let arguments: Result<_, _> =
                    arguments.map(|parts| pieces_now(parts, globals)).collect();
                let known = Known {
                    globals,
                    changes: None,
                    occurrence: Occurrence::default(),
                };
                let answer = function::compile(&call.function, arguments?, &known)?;
                append_all(&mut pieces, answer);
            }
        }
    }
    Ok(pieces)
}

/// Compiles the texts of one plan and gathers what is wrong with them.
pub(crate) struct Compiler {
    pub(crate) globals: GlobalVariables,
    /// What may have another value at the time a text is rendered; everything else is fixed.
    pub(crate) changes: Changes,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
    /// The files that its functions and scripts name.
    pub(crate) files: Vec<FileUse>,
    /// What each call in the plan's file remembers, by its place and its turn there: a text that
    /// is compiled for several samplers still counts as one.
    occurrences: BTreeMap<(Position, usize), Occurrence>,
    turn: usize,
}

impl Compiler {
    pub(crate) fn new(globals: GlobalVariables, changes: Changes) -> Self {
        Self {
            globals,
            changes,
            problems: Vec::new(),
            warnings: Vec::new(),
            files: Vec::new(),
            occurrences: BTreeMap::new(),
            turn: 0,
        }
    }

    /// Compiles a text; what is wrong with it is added to the problems.
    pub(crate) fn compile(&mut self, template: &Template) -> Text {
        self.turn = 0;
        let pieces = match parse::parse(&template.text) {
            Ok(parts) => self.pieces(parts, template.at),
            Err(error) => {
                self.problems.push(syntax_problem(&error, template.at));
                Vec::new()
            }
        };
        Text {
            pieces,
            at: template.at,
        }
    }

    fn pieces(&mut self, parts: Vec<Part>, at: Position) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => append(&mut pieces, Piece::Literal(text.into())),
                Part::Variable(name) => append(&mut pieces, self.variable(&name, at)),
                Part::Call(call) => {
                    let answer = self.call(call, at);
                    append_all(&mut pieces, answer);
                }
            }
        }
        pieces
    }

    fn call(&mut self, call: parse::Call, at: Position) -> Vec<Piece> {
        let arguments = call.arguments.into_iter();
        let arguments: Vec<_> = arguments.map(|parts| self.pieces(parts, at)).collect();
        self.files
            .extend(function::files(&call.function, &arguments, at));
        let known = Known {
            occurrence: self.occurrence(at),
            globals: &self.globals,
            changes: Some(&self.changes),
        };
        function::compile(&call.function, arguments, &known).unwrap_or_else(|error| {
            self.problems.push(Problem {
                at,
                says: error.says,
                instead: error.instead,
            });
            Vec::new()
        })
    }

    fn occurrence(&mut self, at: Position) -> Occurrence {
        // Plans built from a URL have no places.
        if at == Position::default() {
            return Occurrence::default();
        }
        self.turn += 1;
        let known = self.occurrences.entry((at, self.turn));
        known.or_default().clone()
    }

    fn variable(&mut self, name: &str, at: Position) -> Piece {
        if let Some(problem) = of_plugin(name, at) {
            self.problems.push(problem);
            return Piece::literal("");
        }
        if self.changes.variables.contains(name) {
            return Piece::Variable(name.into());
        }
        if let Some(value) = self.globals.get(name) {
            return Piece::literal(value);
        }
        if name.starts_with("__") {
            let says = format!("nothing sets ${{{name}}}, so it is sent as it stands");
            self.warnings.push(Problem::new(at, says));
        } else {
            let says = format!("the variable ${{{name}}} has no value, so it is sent as it stands");
            let instead = format!("define {name}, or write ${{__P({name},…)}} for a property");
            self.warnings.push(Problem::new(at, says).instead(instead));
        }
        Piece::literal(&format!("${{{name}}}"))
    }
}

/// Functions that are widespread and not JMeter's own, with the plugin that has them.
const OF_PLUGINS: [(&str, &[&str]); 3] = [
    (
        "Custom JMeter Functions (jpgc-functions)",
        &[
            "__MD5",
            "__base64Decode",
            "__base64Encode",
            "__chooseRandom",
            "__doubleSum",
            "__env",
            "__if",
            "__isDefined",
            "__iterationNum",
            "__lowercase",
            "__strLen",
            "__strReplace",
            "__strReplaceRegex",
            "__substring",
            "__uppercase",
        ],
    ),
    (
        "Inter-Thread Communication (jpgc-fifo)",
        &["__fifoGet", "__fifoPop", "__fifoPut", "__fifoSize"],
    ),
    ("Azure Load Testing", &["__GetSecret"]),
];

/// What is wrong with a reference that is written as the call of a function that JMeter does not
/// have: who has the plugin gets another text than who has not.
fn of_plugin(name: &str, at: Position) -> Option<Problem> {
    let (function, _) = name.split_once('(').filter(|_| name.starts_with("__"))?;
    // Of JMeter's own, written so that JMeter takes it for a variable.
    if function::is_known(function.trim()) {
        return None;
    }
    let plugin = OF_PLUGINS
        .iter()
        .find(|(_, functions)| functions.contains(&function));
    let says = match plugin {
        Some((plugin, _)) => {
            format!("{function} is a function of the plugin {plugin}, which Weir does not have")
        }
        None => format!(
            "JMeter itself has no function {function}; without a plugin that has it, JMeter sends the text as it stands"
        ),
    };
    let instead = "run the plan in JMeter with its plugins: --engine jmeter";
    Some(Problem::new(at, says).instead(instead))
}

fn append_all(pieces: &mut Vec<Piece>, more: Vec<Piece>) {
    for piece in more {
        append(pieces, piece);
    }
}

fn append(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Literal(text)) if text.is_empty() => {}
        (Some(Piece::Literal(last)), Piece::Literal(text)) => {
            *last = format!("{last}{text}").into();
        }
        (_, piece) => pieces.push(piece),
    }
}

fn syntax_problem(error: &SyntaxError, at: Position) -> Problem {
    match error {
        SyntaxError::Unclosed(function) => {
            let says = format!("the call of {function} has no }} after its arguments");
            let instead = format!("write ${{{function}(…)}} with balanced parentheses");
            Problem::new(at, says).instead(instead)
        }
        SyntaxError::TooDeep => Problem::new(at, "functions are nested too deep"),
    }
}
