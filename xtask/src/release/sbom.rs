//! A software bill of materials: everything that is linked into the program, for the tools that
//! compare such lists with known weaknesses.
//!
//! `CycloneDX` 1.5 in JSON: components with name, version, package URL, licence and the SHA-256 of
//! the package as it was fetched, and what each of them needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::linked::{Linked, PROGRAM, Package};
use crate::error::TaskError;
use crate::lock_file::Locked;

/// The bill as JSON; `vendored` is what `VERSION.md` says beside the library that is no package.
pub(super) fn of(
    linked: &Linked,
    locked: &[Locked],
    vendored: &str,
    version: &str,
) -> Result<String, TaskError> {
    let checksums: BTreeMap<(&str, String), &str> = locked
        .iter()
        .filter_map(|package| {
            let checksum = package.checksum.as_deref()?;
            Some(((&*package.name, package.version.to_string()), checksum))
        })
        .collect();
    let mut components: Vec<Value> = Vec::new();
    for package in linked.foreign() {
        let checksum = checksums.get(&(&*package.name, package.version.clone()));
        let Some(checksum) = checksum else {
            return Err(TaskError::Form {
                what: "Cargo.lock".to_owned(),
                why: format!("{} {} has no checksum", package.name, package.version),
            });
        };
        components.push(component(package, checksum));
    }
    components.push(uplot(vendored)?);
    let own = format!("{PROGRAM}@{version}");
    let by_id: BTreeMap<&str, &Package> = linked
        .packages
        .iter()
        .map(|package| (&*package.id, package))
        .collect();
    let needs = linked.foreign().map(|package| {
        let needs = linked.needs(package).iter();
        let needs = needs.filter_map(|id| by_id.get(&**id));
        let needs: Vec<String> = needs.map(|needed| url(needed)).collect();
        json!({ "ref": url(package), "dependsOn": needs })
    });
    let all: Vec<&Value> = components.iter().map(|one| &one["bom-ref"]).collect();
    let mut dependencies = vec![json!({ "ref": own, "dependsOn": all })];
    dependencies.extend(needs);
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": { "type": "application", "bom-ref": own, "name": PROGRAM, "version": version },
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

fn component(package: &Package, checksum: &str) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": url(package),
        "name": package.name,
        "version": package.version,
        "purl": url(package),
        "hashes": [{ "alg": "SHA-256", "content": checksum }],
    });
    if let Some(license) = &package.license {
        // Old manifests have a slash where SPDX has a word.
        let license = license.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": license }]);
    }
    component
}

/// The URL of a package (package-url, type `cargo`).
fn url(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

/// The library that draws the curves of reports, which lies in the repository.
fn uplot(vendored: &str) -> Result<Value, TaskError> {
    let version = vendored
        .split_whitespace()
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'))
        .map(|word| word.trim_end_matches([',', '.', ';']));
    let Some(version) = version else {
        return Err(TaskError::Form {
            what: "VERSION.md of uPlot".to_owned(),
            why: "it names no version".to_owned(),
        });
    };
    let url = format!("pkg:npm/uplot@{version}");
    Ok(json!({
        "type": "library",
        "bom-ref": url,
        "name": "uplot",
        "version": version,
        "purl": url,
        "licenses": [{ "license": { "id": "MIT" } }],
    }))
}

/// What stands beside the library that is no package.
pub(super) fn vendored(root: &Path) -> Result<String, TaskError> {
    let path = root.join("crates/report/assets/uplot/VERSION.md");
    fs::read_to_string(&path).map_err(TaskError::file("read", &path))
}

#[cfg(test)]
mod tests {
    use super::super::linked::tests::METADATA;
    use super::*;
    use crate::lock_file;

    const LOCK: &str = "version = 4\n\
        [[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"aa\"\n\
        [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nchecksum = \"bb\"\n\
        [[package]]\nname = \"weir\"\nversion = \"1.0.0\"\n";

    #[test]
    fn a_bill_has_every_package_with_its_checksum_and_its_needs() {
        let linked = Linked::of(METADATA).expect("metadata");
        let lock = |text: &str| lock_file::of(text).expect("a lock file");
        let locked = lock(LOCK);
        let bill = of(&linked, &locked, "uPlot 1.6.32, MIT", "0.1.0").expect("a bill");
        let bill: Value = serde_json::from_str(&bill).expect("JSON");
        let a = &bill["components"][0];
        assert_eq!(a["purl"], "pkg:cargo/a@1.0.0");
        assert_eq!(a["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(a["hashes"][0]["content"], "aa");
        assert_eq!(bill["components"][2]["purl"], "pkg:npm/uplot@1.6.32");
        assert_eq!(bill["dependencies"][0]["ref"], "weir@0.1.0");
        assert_eq!(bill["dependencies"][1]["dependsOn"][0], "pkg:cargo/b@1.0.0");
        // One that was never fetched from a registry has nothing to compare with.
        let unlocked = lock(&LOCK.replace("checksum = \"bb\"\n", ""));
        let refused = of(&linked, &unlocked, "uPlot 1.6.32", "0.1.0").expect_err("no checksum");
        assert!(
            refused.to_string().contains("b 1.0.0 has no checksum"),
            "{refused}"
        );
        assert!(of(&linked, &locked, "no number", "0.1.0").is_err());
    }
}
