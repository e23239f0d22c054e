//! The files that a script names, as far as that shows before it runs.

use crate::library;
use crate::program::Program;
use crate::syntax::{Expression, ExpressionKind as Kind};
use crate::token::Literal;

/// A place in a script where a file is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFile {
    /// The line in the script, from 1.
    pub line: u32,
    /// The file; `None` when its name is made while the script runs.
    pub name: Option<String>,
    /// What is done with it, where its class says so: `FileReader` and `FileWriter` do, `File`
    /// does not.
    pub is_written: Option<bool>,
}

pub(crate) fn files(program: &Program) -> Vec<ScriptFile> {
    let mut files = Vec::new();
    program.for_each_expression(&mut |expression| {
        let (class, arguments) = match &expression.kind {
            Kind::CallMethod {
                of,
                name,
                arguments,
                ..
            } if is_path(of, name) => ("java.io.File", &**arguments),
            Kind::New { class, arguments } => (&**class, &**arguments),
            Kind::Call { name, arguments } if &**name == "new" && program.language.is_jexl() => {
                match &**arguments {
                    [class, rest @ ..] => (text(class).unwrap_or("java.io.File"), rest),
                    [] => return,
                }
            }
            _ => return,
        };
        let Some(deed) = library::class(class).and_then(|class| deed(class.short_name())) else {
            return;
        };
        let is_written = deed.writes();
        let named = match arguments {
            // A writer or reader around another one names nothing.
            [of] if text(of).is_none() && !names_by_itself(class) => return,
            [name] => text(name),
            // A folder and a name in it; or a file and whether it is appended to.
            [name, _] if is_written.is_some() => text(name),
            [folder, name] => {
                let whole = text(folder).zip(text(name));
                files.push(ScriptFile {
                    line: expression.line,
                    name: whole
                        .map(|(folder, name)| format!("{}/{name}", folder.trim_end_matches('/'))),
                    is_written,
                });
                return;
            }
            _ => return,
        };
        files.push(ScriptFile {
            line: expression.line,
            name: named.map(str::to_owned),
            is_written,
        });
    });
    files
}

/// What a class that opens files does with them.
enum Deed {
    Reads,
    Writes,
    /// What is called on it says so.
    Either,
}

impl Deed {
    fn writes(self) -> Option<bool> {
        match self {
            Self::Reads => Some(false),
            Self::Writes => Some(true),
            Self::Either => None,
        }
    }
}

fn deed(class: &str) -> Option<Deed> {
    match class {
        "File" => Some(Deed::Either),
        "FileReader" | "FileInputStream" => Some(Deed::Reads),
        "FileWriter" | "FileOutputStream" | "PrintWriter" | "BufferedWriter" => Some(Deed::Writes),
        _ => None,
    }
}

/// Whether it is `Paths.get` or `Path.of`.
fn is_path(of: &Expression, name: &str) -> bool {
    let class = match &of.kind {
        Kind::Name(class) | Kind::Class(class) => library::class(class),
        _ => None,
    };
    let class = class.map(crate::class::Class::short_name);
    matches!((class, name), (Some("Paths"), "get") | (Some("Path"), "of"))
}

fn names_by_itself(class: &str) -> bool {
    !(class.ends_with("PrintWriter") || class.ends_with("BufferedWriter"))
}

fn text(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        Kind::Literal(Literal::Text(text)) => Some(text),
        _ => None,
    }
}
