//! The machine on which a server runs: its files and processes, only read.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use weir_jvm::Vm;
use weir_ssh::{Connection, Output, quoted};
use zip::ZipArchive;

use super::process::ProcessFacts;

/// Most that is read of a file or an entry of a jar.
const LARGEST_BYTES: u64 = 16 * 1024 * 1024;

/// Most that is fetched of a jar of another machine.
const LARGEST_FAR_JAR: usize = 96 * 1024 * 1024;

/// The machine that a server runs on: this one, or one that is reached over ssh.
#[derive(Debug)]
pub struct Machine {
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// This machine, with what stands in front of all paths.
    Here(PathBuf),
    /// Another one.
    Far {
        connection: Connection,
        /// The jar that was fetched last: it is looked into several times.
        jar: RefCell<Option<(PathBuf, Rc<[u8]>)>>,
    },
}

/// A jar that is open.
trait Archive: Read + Seek {}
impl<T: Read + Seek> Archive for T {}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self {
            place: Place::Here(PathBuf::from("/")),
        }
    }

    /// Another machine.
    pub fn far(connection: Connection) -> Self {
        Self {
            place: Place::Far {
                connection,
                jar: RefCell::new(None),
            },
        }
    }

    /// A tree of files as if it were a machine's.
    #[cfg(test)]
    pub(super) fn of_tree(root: &Path) -> Self {
        Self {
            place: Place::Here(root.to_owned()),
        }
    }

    /// Whether it is this one, whose loopback addresses can be asked.
    pub(super) fn is_here(&self) -> bool {
        matches!(self.place, Place::Here(_))
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        match &self.place {
            Place::Here(root) => {
                let mut bytes = Vec::new();
                File::open(below(root, path))?
                    .take(LARGEST_BYTES)
                    .read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Place::Far { connection, .. } => fetch(connection, path, LARGEST_BYTES as usize),
        }
    }

    /// The text of a file, if it can be read.
    pub(super) fn text(&self, path: &Path) -> Option<String> {
        let bytes = self.bytes(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Where a symbolic link leads to.
    pub(super) fn link(&self, path: &Path) -> Option<PathBuf> {
        match &self.place {
            Place::Here(root) => fs::read_link(below(root, path)).ok(),
            Place::Far { connection, .. } => {
                let target = connection.link(path.to_str()?).ok()??;
                Some(PathBuf::from(target))
            }
        }
    }

    /// Whether there is a file.
    pub(super) fn is_file(&self, path: &Path) -> bool {
        match &self.place {
            Place::Here(root) => below(root, path).is_file(),
            Place::Far { connection, .. } => {
                says(connection, &["test", "-f"], path).is_some_and(|output| output.succeeded())
            }
        }
    }

    /// The names in a directory, in order; none when it cannot be read.
    pub(super) fn names(&self, path: &Path) -> Vec<String> {
        let mut names: Vec<String> = match &self.place {
            Place::Here(root) => {
                let entries = fs::read_dir(below(root, path)).into_iter().flatten();
                let names = entries.flatten().map(|entry| entry.file_name());
                names
                    .map(|name| name.to_string_lossy().into_owned())
                    .collect()
            }
            Place::Far { connection, .. } => {
                let listed = says(connection, &["ls", "-1A", "--"], path);
                let listed = listed.filter(Output::succeeded);
                let text = listed.as_ref().map(|listed| listed.text());
                text.iter()
                    .flat_map(|text| text.lines())
                    .map(str::to_owned)
                    .collect()
            }
        };
        names.sort();
        names
    }

    /// The names of what is in a jar.
    pub(super) fn jar_names(&self, jar: &Path) -> Vec<String> {
        let Some(archive) = self.jar(jar) else {
            return Vec::new();
        };
        let names = archive.file_names().flatten();
        names.map(std::borrow::Cow::into_owned).collect()
    }

    /// The text of an entry of a jar.
    pub(super) fn jar_text(&self, jar: &Path, entry: &str) -> Option<String> {
        let mut archive = self.jar(jar)?;
        let mut text = String::new();
        let entry = archive.by_name(entry).ok()?;
        entry.take(LARGEST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn jar(&self, path: &Path) -> Option<ZipArchive<Box<dyn Archive>>> {
        let file: Box<dyn Archive> = match &self.place {
            Place::Here(root) => Box::new(File::open(below(root, path)).ok()?),
            Place::Far { connection, jar } => {
                let kept = jar.borrow().clone().filter(|(kept, _)| kept == path);
                let bytes = match kept {
                    Some((_, bytes)) => bytes,
                    None => fetch(connection, path, LARGEST_FAR_JAR).ok()?.into(),
                };
                *jar.borrow_mut() = Some((path.to_owned(), Rc::clone(&bytes)));
                Box::new(io::Cursor::new(bytes))
            }
        };
        ZipArchive::new(file).ok()
    }

    /// What a program prints about itself, run with the libraries of a process.
    pub(super) fn ask_program(
        &self,
        program: &Path,
        word: &str,
        facts: &ProcessFacts,
    ) -> Option<String> {
        let library_path = facts.environment.get("LD_LIBRARY_PATH");
        match &self.place {
            Place::Here(root) => {
                let output = Command::new(below(root, program))
                    .arg(word)
                    .envs(library_path.map(|path| ("LD_LIBRARY_PATH", path)))
                    .stdin(Stdio::null())
                    .output()
                    .ok()?;
                Some(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Place::Far { connection, .. } => {
                let program = quoted(program.to_str()?);
                let path = library_path.map_or(String::new(), |path| {
                    format!("LD_LIBRARY_PATH={} ", quoted(path))
                });
                let output = connection.run(&format!("{path}{program} {}", quoted(word)));
                Some(output.ok()?.text().into_owned())
            }
        }
    }

    /// Why Jolokia's agent cannot be loaded into a virtual machine.
    pub(super) fn why_no_agent(&self, facts: &ProcessFacts) -> Option<String> {
        if !self.is_here() {
            return Some("it can only be loaded on the machine that Weir runs on".to_owned());
        }
        let own = rustix::process::geteuid();
        if !own.is_root() && own.as_raw() != facts.user {
            return Some(format!(
                "the process belongs to user {}; only that user and root can load an agent",
                facts.user
            ));
        }
        match Vm::of(facts.pid) {
            Ok(Some(vm)) => vm.listens().err().map(|error| error.to_string()),
            // A launcher that is no virtual machine itself.
            Ok(None) => Some("the process is no Java virtual machine".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The content of a file of another machine, which has at most so many bytes.
fn fetch(connection: &Connection, path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let command = format!("head -c {}", most + 1);
    let output = says(connection, &[&command, "--"], path).filter(Output::succeeded);
    let bytes = output.map(|output| output.stdout);
    bytes
        .filter(|bytes| bytes.len() <= most)
        .ok_or_else(|| io::Error::other(format!("`{}` cannot be read there", path.display())))
}

/// What a command says of a path of another machine.
fn says(connection: &Connection, words: &[&str], path: &Path) -> Option<Output> {
    let path = quoted(path.to_str()?);
    connection.run(&format!("{} {path}", words.join(" "))).ok()
}
