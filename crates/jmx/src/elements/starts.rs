//! Thread groups whose users do not start along one ramp: JMeter's Open Model Thread Group and
//! those of the jp@gc and bzm plugins, by the names under which the plugins save their fields.

use weir_plan::{
    ArrivalProcess, ArrivalSchedule, Arrivals, Starts, Template, UserLevel, UserRow, UserSteps,
    WhenFull,
};

use crate::element::Element;
use crate::elements::timer;

/// When the users of a group of this class start; `None` if it is none of these.
pub(crate) fn read(element: &Element<'_>) -> Option<Starts> {
    let text = |property: &str| element.text_or_empty(property);
    Some(match element.class() {
        "kg.apc.jmeter.threads.UltimateThreadGroup" => Starts::Rows(rows(element)),
        "kg.apc.jmeter.threads.SteppingThreadGroup" => Starts::Steps(Box::new(UserSteps {
            delay_s: text("Threads initial delay"),
            burst: text("Start users count burst"),
            step_users: text("Start users count"),
            step_s: text("Start users period"),
            ramp_s: text("rampUp"),
            hold_s: text("flighttime"),
            stop_users: text("Stop users count"),
            stop_s: text("Stop users period"),
        })),
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup" => {
            Starts::Level(Box::new(UserLevel {
                users: element.text_or("TargetLevel", "1"),
                ramp_up: text("RampUp"),
                steps: text("Steps"),
                hold: element.text_or("Hold", "1"),
                unit: text("Unit"),
                iterations_max: text("Iterations"),
            }))
        }
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup" => pooled(
            element,
            ArrivalSchedule::Ramp {
                level: element.text_or("TargetLevel", "1"),
                ramp_up: text("RampUp"),
                steps: text("Steps"),
                hold: element.text_or("Hold", "1"),
                unit: text("Unit"),
                process: ArrivalProcess::Constant,
            },
        ),
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup" => pooled(
            element,
            ArrivalSchedule::Rows {
                rows: timer::rates(element, "Schedule"),
                unit: text("Unit"),
            },
        ),
        "OpenModelThreadGroup" => Starts::Arrivals(Box::new(Arrivals {
            schedule: ArrivalSchedule::OpenModel {
                text: text("OpenModelThreadGroup.schedule"),
                seed: text("OpenModelThreadGroup.random_seed"),
            },
            users_max: Template::default(),
            arrivals_max: Template::default(),
            iterations_max: Template::literal("1"),
            when_full: WhenFull::Wait,
            new_users: true,
        })),
        _ => return None,
    })
}

/// Users who go on with the next arrival, as in the bzm groups.
fn pooled(element: &Element<'_>, schedule: ArrivalSchedule) -> Starts {
    let text = |property: &str| element.text_or_empty(property);
    Starts::Arrivals(Box::new(Arrivals {
        schedule,
        users_max: text("ConcurrencyLimit"),
        arrivals_max: text("ArrivalsLimit"),
        iterations_max: text("Iterations"),
        when_full: WhenFull::Skip,
        new_users: false,
    }))
}

fn rows(element: &Element<'_>) -> Vec<UserRow> {
    // Old versions saved them under the name of the property that overrides them.
    let mut rows = element.rows("ultimatethreadgroupdata");
    if rows.is_empty() {
        rows = element.rows("threads_schedule");
    }
    let row = |row: Vec<Template>| {
        let mut cells = row.into_iter();
        Some(UserRow {
            users: cells.next()?,
            delay_s: cells.next()?,
            startup_s: cells.next()?,
            hold_s: cells.next()?,
            shutdown_s: cells.next()?,
        })
    };
    rows.into_iter().filter_map(row).collect()
}
