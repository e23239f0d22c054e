//! The JSON `JMESPath` Extractor.

use weir_plan::{JmesPathExtractor, SampleScope};

use super::SampleLost;
use super::saved::{clear, set_count};
use crate::jmespath_json::search;
use crate::scope::samples;
use crate::{SampleView, Variables};

pub(super) fn extract(
    element: &JmesPathExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    random: &mut dyn FnMut(usize) -> usize,
) -> Result<(), SampleLost> {
    let name = &element.variable;
    let wanted: i32 = match element.match_number.as_str() {
        number if number.trim().is_empty() => 0,
        number => number.parse().map_err(|_| SampleLost {
            name: element.name.clone(),
            says: "its match number is not a number".into(),
        })?,
    };
    let found = match &element.scope {
        SampleScope::Variable(variable) => {
            let document = variables.get(variable).unwrap_or_default();
            find(&element.path, [document].into_iter())
        }
        scope => {
            let seen = samples(scope, sample);
            let documents = seen.iter().map(|sample| sample.text());
            find(
                &element.path,
                documents.filter(|text| !text.trim().is_empty()),
            )
        }
    };
    clear(variables, name);
    let Ok(found) = found else {
        variables.set(name, &element.default);
        return Ok(());
    };
    if found.is_empty() {
        variables.set(name, &element.default);
    } else if wanted < 0 {
        for (n, value) in found.iter().enumerate() {
            variables.set(&format!("{name}_{}", n + 1), value);
        }
    } else {
        let value = match usize::try_from(wanted) {
            _ if found.len() == 1 => found.first(),
            Ok(n) if n > 0 => found.get(n - 1),
            _ => found.get(random(found.len())),
        };
        variables.set(name, value.unwrap_or(&element.default));
    }
    set_count(variables, name, found.len());
    Ok(())
}

/// All that is found in all documents; an error also when there is no document.
fn find<'t>(path: &str, documents: impl Iterator<Item = &'t str>) -> Result<Vec<String>, String> {
    let mut documents = documents.peekable();
    if documents.peek().is_none() {
        return Err("there is nothing to search".into());
    }
    let mut found = Vec::new();
    for document in documents {
        found.extend(search(path.trim(), document)?.texts());
    }
    Ok(found)
}
