//! The samples that an element looks at.

use weir_plan::SampleScope;

use crate::SampleView;

/// How far below a sample its sub-samples count: its own, and four levels under them.
const LEVELS_BELOW: usize = 4;

/// The samples that an extractor with this scope looks at, in its order: all sub-samples of one
/// sample stand together before any of theirs. None for a variable.
pub(crate) fn samples<'s, 'a>(
    scope: &SampleScope<String>,
    sample: &'s SampleView<'a>,
) -> Vec<&'s SampleView<'a>> {
    let mut all = Vec::new();
    if matches!(scope, SampleScope::Main | SampleScope::All) {
        all.push(sample);
    }
    if matches!(scope, SampleScope::Children | SampleScope::All) {
        collect(sample, LEVELS_BELOW, &mut all);
    }
    all
}

fn collect<'s, 'a>(parent: &'s SampleView<'a>, levels: usize, all: &mut Vec<&'s SampleView<'a>>) {
    all.extend(&parent.children);
    if levels > 0 {
        for child in &parent.children {
            collect(child, levels - 1, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(label: &'static str, children: Vec<SampleView<'static>>) -> SampleView<'static> {
        SampleView {
            response_message: label,
            children,
            ..SampleView::default()
        }
    }

    fn labels(scope: &SampleScope<String>, sample: &SampleView<'static>) -> Vec<&'static str> {
        let seen = samples(scope, sample);
        seen.iter().map(|sample| sample.response_message).collect()
    }

    #[test]
    fn siblings_come_before_their_children() {
        let tree = view(
            "0",
            vec![
                view("1", vec![view("1.1", vec![])]),
                view("2", vec![view("2.1", vec![])]),
            ],
        );
        assert_eq!(labels(&SampleScope::Main, &tree), ["0"]);
        assert_eq!(
            labels(&SampleScope::All, &tree),
            ["0", "1", "2", "1.1", "2.1"]
        );
        assert_eq!(
            labels(&SampleScope::Children, &tree),
            ["1", "2", "1.1", "2.1"]
        );
        assert!(labels(&SampleScope::Variable("x".into()), &tree).is_empty());
    }

    #[test]
    fn sub_samples_are_looked_at_five_levels_deep() {
        let mut tree = view("last", vec![]);
        for _ in 0..9 {
            tree = view("x", vec![tree]);
        }
        assert_eq!(labels(&SampleScope::Children, &tree).len(), 5);
    }
}
