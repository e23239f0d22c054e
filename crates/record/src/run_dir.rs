//! The directory of one run: plain files, readable without Weir.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::result::StudyResult;
use crate::trial::TrialRecord;
use crate::watch::WatchResult;

/// Where runs lie, below the current directory.
pub const RUNS: &str = "weir-runs";

/// Who may read a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whose run it is: it holds plans with their passwords and what a server answered.
    Owner,
    /// Whoever the umask lets.
    Umask,
}

/// A run directory. Where it is its owner's alone, all files in it are: those of a trial once the
/// trial has ended, and until then nobody else comes to them.
///
/// ```text
/// weir-runs/<study>-<time>/
///   run.toml                     the full treatment: study, seed, versions, machine
///   trials/001/trial.json        the record
///   trials/001/timeline.csv      one row a second
///   trials/001/samples.jtl       one row a sample
///   trials/001/responses.hlog    response times of each second
///   trials/001/target.log        what the target printed
///   result.json, report.html     of a study
///   run.json                     of one load
///   watch.json                   of a watch without load; its seconds are in trials/001/timeline.csv
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

/// What `run.toml` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunManifest {
    /// `weir/manifest/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// When the run started, RFC 3339.
    pub started: String,
    /// Seed of all randomness of the run.
    pub seed: u64,
    /// The command line.
    pub command: Vec<String>,
    /// Directory that relative paths of the study refer to.
    pub base: PathBuf,
    /// The study as it was read; empty where there was none.
    pub study: String,
    /// What was loaded, where that is not a study: a URL, a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Facts of the machine: CPU model, kernel …
    pub machine: BTreeMap<String, String>,
}

/// The paths of one trial's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialFiles {
    /// The trial's directory.
    pub directory: PathBuf,
}

impl TrialFiles {
    /// `trial.json`
    pub fn record(&self) -> PathBuf {
        self.directory.join("trial.json")
    }

    /// `timeline.csv`
    pub fn timeline(&self) -> PathBuf {
        self.directory.join("timeline.csv")
    }

    /// `samples.jtl`
    pub fn samples(&self) -> PathBuf {
        self.directory.join("samples.jtl")
    }

    /// `responses.hlog`
    pub fn responses(&self) -> PathBuf {
        self.directory.join("responses.hlog")
    }

    /// `target.log`
    pub fn target_log(&self) -> PathBuf {
        self.directory.join("target.log")
    }
}

