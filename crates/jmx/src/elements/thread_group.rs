//! `ThreadGroup`: users, their start, their loops and their end.

use weir_plan::{Iterations, OnSampleError, Schedule, Step, ThreadGroup};

use crate::element::Element;
use crate::finding::Findings;

/// The group with the steps that stand below it.
pub(crate) fn read(
    element: &Element<'_>,
    steps: Vec<Step>,
    findings: &mut Findings,
) -> ThreadGroup {
    let new_user = element.flag("ThreadGroup.same_user_on_next_iteration") == Some(false);
    if new_user && steps.iter().any(|step| step.request.keep_alive) {
        findings.unsupported(
            element,
            "a new user on each iteration with connections that are kept is not supported",
            "tick \"Same user on each iteration\", or untick \"Use KeepAlive\" in its samplers",
        );
    }
    ThreadGroup {
        name: element.name_template(),
        users: element.text_or_empty("ThreadGroup.num_threads"),
        ramp_up_s: element.text_or_empty("ThreadGroup.ramp_time"),
        iterations: iterations(element, findings),
        schedule: schedule(element),
        on_error: on_error(element),
        steps,
        at: element.at(),
    }
}

/// JMeter 5.6.3: a loop controller that does not say whether it goes on for ever does.
fn iterations(group: &Element<'_>, findings: &mut Findings) -> Iterations {
    let Some(controller) = group.element("ThreadGroup.main_controller") else {
        findings.unsupported(
            group,
            "it has no main controller, so JMeter cannot start it",
            "save the plan with JMeter again",
        );
        return Iterations::Forever;
    };
    // The type of an `elementProp` is also in `elementType`, which JMeter writes always.
    let class = match controller.attribute("testclass") {
        "" => controller.attribute("elementType"),
        class => class,
    };
    if class != "LoopController" {
        let says = format!("its main controller is a {class}");
        findings.unsupported(group, says, "use the loop count of the thread group");
    }
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
    let on = element.flag("ThreadGroup.scheduler") == Some(true);
    on.then(|| Schedule {
        duration_s: element.text_or_empty("ThreadGroup.duration"),
        delay_s: element.text_or_empty("ThreadGroup.delay"),
    })
}

/// JMeter goes on after an error unless it knows the word.
fn on_error(element: &Element<'_>) -> OnSampleError {
    match &*element.text_or_empty("ThreadGroup.on_sample_error").text {
        "startnextloop" => OnSampleError::StartNextLoop,
        "stopthread" => OnSampleError::StopThread,
        "stoptest" => OnSampleError::StopTest,
        "stoptestnow" => OnSampleError::StopTestNow,
        _ => OnSampleError::Continue,
    }
}
