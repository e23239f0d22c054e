//! The Boundary Extractor.

use weir_plan::{BoundaryExtractor, SampleScope};

use super::saved::{set_count, take_count};
use super::{SampleLost, number};
use crate::scope::samples;
use crate::{SampleView, Variables};

pub(super) fn extract(
    element: &BoundaryExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    random: &mut dyn FnMut(usize) -> usize,
) -> Result<(), SampleLost> {
    let name = &element.variable;
    if name.is_empty() {
        return Err(SampleLost {
            name: element.name.clone(),
            says: "it has no variable to set".into(),
        });
    }
    if !element.default.trim().is_empty() || element.default_empty {
        variables.set(name, &element.default);
    }
    let wanted = number(&element.match_number);
    let before = take_count(variables, name);
    let found = find(element, wanted, sample, variables);
    let mut kept = 0;
    match usize::try_from(wanted) {
        Ok(_) if found.is_empty() => {}
        Ok(0) => variables.set(name, &found[random(found.len())]),
        Ok(_) => variables.set(name, &found[0]),
        Err(_) => {
            kept = found.len();
            set_count(variables, name, kept);
            for (n, found) in found.iter().enumerate() {
                variables.set(&format!("{name}_{}", n + 1), found);
            }
        }
    }
    for n in kept + 1..=before {
        variables.remove(&format!("{name}_{n}"));
    }
    Ok(())
}

/// All matches; one match, if a certain one is wanted.
fn find(
    element: &BoundaryExtractor<String>,
    wanted: i32,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> Vec<String> {
    let between = |text: &str| between(&element.left, &element.right, text);
    let chosen = |mut found: Vec<String>| match usize::try_from(wanted) {
        Ok(n) if n > 0 => found.drain(..).skip(n - 1).take(1).collect(),
        _ => found,
    };
    if let SampleScope::Variable(name) = &element.scope {
        let found = between(variables.get(name).unwrap_or_default());
        // With a boundary missing there is one match, and it counts for every number.
        if element.left.is_empty() || element.right.is_empty() {
            return found;
        }
        return chosen(found);
    }
    let seen = samples(&element.scope, sample);
    let found = seen
        .iter()
        .flat_map(|sample| between(&sample.field(element.field)));
    chosen(found.collect())
}

/// What stands between the boundaries; matches may overlap, because the search goes on behind the
/// left boundary.
fn between(left: &str, right: &str, text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    match (left, right) {
        ("", "") => vec![text.to_owned()],
        ("", right) => {
            let found = text.split_once(right);
            found
                .map(|(before, _)| before.to_owned())
                .into_iter()
                .collect()
        }
        (left, "") => {
            let found = text.split_once(left);
            found
                .map(|(_, after)| after.to_owned())
                .into_iter()
                .collect()
        }
        (left, right) => {
            let mut found = Vec::new();
            let mut rest = text;
            while let Some((_, after)) = rest.split_once(left) {
                let Some((inside, _)) = after.split_once(right) else {
                    break;
                };
                found.push(inside.to_owned());
                rest = after;
            }
            found
        }
    }
}
