//! Scripts of a plan: what they may touch, what is remembered of them, what becomes of them.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use jiff::tz::TimeZone;
use rand_xoshiro::rand_core::Rng as _;
use weir_plan::{ElementId, Script as Element};
use weir_snippet::{
    Bindings, DateParts, DateWriter, Failure, Host, Language, Place, Sample, Script, SharedValue,
    State, SyntaxError, Value, WriteMode, time_zone_of_java,
};

use crate::date::{DatePattern, Defaults, Fields, format_epoch};
use crate::{Scope, Text};

/// How Java writes a date that is shown as a text.
const DATE_TEXT: &str = "EEE MMM dd HH:mm:ss z yyyy";
/// Largest file that a script may read.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Most scripts that are kept once they were read; more of them than a plan has are made of
/// variables, and are read anew.
const KEPT_MAX: usize = 500;
/// Most users' variables of one kind: what `vars.putObject` keeps, by name.
const OBJECTS_MAX: usize = 1_000;

/// Scripts that were read, for all users.
pub(crate) type Kept = HashMap<(Language, Arc<str>), Read>;

type Read = Result<Arc<Script>, SyntaxError>;

/// Who has a `BeanShell` interpreter of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    /// An element, for all samplers in whose scope it stands.
    Element(ElementId),
    /// A function, by where it stands in a text.
    Occurrence(usize),
}

/// What is remembered of one user's scripts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remembered {
    /// The sample before.
    pub(crate) previous: Option<Sample>,
    objects: Vec<(Box<str>, Value)>,
    /// Names of `BeanShell` interpreters, by who has them.
    states: Vec<(Keeper, State)>,
    /// The first text of scripts that are compiled once, by their elements.
    texts: Vec<(ElementId, Arc<str>)>,
    /// A function's script has just failed: it has no answer.
    pub(crate) has_failed: bool,
}

/// Why a script of a plan gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFailure {
    /// It failed as it does in JMeter.
    #[error("{0}")]
    Thrown(String),
    /// It failed with what Java has for the worst, which ends the user: an assertion of Groovy.
    #[error("{0}")]
    Fatal(String),
    /// Weir cannot run it.
    #[error("{0}")]
    Beyond(String),
}

impl ScriptFailure {
    /// In the words in which JMeter's engines pass it on.
    fn of(failure: Failure, language: Language, text: &str) -> Self {
        let thrown = match failure {
            Failure::Thrown(thrown) => thrown,
            beyond => return Self::Beyond(beyond.to_string()),
        };
        if thrown.is_error() {
            return Self::Fatal(thrown.to_string());
        }
        Self::Thrown(match language {
            Language::JavaScript => thrown.to_string(),
            Language::BeanShell => {
                let says = thrown.told.as_ref().or(thrown.message.as_ref());
                let says = says.filter(|says| !says.is_empty());
                let says = says.map(|says| format!(" : {says}")).unwrap_or_default();
                format!(
                    "org.apache.jorphan.util.JMeterException: Error invoking bsh method: \
                     eval\tSourced file: inline evaluation of: ``{}''{says}",
                    shown(text)
                )
            }
            _ => format!("javax.script.ScriptException: {thrown}"),
        })
    }
}

/// The beginning of a script in one line, as `BeanShell` shows it.
fn shown(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{} . . . ", &line[..end]),
        None => line,
    }
}

/// Reads a script, or takes what is known of it.
pub(crate) fn read(text: &str, language: Language, scope: &Scope) -> Read {
    let mut kept = scope.live().scripts();
    let key = (language, Arc::from(text));
    if let Some(known) = kept.get(&key) {
        return known.clone();
    }
    let read = Script::read(text, language).map(Arc::new);
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, read.clone());
    read
}

/// Runs a script with the user's variables; the answer is its value.
///
/// `keeps` is the identity of an interpreter whose names outlive the script.
pub(crate) fn run(
    script: &Script,
    scope: &mut Scope,
    bindings: &mut Bindings,
    keeps: Option<usize>,
) -> Result<Value, Failure> {
    let mut state = State::default();
    let keeps = keeps.map(Keeper::Occurrence);
    run_with(script, scope, bindings, keeps, &mut state)
}

