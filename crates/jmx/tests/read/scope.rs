//! What applies where. Each expectation is what JMeter 5.6.3 did with the same plan.

use weir_plan::{IterationElement, Node, PreProcessor, Sampler};

use super::{group, plan, read_ok, request, said, sampler, samplers};

pub(crate) fn text(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{value}</stringProp>")
}

pub(crate) fn flag(name: &str, value: bool) -> String {
    format!("<boolProp name=\"{name}\">{value}</boolProp>")
}

pub(crate) fn element(class: &str, name: &str, properties: &str, below: &str) -> String {
    format!(
        "<{class} testname=\"{name}\" guiclass=\"TestBeanGUI\">{properties}</{class}>\
         <hashTree>{below}</hashTree>"
    )
}

fn user_parameters(name: &str, per_iteration: bool) -> String {
    let properties = format!(
        "<collectionProp name=\"UserParameters.names\">{}</collectionProp>{}",
        text("1", name),
        flag("UserParameters.per_iteration", per_iteration)
    );
    element("UserParameters", name, &properties, "")
}

fn cookies(name: &str) -> String {
    element("CookieManager", name, "", "")
}

/// An element at the level of the test plan, after the group.
fn beside_group(below_group: &str, below_plan: &str) -> String {
    let whole = group(below_group);
    let end = whole
        .rfind("</hashTree></hashTree></jmeterTestPlan>")
        .unwrap();
    format!("{}{below_plan}{}", &whole[..end], &whole[end..])
}

fn names_before(sampler: &Sampler) -> Vec<&str> {
    let before = sampler.before.iter().map(|before| match before {
        PreProcessor::Link => "link",
        PreProcessor::FoundParameters(found) => &*found.variable.text,
        PreProcessor::UrlRewriting(rewriting) => &*rewriting.argument.text,
        PreProcessor::UserParameters(parameters) => &*parameters.names[0].text,
        PreProcessor::Script(script) => &*script.name.text,
    });
    before.collect()
}

fn names_on_iteration(elements: &[IterationElement]) -> Vec<&str> {
    let names = elements.iter().map(|element| match element {
        IterationElement::UserParameters(parameters) => &*parameters.names[0].text,
        IterationElement::Counter(counter) => &*counter.variable.text,
        other => panic!("none of these here: {other:?}"),
    });
    names.collect()
}

/// The plan's elements are handed to each group, after the group's own, at the same level.
#[test]
fn the_plan_and_a_group_are_one_level() {
    let inner = element(
        "GenericController",
        "S",
        "",
        &(user_parameters("inner", false) + &sampler("", &user_parameters("own", false))),
    );
    let below_group = user_parameters("group", false) + &inner;
    let reading = read_ok(&beside_group(&below_group, &user_parameters("plan", false)));
    let Node::Controller(controller) = &reading.plan.groups[0].nodes[0] else {
        panic!("{:?}", reading.plan);
    };
    let Node::Sampler(sampler) = &controller.children[0] else {
        panic!("{controller:?}");
    };
    assert_eq!(names_before(sampler), ["group", "plan", "inner", "own"]);
}

/// The last of the file advances first; those below a sampler belong to the controller above it.
#[test]
fn what_advances_with_iterations() {
    let counter = element(
        "CounterConfig",
        "c",
        &text("CounterConfig.name", "counter"),
        "",
    );
    let below_group =
        user_parameters("first", true) + &sampler("", &counter) + &user_parameters("second", true);
    let reading = read_ok(&beside_group(&below_group, &user_parameters("plan", true)));
    let group = &reading.plan.groups[0];
    assert_eq!(
        names_on_iteration(&group.on_iteration),
        ["plan", "second", "counter", "first"]
    );
    assert_eq!(names_before(samplers(group)[0]), [""; 0]);
}

