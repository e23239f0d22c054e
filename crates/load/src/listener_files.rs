//! What listeners in the plan do with samples: the files that they write, and what is sent for
//! them ([`Backend`]).
//!
//! As in JMeter: names are relative to the working directory; listeners with the same name write
//! into one file, each in its own way, but each sample only once, whoever of them hears of it
//! first; the header is that of the first listener; a file that has rows is continued. A listener
//! that names the test's own result file writes nothing, because the test does.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf, absolute};

use weir_plan::{Listener, Logged};
use weir_reach::{Reach, WriteMode};
use weir_record::{JtlError, JtlFormat, JtlWriter, SampleRow, SaveConfiguration, continue_jtl};
use weir_script::{Scope, Text};

use crate::audience::Wanted;
use crate::backend::{Backend, SentFigures};
use crate::census::UserCounts;
use crate::error::LoadError;
use crate::http::servers::Servers;

/// The listeners of a test with their files.
#[derive(Default)]
pub(crate) struct ListenerFiles {
    listeners: Vec<ListenerFile>,
    backends: Vec<Backend>,
    files: Vec<OpenFile>,
    /// Files into which the sample at hand has been written.
    marked: Vec<usize>,
}

struct ListenerFile {
    does: Deed,
    only: Option<Logged>,
    configuration: SaveConfiguration,
}

/// What a listener does with a sample.
enum Deed {
    Nothing,
    /// Writes it into the file at this place.
    Writes(usize),
    /// Tells the backend at this place.
    Sends(usize),
}

struct OpenFile {
    path: PathBuf,
    jtl: JtlWriter<BufWriter<File>>,
}

/// A file that cannot be written any more.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub(crate) path: PathBuf,
    pub(crate) error: JtlError,
}

impl ListenerFiles {
    /// Opens the file of each listener; `all` is what the test's properties say of all files.
    pub(crate) fn open(
        listeners: &[Listener<Text>],
        all: &SaveConfiguration,
        result_file: Option<&Path>,
        scope: &mut Scope,
        servers: &Servers,
    ) -> Result<Self, LoadError> {
        let result_file = result_file.and_then(|path| absolute(path).ok());
        let reach = scope.variables.globals().reach().clone();
        let mut made = Self::default();
        for listener in listeners {
            let saved = listener.save.iter();
            let saved = saved.map(|(name, value)| (name.as_str(), value.as_str()));
            let configuration = SaveConfiguration::of_listener(saved, all);
            let name = listener.file.rendered(scope);
            let path = absolute(&name).ok().filter(|_| !name.is_empty());
            let does = match (&listener.sends, path) {
                (Some(backend), _) => {
                    let name = listener.name.rendered(scope);
                    let backend = Backend::start(name, backend, scope, servers)?;
                    made.backends.push(backend);
                    Deed::Sends(made.backends.len() - 1)
                }
                (None, Some(path)) if result_file.as_ref() != Some(&path) => {
                    Deed::Writes(made.file(path, &configuration, &reach)?)
                }
                (None, _) => Deed::Nothing,
            };
            made.listeners.push(ListenerFile {
                does,
                only: listener.only,
                configuration,
            });
        }
        Ok(made)
    }

    fn file(
        &mut self,
        path: PathBuf,
        configuration: &SaveConfiguration,
        reach: &Reach,
    ) -> Result<usize, LoadError> {
        if let Some(open) = self.files.iter().position(|file| file.path == path) {
            return Ok(open);
        }
        let opened = open(&path, configuration, reach).map_err(|source| JtlError::Open {
            path: path.clone(),
            source,
        });
        let jtl = opened.and_then(|file| continue_jtl(file, &path, configuration.clone()));
        let jtl = jtl.map_err(|error| LoadError::cannot_open(&path, error))?;
        self.files.push(OpenFile { path, jtl });
        Ok(self.files.len() - 1)
    }

