//! A plan as JMeter reads it: what can be known of it without running it, and changed copies of it.
//!
//! This is not the reader of plans that Weir runs itself (`weir-jmx`), which has to understand all
//! of a plan. Here a plan may hold anything; looked at is only whom it loads and how many users it
//! has, and changed is only what the caller asks for, as text, so that everything else stays as the
//! user's JMeter wrote it.

mod changes;
mod element;
mod facts;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use roxmltree::{Document, ParsingOptions};
use weir_script::Properties;

pub use changes::Changes;
pub use facts::{PlanFacts, PlannedServer, UnknownServer};

use crate::error::JmeterError;

/// Largest file, as for plans that Weir runs itself.
const BYTES_MAX: u64 = 100_000_000;
/// Most XML nodes.
const NODES_MAX: u32 = 5_000_000;
/// Deepest nesting.
const DEPTH_MAX: usize = 500;
/// Most files that a plan may include, itself and those that they include counted.
const FILES_MAX: usize = 100;

/// The property of an Include Controller that names the file.
const INCLUDED: &str = "IncludeController.includepath";

/// A plan and the files that it includes, read and checked.
#[derive(Debug)]
pub struct PlanFile {
    /// The plan first, each file once.
    files: Vec<PlanText>,
}

/// One file.
#[derive(Debug)]
struct PlanText {
    path: PathBuf,
    text: String,
}

impl PlanFile {
    /// Reads a plan and what it includes, as far as the properties tell its name.
    ///
    /// # Errors
    /// A file cannot be read or is no test plan.
    pub fn read(path: &Path, properties: &Properties) -> Result<Self, JmeterError> {
        Self::with_includes(PlanText::read(path)?, properties)
    }

    /// Takes a plan's text for the file of this name, and reads what it includes.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn of_text(
        path: &Path,
        text: String,
        properties: &Properties,
    ) -> Result<Self, JmeterError> {
        let file = PlanText {
            path: path.to_owned(),
            text,
        };
        file.parse()?;
        Self::with_includes(file, properties)
    }

    fn with_includes(plan: PlanText, properties: &Properties) -> Result<Self, JmeterError> {
        let mut files = vec![plan];
        let mut next = 0;
        while next < files.len() {
            let home = files[0].directory().to_owned();
            for included in files[next].includes(properties, &home)? {
                let known = files.iter().any(|file| file.path == included);
                if known || files.len() >= FILES_MAX {
                    continue;
                }
                files.push(PlanText::read(&included)?);
            }
            next += 1;
        }
        Ok(Self { files })
    }

    /// What is known of the plan with these properties.
    ///
    /// # Errors
    /// None beyond those of [`Self::read`]; the files are parsed again.
    pub fn facts(&self, properties: &Properties) -> Result<PlanFacts, JmeterError> {
        let documents = self.parse()?;
        Ok(facts::of(&self.files, &documents, properties))
    }

    /// The names of the properties that the plan asks for, each once, in order.
    pub fn properties_used(&self) -> Vec<String> {
        facts::properties_used(&self.files)
    }

    /// Writes a copy of the plan with these changes, and of the files that it includes, into a
    /// directory; gives the path of the plan's copy.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn copy(&self, changes: &Changes<'_>, into: &Path) -> Result<PathBuf, JmeterError> {
        let documents = self.parse()?;
        changes::copy(&self.files, &documents, changes, into)
    }

    fn parse(&self) -> Result<Vec<Document<'_>>, JmeterError> {
        self.files.iter().map(PlanText::parse).collect()
    }
}

impl PlanText {
    fn read(path: &Path) -> Result<Self, JmeterError> {
        let failed = |source| JmeterError::File {
            doing: "read",
            path: path.to_owned(),
            source,
        };
        // A pipe could keep the reader waiting for ever.
        if !path.metadata().map_err(failed)?.is_file() {
            return Err(JmeterError::Plan {
                path: path.to_owned(),
                says: "it is no file".to_owned(),
            });
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let says = if bytes.len() as u64 > BYTES_MAX {
            format!("it has more than {BYTES_MAX} bytes")
        } else {
            match String::from_utf8(bytes) {
                Ok(text) => {
                    let file = Self {
                        path: path.to_owned(),
                        text,
                    };
                    file.parse()?;
                    return Ok(file);
                }
                Err(_) => "it is not UTF-8; save it with JMeter".to_owned(),
            }
        };
        Err(JmeterError::Plan {
            path: path.to_owned(),
            says,
        })
    }

    fn parse(&self) -> Result<Document<'_>, JmeterError> {
        let wrong = |says: String| JmeterError::Plan {
            path: self.path.clone(),
            says,
        };
        let options = ParsingOptions {
            allow_dtd: false,
            nodes_limit: NODES_MAX,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(&self.text, options)
            .map_err(|error| wrong(error.to_string()))?;
        let deep = document
            .descendants()
            .any(|node| !node.has_children() && node.ancestors().nth(DEPTH_MAX).is_some());
        if deep {
            return Err(wrong(format!(
                "elements are nested deeper than {DEPTH_MAX}"
            )));
        }
        if !document.root_element().has_tag_name("jmeterTestPlan") {
            return Err(wrong("its root element is not <jmeterTestPlan>".to_owned()));
        }
        Ok(document)
    }

    /// The files that it includes, as far as their names are known; `home` is the directory of the
    /// plan that JMeter runs.
    fn includes(&self, properties: &Properties, home: &Path) -> Result<Vec<PathBuf>, JmeterError> {
        let document = self.parse()?;
        let constants = facts::constants(&[&document], properties);
        Ok(element::all(&document)
            .filter(|element| element.class() == "IncludeController")
            .filter_map(|element| constants.value(element.text(INCLUDED)))
            .map(|name| resolve(name.trim(), home))
            .collect())
    }

    fn directory(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        }
    }

    /// The line of a place in the text.
    fn line(&self, at: usize) -> u32 {
        self.text[..at].matches('\n').count() as u32 + 1
    }
}

/// A file that a plan names: from the working directory if it is there, else from the plan's own,
/// as JMeter does.
fn resolve(name: &str, home: &Path) -> PathBuf {
    let name = Path::new(name);
    if name.is_absolute() || name.exists() {
        name.to_owned()
    } else {
        home.join(name)
    }
}
