//! The rows of a plan that is run in this process.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use weir_load::{Length, LoadSettings, SampleSink, start};
use weir_record::{JtlReader, SampleRow};
use weir_script::{Origin, Properties, resolve};

/// Runs a plan to its end; its rows.
pub(crate) fn of_plan(plan: &Path, properties: &[(&str, &str)]) -> Vec<SampleRow> {
    let reading = weir_jmx::read(plan).unwrap();
    let properties: Properties = properties.iter().copied().collect();
    let started = SystemTime::now();
    let epoch = started.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let origin = Origin {
        seed: 1,
        epoch_ms: epoch.as_millis().try_into().unwrap(),
    };
    let plan = resolve(&reading.plan, &properties, origin).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("samples.jtl");
    let load = start(LoadSettings {
        plan,
        target: None,
        allowed_hosts: Vec::new(),
        cpus: None,
        seed: 1,
        length: Length::AsPlanned,
        samples: Some(SampleSink::new(&file)),
        backs_off: false,
        samples_max: None,
        origin: Instant::now(),
        started,
    });
    load.unwrap().join(Duration::from_secs(60));
    of_file(&file)
}

/// The rows of a result file.
pub(crate) fn of_file(file: &Path) -> Vec<SampleRow> {
    let file = std::fs::File::open(file).unwrap();
    JtlReader::new(file).unwrap().samples().unwrap()
}
