//! Result files without what differs from run to run, user by user.
//!
//! Left out are times, ports, dates, the names that the two programs give themselves (and so the
//! bytes sent with HTTP requests), and how many users were alive at the end of a sample where there
//! is more than one.

use std::collections::BTreeMap;
use std::path::Path;

/// The rows of each user, in their order.
pub(crate) type ByUser = BTreeMap<String, Vec<String>>;

/// Columns that are times.
const TIMES: [&str; 5] = ["timeStamp", "elapsed", "Latency", "IdleTime", "Connect"];

/// The rows of a CSV file with a header, one line a cell.
pub(crate) fn csv(text: &str, port: u16) -> ByUser {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let column = |wanted: &str| names.iter().position(|name| name == wanted).unwrap();
    let (user, url) = (column("threadName"), column("URL"));
    let mut users = ByUser::new();
    for record in reader.records() {
        let record = record.unwrap();
        let is_http = &record[url] != "null";
        let cells = names
            .iter()
            .zip(&record)
            .filter(|(name, _)| !(TIMES.contains(name) || (is_http && *name == "sentBytes")));
        let row: Vec<String> = cells
            .map(|(name, cell)| format!("{name}={}", without_port(cell, port)))
            .collect();
        let rows = users.entry(record[user].to_owned()).or_default();
        rows.push(row.join(" | "));
    }
    users
}

/// The samples of an XML file, each with what it is made of.
pub(crate) fn xml(text: &str, port: u16) -> ByUser {
    let mut users = ByUser::new();
    let mut sample: Vec<String> = Vec::new();
    for line in text.lines().skip(2).chain(["<end"]) {
        let begins = ["<sample", "<httpSample", "<end", "</testResults"]
            .iter()
            .any(|start| line.starts_with(start));
        if begins && !sample.is_empty() {
            let user = attribute(&sample[0], "tn").unwrap_or_default().to_owned();
            let rows = users.entry(user).or_default();
            let whole = std::mem::take(&mut sample);
            rows.push(without_boundary(&without_stack_traces(&whole).join("\n")));
        }
        if begins || !sample.is_empty() {
            sample.push(lasting(line, port));
        }
        if line.starts_with("</testResults") || line == "<end" {
            sample.clear();
        }
    }
    users
}

/// A line of an XML file without what differs from run to run.
fn lasting(line: &str, port: u16) -> String {
    if line.starts_with("Date: ") || line.starts_with("User-Agent: ") {
        return line.split(": ").next().unwrap_or_default().to_owned();
    }
    let mut line = without_port(line, port);
    let is_http = line.trim_start().starts_with("<httpSample");
    if !is_http && !line.trim_start().starts_with("<sample") {
        return line;
    }
    let mut unequal = vec!["t", "it", "lt", "ct", "ts"];
    // Transactions have sums of it.
    if is_http || line.contains(" dt=\"\"") {
        unequal.push("sby");
    }
    // JMeter counts the stack trace that it shows instead of a response.
    if line.contains(" rc=\"Non HTTP") {
        unequal.push("by");
    }
    for name in unequal {
        if let Some(value) = attribute(&line, name) {
            line = line.replacen(&format!(" {name}=\"{value}\""), "", 1);
        }
    }
    line
}

/// The lines of a sample without the stack traces that are JMeter's response where there was none.
fn without_stack_traces(lines: &[String]) -> Vec<String> {
    let mut inside = false;
    let is_lasting = |line: &&String| {
        inside |= line.contains("<responseData class=\"java.lang.String\">")
            && line.contains("Exception: ");
        let was_inside = inside;
        inside &= !line.contains("</responseData>");
        !was_inside
    };
    lines.iter().filter(is_lasting).cloned().collect()
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn without_port(text: &str, port: u16) -> String {
    text.replace(&format!(":{port}"), ":PORT")
}

/// The rows without the numbers of users that are alive.
pub(crate) fn without_alive(users: ByUser) -> ByUser {
    let strip = |row: String| {
        let mut row = row;
        for name in ["ng", "na"] {
            while let Some(value) = attribute(&row, name) {
                row = row.replacen(&format!(" {name}=\"{value}\""), "", 1);
            }
        }
        let cells = row.split(" | ");
        let lasting = cells.filter(|cell| !cell.contains("Threads="));
        lasting.collect::<Vec<_>>().join(" | ")
    };
    let strip_all = |rows: Vec<String>| rows.into_iter().map(strip).collect();
    users
        .into_iter()
        .map(|(user, rows)| (user, strip_all(rows)))
        .collect()
}

/// Compares user by user and row by row, so that the first difference is what is shown.
#[track_caller]
pub(crate) fn same(here: &ByUser, jmeter: &ByUser, what: &str) {
    for (user, recorded) in jmeter {
        let none = Vec::new();
        let own = here.get(user).unwrap_or(&none);
        for (at, (own, recorded)) in own.iter().zip(recorded).enumerate() {
            assert_eq!(own, recorded, "{what}: {user}: number {}", at + 1);
        }
        let (own, recorded) = (own.len(), recorded.len());
        assert_eq!(own, recorded, "{what}: {user}: how many");
    }
    let users = |all: &ByUser| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(users(here), users(jmeter), "{what}: users");
}

/// A request or row without the boundary of its parts, which is made by chance, and the lengths
/// that come from it.
pub(crate) fn without_boundary(text: &str) -> String {
    let Some((_, rest)) = text.split_once("boundary=") else {
        return text.to_owned();
    };
    let boundary = rest.split([';', ' ', '\n']).next().unwrap_or_default();
    let same = text.replace(boundary, "BOUNDARY");
    let mut parts = same.split("Content-Length: ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| {
        whole + "Content-Length: " + part.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

/// Compares lines with those that JMeter wrote, or records them as those.
#[track_caller]
pub(crate) fn lines_as_recorded(lines: &[String], file: &Path, records: bool) {
    if records {
        std::fs::write(file, lines.join("\n") + "\n").unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(file).unwrap();
    let recorded: Vec<&str> = recorded.lines().collect();
    for (own, theirs) in lines.iter().zip(&recorded) {
        assert_eq!(own, theirs);
    }
    assert_eq!(lines.len(), recorded.len());
}
