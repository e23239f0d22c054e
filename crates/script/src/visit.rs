//! What the texts of a plan say about properties and variables before any is compiled.

use weir_plan::{
    Assertion, ControllerKind, LoadPlan, Node, Position, PreProcessor, SamplerKind, Script,
    Template, TimerKind,
};

use crate::parse::{self, Call, Part};
use crate::settable::Changes;

/// A property that a plan asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyUse {
    /// Its name.
    pub name: String,
    /// What stands in the plan when it is not set; `None` when that changes while the test runs.
    pub default: Option<String>,
    /// Where it is asked for.
    pub at: Position,
}

/// Every place where the plan asks for a property by a fixed name, in the order of the file.
///
/// A study names the property that holds the number of users; a name that is not in this list
/// would change nothing.
pub fn properties_used(plan: &LoadPlan) -> Vec<PropertyUse> {
    let mut uses = Vec::new();
    plan.map(&mut |template| {
        for_each_call(template, &mut |call| {
            uses.extend(property_use(call, template.at));
        });
    });
    uses.sort_by_key(|property| property.at);
    uses.dedup();
    uses
}

fn property_use(call: &Call, at: Position) -> Option<PropertyUse> {
    let name = literal(call.arguments.first()?)?;
    let default = match call.function.as_str() {
        "__P" => call
            .arguments
            .get(1)
            .map_or(Some("1".into()), |parts| literal(parts)),
        "__property" => call
            .arguments
            .get(2)
            .map_or(Some(name.clone()), |parts| literal(parts)),
        _ => return None,
    };
    Some(PropertyUse { name, default, at })
}

/// What the functions of the plan set while the test runs.
pub(crate) fn set_by_functions(plan: &LoadPlan) -> Changes {
    let mut changes = Changes::default();
    plan.map(&mut |template| changes.add_text(&template.text));
    changes
}

/// Whether some text may read what loops and users set by themselves, by name or in a way that only
/// the run shows.
pub(crate) fn reads_own_variables(plan: &LoadPlan) -> bool {
    let signs = ["__jm__", "JMeterThread.", "__V(", "__eval", "vars"];
    let mut reads = false;
    plan.map(&mut |template| reads |= signs.iter().any(|sign| template.text.contains(sign)));
    reads
}

/// Whether something may look at the response before: a function, a request that follows a link, a
/// sampler that is a script, or a script before a sampler.
pub(crate) fn reads_previous(plan: &LoadPlan) -> bool {
    let mut reads = false;
    plan.map(&mut |template| {
        reads |= ["__regexFunction", "__eval"]
            .iter()
            .any(|sign| template.text.contains(sign));
        reads |= runs_script(&template.text) && names_previous(&template.text);
    });
    let listens = !plan.script_listeners.is_empty();
    reads || listens || plan.groups.iter().any(|group| any_reads(&group.nodes))
}

/// Whether a text calls a function that runs a script.
fn runs_script(text: &str) -> bool {
    let functions = ["__groovy", "__jexl", "__javaScript", "__BeanShell"];
    functions.iter().any(|function| text.contains(function))
}

/// Whether a script has one of the names of the sample before: `prev`, `sampleResult`,
/// `SampleResult`, `getPreviousResult`.
fn names_previous(script: &str) -> bool {
    let words = ["prev", "ampleResult", "reviousResult"];
    words.iter().any(|word| script.contains(word))
}

fn any_reads(nodes: &[Node]) -> bool {
    let reads = |script: &Script| !script.file.text.is_empty() || names_previous(&script.text.text);
    let asserts = |assertions: &[Assertion<Template>]| {
        let mut assertions = assertions.iter();
        assertions.any(|of| matches!(of, Assertion::Script(script) if reads(script)))
    };
    nodes.iter().any(|node| match node {
        Node::Controller(controller) => {
            let whole = match &controller.kind {
                ControllerKind::Transaction(kind) => asserts(&kind.assertions),
                _ => false,
            };
            whole || any_reads(&controller.children)
        }
        Node::Sampler(sampler) => {
            let mut timers = sampler.timers.iter();
            let times = timers
                .any(|timer| matches!(&timer.kind, TimerKind::Script(script) if reads(script)));
            let mut before = sampler.before.iter();
            times
                || before.any(|before| match before {
                    PreProcessor::Link | PreProcessor::UrlRewriting(_) => true,
                    PreProcessor::Script(script) => reads(script),
                    PreProcessor::UserParameters(_) | PreProcessor::FoundParameters(_) => false,
                })
                || matches!(&sampler.kind, SamplerKind::Script(script) if reads(script))
        }
    })
}

fn literal(parts: &[Part]) -> Option<String> {
    match parts {
        [] => Some(String::new()),
        [Part::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// Visits every call of a function in a text, those in arguments included.
pub(crate) fn for_each_call(template: &Template, visit: &mut impl FnMut(&Call)) {
    // A text that cannot be read is a problem when it is compiled.
    visit_parts(&parse::parse(&template.text).unwrap_or_default(), visit);
}

fn visit_parts(parts: &[Part], visit: &mut impl FnMut(&Call)) {
    for part in parts {
        if let Part::Call(call) = part {
            visit(call);
            for argument in &call.arguments {
                visit_parts(argument, visit);
            }
        }
    }
}
