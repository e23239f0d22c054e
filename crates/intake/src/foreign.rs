//! Result files as people have them: compressed, of another tool, of another encoding.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Bytes that are looked at to tell what kind of file it is.
const LOOK_BYTES: u64 = 64 * 1024;

/// What other tools' files begin with, in small letters, and what is said of them.
const BEGINNINGS: [(&str, &str); 14] = [
    ("<!doctype html", "it is a page of HTML"),
    ("<html", "it is a page of HTML"),
    ("label,# samples", SUMS),
    ("label;# samples", SUMS),
    ("label\t# samples", SUMS),
    ("\"label\",\"# samples\"", SUMS),
    ("metric_name,", OF_K6),
    ("{\"type\":\"metric\"", OF_K6),
    ("{\"metric\":", OF_K6),
    (
        "timestamp,user count,",
        "it is Locust's history, which has no single requests",
    ),
    (
        "type,name,request count,",
        "it is Locust's table of sums, which has no single requests",
    ),
    ("run\t", "it is Gatling's log"),
    (
        "running ",
        "it is what wrk prints, which has no single requests",
    ),
    (
        "this is apachebench",
        "it is what ab prints, which has no single requests",
    ),
];
const SUMS: &str = "it is a table of sums (Aggregate or Summary Report), not the samples: keep those with jmeter -l FILE";
const OF_K6: &str = "it is k6's output";
/// Beginnings of compressed files that are not read.
const COMPRESSED: [(&[u8], &str); 4] = [
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
];
/// What to do with what is not JMeter's.
const WRITTEN_BY: &str = "Weir takes what JMeter writes with -l, as CSV or XML";

/// The text of a file, decompressed where it is gzip's, and without the line `sep=,` that
/// spreadsheets ask for; or what the file is instead of a result file.
///
/// # Errors
/// It cannot be read.
pub(crate) fn opened<'r>(
    input: Box<dyn Read + 'r>,
) -> io::Result<Result<Box<dyn Read + 'r>, String>> {
    let mut input = BufReader::new(input);
    let start = input.fill_buf()?;
    if start.starts_with(b"\x1f\x8b") {
        return text(MultiGzDecoder::new(input));
    }
    text(input)
}

fn text<'r>(mut input: impl Read + 'r) -> io::Result<Result<Box<dyn Read + 'r>, String>> {
    let mut start = Vec::new();
    input.by_ref().take(LOOK_BYTES).read_to_end(&mut start)?;
    if let Some(says) = instead(&start) {
        return Ok(Err(says));
    }
    let skipped = separator_line(&start);
    let mut start = Cursor::new(start);
    start.set_position(skipped as u64);
    Ok(Ok(Box::new(start.chain(input))))
}

/// What a file is that is no result file.
fn instead(start: &[u8]) -> Option<String> {
    let compressed = COMPRESSED
        .iter()
        .find(|(magic, _)| start.starts_with(magic));
    if let Some((_, how)) = compressed {
        return Some(format!(
            "it is compressed with {how}: decompress it first (only gzip is read as it is)"
        ));
    }
    let has_mark = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    let zeros = start.split(|byte| *byte == 0).count() - 1;
    if has_mark || zeros * 4 > start.len() {
        return Some(
            "it is no text in UTF-8; where it is UTF-16, iconv -f UTF-16 -t UTF-8 makes it one"
                .to_owned(),
        );
    }
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.lines().next().unwrap_or_default().to_lowercase();
    if let Some((_, what)) = BEGINNINGS
        .iter()
        .find(|(begin, _)| first.starts_with(begin))
    {
        return Some(format!("{what}; {WRITTEN_BY}"));
    }
    if first.starts_with(['{', '[']) {
        return Some(format!("it is JSON; {WRITTEN_BY}"));
    }
    if is_log(&first) {
        return Some(format!("it is JMeter's log (jmeter -j); {WRITTEN_BY}"));
    }
    let root = root(text)?;
    (root != "testResults")
        .then(|| format!("it is XML with the root <{root}>, not <testResults>; {WRITTEN_BY}"))
}

/// `2026-11-14 22:13:20,000 INFO o.a.j.JMeter: …`
fn is_log(line: &str) -> bool {
    let mut words = line.split(' ');
    let (_, time, level) = (words.next(), words.next(), words.next());
    time.is_some_and(|time| time.contains(':'))
        && matches!(level, Some("info" | "warn" | "error" | "debug" | "fatal"))
}

/// The name of an XML file's root, behind its declaration and comments.
fn root(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('<')?;
    loop {
        let end = match rest {
            comment if comment.starts_with("!--") => "-->",
            declaration if declaration.starts_with(['?', '!']) => ">",
            _ => break,
        };
        let (_, behind) = rest.split_once(end)?;
        let (_, tag) = behind.split_once('<')?;
        rest = tag;
    }
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
}

/// How long a first line is that only says what stands between cells.
fn separator_line(start: &[u8]) -> usize {
    let line = start
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let says = line
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(line)
        .trim_ascii();
    let is_it = says.len() == 5 && says[..4].eq_ignore_ascii_case(b"sep=");
    if is_it { line.len() } else { 0 }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(file: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        opened(Box::new(file))
            .unwrap()?
            .read_to_string(&mut text)
            .unwrap();
        Ok(text)
    }

    #[test]
    fn what_is_jmeters_is_read_as_it_stands() {
        for text in [
            "",
            "timeStamp,elapsed,label\n1,2,a\n",
            "\u{feff}timeStamp,elapsed\n",
            "<?xml version=\"1.0\"?>\n<!-- a <b> -->\n<testResults version=\"1.2\">\n",
            "1700000000000,20,home,200,OK\n",
        ] {
            assert_eq!(read(text.as_bytes()).as_deref(), Ok(text));
        }
        assert_eq!(
            read(b"sep=;\r\ntimeStamp;elapsed\n").as_deref(),
            Ok("timeStamp;elapsed\n")
        );
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"timeStamp,elapsed\n").unwrap();
        assert_eq!(
            read(&gz.finish().unwrap()).as_deref(),
            Ok("timeStamp,elapsed\n")
        );
    }

    #[test]
    fn what_is_not_is_called_by_its_name() {
        for (file, says) in [
            (&b"<!DOCTYPE html><html>"[..], "a page of HTML"),
            (b"Label,# Samples,Average\n", "a table of sums"),
            (b"metric_name,timestamp,metric_value\n", "k6's"),
            (b"{\"type\":\"Metric\",\"data\":{}}\n", "k6's"),
            (b"{\"all\": 3}", "it is JSON"),
            (
                b"Timestamp,User Count,Type,Name\n1,2,GET,/\n",
                "Locust's history",
            ),
            (b"RUN\tmy.Simulation\n", "Gatling's log"),
            (b"Running 10s test @ http://127.0.0.1\n", "what wrk prints"),
            (
                b"2023-11-14 22:13:20,000 INFO o.a.j.JMeter: x\n",
                "JMeter's log",
            ),
            (
                b"<jmeterTestPlan version=\"1.2\">",
                "the root <jmeterTestPlan>",
            ),
            (b"\xff\xfet\0i\0m\0", "UTF-16"),
            (b"PK\x03\x04....", "compressed with zip"),
        ] {
            let told = read(file).unwrap_err();
            assert!(told.contains(says), "{told}");
        }
    }
}
