//! How the server is started otherwise: the levels `start.NAME` of a study that do it, or why there
//! are none.

use weir_metric::CpuSet;
use weir_record::{Level, Levels};

use super::Set;
use crate::hypothesis::StartChange;

const COLLECTOR: &str = "start.collector";
const HEAP: &str = "start.heap";
const SCHEDULING: &str = "start.scheduling";
const CPUS: &str = "start.cpus";
const HEAVY: &str = "start.heavy";

/// Options of a virtual machine that choose a collector, and the word of a study for it, where it
/// has one.
const CHOOSES: [(&str, &str); 6] = [
    ("-XX:+UseSerialGC", "serial"),
    ("-XX:+UseParallelGC", "parallel"),
    ("-XX:+UseG1GC", "g1"),
    ("-XX:+UseZGC", "z"),
    ("-XX:+UseShenandoahGC", "shenandoah"),
    ("-XX:+UseEpsilonGC", "epsilon"),
];

const GIB: u64 = 1 << 30;
/// A heap that is used once takes this part of the memory that is free: what else runs needs some
/// of it meanwhile.
const HEAP_OF_FREE: u64 = 2;
/// A smaller one is used up within seconds by a server that makes enough garbage for the question
/// to arise.
const HEAP_MIN_GIB: u64 = 2;
/// A larger one is not needed for a short window.
const HEAP_MAX_GIB: u64 = 12;

/// Who starts the server of a run.
#[derive(Debug, Clone)]
pub enum Starter<'s> {
    /// Weir, in all the ways that levels of `start.NAME` name.
    Weir(Started<'s>),
    /// Others, or Weir in one way only.
    Other {
        /// Which of the two, in words.
        why: String,
        /// What can be typed instead.
        by_hand: ByHand,
    },
}

/// How a server that Weir can start otherwise was started for the trial that is explained.
#[derive(Debug, Clone, Copy)]
pub struct Started<'s> {
    /// The trial's levels.
    pub levels: &'s Levels,
    /// The options of its virtual machine.
    pub java_options: &'s [String],
    /// The CPUs that it may use where the levels name none.
    pub cpus: &'s CpuSet,
    /// Those of the load generator.
    pub load_cpus: &'s CpuSet,
    /// Bytes of memory that are free on this machine.
    pub free_memory_bytes: u64,
}

/// How somebody makes the change who starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByHand {
    /// The run with which the new one is to be compared, as it was named.
    run: String,
    /// Where options of the virtual machine go; `None`: there is none.
    options: Option<String>,
}

impl ByHand {
    /// A server that Weir does not start.
    pub fn of_server(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            options: Some("start it with".to_owned()),
        }
    }

    /// A server that a study starts, whose options go to this key of it.
    pub fn of_study(run: &str, key: &str) -> Self {
        Self {
            run: run.to_owned(),
            options: Some(format!("in a copy of the study, write into `{key}`")),
        }
    }

    /// A server without a Java virtual machine.
    pub fn without_java(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            options: None,
        }
    }

    /// What to do, and how its outcome is read.
    pub(super) fn instead(&self, change: StartChange) -> String {
        let options = match change {
            StartChange::Serial => "`-XX:+UseSerialGC`",
            StartChange::Epsilon => {
                "`-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -XX:+AlwaysPreTouch` and a heap that lasts for the window, such as `-Xms8g -Xmx8g`"
            }
            StartChange::Batch | StartChange::OwnCpus => "",
        };
        let what = match (change, &self.options) {
            (StartChange::Batch, _) => {
                "while it is under load, type `chrt --all-tasks --batch --pid 0 PID` (`--other` in place of `--batch` puts it back)"
                    .to_owned()
            }
            (StartChange::OwnCpus, _) => {
                "while it is under load, type `taskset --all-tasks --cpu-list --pid CPUS PID` with CPUs that the load generator does not use"
                    .to_owned()
            }
            (_, Some(place)) => format!("{place} {options}"),
            (_, None) => return "it has no Java virtual machine whose collector could be another".to_owned(),
        };
        format!(
            "{what}, measure it as before and ask `weir explain {} last`",
            self.run
        )
    }
}

