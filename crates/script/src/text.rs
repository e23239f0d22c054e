//! Compiled texts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use weir_plan::{Position, Template};

use crate::function::{self, Function};
use crate::parse::{self, Part, SyntaxError};
use crate::{GlobalVariables, Problem, Scope};

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
    Function(Function),
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

    fn depends_on_user(&self) -> bool {
        let any = |pieces: &[Self]| pieces.iter().any(Self::depends_on_user);
        match self {
            Self::Literal(_) | Self::Variable(_) => false,
            Self::Function(function) => match function {
                Function::ThreadNum | Function::ThreadGroupName => true,
                Function::Property { name, otherwise } => any(name) || any(otherwise),
                Function::Store { answer, .. } => any(answer),
                Function::Random { .. } | Function::Time { .. } | Function::Uuid => false,
            },
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
            Piece::Function(function) => function.render(scope, out),
        }
    }
}

/// The text that the pieces always make.
pub(crate) fn constant(pieces: &[Piece]) -> Option<String> {
    match pieces {
        [] => Some(String::new()),
        [Piece::Literal(text)] => Some(text.to_string()),
        _ => None,
    }
}

/// Compiles the texts of one plan and gathers what is wrong with them.
pub(crate) struct Compiler {
    pub(crate) globals: GlobalVariables,
    /// Variables that some function of the plan sets; `None` among them: one whose name is not
    /// known before the test, so that no variable is constant.
    pub(crate) set_by_functions: BTreeSet<Option<String>>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

impl Compiler {
    /// Compiles a text; what is wrong with it is added to the problems.
    pub(crate) fn compile(&mut self, template: &Template) -> Text {
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
                    let arguments = call.arguments.into_iter();
                    let arguments = arguments.map(|parts| self.pieces(parts, at)).collect();
                    let properties = &self.globals.shared.properties;
                    match function::compile(&call.function, arguments, properties) {
                        Ok(answer) => answer.into_iter().for_each(|p| append(&mut pieces, p)),
                        Err(error) => self.problems.push(Problem {
                            at,
                            says: error.says,
                            instead: error.instead,
                        }),
                    }
                }
            }
        }
        pieces
    }

    fn variable(&mut self, name: &str, at: Position) -> Piece {
        let changes = self.set_by_functions.contains(&None)
            || self.set_by_functions.contains(&Some(name.to_owned()));
        if changes {
            return Piece::Variable(name.into());
        }
        if let Some(value) = self.globals.get(name) {
            return Piece::literal(value);
        }
        if is_built_in(name) {
            let says = format!("JMeter's own variable ${{{name}}} is not supported");
            self.problems.push(Problem::new(at, says));
        } else {
            let says = format!("the variable ${{{name}}} has no value, so it is sent as it stands");
            let instead = format!("define {name}, or write ${{__P({name},…)}} for a property");
            self.warnings.push(Problem::new(at, says).instead(instead));
        }
        Piece::literal(&format!("${{{name}}}"))
    }
}

/// Variables that JMeter sets by itself.
fn is_built_in(name: &str) -> bool {
    let exact = ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS"];
    exact.contains(&name) || name.starts_with("__jm__") || name.starts_with("JMeterThread.")
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
