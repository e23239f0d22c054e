//! The licences of everything that is linked into the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::linked::{Linked, PROGRAM, Package};
use crate::error::TaskError;

/// How the names of files begin in which packages keep their licences.
const BEGINNINGS: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// A text with every package, its licence and its own words for it.
pub(super) fn of_dependencies(linked: &Linked) -> Result<String, TaskError> {
    let mut text = format!("What is linked into {PROGRAM}, and under which licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in linked.foreign() {
        let title = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("see its text");
        let _ = writeln!(text, "{title:<44} {licence}");
        let own = texts_of(package);
        if own.is_empty() && package.license.is_none() {
            return Err(TaskError::Form {
                what: title,
                why: "it names no licence and has no text of one".to_owned(),
            });
        }
        for words in own {
            texts.entry(words).or_default().push(title.clone());
        }
    }
    for (words, titles) in texts {
        let line = "-".repeat(78);
        let _ = write!(text, "\n{line}\n{}\n{line}\n\n{words}\n", titles.join(", "));
    }
    Ok(text)
}

/// The texts of licences that a package brings along.
fn texts_of(package: &Package) -> Vec<String> {
    let Some(folder) = package.manifest_path.parent() else {
        return Vec::new();
    };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = names
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.unwrap_or_default().to_lowercase();
            BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        })
        .chain(package.license_file.iter().map(|name| folder.join(name)))
        .collect();
    paths.sort();
    paths.dedup();
    let texts = paths
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    texts.map(|text| text.trim().to_owned()).collect()
}
