//! A configuration of nginx, read in the server's order: included files where they are included.
//!
//! As the server does it (`ngx_conf_file.c` and the manual): a directive is words up to `;` or
//! `{`, `#` begins a comment where a word could begin, quotes may hold anything, a backslash takes
//! the next character as it is, and names of included files are relative to the folder of the main
//! file.

use std::path::{Path, PathBuf};

use crate::glob_files::matching;
use crate::machine::Machine;

/// Deepest nesting of included files.
const DEPTH_MAX: usize = 32;
/// Most files of one configuration.
const FILES_MAX: usize = 2_000;
/// Blocks whose content is a program in another language.
const PROGRAM_BLOCK: &str = "_by_lua_block";

/// A block that a directive stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its name: `http`, `server`, `location`.
    pub(crate) name: String,
    /// Which block of the whole configuration it is, in the order in which they are opened.
    pub(crate) number: usize,
}

/// A directive with where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The file; the option `-g` for one of the command line.
    pub(crate) file: PathBuf,
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
    /// Its name and the words behind it.
    pub(crate) words: Vec<String>,
    /// The blocks around it, the outermost first.
    pub(crate) within: Vec<Block>,
}

impl Statement {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The word behind the name, empty when there is none.
    pub(crate) fn first(&self) -> &str {
        self.words.get(1).map_or("", String::as_str)
    }

    /// Where it stands: `FILE:LINE`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.line)
    }

    /// Whether it stands in blocks of these names and no others.
    pub(crate) fn is_in(&self, names: &[&str]) -> bool {
        let within = self.within.iter().map(|block| block.name.as_str());
        within.eq(names.iter().copied())
    }
}

/// A configuration that was read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// All directives in the order in which the server reads them.
    pub(crate) statements: Vec<Statement>,
    /// What could not be read, a sentence each.
    pub(crate) problems: Vec<String>,
    blocks: usize,
    files: usize,
}

impl Reading {
    /// Reads the main file, and what its command line adds (`-g`).
    pub(crate) fn of(main: &Path, typed: &str, machine: &Machine) -> Self {
        let mut reading = Self::default();
        let root = main.parent().unwrap_or(Path::new("/")).to_owned();
        let reader = Reader {
            machine,
            root: &root,
        };
        reader.text(typed, Path::new("option -g"), &[], 0, &mut reading);
        reader.file(main, &[], 0, &mut reading);
        reading
    }

    /// The last directive of a name that stands in blocks of these names.
    pub(crate) fn last(&self, name: &str, within: &[&str]) -> Option<&Statement> {
        let mut statements = self.statements.iter().rev();
        statements.find(|statement| statement.name() == name && statement.is_in(within))
    }
}

struct Reader<'a> {
    machine: &'a Machine,
    /// What names of included files are relative to.
    root: &'a Path,
}

