//! The CSS Selector Extractor.

use scraper::ElementRef;
use weir_plan::{CssExtractor, SampleScope};

use super::number;
use super::saved::{set_count, take_count};
use crate::html::{self, CssSelector, text_of};
use crate::scope::samples;
use crate::{Patterns, SampleView, Variables};

pub(super) fn extract(
    element: &CssExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    patterns: &mut Patterns,
    random: &mut dyn FnMut(usize) -> usize,
) {
    let name = &element.variable;
    if !element.default.is_empty() || element.default_empty {
        variables.set(name, &element.default);
    }
    // JMeter only logs a selector that it cannot read.
    let Ok(selector) = patterns.selector(&element.selector) else {
        return;
    };
    let found = find(element, selector, sample, variables);
    let before = take_count(variables, name);
    let mut kept = 0;
    if let Ok(wanted) = usize::try_from(number(&element.match_number)) {
        let value = match wanted {
            0 if found.is_empty() => None,
            0 => found.get(random(found.len())),
            n => found.get(n - 1),
        };
        if let Some(value) = value {
            variables.set(name, value);
        }
    } else {
        kept = found.len();
        set_count(variables, name, kept);
        for (n, value) in found.iter().enumerate() {
            variables.set(&format!("{name}_{}", n + 1), value);
        }
    }
    for n in kept + 1..=before {
        variables.remove(&format!("{name}_{n}"));
    }
}

fn find(
    element: &CssExtractor<String>,
    selector: &CssSelector,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> Vec<String> {
    let values = |text: &str| -> Vec<String> {
        let page = html::read(text);
        let elements = selector.select(&page).into_iter();
        elements
            .map(|found| value(found, &element.attribute))
            .collect()
    };
    match &element.scope {
        SampleScope::Variable(name) => match variables.get(name) {
            None | Some("") => Vec::new(),
            Some(text) => values(text),
        },
        scope => {
            let seen = samples(scope, sample);
            seen.iter()
                .flat_map(|sample| values(sample.text()))
                .collect()
        }
    }
}

fn value(element: ElementRef<'_>, attribute: &str) -> String {
    if attribute.trim().is_empty() {
        return text_of(element);
    }
    let value = element.attr(&attribute.to_ascii_lowercase());
    value.unwrap_or_default().to_owned()
}
