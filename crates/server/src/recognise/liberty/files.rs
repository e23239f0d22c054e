//! The files of a Liberty server in the order in which they count ("Server configuration
//! overview"): `configDropins/defaults`, `server.xml` with what it includes,
//! `configDropins/overrides`.

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::variables::Variables;
use crate::machine::Machine;
use crate::recognise::xml_place::{is_xml, place};
use crate::xml_attributes::parse;

const DEFAULTS: &str = "configDropins/defaults";
const OVERRIDES: &str = super::OVERRIDES;
/// Most files of one server.
const FILES_MAX: usize = 500;
/// Elements that hold limits, or what limits depend on.
const OF_LIMITS: [&str; 6] = [
    "executor",
    "httpEndpoint",
    "tcpOptions",
    "dataSource",
    "connectionManager",
    "variable",
];

/// An element of a file, or a place where anything may stand.
pub(super) enum Item<'a> {
    Element(&'a Path, Node<'a, 'a>),
    Unread(String),
}

/// What an `<include>` means.
#[derive(Debug)]
enum Included {
    /// Files, by their numbers.
    Files(Vec<usize>),
    Unread(String),
}

/// A file that is XML.
#[derive(Debug)]
struct File {
    path: PathBuf,
    text: String,
    /// What its includes mean, in their order.
    includes: Vec<Included>,
}

/// The files.
#[derive(Debug, Default)]
pub(super) struct Files {
    all: Vec<File>,
    /// Those that nothing includes, or why one cannot be read.
    main: Vec<Included>,
    problems: Vec<String>,
}

impl Files {
    pub(super) fn read(server: &Path, variables: &Variables, machine: &Machine) -> Self {
        let mut files = Self::default();
        let dropins = |folder: &str| {
            let folder = server.join(folder);
            let names = machine.names(&folder).into_iter();
            names
                .filter(|name| is_xml(name))
                .map(move |name| folder.join(name))
                .collect::<Vec<_>>()
        };
        let mut paths = dropins(DEFAULTS);
        paths.push(server.join("server.xml"));
        paths.extend(dropins(OVERRIDES));
        for path in paths {
            let read = files.file(&path, &mut Vec::new(), variables, machine);
            files.main.push(read);
        }
        files
    }

    /// Reads a file and what it includes; one that is being read already is passed over.
    fn file(
        &mut self,
        path: &Path,
        open: &mut Vec<PathBuf>,
        variables: &Variables,
        machine: &Machine,
    ) -> Included {
        if open.iter().any(|open| open == path) {
            return Included::Files(Vec::new());
        }
        let problem = match machine.text(path) {
            _ if self.all.len() >= FILES_MAX => {
                format!("more than {FILES_MAX} files are included")
            }
            None => format!("{} cannot be read", path.display()),
            Some(text) => match parse(&text).map(|document| includes_of(&document, path)) {
                Err(says) => format!("{}: {says}", path.display()),
                Ok(includes) => {
                    open.push(path.to_owned());
                    let includes = includes
                        .into_iter()
                        .map(|include| self.include(path, &include, open, variables, machine))
                        .collect();
                    open.pop();
                    self.all.push(File {
                        path: path.to_owned(),
                        text,
                        includes,
                    });
                    return Included::Files(vec![self.all.len() - 1]);
                }
            },
        };
        self.problems.push(format!(
            "{problem}: limits that may be set there are not known"
        ));
        Included::Unread(problem)
    }

    fn include(
        &mut self,
        from: &Path,
        include: &Include,
        open: &mut Vec<PathBuf>,
        variables: &Variables,
        machine: &Machine,
    ) -> Included {
        let unread = |why: &str| Included::Unread(format!("{}: {why}", include.place));
        let location = match variables.filled(&include.location) {
            Ok(location) if location.contains("://") => {
                return unread("what is included from another machine is not read");
            }
            Ok(location) => location,
            Err(variable) => {
                return unread(&format!("what ${{{variable}}} stands for is not known"));
            }
        };
        let path = from.with_file_name(location);
        let names = machine.names(&path).into_iter();
        let mut paths: Vec<PathBuf> = names
            .filter(|name| is_xml(name))
            .map(|name| path.join(name))
            .collect();
        if paths.is_empty() {
            if include.is_optional && !machine.is_file(&path) {
                return Included::Files(Vec::new());
            }
            paths.push(path);
        }
        let mut numbers = Vec::new();
        for path in paths {
            match self.file(&path, open, variables, machine) {
                Included::Files(files) => numbers.extend(files),
                unread @ Included::Unread(_) => return unread,
            }
        }
        let texts = numbers.iter().map(|number| &self.all[*number].text);
        let sets_limits = |text: &String| {
            OF_LIMITS
                .iter()
                .any(|name| text.contains(&format!("<{name}")))
        };
        if include.has_rules && texts.into_iter().any(sets_limits) {
            return unread("which of two elements counts by onConflict is not followed");
        }
        Included::Files(numbers)
    }

    /// The texts of the files, all of them XML.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|file| file.text.as_str())
    }

    /// What could not be read, a sentence each.
    pub(super) fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    /// All elements in the order in which they count.
    pub(super) fn items<'a>(&'a self, documents: &'a [Document<'a>]) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        for included in &self.main {
            self.add(included, documents, &mut items);
        }
        items
    }

    fn add<'a>(
        &'a self,
        included: &'a Included,
        documents: &'a [Document<'a>],
        items: &mut Vec<Item<'a>>,
    ) {
        let numbers = match included {
            Included::Files(numbers) => numbers,
            Included::Unread(why) => {
                items.push(Item::Unread(why.clone()));
                return;
            }
        };
        for number in numbers {
            let file = &self.all[*number];
            let mut includes = file.includes.iter();
            for element in documents[*number].descendants().filter(Node::is_element) {
                if is_include(&element) {
                    if let Some(included) = includes.next() {
                        self.add(included, documents, items);
                    }
                } else {
                    items.push(Item::Element(&file.path, element));
                }
            }
        }
    }
}

/// An `<include>` as it is written.
struct Include {
    location: String,
    place: String,
    is_optional: bool,
    /// Whether it says what counts of two elements that are the same.
    has_rules: bool,
}

fn is_include(element: &Node<'_, '_>) -> bool {
    element.has_tag_name("include") && element.attribute("location").is_some()
}

fn includes_of(document: &Document<'_>, path: &Path) -> Vec<Include> {
    let includes = document.descendants().filter(is_include);
    includes
        .map(|element| Include {
            location: element.attribute("location").unwrap_or_default().to_owned(),
            place: place(&element, path),
            is_optional: element.attribute("optional") == Some("true"),
            has_rules: element
                .attribute("onConflict")
                .is_some_and(|rule| !rule.eq_ignore_ascii_case("merge")),
        })
        .collect()
}
