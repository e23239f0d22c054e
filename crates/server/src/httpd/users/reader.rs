//! The files of a configuration, read in the server's order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::TargetError;
use crate::httpd::directives::Mpm;
use crate::httpd::syntax::{Line, lines};
use crate::trust::Runner;

use super::{ConfigurationFile, Scope, Statement};

/// Deepest nesting of included files; the server's own bound is 128.
const DEPTH_MAX: usize = 32;
/// Most files of one configuration.
const FILES_MAX: usize = 2_000;
/// The file beside a configuration that sets variables for it, on Debian.
pub(super) const VARIABLES: &str = "envvars";

/// What is known of a configuration so far.
pub(super) struct Reader {
    pub(super) root: PathBuf,
    pub(super) variables: BTreeMap<String, String>,
    /// Names of modules that are loaded, as `IfModule` may call them.
    pub(super) modules: BTreeSet<String>,
    pub(super) files: Vec<ConfigurationFile>,
    pub(super) statements: Vec<Statement>,
    pub(super) open: Vec<Scope>,
}

impl Reader {
    pub(super) fn file(&mut self, path: &Path, depth: usize) -> Result<(), TargetError> {
        let failed = |says: String| TargetError::Configuration {
            path: path.to_owned(),
            says,
        };
        if depth > DEPTH_MAX || self.files.len() >= FILES_MAX {
            return Err(failed(format!(
                "files include one another more than {DEPTH_MAX} deep, or there are more than {FILES_MAX}"
            )));
        }
        let text = fs::read_to_string(path).map_err(TargetError::file(path))?;
        let file = self.files.len();
        let lines = lines(&text);
        self.files.push(ConfigurationFile {
            path: path.to_owned(),
            text,
        });
        let sections = self.open.len();
        for line in lines {
            self.line(file, &line, depth).map_err(|error| match error {
                Refused::Line(number, says) => failed(format!("line {number}: {says}")),
                Refused::Other(error) => error,
            })?;
        }
        if self.open.len() == sections {
            Ok(())
        } else {
            Err(failed(
                "a section is opened or closed once too often".to_owned(),
            ))
        }
    }

    fn line(&mut self, file: usize, line: &Line, depth: usize) -> Result<(), Refused> {
        if line.name.starts_with("</") && self.open.pop().is_none() {
            return Err(Refused::Line(
                line.number,
                "nothing is open here".to_owned(),
            ));
        }
        let scope = self.open.iter().copied().max().unwrap_or(Scope::Whole);
        let mut statement = Statement {
            file,
            scope,
            is_followed: false,
            asks_for_mpm: false,
            line: line.clone(),
        };
        let place = self.statements.len();
        if line.name.starts_with('<') && !line.name.starts_with("</") {
            self.open.push(self.section(line));
            let asked = line.first();
            statement.asks_for_mpm = line.name == "<ifmodule"
                && scope == Scope::Whole
                && mpm_word(asked).is_some()
                && self.is_loaded(asked);
        }
        if scope == Scope::Whole {
            self.note(line);
        }
        self.statements.push(statement);
        let includes = ["include", "includeoptional"].contains(&line.name.as_str());
        if includes && scope != Scope::Nothing {
            let files = self.included(line)?;
            self.statements[place].is_followed = !files.is_empty();
            for path in files {
                self.file(&path, depth + 1).map_err(Refused::Other)?;
            }
        }
        Ok(())
    }

    /// Remembers what later lines depend on.
    fn note(&mut self, line: &Line) {
        let word = |index: usize| line.words.get(index).map(|word| word.text.clone());
        match (line.name.as_str(), word(0)) {
            ("loadmodule", Some(module)) => {
                self.modules.insert(module);
            }
            ("define", Some(name)) => {
                self.variables.insert(name, word(1).unwrap_or_default());
            }
            ("serverroot", Some(root)) => self.root = PathBuf::from(root),
            _ => {}
        }
    }

    /// What a section makes of the lines in it.
    fn section(&self, line: &Line) -> Scope {
        match line.name.as_str() {
            "<ifmodule" => {
                let asked = line.first();
                let (asked, is_wanted) = asked
                    .strip_prefix('!')
                    .map_or((asked, true), |asked| (asked, false));
                if self.is_loaded(asked) == is_wanted {
                    Scope::Whole
                } else {
                    Scope::Nothing
                }
            }
            "<ifdefine" | "<ifversion" | "<iffile" | "<ifdirective" | "<ifsection" => {
                Scope::Perhaps
            }
            _ => Scope::Part,
        }
    }

