//! The functions that a text may call, each with JMeter's exact meaning.
//!
//! Every function is a [`Function`] in the table of its family. A call is compiled once: what its
//! constant arguments can get wrong is a problem found before the test, and a call whose answer
//! cannot change is replaced by the answer. Rendering never fails; where JMeter throws, it leaves a
//! [`Fault`](crate::Fault) in the scope. The facts were measured with JMeter 5.6.3 and stand in
//! `tests/functions.jsonl`.

mod dates;
mod digest;
mod feedback;
mod files;
mod html;
mod names;
mod numbers;
mod properties;
mod random;
mod regex;
mod scripts;
mod texts;
mod variables;
mod xml;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::atomic::AtomicI32;
use std::sync::{Arc, Mutex};

use weir_plan::Position;
use weir_response::Perl5;
use weir_snippet::Script;

pub(crate) use self::files::CsvFiles;
pub(crate) use self::scripts::{language as script_language, runs_script};
pub(crate) use self::xml::XmlNodes;
use crate::files::{FileDeed, FileUse};
use crate::parse::{self, Part};
use crate::settable::{Changes, Settable};
use crate::text::{Piece, constant, render_pieces};
use crate::{GlobalVariables, Scope, Variables, text};

/// A function of JMeter.
#[derive(Debug)]
pub(crate) struct Function {
    /// Its name, with its leading underscores.
    name: &'static str,
    /// The fewest arguments that it takes.
    least: usize,
    /// The most arguments that it takes.
    most: usize,
    /// The argument that names a variable for the answer.
    variable: Option<Variable>,
    /// When the answer can be another one.
    answer: Answer,
    /// Checks the constant arguments and keeps what follows from them.
    prepare: fn(&[Argument], &Known<'_>) -> Result<Prepared, CallError>,
    /// Appends the answer.
    render: fn(&Call, &mut Scope, &mut String),
}

impl Function {
    /// What most functions have in common.
    const fn new(
        name: &'static str,
        (least, most): (usize, usize),
        answer: Answer,
        render: fn(&Call, &mut Scope, &mut String),
    ) -> Self {
        Self {
            name,
            least,
            most,
            variable: None,
            answer,
            prepare: |_, _| Ok(Prepared::Nothing),
            render,
        }
    }

    /// The answer goes to the variable that this argument names.
    const fn stores(mut self, index: usize, name: Name) -> Self {
        self.variable = Some(Variable { index, name });
        self
    }

    const fn prepares(
        mut self,
        prepare: fn(&[Argument], &Known<'_>) -> Result<Prepared, CallError>,
    ) -> Self {
        self.prepare = prepare;
        self
    }
}

/// Any number of arguments.
const MANY: usize = usize::MAX;

#[derive(Debug, Clone, Copy)]
struct Variable {
    index: usize,
    name: Name,
}

/// Whether spaces around the name of a variable are dropped: some functions do, some do not.
#[derive(Debug, Clone, Copy)]
enum Name {
    Trimmed,
    AsItIs,
}

/// When the answer of a function can be another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// With other arguments only.
    Same,
    /// With another user too.
    OfUser,
    /// At any time, or the call does more than answer.
    Changes,
}

const FAMILIES: [&[Function]; 12] = [
    dates::FUNCTIONS,
    feedback::FUNCTIONS,
    files::FUNCTIONS,
    names::FUNCTIONS,
    numbers::FUNCTIONS,
    properties::FUNCTIONS,
    random::FUNCTIONS,
    regex::FUNCTIONS,
    scripts::FUNCTIONS,
    texts::FUNCTIONS,
    variables::FUNCTIONS,
    xml::FUNCTIONS,
];

/// Whether JMeter has this function.
pub(crate) fn is_known(name: &str) -> bool {
    name.starts_with("__") && find(name).is_some()
}

fn find(name: &str) -> Option<&'static Function> {
    let mut all = FAMILIES.into_iter().flatten();
    all.find(|function| function.name == name)
}

/// An argument of a call, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument(Vec<Piece>);

impl Argument {
    fn constant(&self) -> Option<&str> {
        constant(&self.0)
    }

    fn render<'a>(&'a self, scope: &mut Scope) -> Cow<'a, str> {
        if let Some(text) = self.constant() {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        render_pieces(&self.0, scope, &mut out);
        Cow::Owned(out)
    }
}

/// What follows from the constant arguments of a call.
#[derive(Debug, Clone)]
enum Prepared {
    Nothing,
    Range(random::Range),
    Time(dates::TimeFormat),
    Expression(Arc<Perl5>),
    Known(Box<str>),
    Occurrence(Occurrence),
    /// A script that is always the same, and what its call remembers.
    Script(Arc<Script>, Occurrence),
}

/// What one call in a plan's file remembers, for all users.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occurrence(Arc<State>);

#[derive(Debug, Default)]
struct State {
    count: AtomicI32,
    lines: Mutex<files::Lines>,
}

