//! The files that a plan reads and writes, before it does.
//!
//! Each place is found where the plan is compiled: there it shows whether a name is always the
//! same. A name that is made while the test runs is in the list without its file; what it may be is
//! asked of the [`Reach`](weir_reach::Reach) when it is known.

use weir_plan::{IterationElement, LoadPlan, Node, Position, SamplerKind, Template};
use weir_snippet::{Language, Script};

use crate::text::Compiler;
use crate::{Text, parse};

/// A place in a plan where a file is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Where.
    pub at: Position,
    /// What names it: an element or a function.
    pub who: String,
    /// The name as it is written.
    pub written: String,
    /// The name, if it is always the same.
    pub name: Option<String>,
    /// What is done with the file.
    pub does: FileDeed,
    /// Weir itself leaves the file alone: only a JMeter runs the element.
    pub only_jmeter: bool,
}

/// What a plan does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileDeed {
    /// It is read.
    Reads,
    /// It is written.
    Writes,
    /// One of both: only the run shows.
    ReadsOrWrites,
}

impl FileDeed {
    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::ReadsOrWrites => "reads or writes",
        }
    }

    fn of_script(is_written: Option<bool>) -> Self {
        match is_written {
            Some(true) => Self::Writes,
            Some(false) => Self::Reads,
            None => Self::ReadsOrWrites,
        }
    }
}

/// All places of a plan whose functions have been compiled, in the order of the file.
pub(crate) fn of_plan(plan: &LoadPlan, compiler: &mut Compiler) -> Vec<FileUse> {
    let mut gathering = Gathering { compiler };
    for group in &plan.groups {
        gathering.iteration_elements(&group.on_iteration);
        gathering.nodes(&group.nodes);
    }
    let writing = plan
        .listeners
        .iter()
        .filter(|listener| listener.sends.is_none());
    for listener in writing {
        gathering.named("a listener", &listener.file, FileDeed::Writes);
    }
    plan.for_each_script(&mut |script| {
        if !script.file.text.is_empty() {
            let who = format!("the script file of a {} element", script.language);
            gathering.named(&who, &script.file, FileDeed::Reads);
        }
        gathering.script(&script.text, &script.language);
    });
    for named in &plan.named_files {
        let template = &named.file;
        let (name, does) = if named.only_jmeter {
            let text = gathering.seen(template);
            (text.constant().map(str::to_owned), FileDeed::ReadsOrWrites)
        } else {
            (Some(template.text.trim().to_owned()), FileDeed::Reads)
        };
        gathering.compiler.files.push(FileUse {
            at: template.at,
            who: named.class.clone(),
            written: template.text.clone(),
            name,
            does,
            only_jmeter: named.only_jmeter,
        });
    }
    let mut files = std::mem::take(&mut gathering.compiler.files);
    files.sort_by(|one, other| (one.at, &one.written).cmp(&(other.at, &other.written)));
    files.dedup();
    files
}

/// The files of a script in a call, whose text stands at a place.
pub(crate) fn of_script(
    text: &str,
    language: Language,
    at: Position,
) -> impl Iterator<Item = FileUse> {
    let read = Script::read(text, language).ok();
    let files = read.map(|script| script.files()).unwrap_or_default();
    let who = format!("a script in {}", language.name());
    files.into_iter().map(move |file| FileUse {
        at: Position {
            line: at.line + file.line.saturating_sub(1),
            ..at
        },
        who: who.clone(),
        written: file.name.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
        name: file.name,
        does: FileDeed::of_script(file.is_written),
        only_jmeter: false,
    })
}

/// What stands for a name that a script makes.
const UNKNOWN: &str = "a file named at run time";

struct Gathering<'a> {
    compiler: &'a mut Compiler,
}

impl Gathering<'_> {
    /// A text as it will be; what is wrong with it is told elsewhere.
    fn seen(&mut self, template: &Template) -> Text {
        let known = self.compiler.problems.len();
        let text = self.compiler.compile(template);
        self.compiler.problems.truncate(known);
        text
    }

    fn named(&mut self, who: &str, template: &Template, does: FileDeed) {
        if template.text.is_empty() {
            return;
        }
        let text = self.seen(template);
        let file = FileUse {
            at: template.at,
            who: who.to_owned(),
            written: template.text.clone(),
            name: text.constant().map(str::to_owned),
            does,
            only_jmeter: false,
        };
        self.compiler.files.push(file);
    }

    fn script(&mut self, template: &Template, language: &str) {
        let Some(language) = Language::named(language) else {
            return;
        };
        let text = self.seen(template);
        let constant = text.constant();
        let [shown, ..] = parse::with_placeholders(&template.text);
        let files = of_script(constant.unwrap_or(&shown), language, template.at);
        let files = files.map(|mut file| {
            // What a reference is part of is known when it runs.
            let is_whole = |name: &String| constant.is_some() || template.text.contains(name);
            if file.name.as_ref().is_some_and(|name| !is_whole(name)) {
                file.name = None;
                UNKNOWN.clone_into(&mut file.written);
            }
            file
        });
        self.compiler.files.extend(files);
    }

    fn iteration_elements(&mut self, elements: &[IterationElement]) {
        for element in elements {
            if let IterationElement::CsvDataSet(csv) = element {
                self.named("a CSV Data Set", &csv.file, FileDeed::Reads);
            }
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Controller(controller) => {
                    self.iteration_elements(&controller.on_iteration);
                    self.nodes(&controller.children);
                }
                Node::Sampler(sampler) => {
                    if let SamplerKind::Http(request) = &sampler.kind {
                        for file in &request.files {
                            self.named("an HTTP Request", &file.path, FileDeed::Reads);
                        }
                    }
                }
            }
        }
    }
}
