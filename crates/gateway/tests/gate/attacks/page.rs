//! The tables of docs/validation/gate-attacks.md, from the tables that the tests play.

use std::fmt::Write as _;

use super::downgrade::{self, Told};
use super::framing::{self, Then};

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/validation/gate-attacks.md"
);

const HEAD: &str = "# What attackers send the gateway

Requests that two servers could understand in two ways, and what a server behind the gateway gets of
each. The tests of the gateway send them over real sockets to a server that records every byte.
`cargo test -p weir-gateway --test gate attacks` plays them again. With `WEIR_GENERATE=1` this page
is written from them. Floods, slow clients and heads without an end are in the same tests.

## In HTTP/1.1

Behind the first request of those that leave room for it stands a second, hidden one. \\r\\n is an
end of a line.

| is sent | is answered | reaches the server | the connection |
|---|---|---|---|
";

const HTTP2: &str = "
## In HTTP/2, to a server of HTTP/1.1

A GET of `/a` for the host `a`, but for what stands here. Reset: the stream is, or the connection
ends, as RFC 9113 (8.1.1) allows. A path that is no UTF-8 ends the connection.

| field | body | is told | reaches the server |
|---|---|---|---|
";

/// As it stands in a table.
fn shown(text: &str) -> String {
    let text = text.escape_debug().to_string().replace('|', "\\|");
    let text = text.replace("\\\"", "\"").replace("\\'", "'");
    if text.is_empty() {
        String::new()
    } else {
        format!("`` {text} ``")
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (bytes, answers, reaches, then) in framing::ATTACKS {
        let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let reaches = reaches.iter().map(|(target, body)| {
            let with = if body.is_empty() { "" } else { " with " };
            format!("{}{with}{}", shown(target), shown(body))
        });
        let then = match then {
            Then::Closed => "closed",
            Then::Open => "goes on",
        };
        let (answers, reaches) = (answers.join(", "), reaches.collect::<Vec<_>>().join(", "));
        let bytes = shown(bytes);
        writeln!(
            page,
            "| {bytes} | {answers} | {} | {then} |",
            nothing(reaches)
        )
        .unwrap();
    }
    page.push_str(HTTP2);
    for (says, body, told, reaches) in downgrade::ATTACKS {
        let says: Vec<String> = says
            .iter()
            .map(|(name, value)| format!("{} = {}", shown(name), shown(value)))
            .collect();
        let told = match told {
            Told::Status(status) => status.to_string(),
            Told::Broken => "reset".to_owned(),
        };
        let reaches = reaches.map_or_else(String::new, |(line, body)| {
            let with = if body.is_empty() { "" } else { " with " };
            format!("{}{with}{}", shown(line), shown(body))
        });
        let (says, body) = (says.join(", "), shown(body.unwrap_or_default()));
        writeln!(page, "| {says} | {body} | {told} | {} |", nothing(reaches)).unwrap();
    }
    page
}

fn nothing(reaches: String) -> String {
    if reaches.is_empty() {
        "nothing".to_owned()
    } else {
        reaches
    }
}

#[test]
fn the_page_says_what_is_tested() {
    let page = page();
    if std::env::var_os("WEIR_GENERATE").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let stored = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(stored == page, "write it anew: set WEIR_GENERATE=1");
}
