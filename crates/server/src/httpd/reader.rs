//! A configuration of an Apache httpd, read in the server's order: included files where they are
//! included, sections by what they ask for, variables filled in.
//!
//! There is one reader for the configuration that Weir copies and starts ([`super::users`]) and for
//! that of a server that runs already ([`crate::recognise()`]). It refuses nothing: what cannot be
//! read is a [`Problem`], and what depends on something that is not known counts as
//! [`Scope::Perhaps`].
//!
//! As the server does it (manual, "Configuration Sections", `core`, `mod_version`, `mod_macro`):
//! `ServerRoot`, `LoadModule`, `Define`, `Include` and the sections that are conditions take effect
//! in the moment they are read, in whatever section they stand.

mod conditions;
mod names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::glob_files::matching;
use crate::machine::Machine;

use super::directives::{Directive, Mpm, directive_named};
use super::syntax::{Line, lines};
use conditions::Truth;
use names::Names;

/// Deepest nesting of included files; the server's own bound is 128.
const DEPTH_MAX: usize = 32;
/// Most files of one configuration.
const FILES_MAX: usize = 2_000;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// It counts for the whole server.
    Whole,
    /// In a section that may count or not.
    Perhaps,
    /// It counts for a part: a host, a directory.
    Part,
    /// It does not count.
    Nothing,
}

/// A file of a configuration.
#[derive(Debug, Clone)]
pub(crate) struct ConfigurationFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A line with where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// Which of the files.
    pub(crate) file: usize,
    pub(crate) line: Line,
    /// The words behind the name with their variables filled in.
    pub(crate) words: Vec<String>,
    pub(crate) scope: Scope,
    /// An `Include` whose files follow.
    pub(crate) is_followed: bool,
    /// Whether it opens a section that asks for the MPM that is used.
    pub(crate) asks_for_mpm: bool,
    /// Why anything may stand here: an `Include` that could not be followed, a macro.
    pub(crate) unread: Option<&'static str>,
    /// The section of which it is not known whether it counts.
    pub(crate) condition: Option<String>,
}

impl Statement {
    /// The first word, empty when there is none.
    pub(crate) fn first(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) file: PathBuf,
    /// From 1; 0 for the file as a whole.
    pub(crate) line: usize,
    pub(crate) says: String,
}

/// What a server has beside its configuration.
#[derive(Debug)]
pub(crate) struct Host<'a> {
    pub(crate) machine: &'a Machine,
    /// The directory that names are relative to before a `ServerRoot` is read.
    pub(crate) root: PathBuf,
    /// Its version, such as `2.4.62`.
    pub(crate) version: Option<String>,
    /// Modules in the program itself, by their source files; nothing when they are not known.
    pub(crate) modules: Option<Vec<String>>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Names that its command line defines; nothing when it is not known.
    pub(crate) defines: Option<Vec<String>>,
}

/// A configuration that was read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The files; the first is the one that was named.
    pub(crate) files: Vec<ConfigurationFile>,
    /// All lines in the order in which the server reads them.
    pub(crate) statements: Vec<Statement>,
    pub(crate) problems: Vec<Problem>,
    names: Names,
}

/// What a configuration says of a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Written<'a> {
    /// Nothing.
    Nowhere,
    /// This line, the last one.
    At(&'a Statement),
    /// Behind all others stands something of which it is not known whether it sets the limit.
    Unsure(&'a Statement),
}

/// A text of the configuration and what it is called.
pub(crate) enum Part<'a> {
    File(&'a Path),
    /// Directives of the command line.
    Typed(&'a str, &'a str),
}

impl Reading {
    /// Reads the parts of a configuration one behind the other.
    pub(crate) fn of(parts: &[Part<'_>], host: Host<'_>) -> Self {
        let mut reader = Reader {
            names: Names::of(&host),
            machine: host.machine,
            root: Ok(host.root),
            macros: BTreeMap::new(),
            files: Vec::new(),
            statements: Vec::new(),
            problems: Vec::new(),
            open: Vec::new(),
        };
        for part in parts {
            match part {
                Part::File(path) => {
                    if let Err(says) = reader.file(path, 0) {
                        reader.problem(path, 0, says);
                    }
                }
                Part::Typed(name, text) => reader.text(Path::new(name), (*text).to_owned(), 0),
            }
        }
        Self {
            files: reader.files,
            statements: reader.statements,
            problems: reader.problems,
            names: reader.names,
        }
    }

    /// The modules that make processes, of which the server has one.
    pub(crate) fn mpms(&self) -> Vec<&'static str> {
        self.names.mpms()
    }

    /// What the configuration says of a limit.
    pub(crate) fn written(&self, mpm: Mpm, wanted: &Directive) -> Written<'_> {
        let mut written = Written::Nowhere;
        for statement in &self.statements {
            let is_it = directive_named(mpm, &statement.line.name)
                .is_some_and(|directive| directive.name == wanted.name);
            match statement.scope {
                Scope::Whole if is_it => written = Written::At(statement),
                Scope::Perhaps if is_it => written = Written::Unsure(statement),
                Scope::Whole | Scope::Perhaps if statement.unread.is_some() => {
                    written = Written::Unsure(statement);
                }
                _ => {}
            }
        }
        written
    }

    /// `FILE:LINE`.
    pub(crate) fn place(&self, statement: &Statement) -> String {
        let file = self.files[statement.file].path.display();
        format!("{file}:{}", statement.line.number)
    }
}

