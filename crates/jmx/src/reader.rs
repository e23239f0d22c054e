//! From the tree of elements to the plan.
//!
//! Two passes over each level: one gathers what its samplers inherit (`level.rs`), one makes its
//! steps (`steps.rs`). Controllers that stand for others are in `module.rs` and `include.rs`.

mod include;
mod level;
mod module;
mod steps;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use weir_plan::{ElementId, IterationElement, LoadPlan, NamedFile, Position, Variable};
use weir_reach::Reach;

use crate::document::{self, Document};
use crate::element::{Branch, Element};
use crate::elements::{test_plan, thread_group};
use crate::finding::{Findings, Refusal};
use crate::native::{self, Kind, Known, Runs};
use crate::scope::{Level, Scope};
use crate::{Finding, JmxError, Severity};

/// Most bytes that a plan may have once every element stands where it applies and every module
/// and file where it is used. Ten lines of a plan can ask for billions.
const EXPANDED_MAX: usize = 200_000_000;
/// What each step counts beside its text, for its own memory.
const NODE_BYTES: usize = 500;
/// Deepest nesting of controllers, modules and included files; real plans stay below 20.
const CONTROLLERS_MAX: usize = 150;

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

/// Reads a test plan from its file. Files that it includes are read from where any file of a plan
/// may be: see [`Reach::of_plan`].
///
/// # Errors
/// The file cannot be read, or is not a test plan. What is wrong inside a plan is a finding.
pub fn read(path: &Path) -> Result<Reading, JmxError> {
    read_within(path, Reach::of_plan(Some(path)))
}

/// As `read`, for a plan that may touch these files.
///
/// # Errors
/// As for [`read`].
pub fn read_within(path: &Path, reach: Reach) -> Result<Reading, JmxError> {
    read_text_within(&document::read_file(path)?, path, reach)
}

/// Reads a test plan from its text; the path is for messages, for the plan's source and for the
/// folder of the files that it includes.
///
/// # Errors
/// The text is not a test plan.
pub fn read_text(text: &str, path: &Path) -> Result<Reading, JmxError> {
    read_text_within(text, path, Reach::of_plan(Some(path)))
}

/// As `read_text`, for a plan that may touch these files.
///
/// # Errors
/// As for [`read_text`].
pub fn read_text_within(text: &str, path: &Path, reach: Reach) -> Result<Reading, JmxError> {
    let document = Document::parse(text, path, 0)?;
    let branches = Branch::of_tree(document.tree(path)?, &document);
    let mut reader = Reader::new(path, reach, document.next_id());
    reader.read_root(&Tree {
        root: &branches,
        is_included: false,
    });
    reader.finish()
}

/// One file's elements.
pub(crate) struct Tree<'a> {
    root: &'a [Branch<'a>],
    is_included: bool,
}

/// What all groups share: the elements directly below the test plan.
struct Shared<'a> {
    level: Level<'a>,
    on_iteration: Vec<IterationElement>,
}

/// Where elements that are in the plan once stand there.
#[derive(Default)]
struct Places {
    cookies: HashMap<ElementId, usize>,
    caches: HashMap<ElementId, usize>,
    auths: HashMap<ElementId, usize>,
    dns: HashMap<ElementId, usize>,
    listeners: HashMap<ElementId, usize>,
    auto_stops: HashMap<ElementId, usize>,
    script_listeners: HashMap<ElementId, usize>,
}

pub(crate) struct Reader<'p> {
    path: &'p Path,
    reach: Reach,
    plan: LoadPlan,
    places: Places,
    findings: Findings,
    next_id: u32,
    /// Managers of which it was said that they do not count.
    superseded: HashSet<ElementId>,
    /// The controllers that are being read, outermost first.
    open: Vec<ElementId>,
    /// The files that are being included, outermost first.
    files: Vec<PathBuf>,
    /// How often files have been included.
    includes: usize,
    /// Bytes of elements where they apply, so far.
    expanded: usize,
    /// Where they became too many.
    too_much_at: Option<Position>,
}

