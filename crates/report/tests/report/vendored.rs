//! What is vendored is the published files, unchanged.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

fn check(listed: &str, files: &[(&str, &[u8])]) {
    for (name, content) in files {
        let digest = Sha256::digest(content);
        let sum = digest.iter().fold(String::new(), |mut sum, byte| {
            write!(sum, "{byte:02x}").expect("a text takes more text");
            sum
        });
        assert!(
            listed.contains(&format!("{sum}  {name}")),
            "{name} is {sum}"
        );
    }
}

#[test]
fn uplot_is_unchanged() {
    check(
        include_str!("../../assets/uplot/VERSION.md"),
        &[
            (
                "uPlot.iife.min.js",
                include_bytes!("../../assets/uplot/uPlot.iife.min.js"),
            ),
            (
                "uPlot.min.css",
                include_bytes!("../../assets/uplot/uPlot.min.css"),
            ),
        ],
    );
}

#[test]
fn axe_is_unchanged() {
    check(
        include_str!("../browser/axe/VERSION.md"),
        &[("axe.min.js", include_bytes!("../browser/axe/axe.min.js"))],
    );
}