impl Reader<'_> {
    fn file(&self, path: &Path, within: &[Block], depth: usize, reading: &mut Reading) {
        reading.files += 1;
        if depth > DEPTH_MAX || reading.files > FILES_MAX {
            let path = path.display();
            reading.problems.push(format!(
                "{path} is included too deep or is one of too many files"
            ));
            return;
        }
        match self.machine.text(path) {
            Some(text) => self.text(&text, path, within, depth, reading),
            None => reading
                .problems
                .push(format!("{} cannot be read", path.display())),
        }
    }

    fn text(&self, text: &str, file: &Path, within: &[Block], depth: usize, reading: &mut Reading) {
        let mut words = Words::of(text);
        let mut open = within.to_vec();
        let mut statement: Vec<String> = Vec::new();
        let mut begins = 1;
        while let Some((token, line)) = words.next() {
            match token {
                Token::Word(word) => {
                    if statement.is_empty() {
                        begins = line;
                    }
                    statement.push(word);
                }
                Token::End | Token::Open => {
                    let is_block = token == Token::Open;
                    let taken = std::mem::take(&mut statement);
                    let Some(name) = taken.first().cloned() else {
                        continue;
                    };
                    if !is_block && name == "include" {
                        let pattern = taken.get(1).map_or("", String::as_str);
                        self.include(pattern, &open, depth, reading);
                        continue;
                    }
                    reading.statements.push(Statement {
                        file: file.to_owned(),
                        line: begins,
                        words: taken,
                        within: open.clone(),
                    });
                    if is_block && name.ends_with(PROGRAM_BLOCK) {
                        words.skip_program();
                    } else if is_block {
                        let number = reading.blocks;
                        reading.blocks += 1;
                        open.push(Block { name, number });
                    }
                }
                Token::Close => {
                    if open.len() > within.len() {
                        open.pop();
                    }
                }
            }
        }
    }

    fn include(&self, pattern: &str, within: &[Block], depth: usize, reading: &mut Reading) {
        match matching(self.machine, &self.root.join(pattern)) {
            Ok(files) => {
                for file in files {
                    self.file(&file, within, depth + 1, reading);
                }
            }
            Err(why) => reading.problems.push(why),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `;`
    End,
    /// `{`
    Open,
    /// `}`
    Close,
}

/// The words of a text with the line on which each begins.
struct Words<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            line: 1,
        }
    }

    fn take(&mut self) -> Option<char> {
        let taken = self.rest.next()?;
        self.line += usize::from(taken == '\n');
        Some(taken)
    }

    fn quoted(&mut self, quote: char) -> String {
        let mut word = String::new();
        while let Some(c) = self.take() {
            match c {
                '\\' => word.extend(self.take()),
                c if c == quote => break,
                c => word.push(c),
            }
        }
        word
    }

    fn plain(&mut self, first: char) -> String {
        let mut word = String::from(first);
        while let Some(&c) = self.rest.peek() {
            // A variable may be written `${name}`.
            let is_variable = c == '{' && word.ends_with('$');
            if c.is_whitespace() || c == ';' || (c == '{' && !is_variable) {
                break;
            }
            self.take();
            match c {
                '\\' => word.extend(self.take()),
                c => word.push(c),
            }
        }
        word
    }

    /// Leaves out a program in a block, up to the brace that closes it.
    fn skip_program(&mut self) {
        let mut depth = 1_usize;
        while let Some(c) = self.take() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                '"' | '\'' => drop(self.quoted(c)),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

impl Iterator for Words<'_> {
    type Item = (Token, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.line;
            let c = self.take()?;
            let token = match c {
                c if c.is_whitespace() => continue,
                '#' => {
                    while self.rest.peek().is_some_and(|c| *c != '\n') {
                        self.take();
                    }
                    continue;
                }
                ';' => Token::End,
                '{' => Token::Open,
                '}' => Token::Close,
                '"' | '\'' => Token::Word(self.quoted(c)),
                c => Token::Word(self.plain(c)),
            };
            return Some((token, line));
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_nginx_reads_them() {
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("etc/nginx/conf.d");
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(tree.path().join("etc/nginx").join(name), text).unwrap();
        };
        write(
            "nginx.conf",
            "worker_processes 2; # of 4;\nevents {\n  worker_connections\n    64;\n}\nhttp {\n  log_format x '$a; {' \"b\\\"c\";\n  \
             content_by_lua_block { if x then y = \"}\" end { } }\n  include conf.d/*.conf;\n  keepalive_timeout 5s;\n}\n\
             include missing.conf;\n",
        );
        write(
            "conf.d/a.conf",
            "server { listen 80; location ~ \"^/a{2}$\" { return 200 ${host}x; } }\n",
        );
        write("conf.d/.hidden.conf", "server { listen 81; }\n");
        let machine = Machine::of_tree(tree.path());
        let reading = Reading::of(Path::new("/etc/nginx/nginx.conf"), "daemon off;", &machine);
        let told: Vec<String> = reading
            .statements
            .iter()
            .map(|statement| {
                let within = statement.within.iter().map(|block| block.name.as_str());
                let within: Vec<&str> = within.collect();
                let file = statement.file.file_name().unwrap().to_string_lossy();
                format!(
                    "{file}:{} {}|{}",
                    statement.line,
                    within.join("/"),
                    statement.words.join(" ")
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                "option -g:1 |daemon off",
                "nginx.conf:1 |worker_processes 2",
                "nginx.conf:2 |events",
                "nginx.conf:3 events|worker_connections 64",
                "nginx.conf:6 |http",
                "nginx.conf:7 http|log_format x $a; { b\"c",
                "nginx.conf:8 http|content_by_lua_block",
                "a.conf:1 http|server",
                "a.conf:1 http/server|listen 80",
                "a.conf:1 http/server|location ~ ^/a{2}$",
                "a.conf:1 http/server/location|return 200 ${host}x",
                "nginx.conf:10 http|keepalive_timeout 5s",
            ]
        );
        assert_eq!(
            reading.problems,
            ["/etc/nginx/missing.conf cannot be read".to_owned()]
        );
    }
}
