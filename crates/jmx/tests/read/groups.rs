//! Thread groups of JMeter's own Open Model and of the plugins, under the names that they save.

use weir_plan::{ArrivalSchedule, GroupKind, Iterations, Starts, ThreadGroup, TimerKind, WhenFull};

use super::scope::{element, text};
use super::{group, plan, read_ok, said, sampler, samplers};

const LOOP: &str = "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
                    <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
                    <intProp name=\"LoopController.loops\">-1</intProp></elementProp>";

fn read(class: &str, properties: &str) -> ThreadGroup {
    let xml = plan(&element(class, "G", properties, &sampler("", "")));
    assert_eq!(said(&xml), [""; 0], "{class}");
    let mut groups = read_ok(&xml).plan.groups;
    assert_eq!(groups.len(), 1, "{class}");
    groups.remove(0)
}

#[test]
fn ultimate() {
    let row = |cells: &[&str]| -> String {
        let cells = cells.iter().map(|cell| text("1", cell));
        format!(
            "<collectionProp name=\"1\">{}</collectionProp>",
            cells.collect::<String>()
        )
    };
    let rows = row(&["6", "0", "30", "60", "10"]) + &row(&["${N}", "1", "2", "3", "4"]);
    let properties =
        format!("<collectionProp name=\"ultimatethreadgroupdata\">{rows}</collectionProp>{LOOP}");
    let group = read("kg.apc.jmeter.threads.UltimateThreadGroup", &properties);
    let Starts::Rows(rows) = group.starts else {
        panic!("{group:?}");
    };
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&*rows[0].users.text, &*rows[0].shutdown_s.text),
        ("6", "10")
    );
    assert_eq!(
        (&*rows[1].users.text, &*rows[1].startup_s.text),
        ("${N}", "2")
    );
    assert!(matches!(group.iterations, Iterations::Count(count) if count.text == "-1"));
}

#[test]
fn stepping() {
    let properties = [
        ("ThreadGroup.num_threads", "100"),
        ("Threads initial delay", "1"),
        ("Start users count", "10"),
        ("Start users count burst", "5"),
        ("Start users period", "30"),
        ("Stop users count", "7"),
        ("Stop users period", "2"),
        ("flighttime", "60"),
        ("rampUp", "3"),
    ];
    let properties: String = properties
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    let group = read(
        "kg.apc.jmeter.threads.SteppingThreadGroup",
        &(properties + LOOP),
    );
    assert_eq!(group.users.text, "100");
    let Starts::Steps(steps) = group.starts else {
        panic!("{:?}", group.starts);
    };
    let cells = steps.map(&mut |template| template.text.clone());
    let cells = [
        cells.delay_s,
        cells.burst,
        cells.step_users,
        cells.step_s,
        cells.ramp_s,
        cells.hold_s,
        cells.stop_users,
        cells.stop_s,
    ];
    assert_eq!(cells, ["1", "5", "10", "30", "3", "60", "7", "2"]);
}

/// As in a plan of Taurus's tests.
#[test]
fn concurrency_and_arrivals() {
    let properties = [
        ("ThreadGroup.on_sample_error", "stopthread"),
        ("TargetLevel", "3"),
        ("RampUp", "100"),
        ("Steps", "2"),
        ("Hold", ""),
        ("Iterations", "10"),
        ("ConcurrencyLimit", "66"),
        ("Unit", "M"),
    ];
    let properties: String = properties
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    let group = read(
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
        &properties,
    );
    assert!(
        matches!(&group.starts, Starts::Level(level) if level.users.text == "3" && level.unit.text == "M")
    );
    let group = read(
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
        &properties,
    );
    let Starts::Arrivals(arrivals) = &group.starts else {
        panic!("{group:?}");
    };
    assert_eq!(
        (arrivals.when_full, arrivals.new_users),
        (WhenFull::Skip, false)
    );
    assert_eq!(arrivals.users_max.text, "66");
    assert!(
        matches!(&arrivals.schedule, ArrivalSchedule::Ramp { ramp_up, .. } if ramp_up.text == "100")
    );
}

