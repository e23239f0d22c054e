//! Plans run here and by JMeter 5.6.3 give the same rows.
//!
//! The plans that need no server lie beside the rows that JMeter wrote for them: ours in
//! `../shared/jmeter/cases`, those of JMeter's own tests in `../shared/jmeter/suite`, beside the
//! workspace. Compared is, for each thread in its order, every field but times, thread counts and
//! bytes that hold a time.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use weir_load::{Length, LoadSettings, SampleSink, start};
use weir_record::{JtlReader, SampleRow};
use weir_script::{Origin, Properties, resolve};

/// A folder beside the workspace, if it is there.
fn shared(folder: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = root.join("../shared/jmeter").join(folder);
    found.is_dir().then_some(found)
}

/// What the plan's rows are here.
fn run(plan: &Path, properties: &[(&str, &str)]) -> Vec<SampleRow> {
    let reading = weir_jmx::read(plan).unwrap();
    let properties: Properties = properties.iter().copied().collect();
    let started = SystemTime::now();
    let epoch = started.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let origin = Origin {
        seed: 1,
        epoch_ms: epoch.as_millis().try_into().unwrap(),
    };
    let plan = resolve(&reading.plan, &properties, origin).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples.jtl");
    let load = start(LoadSettings {
        plan,
        target: None,
        cpus: None,
        seed: 1,
        length: Length::AsPlanned,
        samples: Some(SampleSink::new(&file)),
        origin: Instant::now(),
        started,
    });
    load.unwrap().join(Duration::from_secs(60));
    rows(&file)
}

fn rows(file: &Path) -> Vec<SampleRow> {
    let file = std::fs::File::open(file).unwrap();
    JtlReader::new(file).unwrap().samples().unwrap()
}

/// The rows of each thread as texts.
fn by_thread(rows: &[SampleRow]) -> BTreeMap<String, Vec<String>> {
    let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let text = format!(
            "{} | {} | {} | {:?} | {} | {}",
            row.label,
            row.response_code,
            row.response_message,
            row.data_type,
            row.success,
            row.failure_message,
        );
        let thread = threads.entry(row.thread_name.to_string());
        thread.or_default().push(text);
    }
    threads
}

fn check(plan: &str, recorded: &str) {
    let Some(cases) = shared("cases") else {
        return;
    };
    let here = by_thread(&run(&cases.join(plan), &[]));
    let jmeter = by_thread(&rows(&cases.join(recorded)));
    for (thread, rows) in &jmeter {
        let none = Vec::new();
        let own = here.get(thread).unwrap_or(&none);
        assert_eq!(own.join("\n"), rows.join("\n"), "{plan}: {thread}");
    }
    let threads = |all: &BTreeMap<String, Vec<String>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(threads(&here), threads(&jmeter), "{plan}");
}

#[test]
fn transactions_and_phases() {
    check("struct.jmx", "struct.jtl");
}

#[test]
fn data() {
    check("data.jmx", "data.jtl");
}

#[test]
fn functions() {
    check("func.jmx", "func.jtl");
}
