//! Controllers: which steps run, in what order, how often.

use weir_plan::{ControllerKind, Node, Parallel, Share, Template, Transaction};

use crate::element::Element;
use crate::elements::arguments;

/// What a controller of this class does; `None` if it is none that a plan can hold.
///
/// A transaction gets its assertions from the scope it stands in.
pub(crate) fn read(element: &Element<'_>) -> Option<ControllerKind> {
    let text = |property: &str| element.text_or_empty(property);
    Some(match element.class() {
        // The last one only inside a group, where it is a controller like any other.
        "GenericController" | "RecordingController" | "TestFragmentController" => {
            ControllerKind::Simple
        }
        "LoopController" => ControllerKind::Loop {
            count: text("LoopController.loops"),
            // In a group's own loop the same property means "for ever".
            only_once: element.flag("LoopController.continue_forever") == Some(false),
        },
        "WhileController" => ControllerKind::While {
            condition: text("WhileController.condition"),
        },
        "IfController" => ControllerKind::If {
            condition: text("IfController.condition"),
            is_text: element.is("IfController.useExpression"),
            each_child: element.is("IfController.evaluateAll"),
        },
        "ForeachController" => ControllerKind::ForEach {
            input: text("ForeachController.inputVal"),
            output: text("ForeachController.returnVal"),
            start: text("ForeachController.startIndex"),
            end: each_end(element),
            separator: element
                .flag("ForeachController.useSeparator")
                .unwrap_or(true),
        },
        "SwitchController" => ControllerKind::Switch {
            value: text("SwitchController.value"),
        },
        "OnceOnlyController" => ControllerKind::OnceOnly,
        "InterleaveControl" => ControllerKind::Interleave {
            whole_children: has_whole_children(element),
            across_users: element.is("InterleaveControl.accrossThreads"),
        },
        "RandomController" => ControllerKind::Random {
            whole_children: has_whole_children(element),
        },
        "RandomOrderController" => ControllerKind::RandomOrder,
        "ThroughputController" => throughput(element),
        "RunTime" => ControllerKind::Runtime {
            seconds: text("RunTime.seconds"),
        },
        "TransactionController" => ControllerKind::Transaction(Transaction {
            is_parent: element.is("TransactionController.parent"),
            include_timers: element
                .flag("TransactionController.includeTimers")
                .unwrap_or(true),
            assertions: Vec::new(),
            on_failure: Vec::new(),
            listeners: Vec::new(),
            script_listeners: Vec::new(),
            scripts_after: 0,
        }),
        "CriticalSectionController" => ControllerKind::CriticalSection {
            lock: text("CriticalSectionController.lockName"),
        },
        "kg.apc.jmeter.control.ParameterizedController" => {
            let list = element.element("ParameterizedController");
            let variables = list.as_ref().map(arguments::variables);
            ControllerKind::Parameterized {
                variables: variables.unwrap_or_default(),
            }
        }
        _ => return None,
    })
}

/// What a Parallel Controller says of itself.
pub(crate) fn parallel(element: &Element<'_>, children: &[Node]) -> Parallel {
    let is_limited = element.is("LIMIT_MAX_THREAD_NUMBER");
    Parallel {
        is_parent: element.is("PARENT_SAMPLE"),
        at_once: is_limited.then(|| element.text_or("MAX_THREAD_NUMBER", "6")),
        items: children
            .iter()
            .map(|child| match child {
                Node::Sampler(sampler) => sampler.label.clone(),
                Node::Controller(controller) => controller.name.clone(),
            })
            .collect(),
    }
}

/// The last index of a `ForEach` controller. JMeter, measured: one that is there but empty is 0,
/// and nothing runs; only without the property the variables decide.
fn each_end(element: &Element<'_>) -> Template {
    let mut end = element.text_or_empty("ForeachController.endIndex");
    if end.text.is_empty() && element.text("ForeachController.endIndex").is_some() {
        end.text.push('0');
    }
    end
}

fn has_whole_children(element: &Element<'_>) -> bool {
    element.number("InterleaveControl.style") == Some(1)
}

/// Numbers that are missing are 1 time and 100 %.
fn throughput(element: &Element<'_>) -> ControllerKind {
    let is_percent = element.number("ThroughputController.style") == Some(1);
    ControllerKind::Throughput {
        share: if is_percent {
            Share::Percent(element.text_or("ThroughputController.percentThroughput", "100"))
        } else {
            Share::Total(element.text_or("ThroughputController.maxThroughput", "1"))
        },
        per_user: element.is("ThroughputController.perThread"),
    }
}
