//! `Arguments`: user-defined variables.

use weir_plan::Variable;

use crate::element::Element;

/// The variables that an element defines; those without a name define nothing.
pub(crate) fn variables(arguments: &Element<'_>) -> Vec<Variable> {
    let entries = arguments.collection("Arguments.arguments");
    entries
        .iter()
        .map(|entry| Variable {
            name: entry.text_or_empty("Argument.name"),
            value: entry.text_or_empty("Argument.value"),
        })
        .filter(|variable| !variable.name.text.is_empty())
        .collect()
}
