//! Threads of a virtual machine that answer no request, by the groups of their names (signals
//! `census.GROUP.…`): the kernel keeps 15 characters of a thread's name.

use std::collections::BTreeMap;

/// How the collectors of `HotSpot` and `OpenJ9` name their threads. The VM thread runs the Serial
/// collector, and what else needs a safepoint.
const COLLECTORS: [&str; 9] = [
    "GC-",
    "G1-",
    "ParGC",
    "ZWorker",
    "ZDriver",
    "ZDirector",
    "ZStat",
    "Shenandoah",
    "VM-Thread",
];
/// How the compilers of `HotSpot`, Graal, `OpenJ9` and .NET name theirs.
const COMPILERS: [&str; 5] = ["C1-", "C2-", "JVMCI", "JIT-", ".NET-Tiered"];

/// Whether the threads of this group collect garbage.
pub fn is_collector(group: &str) -> bool {
    COLLECTORS.iter().any(|start| group.starts_with(start))
}

/// Whether the threads of this group compile code while it runs.
pub fn is_compiler(group: &str) -> bool {
    COMPILERS.iter().any(|start| group.starts_with(start))
}

/// CPU seconds per second of the compilers, from the signals of a trial: nothing where they used
/// less than a hundredth of what all threads spent.
pub fn compilers_cpu(signals: &BTreeMap<String, f64>) -> f64 {
    let of_group = |name: &str| {
        let group = name.strip_prefix("census.")?.strip_suffix(".cpu")?;
        Some(is_compiler(group))
    };
    signals
        .iter()
        .filter(|(name, _)| of_group(name) == Some(true))
        .map(|(_, cpu)| cpu)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_told_by_the_names_of_their_threads() {
        let signals = [
            ("census.C1-CompilerThre.cpu", 0.1),
            ("census.C2-CompilerThre.cpu", 0.3),
            ("census.C2-CompilerThre.run-queue-wait", 2.0),
            ("census.C2-CompilerThre", 1.0),
            ("census.http-nio.cpu", 0.5),
            ("census.GC-Thread.cpu", 0.1),
            ("census.JIT-Compilation.cpu", 0.2),
        ];
        let signals = signals.map(|(name, value)| (name.to_owned(), value));
        let spent = compilers_cpu(&signals.into());
        assert!((spent - 0.6).abs() < 1e-9, "{spent}");
        assert!(is_collector("GC-Thread") && !is_compiler("GC-Thread"));
        assert!(!is_collector("http-nio") && !is_compiler("http-nio"));
    }
}