/// The levels that make the change, or why there are none.
pub(super) fn levels(change: StartChange, starter: &Starter<'_>) -> Result<Set, String> {
    match starter {
        Starter::Weir(started) => started.changed(change),
        Starter::Other { why, by_hand } => Err(format!("{why}; {}", by_hand.instead(change))),
    }
}

impl Started<'_> {
    fn changed(&self, change: StartChange) -> Result<Set, String> {
        match change {
            StartChange::Serial => {
                let was = self.collector();
                if was == "serial" {
                    return Err("it had the Serial collector already, which a virtual machine with one CPU takes by itself".to_owned());
                }
                Ok(set(COLLECTOR, &was, "serial"))
            }
            StartChange::Epsilon => self.without_collector(),
            StartChange::Batch => {
                let was = self.word(SCHEDULING);
                let was = was.as_deref().unwrap_or("other");
                let other = if was == "batch" { "other" } else { "batch" };
                Ok(set(SCHEDULING, was, other))
            }
            StartChange::OwnCpus => self.own_cpus(),
        }
    }

    fn without_collector(&self) -> Result<Set, String> {
        let was = self.collector();
        if was == "epsilon" {
            return Err("it had no collector".to_owned());
        }
        // A second server is started with the same heap.
        let servers = if self.levels.contains_key(HEAVY) {
            2
        } else {
            1
        };
        let part = HEAP_OF_FREE * servers;
        let gib = (self.free_memory_bytes / GIB / part).min(HEAP_MAX_GIB);
        if gib < HEAP_MIN_GIB {
            return Err(format!(
                "a heap that is used once takes {} GiB of free memory, and there are {:.1}",
                HEAP_MIN_GIB * part,
                self.free_memory_bytes as f64 / GIB as f64
            ));
        }
        let (factor, levels, mut set) = set(COLLECTOR, &was, "epsilon");
        set.insert(HEAP.to_owned(), Level::Text(format!("{gib}g")));
        Ok((factor, levels, set))
    }

    fn own_cpus(&self) -> Result<Set, String> {
        let had = self.had_cpus();
        if !had.iter().any(|cpu| self.load_cpus.contains(cpu)) {
            return Err(format!(
                "it had the CPUs {had} to itself already, and pinning its threads one by one is not built"
            ));
        }
        let own = had.without(self.load_cpus).ok_or_else(|| {
            "the study leaves the server no CPU that the load generator does not use: write `cpus = \"0\"` into its target and run it again"
                .to_owned()
        })?;
        Ok(set(CPUS, &had.to_string(), &own.to_string()))
    }

    /// The collector of the trial, by the study's word: as its levels say, else as the options do,
    /// else the one that the virtual machine takes by itself, which is Serial where it sees one
    /// CPU.
    fn collector(&self) -> String {
        let named = self.java_options.iter().rev().find_map(|option| {
            let chooses = CHOOSES.iter().find(|(chooses, _)| chooses == option);
            chooses.map(|(_, word)| *word)
        });
        let by_itself = if self.had_cpus().count() < 2 {
            "serial"
        } else {
            "g1"
        };
        self.word(COLLECTOR)
            .unwrap_or_else(|| named.unwrap_or(by_itself).to_owned())
    }

    fn had_cpus(&self) -> CpuSet {
        let named = self.word(CPUS).and_then(|cpus| cpus.parse().ok());
        named.unwrap_or_else(|| self.cpus.clone())
    }

    fn word(&self, factor: &str) -> Option<String> {
        self.levels.get(factor).map(Level::to_string)
    }
}