fn run_with(
    script: &Script,
    scope: &mut Scope,
    bindings: &mut Bindings,
    keeps: Option<Keeper>,
    state: &mut State,
) -> Result<Value, Failure> {
    let keeps = keeps.filter(|_| script.keeps_state());
    let earlier = keeps.and_then(|id| {
        let states = &mut scope.memory().scripts.states;
        let at = states.iter().position(|(known, _)| *known == id)?;
        Some(states.swap_remove(at).1)
    });
    if let Some(mut earlier) = earlier {
        // What is bound anew replaces what was left.
        for (name, value) in state.iter() {
            earlier.set(name, value.clone());
        }
        *state = earlier;
    }
    let done = script.run(&mut OfUser(scope), bindings, state);
    if let Some(id) = keeps {
        scope.memory().scripts.states.push((id, state.clone()));
    }
    done
}

/// A script element of a plan at work: its text as it is now, and what it left.
#[derive(Debug, Default)]
pub struct ScriptRun {
    /// What is bound before and was changed after.
    pub bindings: Bindings,
    /// Names that `BeanShell` elements bind, and have after the run.
    pub names: State,
    /// The text that runs, once it is known.
    text: Option<Arc<str>>,
    /// The text as it is now: what was compiled once may be another one.
    pub shown: Arc<str>,
}

impl ScriptRun {
    /// Before a script at this place.
    pub fn new(place: Place, thread_name: &str) -> Self {
        Self {
            bindings: Bindings {
                place,
                thread_name: thread_name.to_owned(),
                ..Bindings::default()
            },
            ..Self::default()
        }
    }

    /// Makes the script's text what it is now, as JMeter does before anything else of a run.
    ///
    /// # Errors
    /// Why there is none.
    pub fn prepare(
        &mut self,
        element: &Element<Text>,
        scope: &mut Scope,
    ) -> Result<(), ScriptFailure> {
        self.bindings.label = element.name.rendered(scope);
        self.bindings.parameters = element.parameters.rendered(scope);
        self.bindings.file_name = element.file.rendered(scope);
        self.text = Some(self.text_now(element, scope)?);
        Ok(())
    }

    /// Whether the text that runs has one of these words in it; not before it is prepared.
    pub fn says(&self, words: &[&str]) -> bool {
        let text = self.text.as_deref().unwrap_or_default();
        words.iter().any(|word| text.contains(word))
    }

    /// Runs an element's script, which is prepared first where that was not done; the answer is its
    /// value.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn run(
        &mut self,
        element: &Element<Text>,
        scope: &mut Scope,
    ) -> Result<Value, ScriptFailure> {
        let Some(language) = Language::named(&element.language) else {
            let says = format!("Weir does not know the language {}", element.language);
            return Err(ScriptFailure::Beyond(says));
        };
        if self.text.is_none() {
            self.prepare(element, scope)?;
        }
        let text = self.text.clone().unwrap_or_default();
        if language == Language::BeanShell {
            for name in ["Label", "FileName", "Parameters"] {
                // They are names of the interpreter, which scripts may change.
                let value = match name {
                    "Label" => &self.bindings.label,
                    "FileName" => &self.bindings.file_name,
                    _ => &self.bindings.parameters,
                };
                let value = Value::text(value.as_str());
                self.names.set(name, value);
            }
        }
        if text.is_empty() && language != Language::BeanShell {
            return Err(ScriptFailure::Thrown(format!(
                "javax.script.ScriptException: Both script file and script text are empty for \
                 element:{}",
                self.bindings.label
            )));
        }
        let script = read(&text, language, scope).map_err(|error| {
            ScriptFailure::Beyond(format!("Weir cannot read the script: {error}"))
        })?;
        let keeps = (!element.resets).then_some(Keeper::Element(element.id));
        let done = run_with(&script, scope, &mut self.bindings, keeps, &mut self.names);
        done.map_err(|failure| ScriptFailure::of(failure, language, &text))
    }

    fn text_now(
        &mut self,
        element: &Element<Text>,
        scope: &mut Scope,
    ) -> Result<Arc<str>, ScriptFailure> {
        let file = self.bindings.file_name.as_str();
        if !file.is_empty() {
            return script_file(file, element, &self.bindings.label, scope);
        }
        self.shown = match element.text.constant() {
            Some(text) => text.into(),
            None => element.text.rendered(scope).into(),
        };
        if element.text.constant().is_some() || !element.first_text_stays {
            return Ok(Arc::clone(&self.shown));
        }
        // JMeter compiles the text that it sees first, and does not look at it again.
        let id = element.id;
        let known = scope.memory().scripts.texts.iter();
        let known = known.clone().find(|(of, _)| *of == id);
        if let Some((_, text)) = known {
            return Ok(Arc::clone(text));
        }
        let text = Arc::clone(&self.shown);
        scope.memory().scripts.texts.push((id, Arc::clone(&text)));
        Ok(text)
    }

    /// Whether the script, as far as it is known before the test, has this name in it.
    pub fn mentions(element: &Element<Text>, name: &str) -> bool {
        element
            .text
            .constant()
            .is_none_or(|text| text.contains(name))
            || element.file.constant() != Some("")
    }
}

