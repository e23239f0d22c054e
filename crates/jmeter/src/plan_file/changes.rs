//! A changed copy of a plan.
//!
//! The copy stands in another directory, and JMeter looks for the plan's files (CSV data, uploads)
//! in the directory of the plan it runs. The test plan element has a property for that, `basedir`,
//! which JMeter appends to that directory: the copy gets one that leads from where it stands back
//! to where the user's plan is.

use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use roxmltree::{Document, Node};
use weir_script::Target;

use super::element::{self, Element, property};
use super::facts::{is_url, origin_of, properties_of};
use super::{INCLUDED, PlanText, resolve};
use crate::constant::Constants;
use crate::error::JmeterError;

/// What a copy has that the plan has not.
#[derive(Debug, Clone, Default)]
pub struct Changes<'a> {
    /// Every HTTP sampler loads this server.
    pub target: Option<&'a Target>,
    /// Thread groups loop until they are stopped: loops, duration and delay of the plan are
    /// overridden, the ramp-up stays. Groups of plugins keep their own length.
    pub until_stopped: bool,
    /// Arguments of every HTTP sampler that are set to a value, or added with it.
    pub arguments: Vec<(String, String)>,
    /// Properties of the plan, which may stand in what is changed.
    pub properties: weir_script::Properties,
}

impl Changes<'_> {
    /// Whether there is nothing to change.
    pub fn is_none(&self) -> bool {
        self.target.is_none() && !self.until_stopped && self.arguments.is_empty()
    }
}

pub(super) fn copy(
    files: &[PlanText],
    documents: &[Document<'_>],
    changes: &Changes<'_>,
    into: &Path,
) -> Result<PathBuf, JmeterError> {
    let into = into
        .canonicalize()
        .map_err(JmeterError::file("find", into))?;
    let all: Vec<&Document<'_>> = documents.iter().collect();
    let constants = super::facts::constants(&all, &changes.properties);
    let copies: Vec<PathBuf> = (0..files.len())
        .map(|at| into.join(copy_name(at)))
        .collect();
    for ((file, document), copy) in files.iter().zip(documents).zip(&copies) {
        let mut editor = Editor {
            file,
            changes,
            constants: &constants,
            edits: Vec::new(),
        };
        for element in element::all(document) {
            editor.element(element, files, &copies, &into)?;
        }
        let text = editor.apply();
        fs::write(copy, text).map_err(JmeterError::file("write", copy))?;
    }
    Ok(copies[0].clone())
}

fn copy_name(at: usize) -> String {
    match at {
        0 => "jmeter-plan.jmx".to_owned(),
        _ => format!("jmeter-plan-include-{at}.jmx"),
    }
}

struct Editor<'a> {
    file: &'a PlanText,
    changes: &'a Changes<'a>,
    constants: &'a Constants,
    edits: Vec<(Range<usize>, String)>,
}