impl RunDirectory {
    /// Makes `<runs>/<study>-<time>/`; a number is added when that exists already.
    pub fn create(
        runs: &Path,
        study: &str,
        time: &str,
        readers: Readers,
    ) -> Result<Self, RunDirectoryError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| RunDirectoryError::Io { path, source }
        };
        // What another user has put into /tmp may be exchanged for links while a run writes into
        // it.
        if let Err(why) = weir_files::check_not_planted(runs) {
            return Err(RunDirectoryError::Planted {
                runs: runs.to_owned(),
                why,
            });
        }
        let mut making = DirBuilder::new();
        if readers == Readers::Owner {
            making.mode(0o700);
        }
        making.recursive(true).create(runs).map_err(at(runs))?;
        making.recursive(false);
        for attempt in 1..1000 {
            let suffix = if attempt == 1 {
                String::new()
            } else {
                format!("-{attempt}")
            };
            let path = runs.join(format!("{study}-{time}{suffix}"));
            match making.create(&path) {
                Ok(()) => {
                    let trials = path.join("trials");
                    making.create(&trials).map_err(at(&trials))?;
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(at(&path)(error)),
            }
        }
        Err(RunDirectoryError::Crowded(runs.to_owned()))
    }

    /// Finds a run by path, by name below `runs`, or the newest one by `last`.
    pub fn find(runs: &Path, name: &str) -> Result<Self, RunDirectoryError> {
        let path = if name == "last" {
            newest(runs)?
        } else if Path::new(name).join("run.toml").is_file() {
            PathBuf::from(name)
        } else {
            runs.join(name)
        };
        if path.join("run.toml").is_file() {
            Ok(Self { path })
        } else {
            Err(RunDirectoryError::NotThere {
                name: name.to_owned(),
                runs: runs.to_owned(),
            })
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory's name: the run's id.
    pub fn id(&self) -> String {
        self.path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// `run.toml`: what the run is, with its study.
    pub fn manifest_path(&self) -> PathBuf {
        self.path.join("run.toml")
    }

    /// `result.json`
    pub fn result_path(&self) -> PathBuf {
        self.path.join("result.json")
    }

    /// `run.json`: the result of a run that is one load and no study.
    pub fn single_path(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// `watch.json`: what a watch without load has seen.
    pub fn watch_path(&self) -> PathBuf {
        self.path.join("watch.json")
    }

    /// `report.html`
    pub fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// The files of a trial.
    pub fn trial(&self, id: u32) -> TrialFiles {
        TrialFiles {
            directory: self.path.join("trials").join(format!("{id:03}")),
        }
    }

    /// Makes the directory of a trial, emptied when a cut-off attempt lies there.
    pub fn start_trial(&self, id: u32) -> Result<TrialFiles, RunDirectoryError> {
        let files = self.trial(id);
        let failed = |source| RunDirectoryError::Io {
            path: files.directory.clone(),
            source,
        };
        if files.directory.exists() {
            fs::remove_dir_all(&files.directory).map_err(failed)?;
        }
        fs::create_dir_all(&files.directory).map_err(failed)?;
        Ok(files)
    }

    /// Stores what the run is.
    pub fn write_manifest(&self, manifest: &RunManifest) -> Result<(), RunDirectoryError> {
        let path = self.manifest_path();
        let text = toml::to_string_pretty(manifest).map_err(|error| RunDirectoryError::Format {
            path: path.clone(),
            says: error.to_string(),
        })?;
        write_whole(&path, text.as_bytes())
    }

    /// Reads what the run is.
    pub fn manifest(&self) -> Result<RunManifest, RunDirectoryError> {
        let path = self.manifest_path();
        let text = read(&path)?;
        toml::from_str(&text).map_err(|error| RunDirectoryError::Format {
            path,
            says: error.to_string(),
        })
    }

    /// Stores the record of a trial: after this the trial counts.
    pub fn write_record(&self, record: &TrialRecord) -> Result<(), RunDirectoryError> {
        let trial = self.trial(record.id);
        write_json(&trial.record(), record)?;
        self.hide_below(&trial.directory)
    }

    /// The records of all finished trials, in order.
    pub fn records(&self) -> Result<Vec<TrialRecord>, RunDirectoryError> {
        let mut records = Vec::new();
        for id in 1.. {
            let path = self.trial(id).record();
            if !path.is_file() {
                break;
            }
            records.push(read_json(&path)?);
        }
        Ok(records)
    }

    /// Stores the result.
    pub fn write_result(&self, result: &StudyResult) -> Result<(), RunDirectoryError> {
        write_json(&self.result_path(), result)?;
        self.hide()
    }

    /// Stores the result of a run that is one load.
    pub fn write_single(&self, result: &impl Serialize) -> Result<(), RunDirectoryError> {
        write_json(&self.single_path(), result)?;
        self.hide()
    }

    /// Stores what a watch has seen so far.
    pub fn write_watch(&self, watch: &WatchResult) -> Result<(), RunDirectoryError> {
        write_json(&self.watch_path(), watch)?;
        self.hide()
    }

    /// Takes from others what has been written since, where the run is its owner's alone.
    pub fn hide(&self) -> Result<(), RunDirectoryError> {
        self.hide_below(&self.path)
    }

    fn hide_below(&self, path: &Path) -> Result<(), RunDirectoryError> {
        let hidden = weir_files::is_hidden(&self.path).and_then(|is_hidden| {
            if is_hidden {
                weir_files::hide_tree(path)
            } else {
                Ok(())
            }
        });
        hidden.map_err(|source| RunDirectoryError::Io {
            path: self.path.clone(),
            source,
        })
    }

    /// Reads what a watch has seen.
    pub fn watch(&self) -> Result<WatchResult, RunDirectoryError> {
        read_json(&self.watch_path())
    }

    /// Reads the result.
    pub fn result(&self) -> Result<StudyResult, RunDirectoryError> {
        read_json(&self.result_path())
    }
}

fn newest(runs: &Path) -> Result<PathBuf, RunDirectoryError> {
    let entries = fs::read_dir(runs).map_err(|_| RunDirectoryError::NotThere {
        name: "last".to_owned(),
        runs: runs.to_owned(),
    })?;
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let started = fs::metadata(entry.path().join("run.toml"))
                .and_then(|facts| facts.modified())
                .ok()?;
            Some((started, entry.path()))
        })
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| RunDirectoryError::NotThere {
            name: "last".to_owned(),
            runs: runs.to_owned(),
        })
}

fn read(path: &Path) -> Result<String, RunDirectoryError> {
    fs::read_to_string(path).map_err(|source| RunDirectoryError::Io {
        path: path.to_owned(),
        source,
    })
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, RunDirectoryError> {
    serde_json::from_str(&read(path)?).map_err(|error| RunDirectoryError::Format {
        path: path.to_owned(),
        says: error.to_string(),
    })
}

/// Writes a value as JSON so that a reader sees the old file or the new one, never half of it.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), RunDirectoryError> {
    let text = json_text(value).map_err(|error| RunDirectoryError::Format {
        path: path.to_owned(),
        says: error.to_string(),
    })?;
    write_whole(path, format!("{text}\n").as_bytes())
}

/// A value as JSON for people and programs: indented, and whole numbers without a fraction, so that
/// 41 users are `41` and not `41.0`.
pub fn json_text<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(value)?;
    shorten_whole_numbers(&mut value);
    serde_json::to_string_pretty(&value)
}

fn shorten_whole_numbers(value: &mut serde_json::Value) {
    /// Above it, not every whole number has a double of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        serde_json::Value::Number(number) => {
            let whole = number
                .as_f64()
                .filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT);
            if let Some(float) = whole {
                *number = serde_json::Number::from(float as i64);
            }
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(shorten_whole_numbers),
        serde_json::Value::Object(map) => map.values_mut().for_each(shorten_whole_numbers),
        _ => {}
    }
}