/// A script in a file of its own, in the folder that Weir was started in (JMeter), or beside the
/// plan.
fn script_file(
    name: &str,
    element: &Element<Text>,
    label: &str,
    scope: &Scope,
) -> Result<Arc<str>, ScriptFailure> {
    let (live, reach) = (scope.live(), scope.live().reach());
    let found = reach.read_whole(&reach.find(name), FILE_BYTES_MAX);
    let found = found.inspect_err(|error| live.log_refusal(label, error));
    let text = found.map_err(|_| {
        ScriptFailure::Thrown(if element.language == "beanshell" {
            format!(
                "org.apache.jorphan.util.JMeterException: Error invoking bsh method: source\t\
                 {name} (No such file or directory)"
            )
        } else {
            let path = std::path::absolute(name).unwrap_or_else(|_| name.into());
            format!(
                "javax.script.ScriptException: Script file '{}' is not a file for element: {label}",
                path.display()
            )
        })
    })?;
    Ok(String::from_utf8_lossy(&text).into())
}

/// What is wrong with a script, as far as that shows before the test; `text` has something in the
/// place of each reference.
pub(crate) fn problem(text: &str, language: &str) -> Option<String> {
    let Some(language) = Language::named(language) else {
        return Some(format!("scripts in {language} are not known"));
    };
    let name = language.name();
    match Script::read(text, language) {
        Err(error) => Some(format!("a script in {name} cannot be read: {error}")),
        Ok(script) => {
            let unknown = script.unknown().into_iter().next()?;
            Some(format!(
                "a script in {name} needs what is not known: {unknown}"
            ))
        }
    }
}

/// A user as scripts see it.
struct OfUser<'s>(&'s mut Scope);

impl OfUser<'_> {
    fn zone(&self, name: Option<&str>) -> TimeZone {
        match name {
            None => self.0.live().time_zone(),
            Some(name) => time_zone_of_java(name),
        }
    }
}

