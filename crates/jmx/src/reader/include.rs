//! Include Controllers: the first test fragment of another file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use weir_plan::{NamedFile, Template};
use weir_reach::is_refusal;

use super::{Reader, Tree, kind};
use crate::document::{self, Document};
use crate::element::{Branch, Element};
use crate::elements::thread_group::Steps;
use crate::finding::Refusal;
use crate::native::Kind;
use crate::scope::Scope;

/// Deepest nesting of files.
const FILES_MAX: usize = 16;
/// Most times that files are included; files that include the next one twice each would be read
/// 65,536 times.
const INCLUDES_MAX: usize = 2_000;

impl Reader<'_> {
    /// The steps of the file; what is below the controller itself JMeter drops.
    pub(super) fn include<'a>(&mut self, include: &Branch<'a>, scope: &Scope<'_, 'a>) -> Steps {
        let element = &include.element;
        for branch in self.enabled(&include.below) {
            let says = "JMeter does not use what stands below an Include Controller";
            self.findings.ignored(&branch.element, says);
        }
        let named = element.text_or_empty("IncludeController.includepath").text;
        if named.is_empty() {
            let says = "it names no file: as in JMeter, nothing runs here";
            self.findings.warning(element, says);
            return Steps::default();
        }
        self.plan.named_files.push(NamedFile {
            class: element.class().to_owned(),
            file: Template {
                text: named.clone(),
                at: element.at(),
            },
            only_jmeter: false,
        });
        let included = self
            .included_file(&named)
            .and_then(|(file, text)| self.include_file(element, &file, &text, scope));
        included.unwrap_or_else(|says| {
            let refusal = Refusal {
                says,
                lost: "its steps would be missing",
                instead: "name a JMeter plan with a test fragment in the folder of the plan",
            };
            self.findings.unsupported(element, &refusal);
            Steps::default()
        })
    }

    /// The file and its text, if it is one that the plan may read.
    fn included_file(&mut self, named: &str) -> Result<(PathBuf, String), String> {
        let path = named.trim();
        if path.is_empty() {
            return Err("it names no file".to_owned());
        }
        if self.includes >= INCLUDES_MAX {
            return Err(format!("files are included more than {INCLUDES_MAX} times"));
        }
        if self.files.len() >= FILES_MAX {
            return Err(format!("files are nested deeper than {FILES_MAX}"));
        }
        let found = self.reach.find(path);
        let text = document::read_within(&self.reach, &found).map_err(|error| {
            if matches!(
                error.kind(),
                ErrorKind::IsADirectory | ErrorKind::InvalidInput
            ) {
                format!("{path} is no file")
            } else if is_refusal(&error) {
                format!("the file {path} is not in the folder of the plan: {error}")
            } else {
                format!("the file {} cannot be read: {error}", found.display())
            }
        })?;
        let text = text.map_err(|error| error.to_string())?;
        let file = self.reach.judge(&found).place;
        if self.files.contains(&file) {
            return Err(format!("the file {path} includes itself"));
        }
        self.includes += 1;
        Ok((file, text))
    }

    fn include_file(
        &mut self,
        element: &Element<'_>,
        file: &Path,
        text: &str,
        scope: &Scope<'_, '_>,
    ) -> Result<Steps, String> {
        let says = |error: crate::JmxError| error.to_string();
        if !self.expand(element, text.len()) {
            return Ok(Steps::default());
        }
        let document = Document::parse(text, file, self.next_id).map_err(says)?;
        let document = document.included_from(file);
        self.next_id = document.next_id();
        let branches = Branch::of_tree(document.tree(file).map_err(says)?, &document);
        let tree = Tree {
            root: &branches,
            is_included: true,
        };
        let Some(fragment) = first_fragment(&branches) else {
            let says = format!(
                "{} has no test fragment, so nothing of it runs",
                file.display()
            );
            self.findings.warning(element, &says);
            return Ok(Steps::default());
        };
        self.files.push(file.to_path_buf());
        let below = self.enabled(&fragment.below);
        let inner = scope.inner(self.level(&below));
        let steps = self.steps(&tree, &below, &inner);
        self.files.pop();
        Ok(steps)
    }
}

/// JMeter looks at what stands in the file and directly below its test plan; whether the
/// fragment is enabled does not matter.
fn first_fragment<'t, 'a>(branches: &'t [Branch<'a>]) -> Option<&'t Branch<'a>> {
    for branch in branches {
        match kind(&branch.element) {
            Some(Kind::Plan) => return first_fragment(&branch.below),
            Some(Kind::Fragment) => return Some(branch),
            _ => {}
        }
    }
    None
}