impl Occurrence {
    /// One number for one call, as long as the plan is there.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// What is known when a call is compiled.
pub(crate) struct Known<'a> {
    pub(crate) globals: &'a GlobalVariables,
    /// What may still change; `None` while the test runs, when nothing is fixed.
    pub(crate) changes: Option<&'a Changes>,
    /// What the call remembers.
    pub(crate) occurrence: Occurrence,
}

/// What is wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallError {
    pub(crate) says: String,
    pub(crate) instead: Option<String>,
    /// JMeter would take the call and throw when it comes by.
    pub(crate) fails_when_called: bool,
}

impl CallError {
    fn new(says: impl Into<String>) -> Self {
        Self {
            says: says.into(),
            instead: None,
            fails_when_called: true,
        }
    }

    fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = Some(instead.into());
        self
    }
}

/// A compiled call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    function: &'static Function,
    arguments: Vec<Argument>,
    prepared: Prepared,
}

/// What is prepared follows from the arguments.
impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name && self.arguments == other.arguments
    }
}

impl Eq for Call {}

/// Compiles a call whose arguments are compiled already, into pieces.
pub(crate) fn compile(
    name: &str,
    arguments: Vec<Vec<Piece>>,
    known: &Known<'_>,
) -> Result<Vec<Piece>, CallError> {
    let function = find(name).ok_or_else(|| unsupported(name))?;
    check_count(function, arguments.len())?;
    let arguments: Vec<Argument> = arguments.into_iter().map(Argument).collect();
    let prepared = (function.prepare)(&arguments, known)?;
    let call = Call {
        function,
        arguments,
        prepared,
    };
    call.fold(known)
}

fn unsupported(name: &str) -> CallError {
    CallError::new(format!("the function {name} is not supported"))
        .instead("run the plan with --engine jmeter")
}

fn check_count(function: &Function, count: usize) -> Result<(), CallError> {
    let Function {
        name, least, most, ..
    } = function;
    if (*least..=*most).contains(&count) {
        return Ok(());
    }
    let takes = match (*least, *most) {
        (0, 0) => "takes no argument".to_owned(),
        (least, MANY) => format!("takes at least {least}"),
        (least, most) if least == most => format!("takes {least}"),
        (least, most) => format!("takes {least} to {most} arguments"),
    };
    Err(CallError {
        says: format!("the function {name} has {count} arguments, but {takes}"),
        instead: None,
        fails_when_called: false,
    })
}

/// The files that a call names.
pub(crate) fn files(name: &str, arguments: &[Vec<Piece>], at: Position) -> Vec<FileUse> {
    let Some(first) = arguments.first() else {
        return Vec::new();
    };
    if let Some(language) = scripts::language(name) {
        let text = constant(first);
        return text.map_or_else(Vec::new, |text| {
            crate::files::of_script(text, language, at).collect()
        });
    }
    let does = match name {
        "__FileToString" | "__StringFromFile" | "__CSVRead" | "__XPath" => FileDeed::Reads,
        "__StringToFile" => FileDeed::Writes,
        _ => return Vec::new(),
    };
    // With numbers, a name is a pattern for names.
    let is_number = |text: &Vec<Piece>| constant(text) != Some("");
    let is_pattern = name == "__StringFromFile" && arguments.iter().skip(2).any(is_number);
    let constant = constant(first).filter(|_| !is_pattern);
    if constant.is_some_and(|name| name.is_empty() || name.starts_with('*')) {
        return Vec::new();
    }
    vec![FileUse {
        at,
        who: name.to_owned(),
        written: text::written(first),
        name: constant.map(str::to_owned),
        does,
        only_jmeter: false,
    }]
}

/// Adds what a call sets besides giving an answer.
pub(crate) fn add_changes(call: &parse::Call, changes: &mut Changes) {
    let argument = |index: usize| Named::of(call.arguments.get(index));
    let variables = &mut changes.variables;
    match call.function.as_str() {
        name if runs_script(name) => {
            add_changes_of_script(call, changes);
            argument(1).add_to(&mut changes.variables);
        }
        "__setProperty" => argument(0).add_to(&mut changes.properties),
        "__split" => argument(1).add_family_to(variables),
        "__regexFunction" if call.arguments.len() <= 5 => variables.add_starting_with("_g"),
        "__regexFunction" => argument(5).add_family_to(variables),
        "__intSum" | "__longSum" => argument(call.arguments.len().max(1) - 1).add_to(variables),
        "__StringFromFile" if call.arguments.len() == 1 => variables.add(files::LINE_VARIABLE),
        name => {
            if let Some(Variable { index, .. }) = find(name).and_then(|f| f.variable) {
                argument(index).add_to(variables);
            }
        }
    }
}

/// Adds what a script may set.
fn add_changes_of_script(call: &parse::Call, changes: &mut Changes) {
    for part in call.arguments.iter().flatten() {
        match part {
            Part::Text(text) => changes.add_script(text),
            // What becomes part of a script may do the same.
            Part::Variable(_) | Part::Call(_) => {}
        }
    }
}

