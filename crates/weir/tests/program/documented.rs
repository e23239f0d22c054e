//! Every whole study and network that a page shows is one that `weir check` accepts.

use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::support::{Place, repository_file, tree};

/// What a whole file begins with.
const WHOLE: [&str; 2] = ["schema = \"weir/study/1\"", "schema = \"weir/network/1\""];

#[test]
fn whole_files_of_pages_are_accepted() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut count = 0;
    for (page, text) in tree(&docs) {
        if page.extension().is_none_or(|kind| kind != "md") {
            continue;
        }
        let text = String::from_utf8(text).unwrap();
        for file in whole_files(&text) {
            count += 1;
            let place = Place::new();
            let plan = repository_file("studies/plans/short.jmx");
            place.write("plan.jmx", &plan);
            place.write("plans/short.jmx", &plan);
            place.write("servers/sleepy.py", "");
            place.write("example.toml", &file);
            let done = place.weir(&["check", "example.toml"]);
            assert_eq!(done.code, Some(0), "{}: {done}\n{file}", page.display());
        }
    }
    assert!(count >= 5, "only {count} were found");
}

/// The fenced blocks of TOML that are whole files.
fn whole_files(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut is_toml = false;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_toml = &*language == "toml";
            }
            Event::End(TagEnd::CodeBlock) => is_toml = false,
            Event::Text(block) if is_toml && WHOLE.iter().any(|whole| block.starts_with(whole)) => {
                files.push(block.to_string());
            }
            _ => {}
        }
    }
    files
}