    /// What each listener's file shows of samples.
    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        let wanted = self.listeners.iter().map(|listener| match listener.does {
            Deed::Writes(_) => Wanted::by(&listener.configuration),
            Deed::Nothing | Deed::Sends(_) => Wanted::default(),
        });
        wanted.collect()
    }

    /// Tells these listeners of a sample.
    pub(crate) fn tell(
        &mut self,
        listeners: &[usize],
        row: &SampleRow,
        users: UserCounts,
    ) -> Result<(), Unwritten> {
        self.marked.clear();
        for listener in listeners {
            let Some(listener) = self.listeners.get(*listener) else {
                continue;
            };
            let place = match listener.does {
                Deed::Writes(place) if !self.marked.contains(&place) => place,
                Deed::Sends(place) => {
                    self.backends[place].tell(row, users);
                    continue;
                }
                Deed::Nothing | Deed::Writes(_) => continue,
            };
            let is_wanted = match listener.only {
                None => true,
                Some(Logged::Failed) => !row.success,
                Some(Logged::Succeeded) => row.success,
            };
            if is_wanted {
                self.marked.push(place);
                let file = &mut self.files[place];
                let written = file.jtl.write_as(&listener.configuration, row);
                written.map_err(|error| file.unwritten(error))?;
            }
        }
        Ok(())
    }

    /// Hands everything to the operating system.
    pub(crate) fn flush(&mut self) -> Result<(), Unwritten> {
        for file in &mut self.files {
            file.jtl.flush().map_err(|error| Unwritten {
                path: file.path.clone(),
                error,
            })?;
        }
        Ok(())
    }

    /// Sends what is left to be sent, and tells what became of it.
    pub(crate) fn finish_sending(&mut self) -> Vec<SentFigures> {
        self.backends.drain(..).map(Backend::finish).collect()
    }

    /// Ends all files.
    pub(crate) fn finish(&mut self) -> Result<(), Unwritten> {
        for OpenFile { path, jtl } in self.files.drain(..) {
            jtl.finish().map_err(|error| Unwritten { path, error })?;
        }
        self.listeners.clear();
        Ok(())
    }
}

/// Opens a file and makes its folder, if the plan may.
fn open(path: &Path, configuration: &SaveConfiguration, reach: &Reach) -> io::Result<File> {
    // An XML file is cut, which a file that is only appended to cannot be.
    let mode = match configuration.format {
        JtlFormat::Xml => WriteMode::Update,
        JtlFormat::Csv => WriteMode::Append,
    };
    match reach.write(path, mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            reach.make_folder_of(path)?;
            reach.write(path, mode)
        }
        opened => opened,
    }
}

impl OpenFile {
    fn unwritten(&self, error: JtlError) -> Unwritten {
        Unwritten {
            path: self.path.clone(),
            error,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use weir_script::HttpVersion;

    fn listener(file: &Path, only: Option<Logged>, save: &[&str]) -> Listener<Text> {
        let save = save
            .iter()
            .map(|name| ((*name).to_owned(), "true".to_owned()));
        Listener {
            sends: None,
            id: weir_plan::ElementId::default(),
            name: Text::literal("l"),
            file: Text::literal(file.to_str().unwrap()),
            only,
            save: save.collect(),
        }
    }

    fn row(label: &str, success: bool) -> SampleRow {
        SampleRow {
            label: label.into(),
            success,
            ..SampleRow::default()
        }
    }

    /// JMeter 5.6.3 does the same with such listeners.
    #[test]
    fn listeners_share_files_and_pick_samples() {
        let folder = tempfile::tempdir().unwrap();
        let [both, failed, test] =
            ["both.csv", "failed.csv", "test.jtl"].map(|n| folder.path().join(n));
        let listeners = [
            listener(&both, None, &["label", "fieldNames"]),
            listener(&both, None, &["success"]),
            listener(&failed, Some(Logged::Failed), &["label"]),
            listener(&test, None, &["label"]),
        ];
        let mut nobody = Scope::new(
            weir_script::Variables::new(weir_script::GlobalVariables::within(
                Reach::default().allow(folder.path()),
                &weir_script::Properties::new(),
                None,
            )),
            0,
            "".into(),
            rand_xoshiro::rand_core::SeedableRng::seed_from_u64(0),
        );
        let all = SaveConfiguration::default();
        let opened = ListenerFiles::open(
            &listeners,
            &all,
            Some(&test),
            &mut nobody,
            &Servers::new(
                Vec::new(),
                crate::http::servers::Reach::default(),
                HttpVersion::One,
            ),
        );
        let mut files = opened.unwrap();
        files
            .tell(&[0, 1, 2, 3], &row("a", true), UserCounts::default())
            .unwrap();
        files
            .tell(&[1, 0, 2], &row("b", false), UserCounts::default())
            .unwrap();
        files.finish().unwrap();
        let text = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(text(&both), "label\na\nfalse\n");
        assert_eq!(text(&failed), "b\n");
        assert!(!test.exists());
    }
}
