//! Files that are written from the code are what the code says: schemas and the page of signals.
//!
//! They are committed, so that a reader finds them and a change of a format is seen in review.
//! `cargo xtask generate` runs these tests with `WEIR_GENERATE` set; then they write what differs
//! instead of failing.
//!
//! They are tests so that `cargo test` alone notices a forgotten page, and so that the tasks
//! themselves need none of the product's crates to build.

#![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

mod invalid_trials;
mod schemas;
mod signals;
mod units;

use std::path::Path;
use std::{env, fs};

/// A generated file.
struct Generated {
    /// Its path relative to the workspace's root.
    path: &'static str,
    /// What it holds.
    text: String,
}

impl Generated {
    /// Compares the file with what is stored, or writes it.
    fn settle(&self) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let path = root.join(self.path);
        let stored = fs::read_to_string(&path).unwrap_or_default();
        if stored == self.text {
            return;
        }
        assert!(
            env::var_os("WEIR_GENERATE").is_some(),
            "{} is not what the code says; write it with `cargo xtask generate`",
            self.path
        );
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &self.text).unwrap();
    }
}
