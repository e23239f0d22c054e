//! Thread groups: users, their start, their loops and their end.

use weir_plan::{
    Controller, ControllerKind, GroupKind, IterationElement, Iterations, Node, OnSampleError,
    Schedule, Starts, ThreadGroup, Transaction,
};

use crate::element::Element;
use crate::elements::starts;
use crate::finding::{Findings, Refusal};
use crate::native;

/// What stands below a group.
#[derive(Default)]
pub(crate) struct Steps {
    /// Samplers and controllers.
    pub(crate) nodes: Vec<Node>,
    /// What advances with the iterations of the controller that has these steps.
    pub(crate) on_iteration: Vec<IterationElement>,
}

/// The kind of a group.
pub(crate) fn kind(element: &Element<'_>) -> Option<GroupKind> {
    match element.class() {
        "ThreadGroup" => Some(GroupKind::Main),
        "SetupThreadGroup" => Some(GroupKind::SetUp),
        "PostThreadGroup" => Some(GroupKind::TearDown),
        _ => starts::read(element).map(|_| GroupKind::Main),
    }
}

/// The group with what stands below it.
pub(crate) fn read(
    element: &Element<'_>,
    kind: GroupKind,
    steps: Steps,
    findings: &mut Findings,
) -> ThreadGroup {
    let starts = starts::read(element).unwrap_or_default();
    let along_ramp = starts == Starts::Ramp;
    // Groups that start iterations by themselves have a main controller of their own.
    let controller = match starts {
        Starts::Level(_) | Starts::Arrivals(_) => None,
        _ => main_controller(element, findings),
    };
    ThreadGroup {
        kind,
        name: element.name_template(),
        starts,
        users: element.text_or_empty("ThreadGroup.num_threads"),
        ramp_up_s: element.text_or_empty("ThreadGroup.ramp_time"),
        iterations: controller.map_or(Iterations::Forever, |controller| iterations(&controller)),
        // JMeter, measured: a loop that has a name is renamed to the group's.
        loop_name: match controller {
            Some(named) if !named.name().is_empty() => element.name_template(),
            _ => element.text_or_empty(""),
        },
        schedule: schedule(element).filter(|_| along_ramp),
        on_error: on_error(&element.text_or_empty("ThreadGroup.on_sample_error").text),
        same_user: is_same_user(element),
        on_iteration: steps.on_iteration,
        nodes: steps.nodes,
        at: element.at(),
    }
}

/// What a group does that its user cannot want: JMeter 5.6.3 has an error when it looks for the
/// sampler that a transaction failed with, after which to start the next iteration.
pub(crate) fn ends_users_after(group: &ThreadGroup) -> Option<String> {
    if group.on_error != OnSampleError::StartNextLoop {
        return None;
    }
    let transaction = judged_whole(&group.nodes)?;
    Some(format!(
        "it starts the next iteration after a failure; but when an assertion or a listener fails the transaction \
         \"{}\" in line {} although its last sample was a success, the user ends, as in JMeter 5.6.3",
        transaction.name.text, transaction.at.line
    ))
}

/// The first transaction that is a sample with its children inside and may fail by itself.
fn judged_whole(nodes: &[Node]) -> Option<&Controller> {
    nodes.iter().find_map(|node| {
        let Node::Controller(controller) = node else {
            return None;
        };
        match &controller.kind {
            ControllerKind::Transaction(own) if own.is_parent && may_fail(own) => {
                Some(&**controller)
            }
            _ => judged_whole(&controller.children),
        }
    })
}

/// Whether something beside its children may fail it, or a child of which that is learnt later.
fn may_fail(transaction: &Transaction) -> bool {
    !transaction.assertions.is_empty() || !transaction.script_listeners.is_empty()
}

/// Whether an iteration goes on as the user of the one before it.
pub(crate) fn is_same_user(element: &Element<'_>) -> bool {
    element
        .flag("ThreadGroup.same_user_on_next_iteration")
        .unwrap_or(true)
}

fn main_controller<'a>(group: &Element<'a>, findings: &mut Findings) -> Option<Element<'a>> {
    let Some(controller) = group.element("ThreadGroup.main_controller") else {
        let refusal = Refusal {
            says: "it has no main controller, so JMeter cannot start it".to_owned(),
            lost: "nobody can say how often its steps run",
            instead: "save the plan with JMeter again",
        };
        findings.unsupported(group, &refusal);
        return None;
    };
    // What decides in a property, as the tag does elsewhere.
    let class = match controller.attribute("elementType") {
        "" => controller.attribute("testclass"),
        class => class,
    };
    if class.rsplit('.').next() != Some("LoopController") {
        let refusal = Refusal {
            says: format!("its main controller is a {class}"),
            lost: native::Kind::Controller.lost(),
            instead: "use the loop count of the thread group, or run the plan with --engine jmeter",
        };
        findings.unsupported(group, &refusal);
    }
    Some(controller)
}

/// JMeter 5.6.3: a loop controller that does not say whether it goes on for ever does.
fn iterations(controller: &Element<'_>) -> Iterations {
    if controller
        .flag("LoopController.continue_forever")
        .unwrap_or(true)
    {
        Iterations::Forever
    } else {
        Iterations::Count(controller.text_or_empty("LoopController.loops"))
    }
}

/// Duration and delay count only when the scheduler is on.
fn schedule(element: &Element<'_>) -> Option<Schedule> {
    element.is("ThreadGroup.scheduler").then(|| Schedule {
        duration_s: element.text_or_empty("ThreadGroup.duration"),
        delay_s: element.text_or_empty("ThreadGroup.delay"),
    })
}

/// JMeter goes on after an error unless it knows the word.
fn on_error(word: &str) -> OnSampleError {
    match word {
        "startnextloop" => OnSampleError::StartNextLoop,
        "stopthread" => OnSampleError::StopThread,
        "stoptest" => OnSampleError::StopTest,
        "stoptestnow" => OnSampleError::StopTestNow,
        _ => OnSampleError::Continue,
    }
}
