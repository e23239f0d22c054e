//! Files by a pattern of names, as servers include them.

use std::path::{Path, PathBuf};

use crate::machine::Machine;

/// The paths that an absolute pattern stands for, in order; a path without `*`, `?` and `[`
/// stands for itself, there or not.
///
/// # Errors
/// It is no pattern, or a folder cannot be read.
pub(crate) fn matching(machine: &Machine, pattern: &Path) -> Result<Vec<PathBuf>, String> {
    let options = glob::MatchOptions {
        require_literal_leading_dot: true,
        ..glob::MatchOptions::default()
    };
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.components().skip(1) {
        let part = part.as_os_str().to_string_lossy();
        if !part.contains(['*', '?', '[']) {
            for folder in &mut found {
                folder.push(&*part);
            }
            continue;
        }
        let wanted = glob::Pattern::new(&part)
            .map_err(|error| format!("`{part}` is no pattern of names: {error}"))?;
        let mut matching = Vec::new();
        for folder in found {
            let names = machine
                .listing(&folder)
                .map_err(|error| format!("`{}` cannot be read: {error}", folder.display()))?;
            let names = names.into_iter();
            let names = names.filter(|name| wanted.matches_with(name, options));
            matching.extend(names.map(|name| folder.join(name)));
        }
        found = matching;
    }
    Ok(found)
}
