//! `HeaderManager`: header fields.

use std::collections::HashSet;

use weir_plan::Template;

use crate::element::Element;

/// The fields of all managers in scope, nearest first.
///
/// JMeter 5.6.3, measured: the nearest manager's fields all count, also two of one name; of the
/// others only those whose name, in any case, is not there yet.
pub(crate) fn merge(managers: &[Element<'_>]) -> Vec<(Template, Template)> {
    let mut merged: Vec<(Template, Template)> = Vec::new();
    let mut known = HashSet::new();
    for (index, manager) in managers.iter().enumerate() {
        for header in manager.collection("HeaderManager.headers") {
            let name = header.text_or_empty("Header.name");
            if known.insert(name.text.to_lowercase()) || index == 0 {
                merged.push((name, header.text_or_empty("Header.value")));
            }
        }
    }
    merged
}