/// Each manager supersedes those that are nearer, and of one level the last counts.
#[test]
fn the_outermost_manager_counts() {
    let below_group =
        cookies("group 1") + &cookies("group 2") + &sampler("", &cookies("own")) + &sampler("", "");
    let reading = read_ok(&beside_group(&below_group, ""));
    let managers: Vec<u32> = reading
        .plan
        .cookie_managers
        .iter()
        .map(|m| m.at.column)
        .collect();
    assert_eq!(managers.len(), 1);
    let both = samplers(&reading.plan.groups[0])
        .into_iter()
        .map(|s| request(s).cookies);
    assert_eq!(both.collect::<Vec<_>>(), [Some(0), Some(0)]);
    let superseded: Vec<&str> = reading
        .findings
        .iter()
        .filter(|finding| finding.says.starts_with("it is superseded by \"group 2\""))
        .map(|finding| &*finding.name)
        .collect();
    assert_eq!(superseded, ["group 1", "own"]);
    let reading = read_ok(&beside_group(&below_group, &cookies("plan")));
    assert!(
        reading
            .findings
            .iter()
            .any(|finding| finding.says.contains("by \"plan\""))
    );
}

/// JMeter goes by the window's class and gives other settings to nobody.
#[test]
fn settings_of_other_windows() {
    let headers = "<HeaderManager testname=\"H\"><collectionProp name=\"HeaderManager.headers\">\
                   <elementProp name=\"\"><stringProp name=\"Header.name\">A</stringProp>\
                   </elementProp></collectionProp></HeaderManager><hashTree/>";
    let tcp = "<ConfigTestElement guiclass=\"TcpConfigGui\"/><hashTree/>";
    let xml = group(&format!("{headers}{tcp}{}", sampler("", "")));
    let reading = read_ok(&xml);
    assert_eq!(request(samplers(&reading.plan.groups[0])[0]).headers, []);
    let said = said(&xml);
    assert!(
        said.len() == 1 && said[0].starts_with("HeaderManager Warning"),
        "{said:?}"
    );
}

/// Variables of a fragment that nobody runs, of a controller outside of groups and of later
/// groups are there for all; those of disabled elements are not.
#[test]
fn variables_count_wherever_they_stand() {
    let list = |name: &str| {
        format!(
            "<Arguments><collectionProp name=\"Arguments.arguments\"><elementProp name=\"x\">{}\
             </elementProp></collectionProp></Arguments><hashTree/>",
            text("Argument.name", name)
        )
    };
    let fragment = element(
        "TestFragmentController",
        "F",
        "",
        &element("GenericController", "C", "", &list("fragment")),
    );
    let disabled = fragment.replace("\"F\"", "\"F\" enabled=\"false\"");
    let outside = element(
        "GenericController",
        "C",
        "",
        &(list("outside") + &sampler("", &list("deep"))),
    );
    let xml = plan(&(fragment + &disabled + &outside));
    let variables = read_ok(&xml).plan.variables;
    let names: Vec<&str> = variables.iter().flatten().map(|v| &*v.name.text).collect();
    assert_eq!(names, ["fragment", "outside", "deep"]);
}

/// What stands below a sampler is no step, and a fragment in a group is one.
#[test]
fn steps_at_unusual_places() {
    let below_group = sampler("", &sampler("", ""))
        + &element("TestFragmentController", "F", "", &sampler("", ""));
    let reading = read_ok(&group(&below_group));
    let nodes = &reading.plan.groups[0].nodes;
    assert!(
        matches!(&nodes[..], [Node::Sampler(_), Node::Controller(fragment)] if fragment.children.len() == 1),
        "{nodes:?}"
    );
}

/// Transactions are judged from the inside to the outside, samplers the other way round.
#[test]
fn assertions_in_scope() {
    let assertion = |name: &str| element("DurationAssertion", name, "", "");
    let below = assertion("inner") + &sampler("", "");
    let transaction = element("TransactionController", "T", "", &below);
    let reading = read_ok(&group(&(assertion("outer") + &transaction)));
    let Node::Controller(controller) = &reading.plan.groups[0].nodes[0] else {
        panic!("{:?}", reading.plan);
    };
    let weir_plan::ControllerKind::Transaction(transaction) = &controller.kind else {
        panic!("{controller:?}");
    };
    assert!(transaction.include_timers && !transaction.is_parent);
    let names: Vec<&str> = transaction
        .assertions
        .iter()
        .map(|a| &*a.name().text)
        .collect();
    assert_eq!(names, ["inner", "outer"]);
    let Node::Sampler(sampler) = &controller.children[0] else {
        panic!("{controller:?}");
    };
    let names: Vec<&str> = sampler.assertions.iter().map(|a| &*a.name().text).collect();
    assert_eq!(names, ["outer", "inner"]);
}
