//! Every command that a page tells to type is one.
//!
//! Lines of fenced blocks have to parse as they stand. Code within a sentence may be a name or a
//! form (`weir gate`, `weir run PLAN.jmx …`): there, what may be missing is an argument, not a
//! word.

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Error, Parser as _};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{Command, Weir};
use crate::commands::run::grammar::{PlanArguments, UrlArguments};

/// How the first page types it.
const BUILT: &str = "cargo run --release --";
/// Where a command of a shell ends.
const ENDS: [&str; 9] = ["|", "||", "&", "&&", ";", ">", "2>", "2>&1", "<"];
/// What stands for each command.
const ANY: &str = " COMMAND";
/// What stands for any address, and one.
const URL: (&str, &str) = ("URL", "http://127.0.0.1/");
/// What stands for more words in a form.
const MORE: [char; 4] = ['[', ']', '…', '|'];

/// A command and where it stands.
struct Typed {
    place: String,
    text: String,
    /// Whether it may be a form.
    is_inline: bool,
}

#[test]
fn every_command_of_a_page_parses() {
    let commands: Vec<Typed> = pages().iter().flat_map(|page| typed(page)).collect();
    let fenced = commands.iter().filter(|typed| !typed.is_inline).count();
    let inline = commands.len() - fenced;
    assert!(
        fenced > 30 && inline > 100,
        "{fenced} lines and {inline} in sentences"
    );
    let wrong: Vec<String> = commands.iter().filter_map(wrong).collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_is_no_command_is_found() {
    let is_wrong = |text: &str, is_inline| {
        let place = String::new();
        wrong(&Typed {
            place,
            text: text.to_owned(),
            is_inline,
        })
        .is_some()
    };
    assert!(!is_wrong("weir tune study.toml --json - > out.json", false));
    assert!(is_wrong("weir tune study.toml --no-such", false));
    assert!(is_wrong("weir tine study.toml", true));
    assert!(!is_wrong("weir gate", true), "a name");
    assert!(is_wrong("weir gate", false), "it needs a file");
    assert!(!is_wrong("weir run -n -t PLAN.jmx -l out.jtl", false));
    assert!(!is_wrong(
        "weir run http://127.0.0.1:8080/ -c 64 -d 10s",
        false
    ));
    assert!(is_wrong("weir run http://127.0.0.1:8080/ --rat 5", false));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages that users read.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn typed(page: &Path) -> Vec<Typed> {
    let text = std::fs::read_to_string(page).expect("it is there");
    let name = page
        .strip_prefix(root())
        .unwrap_or(page)
        .display()
        .to_string();
    let mut found = Vec::new();
    let mut is_shell = false;
    for (event, range) in Parser::new(&text).into_offset_iter() {
        let line = text[..range.start].matches('\n').count() + 1;
        let mut add = |at: usize, text: &str, is_inline: bool| {
            if let Some(text) = command(text) {
                found.push(Typed {
                    place: format!("{name}:{at}"),
                    text,
                    is_inline,
                });
            }
        };
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_shell = matches!(&*language, "sh" | "bash" | "console");
            }
            Event::End(TagEnd::CodeBlock) => is_shell = false,
            Event::Text(block) if is_shell => {
                let block = block.replace("\\\n", " ");
                for (at, text) in block.lines().enumerate() {
                    add(line + at, text, false);
                }
            }
            Event::Code(text) => add(line, &text, true),
            _ => {}
        }
    }
    found
}

/// The command of a line, from `weir` on.
fn command(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("$ ").replace(BUILT, "weir");
    let line = line.strip_prefix("sudo ").unwrap_or(&line);
    line.starts_with("weir ").then(|| line.to_owned())
}

/// What is wrong with a command.
fn wrong(typed: &Typed) -> Option<String> {
    if typed.is_inline && (typed.text.contains(MORE) || typed.text.contains(ANY)) {
        return None;
    }
    let Some(words) = shlex::split(&typed.text) else {
        return Some(format!(
            "{}: {}: a quote is not closed",
            typed.place, typed.text
        ));
    };
    let words: Vec<String> = words
        .into_iter()
        .take_while(|word| !ENDS.contains(&word.as_str()))
        .map(|word| {
            if word == URL.0 {
                URL.1.to_owned()
            } else {
                word
            }
        })
        .collect();
    let error = match Weir::try_parse_from(&words).map(|weir| weir.command) {
        Ok(Command::Run(_)) => of_run(&words[1..])?,
        Ok(_) => return None,
        Err(error) => error,
    };
    let nothing = ContextValue::String(String::new());
    let lacks_value = error.get(ContextKind::InvalidValue) == Some(&nothing);
    let is_form = typed.is_inline
        && (lacks_value
            || matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    | ErrorKind::MissingSubcommand
            ));
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let says = error.to_string();
    let says = says.lines().next().unwrap_or_default();
    (!is_form && !is_help).then(|| format!("{}: {}\n    {says}", typed.place, typed.text))
}

/// What is wrong with what was typed for `weir run`, by the grammar that it is closer to.
fn of_run(words: &[String]) -> Option<Error> {
    let of_plan = PlanArguments::try_parse_from(words).err()?;
    let of_url = UrlArguments::try_parse_from(words).err()?;
    let is_url = words.iter().any(|word| word.starts_with("http"));
    Some(if is_url { of_url } else { of_plan })
}
