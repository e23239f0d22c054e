//! Timers: pauses before a sample.

use weir_plan::{PreciseThroughput, ShapingRow, Template, ThroughputShare, Timer, TimerKind};

use crate::element::Element;

const DELAY: &str = "ConstantTimer.delay";
const RANGE: &str = "RandomTimer.range";

/// The texts that JMeter's windows have shown for the modes of a Constant Throughput Timer, and
/// saved in old files, in the order of the modes.
const MODES: [&str; 5] = [
    "this thread only",
    "all active threads",
    "all active threads in current thread group",
    "all active threads (shared)",
    "all active threads in current thread group (shared)",
];

/// A timer of this class; `None` if it is none that a plan can hold.
pub(crate) fn read(element: &Element<'_>) -> Option<Timer> {
    let text = |property: &str| element.text_or_empty(property);
    let kind = match element.class() {
        "ConstantTimer" => TimerKind::Constant {
            delay_ms: text(DELAY),
        },
        "UniformRandomTimer" => TimerKind::Uniform {
            delay_ms: text(DELAY),
            range_ms: text(RANGE),
        },
        // Its "range" is the standard deviation.
        "GaussianRandomTimer" => TimerKind::Gaussian {
            delay_ms: text(DELAY),
            deviation_ms: text(RANGE),
        },
        "PoissonRandomTimer" => TimerKind::Poisson {
            delay_ms: text(DELAY),
            lambda_ms: text(RANGE),
        },
        "ConstantThroughputTimer" => TimerKind::ConstantThroughput {
            per_minute: element
                .text("throughput")
                .unwrap_or_else(|| text("ConstantThroughputTimer.throughput")),
            shared: shared(&text("calcMode").text),
        },
        "PreciseThroughputTimer" => TimerKind::PreciseThroughput(Box::new(PreciseThroughput {
            throughput: text("throughput"),
            period_s: text("throughputPeriod"),
            duration_s: text("duration"),
            batch: text("batchSize"),
            batch_delay_ms: text("batchThreadDelay"),
            seed: text("randomSeed"),
        })),
        "SyncTimer" => TimerKind::Synchronizing {
            users: text("groupSize"),
            timeout_ms: text("timeoutInMs"),
        },
        "kg.apc.jmeter.timers.VariableThroughputTimer" => TimerKind::Shaping {
            name: element.name_template(),
            rows: rates(element, "load_profile"),
        },
        _ => return None,
    };
    Some(Timer {
        id: element.id(),
        kind,
    })
}

fn shared(mode: &str) -> ThroughputShare {
    let shown = MODES.iter().position(|text| *text == mode);
    let number = shown.or_else(|| mode.trim().parse().ok()).unwrap_or(0);
    match number {
        1 => ThroughputShare::AllUsers,
        2 => ThroughputShare::GroupUsers,
        3 => ThroughputShare::AllShared,
        4 => ThroughputShare::GroupShared,
        _ => ThroughputShare::ThisUser,
    }
}

/// Rows of a rate at the start, a rate at the end, and a length.
pub(crate) fn rates(element: &Element<'_>, property: &str) -> Vec<ShapingRow> {
    let rows = element.rows(property);
    rows.into_iter().filter_map(shaping).collect()
}

fn shaping(row: Vec<Template>) -> Option<ShapingRow> {
    let mut cells = row.into_iter();
    Some(ShapingRow {
        from_per_s: cells.next()?,
        to_per_s: cells.next()?,
        seconds: cells.next()?,
    })
}
