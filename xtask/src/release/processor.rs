//! What it takes to build for a kind of processor, and to run what was built.
//!
//! For another processor than this machine's, C is compiled by a cross compiler of Debian. It comes
//! with the headers of another C library than the one that is linked (musl): what differs between
//! the two is switched off. Programs then run in an emulator.

use std::path::Path;
use std::process::Command;

use crate::needs::{AARCH64_GCC, MUSL_GCC, Need, QEMU_USER};

/// SQLite's names of calls for large files are those of glibc, which are the plain ones where all
/// files may be large; musl has no checked calls (`_FORTIFY_SOURCE`), and the runtime of gcc, whose
/// atomics are calls otherwise, is not linked.
const LIKE_MUSL: &str = "-DSQLITE_DISABLE_LFS -U_FORTIFY_SOURCE -mno-outline-atomics";

/// A target of Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Processor(String);

impl Processor {
    pub(super) fn of(target: &str) -> Self {
        Self(target.to_owned())
    }

    /// The target of Rust.
    pub(super) fn target(&self) -> &str {
        &self.0
    }

    fn name(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }

    /// What Debian calls it.
    pub(super) fn debian(&self) -> &str {
        match self.name() {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "" => "all",
            other => other,
        }
    }

    /// Whether its programs run on this machine.
    pub(super) fn is_here(&self) -> bool {
        self.name() == std::env::consts::ARCH
    }

    /// What builds for it and runs it.
    pub(super) fn needs(&self) -> Vec<Need> {
        match self.name() {
            "aarch64" if !self.is_here() => vec![AARCH64_GCC, QEMU_USER],
            _ => vec![MUSL_GCC],
        }
    }

    /// Variables of a build.
    pub(super) fn variables(&self) -> Vec<(String, &'static str)> {
        if self.is_here() || self.name() != "aarch64" {
            return Vec::new();
        }
        let suffix = self.0.replace('-', "_");
        vec![
            (format!("CC_{suffix}"), "aarch64-linux-gnu-gcc"),
            (format!("AR_{suffix}"), "aarch64-linux-gnu-ar"),
            (format!("CFLAGS_{suffix}"), LIKE_MUSL),
            (
                format!("CARGO_TARGET_{}_LINKER", suffix.to_uppercase()),
                "rust-lld",
            ),
        ]
    }

    /// The program that runs programs for it here.
    pub(super) fn emulator(&self) -> Option<String> {
        (!self.is_here()).then(|| format!("qemu-{}-static", self.name()))
    }

    /// A program for it, run here.
    pub(super) fn command(&self, program: &Path) -> Command {
        match self.emulator() {
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(program);
                command
            }
            None => Command::new(program),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_processor_has_a_compiler_and_an_emulator() {
        let here = Processor::of(&format!("{}-unknown-linux-musl", std::env::consts::ARCH));
        assert!(here.variables().is_empty() && here.emulator().is_none());
        let other = Processor::of("aarch64-unknown-linux-musl");
        assert_eq!(other.debian(), "arm64");
        if !other.is_here() {
            let named: Vec<String> = other
                .variables()
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            assert_eq!(named[0], "CC_aarch64_unknown_linux_musl");
            assert_eq!(named[3], "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER");
            assert_eq!(other.emulator().as_deref(), Some("qemu-aarch64-static"));
        }
    }
}
