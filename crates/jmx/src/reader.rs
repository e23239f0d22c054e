//! From the tree of elements to the plan.

use std::path::Path;

use weir_plan::{LoadPlan, Step, ThreadGroup, Variable};

use crate::document::{self, Document};
use crate::element::{Branch, Element};
use crate::elements::{arguments, http_sampler, listener, test_plan, thread_group};
use crate::finding::Findings;
use crate::scope::Scope;
use crate::{Finding, JmxError, Severity};

/// A plan, and what there is to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The plan; it must not be run if a finding is [`Severity::Unsupported`].
    pub plan: LoadPlan,
    /// Everything that is not in the plan, in the order of the file.
    pub findings: Vec<Finding>,
}

impl Reading {
    /// What forbids to run the plan.
    pub fn unsupported(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.severity == Severity::Unsupported)
    }
}

/// Reads a test plan from its file.
///
/// # Errors
/// The file cannot be read, or is not a test plan. What is wrong inside a plan is a finding.
pub fn read(path: &Path) -> Result<Reading, JmxError> {
    read_text(&document::read_file(path)?, path)
}

/// Reads a test plan from its text; the path is for messages and for the plan's source.
///
/// # Errors
/// The text is not a test plan.
pub fn read_text(text: &str, path: &Path) -> Result<Reading, JmxError> {
    let document = Document::parse(text, path)?;
    let root = document.root();
    if !root.has_tag_name("jmeterTestPlan") {
        return Err(JmxError::Malformed {
            path: path.to_path_buf(),
            at: document.position(root),
            found: format!("the root element is <{}>", root.tag_name().name()),
            instead: "name a plan that was saved by JMeter (<jmeterTestPlan>)".to_owned(),
        });
    }
    let Some(tree) = root.children().find(|node| node.has_tag_name("hashTree")) else {
        return Err(JmxError::Malformed {
            path: path.to_path_buf(),
            at: document.position(root),
            found: "there is no <hashTree> in <jmeterTestPlan>".to_owned(),
            instead: "save the plan with JMeter again".to_owned(),
        });
    };
    let mut reader = Reader::default();
    reader.read_root(&Branch::of_tree(tree, &document));
    Ok(reader.finish(path))
}

#[derive(Default)]
struct Reader {
    name: String,
    variables: Vec<Vec<Variable>>,
    groups: Vec<ThreadGroup>,
    findings: Findings,
}

impl Reader {
    fn finish(self, path: &Path) -> Reading {
        let mut findings = self.findings.all;
        findings.sort_by_key(|finding| finding.at);
        // Defaults are looked at once for every sampler that inherits them.
        findings.dedup();
        let name = match self.name.trim() {
            "" => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            name => name.to_owned(),
        };
        Reading {
            plan: LoadPlan {
                name,
                source: Some(path.to_path_buf()),
                variables: self.variables,
                groups: self.groups,
            },
            findings,
        }
    }

    fn read_root(&mut self, branches: &[Branch<'_>]) {
        for branch in self.enabled(branches) {
            let element = &branch.element;
            match element.class() {
                "TestPlan" => {
                    element.name().clone_into(&mut self.name);
                    let variables = test_plan::read(element, &mut self.findings);
                    self.define(variables);
                    self.read_plan(&branch.below);
                    test_plan::check_order(element, self.groups.len(), &mut self.findings);
                }
                // A drawer for things that are not in use; JMeter reads none of it.
                "WorkBench" => self
                    .findings
                    .ignored(element, "JMeter does not run it either"),
                _ => self.refuse(branch),
            }
        }
    }

    /// What stands directly below the test plan.
    fn read_plan(&mut self, branches: &[Branch<'_>]) {
        let scope = Scope::of_level(branches, &Scope::default());
        for branch in self.enabled(branches) {
            match branch.element.class() {
                "ThreadGroup" => self.read_group(branch, &scope),
                _ => self.read_anywhere(branch),
            }
        }
    }

    fn read_group(&mut self, group: &Branch<'_>, outer: &Scope<'_>) {
        let scope = Scope::of_level(&group.below, outer);
        let mut steps = Vec::new();
        for branch in self.enabled(&group.below) {
            match branch.element.class() {
                "HTTPSamplerProxy" => steps.push(self.read_sampler(branch, &scope)),
                _ => self.read_anywhere(branch),
            }
        }
        let group = thread_group::read(&group.element, steps, &mut self.findings);
        self.groups.push(group);
    }

    fn read_sampler(&mut self, sampler: &Branch<'_>, outer: &Scope<'_>) -> Step {
        let scope = Scope::of_level(&sampler.below, outer);
        for branch in self.enabled(&sampler.below) {
            self.read_anywhere(branch);
        }
        http_sampler::read(&sampler.element, &scope, &mut self.findings)
    }

    /// Elements that mean the same wherever they stand.
    fn read_anywhere(&mut self, branch: &Branch<'_>) {
        let element = &branch.element;
        match element.class() {
            "Arguments" => {
                let variables = arguments::variables(element);
                self.define(variables);
            }
            "ResultCollector" => listener::read(element, &mut self.findings),
            _ if Scope::default().take(*element) => {}
            _ => return self.refuse(branch),
        }
        for below in self.enabled(&branch.below) {
            self.refuse(below);
        }
    }

    fn define(&mut self, variables: Vec<Variable>) {
        if !variables.is_empty() {
            self.variables.push(variables);
        }
    }

    /// The branches that are enabled; the others become findings.
    fn enabled<'b, 'a>(&mut self, branches: &'b [Branch<'a>]) -> Vec<&'b Branch<'a>> {
        let (enabled, disabled): (Vec<_>, Vec<_>) = branches
            .iter()
            .partition(|branch| branch.element.is_enabled());
        for branch in disabled {
            self.findings
                .ignored(&branch.element, "it is disabled, with all that is below it");
        }
        enabled
    }

    /// Names an element that has no meaning here, and what below it has none anywhere.
    fn refuse(&mut self, branch: &Branch<'_>) {
        let element = &branch.element;
        let says = if is_supported_somewhere(element) {
            "it is not supported at this place".to_owned()
        } else {
            format!("{} is not supported", element.class())
        };
        let instead = if branch.below.is_empty() {
            "remove or disable it"
        } else {
            "remove or disable it, with all that is below it"
        };
        self.findings.unsupported(element, says, instead);
        self.refuse_below(&branch.below);
    }

    /// What would be understood elsewhere goes with the element above it, which is named already.
    fn refuse_below(&mut self, branches: &[Branch<'_>]) {
        for branch in self.enabled(branches) {
            if is_supported_somewhere(&branch.element) {
                self.refuse_below(&branch.below);
            } else {
                self.refuse(branch);
            }
        }
    }
}

fn is_supported_somewhere(element: &Element<'_>) -> bool {
    let elements = [
        "TestPlan",
        "ThreadGroup",
        "HTTPSamplerProxy",
        "Arguments",
        "ResultCollector",
    ];
    elements.contains(&element.class()) || Scope::default().take(*element)
}