fn set(factor: &str, was: &str, changed: &str) -> Set {
    let [was, changed] = [was, changed].map(|word| Level::Text(word.to_owned()));
    let set = Levels::from([(factor.to_owned(), changed.clone())]);
    (factor.to_owned(), [was, changed], set)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// What a server's own way of being started, in words, becomes.
    struct Made {
        levels: Levels,
        java_options: Vec<String>,
        cpus: CpuSet,
        load_cpus: CpuSet,
        free_gib: u64,
    }

    impl Made {
        fn new(levels: &[(&str, &str)], options: &[&str], cpus: [&str; 2]) -> Self {
            let [cpus, load_cpus] = cpus.map(|cpus| cpus.parse().unwrap());
            let levels = levels
                .iter()
                .map(|(name, word)| ((*name).to_owned(), Level::Text((*word).to_owned())));
            Self {
                levels: levels.collect(),
                java_options: options.iter().map(|option| (*option).to_owned()).collect(),
                cpus,
                load_cpus,
                free_gib: 20,
            }
        }

        fn changed(&self, change: StartChange) -> Result<Set, String> {
            levels(
                change,
                &Starter::Weir(Started {
                    levels: &self.levels,
                    java_options: &self.java_options,
                    cpus: &self.cpus,
                    load_cpus: &self.load_cpus,
                    free_memory_bytes: self.free_gib * GIB,
                }),
            )
        }

        /// The level as it was, and changed.
        fn words(&self, change: StartChange) -> [String; 2] {
            let (_, levels, _) = self.changed(change).unwrap();
            levels.map(|level| level.to_string())
        }
    }

    const APART: [&str; 2] = ["0-1", "2"];

    #[test]
    fn the_collector_is_known_from_levels_options_or_the_cpus() {
        use StartChange::{Epsilon, Serial};
        let plain = Made::new(&[], &["-Xmx1g"], APART);
        assert_eq!(plain.words(Serial), ["g1", "serial"]);
        let named = Made::new(&[], &["-XX:+UseZGC"], APART);
        assert_eq!(named.words(Serial), ["z", "serial"]);
        let level = Made::new(&[(COLLECTOR, "parallel")], &["-XX:+UseZGC"], APART);
        assert_eq!(level.words(Epsilon), ["parallel", "epsilon"]);
        let one_cpu = Made::new(&[], &[], ["0", "1"]);
        let says = one_cpu.changed(Serial).unwrap_err();
        assert!(says.contains("Serial collector already"), "{says}");
        assert_eq!(one_cpu.words(Epsilon), ["serial", "epsilon"]);
    }

    #[test]
    fn a_heap_that_is_used_once_is_half_of_what_is_free() {
        let mut made = Made::new(&[], &[], APART);
        for (free, heap) in [(20, "10g"), (200, "12g"), (4, "2g")] {
            made.free_gib = free;
            let (_, _, set) = made.changed(StartChange::Epsilon).unwrap();
            assert_eq!(set[HEAP], Level::Text(heap.to_owned()));
        }
        let mut two = Made::new(&[(HEAVY, "idle")], &[], APART);
        two.free_gib = 20;
        let (_, _, set) = two.changed(StartChange::Epsilon).unwrap();
        assert_eq!(set[HEAP], Level::Text("5g".to_owned()), "each of them");
        made.free_gib = 3;
        let says = made.changed(StartChange::Epsilon).unwrap_err();
        assert!(says.contains("4 GiB") && says.contains("3.0"), "{says}");
    }

    #[test]
    fn the_policy_is_the_other_one() {
        let change = StartChange::Batch;
        assert_eq!(Made::new(&[], &[], APART).words(change), ["other", "batch"]);
        let batch = Made::new(&[(SCHEDULING, "batch")], &[], APART);
        assert_eq!(batch.words(change), ["batch", "other"]);
    }

    #[test]
    fn cpus_of_its_own_are_those_without_the_load_tool() {
        let change = StartChange::OwnCpus;
        let level = Made::new(&[(CPUS, "0-1")], &[], ["0", "1"]);
        assert_eq!(level.words(change), ["0-1", "0"]);
        let says = Made::new(&[], &[], APART).changed(change).unwrap_err();
        assert!(says.contains("0-1 to itself already"), "{says}");
        let shared = Made::new(&[], &[], ["0-1", "0-1"]);
        let says = shared.changed(change).unwrap_err();
        assert!(says.contains("cpus = \"0\""), "{says}");
    }

    #[test]
    fn a_server_without_a_virtual_machine_has_no_collector() {
        let starter = Starter::Other {
            why: "it is started in one way only".to_owned(),
            by_hand: ByHand::without_java("a"),
        };
        let says = levels(StartChange::Serial, &starter).unwrap_err();
        assert!(
            says.ends_with("no Java virtual machine whose collector could be another"),
            "{says}"
        );
        let study = ByHand::of_study("a", "java-options").instead(StartChange::Serial);
        assert!(
            study.contains("write into `java-options` `-XX:+UseSerialGC`"),
            "{study}"
        );
    }
}
