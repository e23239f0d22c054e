//! Variables with a number behind their name, and what was left of them by earlier samples.

use crate::Variables;

/// The count in `NAME_matchNr`, which is removed; 0 when there is none.
pub(super) fn take_count(variables: &mut dyn Variables, name: &str) -> usize {
    let count_name = format!("{name}_matchNr");
    let count = variables
        .get(&count_name)
        .and_then(|count| count.parse().ok());
    variables.remove(&count_name);
    count.unwrap_or(0)
}

/// Sets `NAME_matchNr`.
pub(super) fn set_count(variables: &mut dyn Variables, name: &str, count: usize) {
    variables.set(&format!("{name}_matchNr"), &count.to_string());
}

/// Sets a variable, or removes it when there is no value.
pub(super) fn set_or_remove(variables: &mut dyn Variables, name: &str, value: Option<&str>) {
    match value {
        Some(value) => variables.set(name, value),
        None => variables.remove(name),
    }
}

/// Removes `NAME_matchNr` and `NAME_1`, `NAME_2`, … up to the first that is not there.
pub(super) fn clear(variables: &mut dyn Variables, name: &str) {
    variables.remove(&format!("{name}_matchNr"));
    for n in 1_usize.. {
        let numbered = format!("{name}_{n}");
        if variables.get(&numbered).is_none() {
            return;
        }
        variables.remove(&numbered);
    }
}