/// A section that is open.
#[derive(Debug)]
struct Section {
    scope: Scope,
    /// How it begins and where.
    title: String,
    /// The name of the macro that it is.
    macro_name: Option<String>,
}

/// Directives that change what is known, beside those that are limits.
const NOTED: [&str; 7] = [
    "include",
    "includeoptional",
    "use",
    "define",
    "undefine",
    "loadmodule",
    "serverroot",
];

#[derive(Debug)]
struct Reader<'a> {
    machine: &'a Machine,
    /// What relative names count from, or why that is not known.
    root: Result<PathBuf, String>,
    names: Names,
    /// Macros by their names in small letters, and whether one may set a limit or include files.
    macros: BTreeMap<String, bool>,
    files: Vec<ConfigurationFile>,
    statements: Vec<Statement>,
    problems: Vec<Problem>,
    open: Vec<Section>,
}

impl Reader<'_> {
    fn problem(&mut self, file: &Path, line: usize, says: String) {
        self.problems.push(Problem {
            file: file.to_owned(),
            line,
            says,
        });
    }

    fn file(&mut self, path: &Path, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX || self.files.len() >= FILES_MAX {
            return Err(format!(
                "files include one another more than {DEPTH_MAX} deep, or there are more than {FILES_MAX}"
            ));
        }
        let bytes = self.machine.bytes(path);
        let bytes = bytes.map_err(|error| format!("it cannot be read: {error}"))?;
        self.text(path, String::from_utf8_lossy(&bytes).into_owned(), depth);
        Ok(())
    }

    fn text(&mut self, path: &Path, text: String, depth: usize) {
        let file = self.files.len();
        let lines = lines(&text);
        self.files.push(ConfigurationFile {
            path: path.to_owned(),
            text,
        });
        let sections = self.open.len();
        for line in lines {
            if line.name.starts_with("</") && self.open.len() <= sections {
                self.problem(path, line.number, "nothing is open here".to_owned());
                return;
            }
            self.line(path, file, line, depth);
        }
        if self.open.len() != sections {
            self.problem(
                path,
                0,
                "a section is opened or closed once too often".to_owned(),
            );
            self.open.truncate(sections);
        }
    }

    fn line(&mut self, path: &Path, file: usize, line: Line, depth: usize) {
        if line.name.starts_with("</") {
            self.open.pop();
        }
        let scopes = self.open.iter().map(|section| section.scope);
        let scope = scopes.max().unwrap_or(Scope::Whole);
        let is_macro = self.in_macro(&line);
        let unsure = self
            .open
            .iter()
            .find(|section| section.scope == Scope::Perhaps);
        let words = line.words.iter().map(|word| self.names.filled(&word.text));
        let mut statement = Statement {
            file,
            words: words.collect(),
            scope,
            is_followed: false,
            asks_for_mpm: false,
            unread: None,
            condition: unsure.map(|section| section.title.clone()),
            line,
        };
        let line = &statement.line;
        if line.name.starts_with('<') && !line.name.starts_with("</") {
            let section = self.section(path, line);
            if let Some(name) = section.macro_name.clone() {
                self.macros.insert(name, false);
            }
            statement.asks_for_mpm = line.name == "<ifmodule"
                && scope == Scope::Whole
                && section.scope == Scope::Whole
                && names::is_mpm(line.first());
            self.open.push(section);
        } else if scope != Scope::Nothing && !is_macro {
            self.note(&statement);
        }
        let includes = match line.name.as_str() {
            "include" => Some(true),
            "includeoptional" => Some(false),
            _ => None,
        };
        let (number, is_read) = (line.number, scope != Scope::Nothing && !is_macro);
        if line.name == "use" && is_read {
            let name = statement.first().to_lowercase();
            if self.macros.get(&name).copied().unwrap_or(true) {
                statement.unread = Some("what a macro puts there is not read");
                self.names.anything_may_be();
            }
        }
        let place = self.statements.len();
        let word = statement.first().to_owned();
        self.statements.push(statement);
        let Some(must_be_there) = includes.filter(|_| is_read) else {
            return;
        };
        let mut is_read = true;
        match self.included(&word, must_be_there) {
            Ok(files) => {
                self.statements[place].is_followed = !files.is_empty();
                for included in files {
                    if let Err(says) = self.file(&included, depth + 1) {
                        self.problem(&included, 0, says);
                        is_read = false;
                    }
                }
            }
            Err(says) => {
                self.problem(path, number, says);
                is_read = false;
            }
        }
        if !is_read {
            self.names.anything_may_be();
            // Behind what could be read of it.
            let unread = Statement {
                unread: Some("files that are included there cannot be read"),
                is_followed: true,
                ..self.statements[place].clone()
            };
            self.statements.push(unread);
        }
    }

    /// Whether a line is a macro's, which does nothing where it stands; what it may do where the
    /// macro is used is remembered.
    fn in_macro(&mut self, line: &Line) -> bool {
        let is_macro = |section: &Section| section.macro_name.is_some();
        let Some(at) = self.open.iter().position(is_macro) else {
            return false;
        };
        let is_limit = [Mpm::Prefork, Mpm::Event]
            .iter()
            .any(|mpm| directive_named(*mpm, &line.name).is_some());
        let is_of_part = self.open[at + 1..]
            .iter()
            .any(|section| section.scope == Scope::Part);
        if is_limit && !is_of_part || NOTED.contains(&line.name.as_str()) || line.name.contains('$')
        {
            let name = self.open[at].macro_name.clone().unwrap_or_default();
            self.macros.insert(name, true);
        }
        true
    }

    /// Remembers what later lines depend on.
    fn note(&mut self, statement: &Statement) {
        let word = |index: usize| statement.words.get(index).cloned();
        let is_sure = statement.condition.is_none();
        match (statement.line.name.as_str(), word(0)) {
            ("loadmodule", Some(module)) => self.names.load(&module, is_sure),
            ("define", Some(name)) => {
                self.names
                    .define(&name, word(1).unwrap_or_default(), is_sure);
            }
            ("undefine", Some(name)) => self.names.undefine(&name, is_sure),
            ("serverroot", Some(root)) => {
                let condition = statement.condition.as_ref();
                self.root = condition.map_or_else(
                    || Ok(PathBuf::from(root)),
                    |condition| {
                        Err(format!(
                            "whether the ServerRoot in {condition} counts is not known"
                        ))
                    },
                );
            }
            _ => {}
        }
    }

    /// What a section makes of the lines in it.
    fn section(&self, path: &Path, line: &Line) -> Section {
        let condition = line.first();
        let (asked, is_wanted) = condition
            .strip_prefix('!')
            .map_or((condition, true), |asked| (asked, false));
        let holds = match line.name.as_str() {
            "<ifmodule" => Some(self.names.is_loaded(asked)),
            "<ifdefine" => Some(self.names.is_defined(asked)),
            "<iffile" => Some(self.has_file(asked)),
            "<ifversion" => {
                let words: Vec<&str> = line.words.iter().map(|word| word.text.as_str()).collect();
                Some(self.names.is_version(&words))
            }
            "<ifdirective" | "<ifsection" => Some(Truth::Unsure),
            _ => None,
        };
        let is_version = line.name == "<ifversion";
        let macro_name = (line.name == "<macro").then(|| condition.to_lowercase());
        let scope = match holds {
            None if macro_name.is_some() => Scope::Nothing,
            None => Scope::Part,
            Some(Truth::Unsure) => Scope::Perhaps,
            // A version's `!` stands before its operator.
            Some(truth) if is_version || is_wanted => truth.scope(),
            Some(truth) => truth.turned().scope(),
        };
        Section {
            scope,
            title: format!("{}> at {}:{}", line.name, path.display(), line.number),
            macro_name,
        }
    }

    fn has_file(&self, path: &str) -> Truth {
        let path = self.names.filled(path);
        let root = self.root.as_ref().map(|root| root.join(&path));
        let Some(path) = root.ok().filter(|_| names::unfilled(&path).is_none()) else {
            return Truth::Unsure;
        };
        if self.machine.is_file(&path) {
            return Truth::Yes;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Truth::Unsure;
        };
        // That it cannot be seen does not say that it is not there.
        self.machine.listing(folder).map_or(Truth::Unsure, |names| {
            Truth::of(names.iter().any(|there| name == there.as_str()))
        })
    }

    /// The files that a line includes, in the server's order.
    fn included(&self, word: &str, must_be_there: bool) -> Result<Vec<PathBuf>, String> {
        if let Some(name) = names::unfilled(word) {
            return Err(format!(
                "the variable {name} is not known: no Define and no variable of the environment sets it"
            ));
        }
        let pattern = match &self.root {
            Ok(root) => root.join(word),
            Err(_) if word.starts_with('/') => PathBuf::from(word),
            Err(why) => return Err(why.clone()),
        };
        let found = matching(self.machine, &pattern)?;
        let mut files = Vec::new();
        for path in found {
            self.files_below(&path, 0, &mut files)?;
        }
        if files.is_empty() && must_be_there {
            return Err(format!("no file `{}` can be seen", pattern.display()));
        }
        Ok(files)
    }

    /// A file, or all files of a directory and of those in it.
    fn files_below(
        &self,
        path: &Path,
        depth: usize,
        files: &mut Vec<PathBuf>,
    ) -> Result<(), String> {
        if self.machine.is_file(path) {
            files.push(path.to_owned());
            return Ok(());
        }
        if depth > DEPTH_MAX || files.len() > FILES_MAX {
            return Err(format!("there is too much below `{}`", path.display()));
        }
        let names = self.machine.listing(path);
        for name in
            names.map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?
        {
            self.files_below(&path.join(name), depth + 1, files)?;
        }
        Ok(())
    }
}