impl<'p> Reader<'p> {
    fn new(path: &'p Path, reach: Reach, next_id: u32) -> Self {
        Self {
            path,
            reach,
            plan: LoadPlan {
                tear_down_on_shutdown: false,
                ..LoadPlan::default()
            },
            places: Places::default(),
            findings: Findings::default(),
            next_id,
            superseded: HashSet::new(),
            open: Vec::new(),
            files: Vec::new(),
            includes: 0,
            expanded: 0,
            too_much_at: None,
        }
    }

    fn finish(self) -> Result<Reading, JmxError> {
        if let Some(at) = self.too_much_at {
            return Err(JmxError::Malformed {
                path: self.path.to_path_buf(),
                at,
                found: format!(
                    "elements that apply in many places, modules and included files add up to \
                     more than {EXPANDED_MAX} bytes"
                ),
                instead: "split the plan".to_owned(),
            });
        }
        let findings = self.findings.into_sorted();
        let mut plan = self.plan;
        if plan.name.trim().is_empty() {
            let stem = self.path.file_stem().unwrap_or_default();
            plan.name = stem.to_string_lossy().into_owned();
        }
        plan.name = plan.name.trim().to_owned();
        plan.source = Some(self.path.to_path_buf());
        plan.reach = Some(self.reach);
        Ok(Reading { plan, findings })
    }

    fn read_root(&mut self, tree: &Tree<'_>) {
        for branch in self.enabled(tree.root) {
            let element = &branch.element;
            match element.class() {
                "TestPlan" => {
                    element.name().clone_into(&mut self.plan.name);
                    self.plan.serialized = test_plan::is_serial(element);
                    self.plan.tear_down_on_shutdown = test_plan::tears_down_on_shutdown(element);
                    self.define(test_plan::variables(element));
                    self.read_plan(tree, &branch.below);
                    test_plan::check(element, &mut self.findings);
                }
                "WorkBench" => {
                    self.admit(element);
                }
                _ => self.refuse_place(branch),
            }
        }
    }

