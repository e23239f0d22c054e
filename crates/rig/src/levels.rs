//! What the levels of a treatment mean: users, limits of stages, properties of the plan, parameters
//! of requests.

use std::collections::BTreeMap;

use weir_plan::{Argument, LoadPlan, Node, SamplerKind, Template};
use weir_record::{Level, Levels, START};
use weir_script::Properties;

/// The factors that set a property of the plan: the number of users, the rate of arrivals.
const OF_THE_PLAN: [&str; 2] = ["users", "rate"];
/// Factors with this prefix set a request parameter of every sampler.
const PARAMETER: &str = "param.";
/// Factors with this prefix set a property of the plan by its own name.
const PROPERTY: &str = "property.";
/// Factors with this prefix are settings of the regulator inside the server.
pub(crate) const REGULATOR: &str = "regulator.";

/// The limits that levels set, by stage.
pub(crate) fn limits(levels: &Levels) -> Result<BTreeMap<String, f64>, String> {
    levels
        .iter()
        .filter(|(factor, _)| {
            let in_words = [PARAMETER, PROPERTY, START, REGULATOR];
            !OF_THE_PLAN.contains(&factor.as_str())
                && !in_words.iter().any(|prefix| factor.starts_with(prefix))
        })
        .map(|(stage, level)| match level {
            Level::Number(limit) => Ok((stage.clone(), *limit)),
            Level::Text(text) => Err(format!("the limit of `{stage}` is `{text}`, not a number")),
        })
        .collect()
}

/// The plan's properties with those set that factors name.
pub(crate) fn properties(
    levels: &Levels,
    given: &Properties,
    of_factors: &BTreeMap<String, String>,
) -> Properties {
    let mut properties = given.clone();
    for (factor, name) in of_factors {
        if let Some(level) = levels.get(factor) {
            properties.set(name, level.to_string());
        }
    }
    for (name, value) in named(levels, PROPERTY) {
        properties.set(&name, value);
    }
    properties
}

/// The request parameters that levels set, by name.
pub(crate) fn parameters(levels: &Levels) -> Vec<(String, String)> {
    named(levels, PARAMETER).collect()
}

/// The levels of the factors with a prefix, by their whole names.
pub(crate) fn in_words(levels: &Levels, prefix: &str) -> BTreeMap<String, String> {
    let own = levels
        .iter()
        .filter(|(factor, _)| factor.starts_with(prefix));
    own.map(|(factor, level)| (factor.clone(), level.to_string()))
        .collect()
}

/// The levels of the factors with a prefix, by what follows it.
fn named<'a>(levels: &'a Levels, prefix: &'a str) -> impl Iterator<Item = (String, String)> + 'a {
    levels.iter().filter_map(move |(factor, level)| {
        Some((factor.strip_prefix(prefix)?.to_owned(), level.to_string()))
    })
}

/// The plan with request parameters set in every sampler, added where a sampler has none of that
/// name.
pub(crate) fn with_parameters(plan: &LoadPlan, levels: &Levels) -> LoadPlan {
    let mut plan = plan.clone();
    for (name, value) in parameters(levels) {
        for group in &mut plan.groups {
            set_everywhere(&mut group.nodes, &name, &value);
        }
    }
    plan
}

fn set_everywhere(nodes: &mut [Node], name: &str, value: &str) {
    for node in nodes {
        match node {
            Node::Controller(controller) => set_everywhere(&mut controller.children, name, value),
            Node::Sampler(sampler) => {
                if let SamplerKind::Http(request) = &mut sampler.kind {
                    set_parameter(&mut request.arguments, name, value);
                }
            }
        }
    }
}

fn set_parameter(arguments: &mut Vec<Argument>, name: &str, value: &str) {
    let value = Template::literal(value);
    match arguments
        .iter_mut()
        .find(|argument| argument.name.text == name)
    {
        Some(argument) => argument.value = value,
        None => arguments.push(Argument {
            name: Template::literal(name),
            value,
            always_encode: true,
            use_equals: true,
            content_type: Template::default(),
        }),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn levels(pairs: &[(&str, Level)]) -> Levels {
        pairs
            .iter()
            .map(|(factor, level)| ((*factor).to_owned(), level.clone()))
            .collect()
    }

    #[test]
    fn limits_are_what_is_neither_users_nor_a_parameter() {
        let read = limits(&levels(&[
            ("users", Level::Number(14.0)),
            ("threads", Level::Number(50.0)),
            ("pool.db", Level::Number(10.0)),
            ("param.form", Level::Text("as-published".into())),
            ("property.size", Level::Number(4.0)),
        ]))
        .unwrap();
        assert_eq!(
            read.into_iter().collect::<Vec<_>>(),
            [("pool.db".to_owned(), 10.0), ("threads".to_owned(), 50.0)]
        );
        let wrong = limits(&levels(&[("threads", Level::Text("many".into()))])).unwrap_err();
        assert!(wrong.contains("`many`"));
    }

    #[test]
    fn a_parameter_is_set_or_added() {
        let mut arguments = Vec::new();
        set_parameter(&mut arguments, "form", "a");
        set_parameter(&mut arguments, "form", "b");
        assert_eq!(arguments.len(), 1);
        assert_eq!(arguments[0].value.text, "b");
    }

    #[test]
    fn factors_become_properties_as_text() {
        let of_factors = [("users", "THREAD_NUMBER"), ("rate", "RATE")];
        let of_factors = of_factors.map(|(factor, name)| (factor.to_owned(), name.to_owned()));
        let set = properties(
            &levels(&[
                ("users", Level::Number(41.0)),
                ("threads", Level::Number(9.0)),
                ("property.size", Level::Number(4.0)),
            ]),
            &Properties::new(),
            &of_factors.into_iter().collect(),
        );
        assert_eq!(set.get("THREAD_NUMBER"), Some("41"));
        assert_eq!(set.get("RATE"), None);
        assert_eq!(set.get("size"), Some("4"));
    }
}