impl Host for OfUser<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variables.get(name).map(str::to_owned)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.0.variables.set(name, value);
        if let Some(memory) = &mut self.0.memory {
            memory.scripts.objects.retain(|(known, _)| **known != *name);
        }
    }

    fn remove_variable(&mut self, name: &str) {
        self.0.variables.remove(name);
        if let Some(memory) = &mut self.0.memory {
            memory.scripts.objects.retain(|(known, _)| **known != *name);
        }
    }

    fn variables(&self) -> Vec<(String, String)> {
        let variables = &self.0.variables;
        let globals = variables.globals().iter();
        let mut names: Vec<&str> = globals.map(|(name, _)| name).collect();
        names.extend(variables.own().map(|(name, _)| name));
        names.sort_unstable();
        names.dedup();
        let known = names
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), variables.get(name)?.to_owned())));
        known.collect()
    }

    fn object(&self, name: &str) -> Option<Value> {
        let memory = self.0.memory.as_ref()?;
        let mut objects = memory.scripts.objects.iter();
        objects
            .find(|(known, _)| **known == *name)
            .map(|(_, value)| value.clone())
    }

    fn set_object(&mut self, name: &str, value: Value) {
        let objects = &mut self.0.memory().scripts.objects;
        objects.retain(|(known, _)| **known != *name);
        if objects.len() < OBJECTS_MAX {
            objects.push((name.into(), value));
        }
    }

    fn property(&self, name: &str) -> Option<String> {
        self.0.live().property(name)
    }

    fn properties(&self) -> Vec<(String, String)> {
        self.0.live().properties()
    }

    fn set_property(&mut self, name: &str, value: &str) -> Option<String> {
        self.0.live().set_property(name, value)
    }

    fn shared_property(&self, name: &str) -> Option<SharedValue> {
        self.0.live().shared_property(name)
    }

    fn share_property(&mut self, name: &str, value: SharedValue) {
        self.0.live().share_property(name, value);
    }

    fn remove_property(&mut self, name: &str) {
        self.0.live().remove_property(name);
    }

    fn log(&mut self, level: &str, text: &str) {
        self.0.live().log(level, text);
    }

    fn epoch_ms(&self) -> i64 {
        self.0.epoch_ms
    }

    fn random(&mut self) -> u64 {
        self.0.random.next_u64()
    }

    fn format_date(
        &self,
        epoch_ms: i64,
        pattern: &str,
        zone: Option<&str>,
    ) -> Result<String, String> {
        let compiled = date_pattern(pattern)?;
        let fields = Fields::at(epoch_ms, self.zone(zone));
        let text = fields.and_then(|fields| compiled.format(&fields));
        text.ok_or_else(|| "the time is beyond the calendar".to_owned())
    }

    fn time_zone(&self) -> TimeZone {
        self.zone(None)
    }

    fn format_parts(&self, parts: &DateParts, pattern: &str) -> Result<Option<String>, String> {
        let pattern = DatePattern::new(pattern).map_err(|error| error.to_string())?;
        Ok(pattern.format(&Fields::of_parts(parts)))
    }

    fn parse_parts(&self, text: &str, pattern: &str) -> Result<Option<DateParts>, String> {
        let pattern = DatePattern::new(pattern).map_err(|error| error.to_string())?;
        Ok(pattern.parse(text, None).map(|fields| fields.parts()))
    }

    fn date_writer(&self) -> DateWriter {
        let zone = self.zone(None);
        Rc::new(move |epoch_ms| format_epoch(epoch_ms, DATE_TEXT, zone.clone()))
    }

    fn parse_date(&self, text: &str, pattern: &str, zone: Option<&str>) -> Option<i64> {
        let compiled = date_pattern(pattern).ok()?;
        let read = |offset_s: i32| {
            let defaults = Defaults {
                year: 1970,
                offset_s,
            };
            compiled.parse(text, Some(defaults))?.zoned()
        };
        // A text that says its offset is the same moment whatever the default is.
        let (one, other) = (read(0)?, read(3_600)?);
        if one.timestamp() == other.timestamp() {
            return Some(one.timestamp().as_millisecond());
        }
        let zone = self.zone(zone);
        let local = one.datetime().to_zoned(zone).ok()?;
        Some(local.timestamp().as_millisecond())
    }

    fn user(&self) -> u32 {
        self.0.user
    }

    fn iteration(&self) -> u64 {
        u64::from(self.0.iteration)
    }

    fn group(&self) -> Arc<str> {
        Arc::clone(&self.0.group)
    }

    fn directory(&self) -> String {
        let directory = self.0.live().reach().folder();
        let directory = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let text = absolute.to_string_lossy();
        text.trim_end_matches('/').to_owned()
    }

    /// A relative name starts where Weir was started, as any does in Java.
    fn read_file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let live = self.0.live();
        let read = live.reach().read_whole(path.as_ref(), FILE_BYTES_MAX);
        read.inspect_err(|error| live.log_refusal("a script", error))
    }

    fn write_file(&mut self, path: &str, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        let mode = match mode {
            WriteMode::Append => weir_reach::WriteMode::Append,
            WriteMode::Replace => weir_reach::WriteMode::Replace,
        };
        let live = self.0.live();
        let opened = live.reach().write(path.as_ref(), mode);
        let mut file = opened.inspect_err(|error| live.log_refusal("a script", error))?;
        file.write_all(bytes)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.0.live().reach().is_folder(path.as_ref())
    }

    fn file_length(&self, path: &str) -> io::Result<u64> {
        self.0.live().reach().length(path.as_ref())
    }

    fn make_folders(&mut self, path: &str) -> io::Result<()> {
        let live = self.0.live();
        let made = live.reach().make_folders(path.as_ref());
        made.inspect_err(|error| live.log_refusal("a script", error))
    }

    fn remove_file(&mut self, path: &str) -> io::Result<()> {
        let live = self.0.live();
        let removed = live.reach().remove(path.as_ref());
        removed.inspect_err(|error| live.log_refusal("a script", error))
    }

    fn exists(&self, path: &str) -> bool {
        self.0.live().reach().exists(path.as_ref())
    }
}

/// A pattern of `SimpleDateFormat`, of which only milliseconds mean something else here.
fn date_pattern(pattern: &str) -> Result<DatePattern, String> {
    let runs = pattern.split(|c| c != 'S').filter(|run| !run.is_empty());
    if runs.clone().any(|run| run.len() != 3) || pattern.contains('u') {
        return Err("milliseconds are known as SSS, and days as names".to_owned());
    }
    DatePattern::new(pattern).map_err(|error| error.to_string())
}
