//! What a plan reaches beside files and servers: the scripts that it runs, and what it asks of the
//! machine.

use weir_plan::{LoadPlan, Position};
use weir_snippet::Language;

use crate::function::script_language;
use crate::visit::for_each_call;

/// The functions that tell a plan what machine it runs on.
const OF_MACHINE: [&str; 2] = ["__machineIP", "__machineName"];

/// A place in a plan where a script is run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScriptUse {
    /// Where.
    pub at: Position,
    /// Its language, as Weir calls it; of one that Weir does not know, as the plan does.
    pub language: String,
}

/// A place in a plan where a function asks what machine it runs on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachineUse {
    /// Where.
    pub at: Position,
    /// The function.
    pub function: String,
}

/// Every place where a plan runs a script, an element's or a function's, in the order of the file.
///
/// Conditions of If Controllers are not among them: they reach nothing but their own text.
pub fn scripts_used(plan: &LoadPlan) -> Vec<ScriptUse> {
    let mut scripts = Vec::new();
    plan.for_each_script(&mut |script| {
        let known = Language::named(&script.language).map(Language::name);
        scripts.push(ScriptUse {
            at: script.at,
            language: known.unwrap_or(&script.language).to_owned(),
        });
    });
    plan.map(&mut |template| {
        for_each_call(template, &mut |call| {
            scripts.extend(script_language(&call.function).map(|language| ScriptUse {
                at: template.at,
                language: language.name().to_owned(),
            }));
        });
    });
    scripts.sort_unstable();
    scripts.dedup();
    scripts
}

/// Every place where a plan asks what machine it runs on, in the order of the file.
pub fn machine_asked(plan: &LoadPlan) -> Vec<MachineUse> {
    let mut asked = Vec::new();
    plan.map(&mut |template| {
        for_each_call(template, &mut |call| {
            if OF_MACHINE.contains(&call.function.as_str()) {
                asked.push(MachineUse {
                    at: template.at,
                    function: call.function.clone(),
                });
            }
        });
    });
    asked.sort_unstable();
    asked.dedup();
    asked
}
