//! Running a plan in Weir's own engine, in this process.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use weir_load::{Length, LoadSettings, SampleSink, start};
use weir_reach::Reach;
use weir_record::SaveConfiguration;
use weir_script::{Origin, Properties, Scheme, Target, resolve};

/// How long a plan may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A plan that is run.
pub(crate) struct Native<'a> {
    pub(crate) plan: &'a Path,
    pub(crate) properties: &'a [(&'a str, &'a str)],
    /// Gets all requests instead of the hosts in the plan.
    pub(crate) port: Option<u16>,
    /// Ends the load after this time.
    pub(crate) stop_after: Option<Duration>,
}

/// What a run has left: the test's own result file and those of the plan's listeners.
pub(crate) struct Left {
    folder: tempfile::TempDir,
    /// Samples that the run counted, and those of them that failed.
    pub(crate) counted: (u64, u64),
}

impl Left {
    /// The test's result file.
    pub(crate) fn results(&self) -> String {
        self.file("results")
    }

    /// A listener's file, by its name in the plan.
    #[track_caller]
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Native<'_> {
    /// Runs the plan to its end. It has to be one that Weir runs in full.
    #[track_caller]
    pub(crate) fn run(&self) -> Left {
        // Plans write into folders that each run has for itself.
        let reach = Reach::of_plan(Some(self.plan)).allow(&std::env::temp_dir());
        let mut reading = weir_jmx::read_within(self.plan, reach).unwrap();
        let lacking: Vec<String> = reading.unsupported().map(ToString::to_string).collect();
        assert!(lacking.is_empty(), "{}: {lacking:#?}", self.plan.display());
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| -> PathBuf { folder.path().join(name) };
        for listener in &mut reading.plan.listeners {
            let name = &mut listener.file.text;
            if !name.is_empty() && !name.contains("${") {
                inside(name).to_str().unwrap().clone_into(name);
            }
        }
        let mut properties: Properties = self.properties.iter().copied().collect();
        let named = ["CSVFILE", "xmlout"];
        for name in named {
            properties.set(name, inside(name).to_str().unwrap());
        }
        let property = |name: &str| properties.get(name).map(str::to_owned);
        let zone = jiff::tz::TimeZone::UTC;
        let configuration = SaveConfiguration::from_properties(property, &zone).unwrap();
        let started = SystemTime::now();
        let epoch = started.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let origin = Origin {
            seed: 1,
            epoch_ms: epoch.as_millis().try_into().unwrap(),
        };
        let plan = resolve(&reading.plan, &properties, origin).unwrap();
        let sink = SampleSink::with(inside("results"), configuration.clone());
        let load = start(LoadSettings {
            plan,
            target: self.port.map(|port| Target {
                scheme: Scheme::Http,
                host: "127.0.0.1".to_owned(),
                port,
            }),
            allowed_hosts: Vec::new(),
            cpus: None,
            seed: 1,
            length: Length::AsPlanned,
            samples: Some(sink.with_listeners(configuration)),
            backs_off: false,
            samples_max: None,
            origin: Instant::now(),
            started,
        })
        .unwrap();
        if let Some(stop_after) = self.stop_after {
            std::thread::sleep(stop_after);
            load.stop();
        }
        let summary = load.join(PATIENCE);
        assert!(summary.in_time, "{} ends", self.plan.display());
        assert_eq!(summary.problem, None);
        Left {
            folder,
            counted: (summary.samples, summary.failed),
        }
    }
}
