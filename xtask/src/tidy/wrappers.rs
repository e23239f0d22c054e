//! Which crate may use which library: the `wrappers` of deny.toml.
//!
//! `cargo deny` checks the same for the whole dependency graph, but it is not installed everywhere.
//! This looks at what our own crates name in their manifests, tests excepted.

use serde::Deserialize;

use crate::tidy::Problem;
use crate::tidy::tree::Tree;
use crate::workspace::{Crate, short_name};

const PATH: &str = "deny.toml";

#[derive(Deserialize)]
struct DenyFile {
    bans: Bans,
}

#[derive(Deserialize)]
struct Bans {
    #[serde(default)]
    deny: Vec<Ban>,
}

/// A library that only its wrappers may depend on.
#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    library: String,
    #[serde(default)]
    wrappers: Vec<String>,
    reason: String,
}

/// Crates that depend on a library which deny.toml keeps for others.
pub(crate) fn check(tree: &Tree, crates: &[Crate]) -> Vec<Problem> {
    let Some(text) = tree.file(PATH) else {
        return vec![Problem::in_file(PATH, "there is none")];
    };
    let file: DenyFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => return vec![Problem::in_file(PATH, error.to_string())],
    };
    file.bans
        .deny
        .iter()
        .flat_map(|ban| misuses(ban, crates))
        .collect()
}

fn misuses<'a>(ban: &'a Ban, crates: &'a [Crate]) -> impl Iterator<Item = Problem> + 'a {
    crates
        .iter()
        .filter(|member| member.external.contains(&ban.library))
        .filter(|member| {
            !ban.wrappers
                .iter()
                .any(|wrapper| short_name(wrapper) == member.name)
        })
        .map(|member| {
            Problem::in_file(
                &format!("{}/Cargo.toml", member.directory),
                format!(
                    "`{}` must not use {}: {}",
                    member.name, ban.library, ban.reason
                ),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
        [bans]
        deny = [
            { crate = "tokio", wrappers = ["weir-load"], reason = "only the load engine is asynchronous" },
            { crate = "miette", wrappers = ["weir"], reason = "only the binary renders diagnostics" },
        ]
    "#;

    fn member(name: &str, external: &[&str]) -> Crate {
        Crate {
            name: name.to_owned(),
            directory: format!("crates/{name}"),
            external: external.iter().map(|name| (*name).to_owned()).collect(),
            ..Crate::default()
        }
    }

    #[test]
    fn only_the_wrappers_may_use_a_library() {
        let crates = [
            member("load", &["tokio", "serde"]),
            member("weir", &["miette"]),
            member("study", &["serde", "tokio"]),
        ];
        assert_eq!(
            check(&Tree::of(&[(PATH, DENY)]), &crates),
            [Problem::in_file(
                "crates/study/Cargo.toml",
                "`study` must not use tokio: only the load engine is asynchronous"
            )]
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_problem() {
        assert_eq!(check(&Tree::default(), &[]).len(), 1);
        assert_eq!(check(&Tree::of(&[(PATH, "[bans")]), &[]).len(), 1);
    }
}