#[test]
fn free_form_arrivals_with_references() {
    let rows = "<collectionProp name=\"Schedule\"><collectionProp name=\"1\">\
                <stringProp name=\"1\">1</stringProp><stringProp name=\"2\">60</stringProp>\
                <stringProp name=\"3\">5</stringProp></collectionProp><collectionProp name=\"2\">\
                <stringProp reference=\"../../collectionProp/stringProp[2]\"/>\
                <stringProp reference=\"../../collectionProp/stringProp\"/>\
                <stringProp reference=\"../../nowhere\"/></collectionProp></collectionProp>";
    let group = read(
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
        rows,
    );
    let Starts::Arrivals(arrivals) = &group.starts else {
        panic!("{group:?}");
    };
    let ArrivalSchedule::Rows { rows, .. } = &arrivals.schedule else {
        panic!("{arrivals:?}");
    };
    let cells = rows[1].map(&mut |template| template.text.clone());
    assert_eq!(
        (&*cells.from_per_s, &*cells.to_per_s, &*cells.seconds),
        ("60", "1", "")
    );
}

#[test]
fn open_model() {
    let schedule = "rate(1/s) random_arrivals(10 s)";
    let properties = text("OpenModelThreadGroup.schedule", schedule)
        + &text("OpenModelThreadGroup.random_seed", "42")
        + "<elementProp name=\"ThreadGroup.main_controller\" \
           elementType=\"org.apache.jmeter.threads.openmodel.OpenModelThreadGroupController\"/>";
    let class = "org.apache.jmeter.threads.openmodel.OpenModelThreadGroup";
    let group = read(class, &properties);
    assert_eq!(group.kind, GroupKind::Main);
    let Starts::Arrivals(arrivals) = &group.starts else {
        panic!("{group:?}");
    };
    assert!(arrivals.new_users);
    assert!(
        matches!(&arrivals.schedule, ArrivalSchedule::OpenModel { text, seed } if text.text == schedule && seed.text == "42")
    );
}

#[test]
fn a_shaping_timer_knows_its_name() {
    let rows = "<collectionProp name=\"load_profile\"><collectionProp name=\"1\">\
                <stringProp name=\"1\">1</stringProp><stringProp name=\"2\">10</stringProp>\
                <stringProp name=\"3\">20</stringProp></collectionProp></collectionProp>";
    let timer = element(
        "kg.apc.jmeter.timers.VariableThroughputTimer",
        "shape",
        rows,
        "",
    );
    let xml = group(&(timer + &sampler("", "")));
    assert_eq!(said(&xml), [""; 0]);
    let plan = read_ok(&xml).plan;
    let timers = &samplers(&plan.groups[0])[0].timers;
    assert!(
        matches!(&timers[0].kind, TimerKind::Shaping { name, rows } if name.text == "shape" && rows.len() == 1)
    );
}

/// As in a plan of the plugins' own examples.
#[test]
fn auto_stop() {
    let properties = text("avg_response_time", "1000")
        + &text("avg_response_time_length", "10")
        + &text("error_rate", "45.9")
        + &text("error_rate_length", "3");
    let listener = element("kg.apc.jmeter.reporters.AutoStop", "stop", &properties, "");
    let xml = group(&(sampler("", "") + &listener + &sampler("", "")));
    assert_eq!(said(&xml), [""; 0]);
    let plan = read_ok(&xml).plan;
    assert_eq!(plan.auto_stops.len(), 1);
    assert_eq!(plan.auto_stops[0].errors_percent.above.text, "45.9");
    let both = samplers(&plan.groups[0]);
    assert!(both.iter().all(|sampler| sampler.auto_stops == [0]));
    let more = text("error_count", "5");
    let listener = element("kg.apc.jmeter.reporters.AutoStop", "stop", &more, "");
    let said = said(&group(&(sampler("", "") + &listener)));
    assert!(
        said.len() == 1 && said[0].contains("a number of errors"),
        "{said:?}"
    );
}
