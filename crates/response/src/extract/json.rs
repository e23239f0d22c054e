//! The JSON Extractor.

use std::borrow::Cow;

use weir_plan::{JsonExtractor, SampleScope};

use super::SampleLost;
use super::saved::{clear, set_count};
use crate::json::{Json, JsonPath, JsonPathError};
use crate::scope::samples;
use crate::{Patterns, SampleView, Variables};

/// One of the extractor's lists taken apart.
struct One<'t> {
    name: &'t str,
    path: &'t str,
    wanted: i32,
    default: &'t str,
}

pub(super) fn extract(
    element: &JsonExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    patterns: &mut Patterns,
    random: &mut dyn FnMut(usize) -> usize,
) -> Result<(), SampleLost> {
    let documents: Vec<Result<Cow<'_, Json>, String>> = match &element.scope {
        SampleScope::Variable(name) => vec![from_variable(variables.get(name))],
        scope => samples(scope, sample)
            .into_iter()
            .filter(|sample| !sample.text().trim().is_empty())
            .map(|sample| sample.json().map(Cow::Borrowed).map_err(str::to_owned))
            .collect(),
    };
    for one in parts(element)? {
        clear(variables, one.name);
        if documents.is_empty() {
            variables.set(one.name, one.default);
            continue;
        }
        match find(one.path, &documents, patterns) {
            Ok(found) => save(&one, element.concatenate, &found, variables, random),
            Err(_) => variables.set(one.name, one.default),
        }
    }
    Ok(())
}

fn from_variable(text: Option<&str>) -> Result<Cow<'static, Json>, String> {
    match text {
        None | Some("") => Err("json string can not be null or empty".into()),
        Some(text) => Json::parse(text).map(Cow::Owned),
    }
}

/// The members of the extractor's lists, which must have the same length.
fn parts(element: &JsonExtractor<String>) -> Result<Vec<One<'_>>, SampleLost> {
    let lost = |says: &str| SampleLost {
        name: element.name.clone(),
        says: says.to_owned(),
    };
    let names = split(&element.variables);
    let paths = split(&element.paths);
    let defaults = split(&element.defaults);
    let mut numbers = vec![0; defaults.len()];
    if !element.match_numbers.trim().is_empty() {
        for (n, number) in split(&element.match_numbers).into_iter().enumerate() {
            let number = number.trim().parse();
            let number = number.map_err(|_| lost("a match number is not a number"))?;
            let place = numbers.get_mut(n);
            *place.ok_or_else(|| lost("there are more match numbers than defaults"))? = number;
        }
    }
    if names.len() != paths.len() || names.len() != defaults.len() {
        return Err(lost(
            "Mismatch between number of variables, json expressions and default values",
        ));
    }
    let lists = names.into_iter().zip(paths).zip(defaults).zip(numbers);
    Ok(lists
        .map(|(((name, path), default), wanted)| One {
            name: name.trim(),
            path: path.trim(),
            wanted,
            default,
        })
        .collect())
}

/// Splits as Java does: empty members at the end do not count.
fn split(text: &str) -> Vec<&str> {
    let mut members: Vec<&str> = text.split(';').collect();
    while members.len() > 1 && members.last() == Some(&"") {
        members.pop();
    }
    if members == [""] && !text.is_empty() {
        members.clear();
    }
    members
}

/// The values found in all documents; nothing for null.
fn find(
    path: &str,
    documents: &[Result<Cow<'_, Json>, String>],
    patterns: &mut Patterns,
) -> Result<Vec<Option<String>>, JsonPathError> {
    let path = patterns.json_path(path).map_err(Clone::clone)?;
    let mut found = Vec::new();
    for document in documents {
        let document = document.as_ref();
        let document = document.map_err(|says| JsonPathError::Failed(says.clone()))?;
        found.extend(find_in(path, document)?);
    }
    Ok(found)
}

fn find_in(path: &JsonPath, document: &Json) -> Result<Vec<Option<String>>, JsonPathError> {
    if *document == Json::Null || path.ends_with_function() {
        return Err(JsonPathError::Failed(
            "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!"
                .into(),
        ));
    }
    match path.read_in(document) {
        Ok(found) => Ok(found
            .all()
            .iter()
            .map(|value| value.json().to_variable())
            .collect()),
        Err(JsonPathError::NotFound(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn save(
    one: &One<'_>,
    concatenate: bool,
    found: &[Option<String>],
    variables: &mut dyn Variables,
    random: &mut dyn FnMut(usize) -> usize,
) {
    let all = format!("{}_ALL", one.name);
    let shown: Vec<&str> = found
        .iter()
        .map(|value| value.as_deref().unwrap_or(one.default))
        .collect();
    let concatenate = concatenate && one.wanted < 0;
    let Some(first) = shown.first() else {
        variables.set(one.name, one.default);
        set_count(variables, one.name, 0);
        if concatenate {
            variables.set(&all, "");
        }
        return;
    };
    if one.wanted < 0 {
        for (n, value) in shown.iter().enumerate() {
            variables.set(&format!("{}_{}", one.name, n + 1), value);
        }
    } else {
        let value = match usize::try_from(one.wanted) {
            _ if shown.len() == 1 => first,
            Ok(0) => shown[random(shown.len())],
            Ok(n) => shown.get(n - 1).copied().unwrap_or(one.default),
            Err(_) => one.default,
        };
        variables.set(one.name, value);
    }
    if concatenate {
        variables.set(&all, &shown.join(","));
    }
    if one.wanted != 0 {
        set_count(variables, one.name, shown.len());
    }
}
