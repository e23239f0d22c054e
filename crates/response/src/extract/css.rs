//! The CSS Selector Extractor.

use scraper::ElementRef;
use weir_plan::{CssExtractor, SampleScope};

use super::saved::{set_count, take_count};
use super::{Extraction, number};
use crate::bounds::{Budget, TooMuch};
use crate::html::{self, CssSelector, text_of};
use crate::scope::samples;
use crate::{Patterns, SampleView, Variables};

pub(super) fn extract(
    element: &CssExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    patterns: &mut Patterns,
    random: &mut dyn FnMut(usize) -> usize,
) -> Extraction {
    let name = &element.variable;
    if !element.default.is_empty() || element.default_empty {
        variables.set(name, &element.default);
    }
    // JMeter only logs a selector that it cannot read.
    let Ok(selector) = patterns.selector(&element.selector) else {
        return Extraction::default();
    };
    let found = match find(element, selector, sample, variables) {
        Ok(found) => found,
        Err(refused) => return Extraction::refused(&element.name, &refused),
    };
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
    Extraction::default()
}

fn find(
    element: &CssExtractor<String>,
    selector: &CssSelector,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> Result<Vec<String>, TooMuch> {
    let budget = Budget::default();
    let mut all = Vec::new();
    let mut values = |text: &str| -> Result<(), TooMuch> {
        let page = html::read(text)?;
        for found in selector.select(&page, &budget)? {
            all.push(value(found, &element.attribute, &budget)?);
        }
        Ok(())
    };
    match &element.scope {
        SampleScope::Variable(name) => match variables.get(name) {
            None | Some("") => {}
            Some(text) => values(text)?,
        },
        scope => {
            for sample in samples(scope, sample) {
                values(sample.text())?;
            }
        }
    }
    Ok(all)
}

fn value(element: ElementRef<'_>, attribute: &str, budget: &Budget) -> Result<String, TooMuch> {
    if attribute.trim().is_empty() {
        return text_of(element, budget);
    }
    let value = element.attr(&attribute.to_ascii_lowercase());
    Ok(value.unwrap_or_default().to_owned())
}
