//! The Regular Expression Extractor.

use weir_plan::{RegexExtractor, SampleScope};

use super::saved::{set_count, set_or_remove, take_count};
use super::{Extraction, number};
use crate::perl5::{Match, Perl5};
use crate::scope::samples;
use crate::{AssertionOutcome, PatternError, Patterns, SampleView, Variables};

/// How many matches are looked for when all are wanted, or any.
const MATCHES: usize = 100_000;

pub(super) fn extract(
    element: &RegexExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    patterns: &mut Patterns,
    random: &mut dyn FnMut(usize) -> usize,
) -> Extraction {
    let name = &element.variable;
    if !element.default.is_empty() || element.default_empty {
        variables.set(name, &element.default);
    }
    // JMeter only logs an expression that it cannot read.
    let Ok(regex) = patterns.regex(&element.regex) else {
        return Extraction::default();
    };
    let wanted = number(&element.match_number);
    let found = match find(element, regex, wanted, sample, variables) {
        Ok(found) => found,
        Err(error) => {
            return Extraction {
                outcome: Some(AssertionOutcome::error(&element.name, error.to_string())),
                fails_sample: true,
            };
        }
    };
    let before = take_count(variables, name);
    let mut kept = 0;
    if let Ok(wanted) = usize::try_from(wanted) {
        let index = match wanted {
            0 if found.is_empty() => None,
            0 => Some(random(found.len())),
            n => Some(n - 1),
        };
        match index.and_then(|index| found.get(index)) {
            Some(found) => save(variables, name, found, &element.template),
            None => remove_groups(variables, name),
        }
    } else {
        remove_groups(variables, name);
        kept = found.len();
        set_count(variables, name, kept);
        for (n, found) in found.iter().enumerate() {
            save(
                variables,
                &format!("{name}_{}", n + 1),
                found,
                &element.template,
            );
        }
    }
    for n in kept + 1..=before {
        let numbered = format!("{name}_{n}");
        variables.remove(&numbered);
        remove_groups(variables, &numbered);
    }
    Extraction::default()
}

/// The matches in all that the element looks at, no more than are wanted.
fn find(
    element: &RegexExtractor<String>,
    regex: &Perl5,
    wanted: i32,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> Result<Vec<Match>, PatternError> {
    let limit = match usize::try_from(wanted) {
        Ok(wanted) if wanted > 0 => wanted,
        _ => MATCHES,
    };
    if let SampleScope::Variable(name) = &element.scope {
        return regex.find(variables.get(name).unwrap_or_default(), limit);
    }
    let mut found = Vec::new();
    for sample in samples(&element.scope, sample) {
        found.extend(regex.find(&sample.field(element.field), limit - found.len())?);
    }
    Ok(found)
}

fn save(variables: &mut dyn Variables, name: &str, found: &Match, template: &str) {
    variables.set(name, &filled(template, found));
    let before = groups(variables, name).unwrap_or(0);
    for (n, group) in found.groups.iter().enumerate() {
        set_or_remove(variables, &format!("{name}_g{n}"), group.as_deref());
    }
    let count = found.groups.len() - 1;
    variables.set(&format!("{name}_g"), &count.to_string());
    for n in found.groups.len()..=before {
        variables.remove(&format!("{name}_g{n}"));
    }
}

/// The template with `$n$` replaced by group n, or by `null` when there is no such group.
fn filled(template: &str, found: &Match) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(dollar) = rest.find('$') {
        let (before, reference) = rest.split_at(dollar);
        out.push_str(before);
        let digits = reference[1..].split('$').next().unwrap_or_default();
        let closed = reference.len() > digits.len() + 1;
        if closed && !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()) {
            let group = digits.parse().ok().and_then(|n: usize| found.groups.get(n));
            out.push_str(group.and_then(Option::as_deref).unwrap_or("null"));
            rest = &reference[digits.len() + 2..];
        } else {
            out.push('$');
            rest = &reference[1..];
        }
    }
    out + rest
}

/// The number of groups that an earlier match has left.
fn groups(variables: &dyn Variables, name: &str) -> Option<usize> {
    variables.get(&format!("{name}_g"))?.parse().ok()
}

fn remove_groups(variables: &mut dyn Variables, name: &str) {
    let last = groups(variables, name).unwrap_or(0);
    variables.remove(&format!("{name}_g"));
    for n in 0..=last {
        variables.remove(&format!("{name}_g{n}"));
    }
}