    /// Modules go by their name or by the name of their source file.
    fn is_loaded(&self, asked: &str) -> bool {
        let known = |name: &str| self.modules.contains(name);
        if known(asked) {
            return true;
        }
        if let Some(mpm) = mpm_word(asked) {
            return known(&format!("mpm_{mpm}_module")) || known(&format!("{mpm}.c"));
        }
        if let Some(name) = asked.strip_suffix("_module") {
            return known(&format!("mod_{name}.c"));
        }
        let name = asked.strip_prefix("mod_").unwrap_or(asked);
        let name = name.strip_suffix(".c").unwrap_or(name);
        known(&format!("{name}_module"))
    }

    pub(super) fn mpm(&self, path: &Path) -> Result<Mpm, TargetError> {
        let loaded = |word: &str| self.is_loaded(&format!("mpm_{word}_module"));
        let says = match (loaded("prefork"), loaded("event"), loaded("worker")) {
            (true, false, false) => return Ok(Mpm::Prefork),
            (false, true, false) => return Ok(Mpm::Event),
            (false, false, true) => "it uses the MPM worker; Weir sets prefork and event",
            (false, false, false) => "it loads none of the modules mpm_prefork and mpm_event",
            _ => "it loads more than one MPM",
        };
        Err(TargetError::Configuration {
            path: path.to_owned(),
            says: says.to_owned(),
        })
    }

    /// The files that a line includes, in the server's order.
    fn included(&self, line: &Line) -> Result<Vec<PathBuf>, Refused> {
        let refused = |says: String| Refused::Line(line.number, says);
        let word = self.resolved(line.first()).map_err(refused)?;
        let pattern = self.root.join(word);
        if pattern.is_dir() {
            let mut files = Vec::new();
            files_below(&pattern, &mut files).map_err(Refused::Other)?;
            return Ok(files);
        }
        let options = glob::MatchOptions {
            require_literal_separator: true,
            require_literal_leading_dot: true,
            ..glob::MatchOptions::default()
        };
        let found = glob::glob_with(&pattern.to_string_lossy(), options)
            .map_err(|error| refused(error.to_string()))?;
        Ok(found
            .filter_map(Result::ok)
            .filter(|path| path.is_file())
            .collect())
    }

    /// A word with its `${VARIABLES}` filled in.
    fn resolved(&self, word: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = word;
        while let Some((before, behind)) = rest.split_once("${") {
            let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
            let value = self.variables.get(name).ok_or_else(|| {
                format!("the variable {name} is not known: neither a Define nor the file {VARIABLES} sets it")
            })?;
            filled.push_str(before);
            filled.push_str(value);
            rest = after;
        }
        Ok(filled + rest)
    }
}

/// Why a line is not taken.
enum Refused {
    Line(usize, String),
    Other(TargetError),
}

/// The MPM that a name of a module means.
fn mpm_word(module: &str) -> Option<&str> {
    let words = ["prefork", "event", "worker"];
    let word = module
        .strip_prefix("mpm_")
        .and_then(|rest| rest.strip_suffix("_module"))
        .or_else(|| module.strip_suffix(".c"))?;
    words.contains(&word).then_some(word)
}

fn files_below(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), TargetError> {
    let entries = fs::read_dir(directory).map_err(TargetError::file(directory))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files_below(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The variables that a configuration can use: those of Weir's environment, and those that the file
/// beside it sets, which the distribution's own script for starting the server reads in the same
/// way.
pub(super) fn environment(file: &Path) -> Result<BTreeMap<String, String>, TargetError> {
    let script = "if [ -r \"$0\" ]; then . \"$0\" >/dev/null; fi; exec env -0";
    // A shell runs it, so it counts as a program; links are followed now and not once more.
    let is_there = fs::symlink_metadata(file).is_ok();
    let file = match Runner::own().trusted(file) {
        Ok(trusted) => trusted,
        Err(_) if !is_there => file.to_owned(),
        Err(why) => {
            return Err(TargetError::Configuration {
                path: file.to_owned(),
                says: format!(
                    "Weir would run it for its variables, but {why}; let it and the folders above it belong to root or to \
                     whoever runs Weir, and be writable by nobody else"
                ),
            });
        }
    };
    let output = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| TargetError::Spawn {
            program: PathBuf::from("/bin/sh"),
            source,
        })?;
    if !output.status.success() {
        return Err(TargetError::Configuration {
            path: file,
            says: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let variables = text.split('\0').filter_map(|line| line.split_once('='));
    // Where the server's libraries are is known better by whoever starts it.
    let others = variables.filter(|(name, _)| *name != "LD_LIBRARY_PATH");
    Ok(others
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}