/// What an argument names.
enum Named<'a> {
    Nothing,
    This(&'a str),
    /// It is not known before the test.
    Unknown,
}

impl<'a> Named<'a> {
    fn of(argument: Option<&'a Vec<Part>>) -> Self {
        match argument.map(Vec::as_slice) {
            None | Some([]) => Self::Nothing,
            Some([Part::Text(text)]) => Self::This(text),
            Some(_) => Self::Unknown,
        }
    }

    /// Adds the name with and without the spaces around it: some functions drop them.
    fn add_to(&self, settable: &mut Settable) {
        match self {
            Self::Nothing => {}
            Self::This(name) => {
                settable.add(*name);
                settable.add(name.trim());
            }
            Self::Unknown => settable.add_all(),
        }
    }

    /// Adds the name and the names made from it.
    fn add_family_to(&self, settable: &mut Settable) {
        self.add_to(settable);
        let name = if let Self::This(name) = self {
            name
        } else {
            ""
        };
        settable.add_starting_with(format!("{}_", name.trim()));
        settable.add_starting_with(format!("{name}_"));
    }
}

impl Call {
    /// The answer when it is known, else the call.
    fn fold(self, known: &Known<'_>) -> Result<Vec<Piece>, CallError> {
        let stores = self.function.variable.is_some_and(|variable| {
            let name = self.arguments.get(variable.index);
            name.is_some_and(|name| name.constant() != Some(""))
        });
        if stores || known.changes.is_none() {
            return Ok(vec![Piece::Call(Box::new(self))]);
        }
        if let Prepared::Known(answer) = &self.prepared {
            return Ok(Piece::literals(answer));
        }
        let constant = self.arguments.iter().all(|a| a.constant().is_some());
        if !constant || self.function.answer != Answer::Same {
            return Ok(vec![Piece::Call(Box::new(self))]);
        }
        let mut nobody = Scope::nobody(Variables::new(known.globals.clone()));
        let mut answer = String::new();
        self.render(&mut nobody, &mut answer);
        match nobody.fault {
            // Sums may name a variable in their last argument.
            None if nobody.variables.own().next().is_some() => {
                Ok(vec![Piece::Call(Box::new(self))])
            }
            None => Ok(Piece::literals(&answer)),
            Some(fault) => {
                let says = format!("{} fails: {}", self.function.name, fault.says);
                Err(CallError::new(says))
            }
        }
    }

    /// Scripts are taken to ask variables only: most do, and a delay that asks more is rare.
    pub(crate) fn changes_by_itself(&self) -> bool {
        let mut pieces = self.arguments.iter().flat_map(|argument| &argument.0);
        let changes = self.function.answer == Answer::Changes && !runs_script(self.function.name);
        changes || pieces.any(Piece::changes_by_itself)
    }

    pub(crate) fn depends_on_user(&self) -> bool {
        let mut pieces = self.arguments.iter().flat_map(|argument| &argument.0);
        self.function.answer == Answer::OfUser || pieces.any(Piece::depends_on_user)
    }

    /// Appends the answer of the call.
    pub(crate) fn render(&self, scope: &mut Scope, out: &mut String) {
        let start = out.len();
        (self.function.render)(self, scope, out);
        let Some(Variable { index, name: kind }) = self.function.variable else {
            return;
        };
        // A script that failed has set nothing.
        let memory = scope.memory.as_mut();
        if memory.is_some_and(|memory| std::mem::take(&mut memory.scripts.has_failed)) {
            return;
        }
        if self.has(index) && scope.fault.is_none() {
            let name = self.argument(index, scope);
            let name = match kind {
                Name::Trimmed => name.trim(),
                Name::AsItIs => &*name,
            };
            if !name.is_empty() {
                scope.variables.set(name, &out[start..]);
            }
        }
    }

    /// The function's name.
    pub(crate) fn name(&self) -> &'static str {
        self.function.name
    }

    /// Whether the call has this argument, be it empty.
    fn has(&self, index: usize) -> bool {
        index < self.arguments.len()
    }

    /// An argument as it is now; one that is not there is empty.
    fn argument(&self, index: usize, scope: &mut Scope) -> Cow<'_, str> {
        match self.arguments.get(index) {
            Some(argument) => argument.render(scope),
            None => Cow::Borrowed(""),
        }
    }

    fn occurrence(&self) -> &Occurrence {
        match &self.prepared {
            Prepared::Occurrence(occurrence) => occurrence,
            _ => unreachable!("{} prepares its occurrence", self.function.name),
        }
    }
}

/// For functions that remember something from call to call.
#[expect(clippy::unnecessary_wraps, reason = "all functions prepare alike")]
fn remember(_: &[Argument], known: &Known<'_>) -> Result<Prepared, CallError> {
    Ok(Prepared::Occurrence(known.occurrence.clone()))
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("writing to a String never fails");
}

fn not_a_number(text: &str) -> String {
    format!("java.lang.NumberFormatException: For input string: \"{text}\"")
}
