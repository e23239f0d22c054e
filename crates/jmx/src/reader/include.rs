//! Include Controllers: the first test fragment of another file.

use std::path::{Path, PathBuf};

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
        let included = self
            .included_file(element)
            .and_then(|file| self.include_file(element, &file, scope));
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

    /// The file, if it is one that may be read: in the plan's folder or below.
    fn included_file(&mut self, element: &Element<'_>) -> Result<PathBuf, String> {
        let text = element.text_or_empty("IncludeController.includepath").text;
        let path = text.trim();
        if path.is_empty() {
            return Err("it names no file".to_owned());
        }
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let real = |path: &Path| {
            let failed = |error| format!("the file {} cannot be read: {error}", path.display());
            path.canonicalize().map_err(failed)
        };
        let file = real(&folder.join(path))?;
        if !file.starts_with(real(folder)?) {
            return Err(format!("the file {path} is not in the folder of the plan"));
        }
        if !file.is_file() {
            return Err(format!("{path} is no file"));
        }
        if self.files.contains(&file) {
            return Err(format!("the file {path} includes itself"));
        }
        if self.files.len() >= FILES_MAX {
            return Err(format!("files are nested deeper than {FILES_MAX}"));
        }
        if self.includes >= INCLUDES_MAX {
            return Err(format!("files are included more than {INCLUDES_MAX} times"));
        }
        self.includes += 1;
        Ok(file)
    }

    fn include_file(
        &mut self,
        element: &Element<'_>,
        file: &Path,
        scope: &Scope<'_, '_>,
    ) -> Result<Steps, String> {
        let says = |error: crate::JmxError| error.to_string();
        let text = document::read_file(file).map_err(says)?;
        if !self.expand(element, text.len()) {
            return Ok(Steps::default());
        }
        let document = Document::parse(&text, file, self.next_id).map_err(says)?;
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
