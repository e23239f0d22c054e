//! The directives of an Apache httpd's configuration, with the files that it includes.
//!
//! Only what holds for the whole server: what stands in `<VirtualHost>`, `<Directory>` and the like
//! is left out. `<IfModule mpm_…>` is decided by the module that is loaded; other conditions count
//! as met. Unlike the reader of a configuration that Weir copies and starts, this one takes what it
//! can read, also of another machine, and refuses nothing; the form of a line they know from one
//! place.

use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::process::ProcessFacts;
use crate::httpd::syntax::{Line, lines};

/// How deep files may include each other, as the server has it.
const DEEPEST: usize = 20;
/// Sections that are only conditions.
const CONDITIONS: [&str; 6] = [
    "ifmodule",
    "ifdefine",
    "ifversion",
    "iffile",
    "ifdirective",
    "ifsection",
];

/// A directive and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directive {
    /// In small letters.
    pub(super) name: String,
    /// All words behind it.
    pub(super) value: String,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

impl Directive {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.line)
    }
}

/// All directives of a configuration in order.
pub(super) fn read(
    file: &Path,
    root: &Path,
    facts: &ProcessFacts,
    machine: &Machine,
) -> Vec<Directive> {
    let mut reader = Reader {
        root,
        facts,
        machine,
        directives: Vec::new(),
    };
    reader.file(file, 0);
    reader.directives
}

struct Reader<'a> {
    root: &'a Path,
    facts: &'a ProcessFacts,
    machine: &'a Machine,
    directives: Vec<Directive>,
}

impl Reader<'_> {
    fn file(&mut self, file: &Path, depth: usize) {
        let Some(text) = self.machine.text(file).filter(|_| depth < DEEPEST) else {
            return;
        };
        // The sections that are open: whether what is inside counts.
        let mut open: Vec<bool> = Vec::new();
        for line in lines(&text) {
            if line.name.starts_with("</") {
                open.pop();
            } else if let Some(section) = line.name.strip_prefix('<') {
                open.push(self.counts(section, line.first()));
            } else if open.iter().all(|counts| *counts) {
                self.directive(&line, file, depth);
            }
        }
    }

    fn directive(&mut self, line: &Line, file: &Path, depth: usize) {
        if ["include", "includeoptional"].contains(&line.name.as_str()) {
            for included in self.matching(&self.filled(line.first())) {
                self.file(&included, depth + 1);
            }
            return;
        }
        let words: Vec<&str> = line.words.iter().map(|word| word.text.as_str()).collect();
        self.directives.push(Directive {
            name: line.name.clone(),
            value: words.join(" "),
            file: file.to_owned(),
            line: line.number,
        });
    }

    fn counts(&self, section: &str, condition: &str) -> bool {
        if !CONDITIONS.contains(&section) {
            return false;
        }
        let (wanted, module) = match condition.strip_prefix('!') {
            Some(module) => (false, module),
            None => (true, condition),
        };
        let module = module.strip_suffix(".c").map_or_else(
            || module.to_owned(),
            // `mpm_event.c` is the file, `event.c` the older name of it.
            |file| format!("mpm_{}_module", file.trim_start_matches("mpm_")),
        );
        let of_mpm = module.starts_with("mpm_") && section == "ifmodule";
        let loaded = self.directives.iter().any(|directive| {
            directive.is("LoadModule") && directive.value.split_whitespace().next() == Some(&module)
        });
        let any_loaded = self
            .directives
            .iter()
            .any(|directive| directive.is("LoadModule") && directive.value.starts_with("mpm_"));
        // With the module built in, nothing loads one, and what is written is most likely for it.
        !of_mpm || !any_loaded || loaded == wanted
    }

    /// `${NAME}` of the environment.
    fn filled(&self, text: &str) -> String {
        let variables = self.facts.environment.iter();
        variables.fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("${{{name}}}"), value)
        })
    }

    /// The files that a path with `*` and `?` means; all files of a directory.
    fn matching(&self, pattern: &str) -> Vec<PathBuf> {
        let mut found = vec![if pattern.starts_with('/') {
            PathBuf::from("/")
        } else {
            self.root.to_owned()
        }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let is_pattern = part.contains(['*', '?']);
            found = found
                .into_iter()
                .flat_map(|folder| {
                    if !is_pattern {
                        return vec![folder.join(part)];
                    }
                    let names = self.machine.names(&folder).into_iter();
                    let wanted = wildmatch::WildMatch::new(part);
                    names
                        .filter(|name| wanted.matches(name))
                        .map(|name| folder.join(name))
                        .collect()
                })
                .collect();
        }
        found
            .into_iter()
            .flat_map(|path| {
                if self.machine.is_file(&path) {
                    return vec![path];
                }
                let names = self.machine.names(&path).into_iter();
                names.map(|name| path.join(name)).collect()
            })
            .collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    #[test]
    fn what_holds_for_the_whole_server_is_read_in_order() {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "e/h.conf",
                "# Listen 1\nListen 80\n<VirtualHost *>\n Timeout 9\n</VirtualHost>\nInclude ${C}/a?.conf\n\
                 <IfModule !mod_x.c>\n <IfDefine Y>\n  KeepAlive On\n </IfDefine>\n</IfModule>\nInclude d\nInclude h.conf\n",
            ),
            ("e/c/a1.conf", "LoadModule mpm_event_module m.so\n"),
            ("e/c/ab2.conf", "Not This\n"),
            (
                "e/d/z",
                "<IfModule event.c>\nThreadLimit 5\n</IfModule>\n<IfModule mpm_prefork_module>\nServerLimit 5\n</IfModule>\n",
            ),
        ] {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let facts = ProcessFacts {
            environment: BTreeMap::from([("C".to_owned(), "c".to_owned())]),
            ..ProcessFacts::default()
        };
        let root = Path::new("/e");
        let machine = Machine::of_tree(tree.path());
        let directives = read(Path::new("/e/h.conf"), root, &facts, &machine);
        let told: Vec<String> = directives
            .iter()
            .map(|directive| {
                format!(
                    "{} {} {}",
                    directive.place(),
                    directive.name,
                    directive.value
                )
            })
            .collect();
        let once = [
            "/e/h.conf:2 listen 80",
            "/e/c/a1.conf:1 loadmodule mpm_event_module m.so",
            "/e/h.conf:9 keepalive On",
            "/e/d/z:2 threadlimit 5",
        ];
        assert_eq!(told[..4], once);
        // At the deepest level nothing is included any more.
        assert_eq!(
            told.len(),
            4 * DEEPEST - 2,
            "a file that includes itself ends"
        );
    }
}