    /// What stands directly below the test plan.
    ///
    /// JMeter 5.6.3, measured: its elements that samplers inherit are handed to each group, after
    /// the group's own and at the same level.
    fn read_plan<'a>(&mut self, tree: &Tree<'a>, branches: &'a [Branch<'a>]) {
        let enabled = self.enabled(branches);
        let (groups, shared): (Vec<_>, Vec<_>) = enabled
            .into_iter()
            .partition(|branch| kind(&branch.element) == Some(Kind::Group));
        let shared = Shared {
            level: self.level(&shared),
            on_iteration: self.iteration_elements(&shared),
        };
        let mut groups = groups.into_iter().peekable();
        for branch in self.enabled(branches) {
            if groups
                .next_if(|group| std::ptr::eq(*group, branch))
                .is_some()
            {
                self.read_group(tree, branch, &shared);
                continue;
            }
            match kind(&branch.element) {
                Some(Kind::Fragment) => self.define_below(&branch.below),
                Some(Kind::Controller) => {
                    let says = "JMeter does not run steps outside of thread groups";
                    self.findings.ignored(&branch.element, says);
                    self.define_below(&branch.below);
                }
                Some(Kind::Sampler) => self.refuse_place(branch),
                // What stands below it JMeter hands to no group.
                _ => drop(self.leaf(branch)),
            }
        }
    }

    fn read_group<'a>(&mut self, tree: &Tree<'a>, group: &'a Branch<'a>, shared: &Shared<'a>) {
        let element = &group.element;
        let is_admitted = self.admit(element).is_some();
        let own = self.enabled(&group.below);
        let scope = Scope::of_group(self.level(&own), &shared.level);
        self.open.push(element.id());
        let mut steps = self.steps(tree, &own, &scope);
        self.open.pop();
        // The steps are in the order in which they advance, the last of the file first.
        let shared = shared.on_iteration.iter().cloned();
        steps.on_iteration.splice(0..0, shared);
        let Some(kind) = thread_group::kind(element).filter(|_| is_admitted) else {
            return;
        };
        let group = thread_group::read(element, kind, steps, &mut self.findings);
        if let Some(says) = thread_group::ends_users_after(&group) {
            self.findings.warning(element, &says);
        }
        self.plan.groups.push(group);
    }

    /// Says what there is to say about an element that Weir knows; `Some` if it belongs into the
    /// plan.
    fn admit(&mut self, element: &Element<'_>) -> Option<Known> {
        let known = native::element(element.class())?;
        match known.runs {
            Runs::Natively => return Some(known),
            Runs::Never(instead) => {
                let says = format!("{} is not supported", element.class());
                self.refuse(element, says, known.kind, instead);
            }
            Runs::Unheard(says) => self.findings.warning(element, says),
            Runs::InVain(says) => self.findings.ignored(element, says),
        }
        self.name_files(element);
        None
    }

    fn refuse(&mut self, element: &Element<'_>, says: String, kind: Kind, instead: &str) {
        let refusal = Refusal {
            says,
            lost: kind.lost(),
            instead,
        };
        self.findings.unsupported(element, &refusal);
    }

    /// Notes the files of an element that only a JMeter runs.
    fn name_files(&mut self, element: &Element<'_>) {
        let files = element.file_names().into_iter().map(|file| NamedFile {
            class: element.class().to_owned(),
            file,
            only_jmeter: true,
        });
        self.plan.named_files.extend(files);
    }

    /// Names an element of a plugin, or one that Weir has never heard of.
    fn refuse_unknown(&mut self, branch: &Branch<'_>) {
        let element = &branch.element;
        let says = format!("{} is not supported", element.class());
        let instead = if branch.below.is_empty() {
            native::ELSEWHERE
        } else {
            "run the plan with --engine jmeter, or remove or disable it with all that is below it"
        };
        self.refuse(element, says, Kind::Nowhere, instead);
        self.name_files(element);
        self.refuse_unknown_below(&branch.below);
    }

    /// What Weir could run elsewhere goes with the element above it, which is named already.
    fn refuse_unknown_below(&mut self, branches: &[Branch<'_>]) {
        for branch in self.enabled(branches) {
            match kind(&branch.element) {
                None => self.refuse_unknown(branch),
                Some(Kind::Variables) => drop(self.leaf(branch)),
                Some(_) => {
                    self.admit(&branch.element);
                    self.refuse_unknown_below(&branch.below);
                }
            }
        }
    }

    /// Names an element that has no meaning where it stands, and what below it has none anywhere.
    fn refuse_place(&mut self, branch: &Branch<'_>) {
        let element = &branch.element;
        match kind(element) {
            None => self.refuse_unknown(branch),
            Some(kind) => {
                let says = "it is not supported at this place".to_owned();
                self.refuse(element, says, kind, native::ELSEWHERE);
                self.refuse_unknown_below(&branch.below);
            }
        }
    }

    fn define(&mut self, variables: Vec<Variable>) {
        if !variables.is_empty() {
            self.plan.variables.push(variables);
        }
    }

    /// The branches that are enabled; the others become findings.
    fn enabled<'b, 'a>(&mut self, branches: &'b [Branch<'a>]) -> Vec<&'b Branch<'a>> {
        let (enabled, disabled): (Vec<_>, Vec<_>) = branches
            .iter()
            .partition(|branch| branch.element.is_enabled());
        for branch in disabled {
            let says = "it is disabled, with all that is below it";
            self.findings.ignored(&branch.element, says);
        }
        enabled
    }

    /// Counts what becomes part of the plan; false once it is too much.
    fn expand(&mut self, element: &Element<'_>, bytes: usize) -> bool {
        self.expanded = self
            .expanded
            .saturating_add(bytes)
            .saturating_add(NODE_BYTES);
        if self.expanded > EXPANDED_MAX && self.too_much_at.is_none() {
            self.too_much_at = Some(element.at());
        }
        self.too_much_at.is_none()
    }
}

fn kind(element: &Element<'_>) -> Option<Kind> {
    Some(native::element(element.class())?.kind)
}