/// Writes a file beside its place, then moves it there.
///
/// What is there and no file (a device, a pipe) is written to as it is: moving a file there would
/// take its place. A link stays one, and what it leads to is written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), RunDirectoryError> {
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        let written = fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut out| out.write_all(content));
        return written.map_err(|source| RunDirectoryError::Io {
            path: path.to_owned(),
            source,
        });
    }
    let written = weir_files::real_path(path).and_then(|place| {
        let (folder, name) = weir_files::Folder::of(&place)?;
        folder.replace(&name, content, None)
    });
    written.map_err(|source| RunDirectoryError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Why a run directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunDirectoryError {
    /// The operating system refused.
    #[error("use `{path}`: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// A stored file does not read.
    #[error("read or write `{path}`: {says}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        says: String,
    },
    /// No run of this name.
    #[error(
        "find the run `{name}`: it is no run directory, and none of that name lies in `{runs}`"
    )]
    NotThere {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        runs: PathBuf,
    },
    /// Where runs are to lie is another user's, in a folder that everybody may write.
    #[error(
        "make a run directory in `{runs}`: {why}; let runs lie in a folder of your own (--runs DIR)"
    )]
    Planted {
        /// Where it was to lie.
        runs: PathBuf,
        /// What is wrong with it.
        why: weir_files::Distrust,
    },
    /// Too many runs of one name in one second.
    #[error("make a new run directory in `{0}`: a thousand of that name are there")]
    Crowded(PathBuf),
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction() {
        let value =
            serde_json::json!({"users": 41.0, "cpu": 0.793, "points": [[1.0, -2.5]], "count": 3});
        let text: String = json_text(&value).unwrap().split_whitespace().collect();
        assert_eq!(
            text,
            r#"{"count":3,"cpu":0.793,"points":[[1,-2.5]],"users":41}"#
        );
    }

    #[test]
    fn runs_are_found_by_path_by_name_and_as_the_last_one() {
        let place = tempfile::tempdir().unwrap();
        let runs = place.path().join("runs");
        let made = RunDirectory::create(&runs, "study", "now", Readers::Owner).unwrap();
        let again = RunDirectory::create(&runs, "study", "now", Readers::Owner).unwrap();
        assert_eq!(again.id(), "study-now-2");
        let missing = RunDirectory::find(&runs, "last").unwrap_err();
        assert!(missing.to_string().contains("find the run `last`"));
        let manifest = RunManifest {
            schema: "weir/manifest/1".to_owned(),
            weir: "0".to_owned(),
            started: "now".to_owned(),
            seed: 7,
            command: vec!["weir".to_owned()],
            base: PathBuf::from("."),
            study: "question = \"?\"\n".to_owned(),
            title: None,
            machine: BTreeMap::new(),
        };
        made.write_manifest(&manifest).unwrap();
        assert_eq!(made.manifest().unwrap(), manifest);
        for name in ["last", "study-now", made.path().to_str().unwrap()] {
            assert_eq!(RunDirectory::find(&runs, name).unwrap().id(), "study-now");
        }
        assert_eq!(made.records().unwrap(), Vec::new());
    }

    #[test]
    fn a_run_is_its_owners_unless_the_owner_says_otherwise() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        for (readers, folder, file) in [
            (Readers::Owner, 0o700, 0o600),
            (Readers::Umask, 0o755, 0o644),
        ] {
            let runs = place.path().join(format!("{readers:?}"));
            let run = RunDirectory::create(&runs, "study", "now", readers).unwrap();
            let log = run.start_trial(1).unwrap().target_log();
            fs::write(&log, "the server's words").unwrap();
            run.write_single(&"a result").unwrap();
            // The umask of whoever runs the tests may be a stricter one.
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            for path in [runs.as_path(), run.path(), log.parent().unwrap()] {
                assert_eq!(mode(path) | folder, folder, "{}", path.display());
            }
            for path in [log, run.single_path()] {
                assert_eq!(mode(&path) | file, file, "{}", path.display());
            }
        }
    }

    /// A pipe stands for a device: no test may risk one of those.
    #[test]
    fn only_files_are_replaced() {
        use std::io::Read as _;
        let place = tempfile::tempdir().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&writer);
        let link = place.path().join("to-a-pipe");
        std::os::unix::fs::symlink(format!("/proc/self/fd/{fd}"), &link).unwrap();
        write_whole(&link, b"one").unwrap();
        assert!(link.is_symlink());
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");

        let file = place.path().join("file");
        std::fs::write(&file, "long before").unwrap();
        let link = place.path().join("to-a-file");
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_whole(&link, b"two").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 3);
        assert!(write_whole(place.path(), b"no").is_err());
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.json");
        write_whole(&path, b"old").unwrap();
        let nowhere = place.path().join("none").join("a.json");
        let error = write_whole(&nowhere, b"new").unwrap_err().to_string();
        assert!(error.contains("none/a.json"), "{error}");
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