impl Editor<'_> {
    fn element(
        &mut self,
        element: Element<'_>,
        files: &[PlanText],
        copies: &[PathBuf],
        into: &Path,
    ) -> Result<(), JmeterError> {
        match element.class() {
            "TestPlan" => self.lead_back(element, into)?,
            "ThreadGroup" if self.changes.until_stopped => self.unbind(element),
            "IncludeController" => self.include(element, files, copies),
            _ if element.is_http_sampler() => self.sampler(element),
            _ => {}
        }
        Ok(())
    }

    /// Makes JMeter look for files where the user's plan is.
    fn lead_back(&mut self, plan: Element<'_>, into: &Path) -> Result<(), JmeterError> {
        let directory = self.file.directory();
        let home = directory
            .canonicalize()
            .map_err(JmeterError::file("find", directory))?;
        let up: String = into
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .map(|_| "/..")
            .collect();
        let own = plan.text("basedir");
        let value = format!("{up}{}{own}", home.display());
        self.set(plan.node, "basedir", &value);
        Ok(())
    }

    fn unbind(&mut self, group: Element<'_>) {
        self.set(group.node, "ThreadGroup.scheduler", "false");
        if let Some(controller) = group.property("ThreadGroup.main_controller") {
            self.set(controller, "LoopController.continue_forever", "true");
            self.set(controller, "LoopController.loops", "-1");
        }
    }

    fn include(&mut self, include: Element<'_>, files: &[PlanText], copies: &[PathBuf]) {
        let Some(path) = self.constants.value(include.text(INCLUDED)) else {
            return;
        };
        let path = resolve(path.trim(), files[0].directory());
        let known = files.iter().position(|file| file.path == path);
        if let Some(copy) = known.and_then(|at| copies.get(at)) {
            self.set(include.node, INCLUDED, &copy.display().to_string());
        }
    }

    fn sampler(&mut self, sampler: Element<'_>) {
        if let Some(target) = self.changes.target {
            for (name, value) in properties_of(target) {
                self.set(sampler.node, name, &value);
            }
            let name = "HTTPSampler.path";
            let path = self.constants.value(sampler.text(name));
            if let Some(url) = path.filter(|path| is_url(path)) {
                let rest = &url[origin_of(&url).len()..];
                let slash = if rest.starts_with('/') { "" } else { "/" };
                self.set(sampler.node, name, &format!("{slash}{rest}"));
            }
        }
        // A body that is sent as it is has no parameters that could be set.
        let is_raw = sampler
            .text("HTTPSampler.postBodyRaw")
            .eq_ignore_ascii_case("true");
        if !is_raw {
            self.arguments(sampler);
        }
    }

    fn arguments(&mut self, sampler: Element<'_>) {
        let list = sampler
            .property("HTTPsampler.Arguments")
            .and_then(|list| property(list, "Arguments.arguments"));
        let Some(list) = list else {
            return;
        };
        let mut added = String::new();
        for (name, value) in &self.changes.arguments {
            let known = list.children().find(|argument| {
                let own = property(*argument, "Argument.name").and_then(|node| node.text());
                own == Some(name)
            });
            match known {
                Some(argument) => self.set(argument, "Argument.value", value),
                None => added.push_str(&argument(name, value)),
            }
        }
        if !added.is_empty() {
            self.insert(list, &added);
        }
    }

    /// Sets a property of a node, or adds it.
    fn set(&mut self, node: Node<'_, '_>, name: &str, value: &str) {
        let text = string_property(name, value);
        let found = node
            .children()
            .find(|child| child.attribute("name") == Some(name));
        match found {
            Some(old) => self.edits.push((old.range(), text)),
            None => self.insert(node, &text),
        }
    }

    /// Puts text behind the start of a node.
    fn insert(&mut self, node: Node<'_, '_>, text: &str) {
        let range = node.range();
        let source = &self.file.text[range.clone()];
        let Some(end) = end_of_start_tag(source) else {
            return;
        };
        if source[..end].ends_with("/>") {
            let tag = node.tag_name().name();
            let slash = range.start + end - 2;
            self.edits
                .push((slash..slash + 2, format!(">{text}</{tag}>")));
        } else {
            let at = range.start + end;
            self.edits.push((at..at, text.to_owned()));
        }
    }

    fn apply(mut self) -> String {
        // Of several at one place, the later ones go behind the earlier ones.
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut text = String::with_capacity(self.file.text.len() + 1_000);
        let (mut at, mut open): (usize, Option<&Range<usize>>) = (0, None);
        for (range, new) in &self.edits {
            // Two insertions into one self-closing element would close it twice.
            if open.is_some_and(|open| open == range && !range.is_empty()) {
                let close = text.rfind("</").unwrap_or(text.len());
                let inner = new
                    .strip_prefix('>')
                    .and_then(|new| new.rsplit_once("</"))
                    .map_or("", |(inner, _)| inner);
                text.insert_str(close, inner);
                continue;
            }
            text.push_str(&self.file.text[at..range.start]);
            text.push_str(new);
            at = range.end;
            open = Some(range);
        }
        text.push_str(&self.file.text[at..]);
        text
    }
}

/// How long the start tag is, its bracket included; a bracket may stand in an attribute.
fn end_of_start_tag(source: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in source.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return Some(at + 1),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn string_property(name: &str, value: &str) -> String {
    format!(
        "<stringProp name=\"{name}\">{}</stringProp>",
        escaped(value)
    )
}

fn argument(name: &str, value: &str) -> String {
    let fields = [
        "<boolProp name=\"HTTPArgument.always_encode\">true</boolProp>".to_owned(),
        string_property("Argument.name", name),
        string_property("Argument.value", value),
        string_property("Argument.metadata", "="),
        "<boolProp name=\"HTTPArgument.use_equals\">true</boolProp>".to_owned(),
    ];
    format!(
        "<elementProp name=\"{}\" elementType=\"HTTPArgument\">{}</elementProp>",
        escaped(name),
        fields.concat()
    )
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
