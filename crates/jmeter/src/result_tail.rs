//! The result file, followed while JMeter writes it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use weir_record::{JtlReader, SampleRow};

/// The columns that [`FORCED`] makes JMeter write, in its order; sample variables may follow.
const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
                      failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";
/// The name of the first column: a row that begins with it is the header.
const FIRST_COLUMN: &str = "timeStamp,";
/// The longest row that is waited for; a longer one is no row.
const ROW_BYTES_MAX: usize = 1 << 20;

/// Properties that give the result file exactly these columns, whatever the user's own say.
pub(crate) const FORCED: &[(&str, &str)] = &[
    ("jmeter.save.saveservice.output_format", "csv"),
    ("jmeter.save.saveservice.default_delimiter", ","),
    ("jmeter.save.saveservice.print_field_names", "true"),
    ("jmeter.save.saveservice.timestamp_format", "ms"),
    ("jmeter.save.saveservice.time", "true"),
    ("jmeter.save.saveservice.label", "true"),
    ("jmeter.save.saveservice.response_code", "true"),
    ("jmeter.save.saveservice.response_message", "true"),
    ("jmeter.save.saveservice.thread_name", "true"),
    ("jmeter.save.saveservice.data_type", "true"),
    ("jmeter.save.saveservice.successful", "true"),
    (
        "jmeter.save.saveservice.assertion_results_failure_message",
        "true",
    ),
    ("jmeter.save.saveservice.bytes", "true"),
    ("jmeter.save.saveservice.sent_bytes", "true"),
    ("jmeter.save.saveservice.thread_counts", "true"),
    ("jmeter.save.saveservice.url", "true"),
    ("jmeter.save.saveservice.filename", "false"),
    ("jmeter.save.saveservice.latency", "true"),
    ("jmeter.save.saveservice.encoding", "false"),
    ("jmeter.save.saveservice.sample_count", "false"),
    ("jmeter.save.saveservice.hostname", "false"),
    ("jmeter.save.saveservice.idle_time", "true"),
    ("jmeter.save.saveservice.connect_time", "true"),
    ("jmeter.save.saveservice.autoflush", "true"),
    ("sampleresult.timestamp.start", "true"),
];

/// A result file that grows.
#[derive(Debug)]
pub(crate) struct ResultTail {
    file: Option<File>,
    path: std::path::PathBuf,
    from: u64,
    rows: Rows,
}

impl ResultTail {
    /// Follows what is written behind the file's end as it is now; it need not be there yet.
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            file: None,
            path: path.to_owned(),
            from: std::fs::metadata(path).map_or(0, |facts| facts.len()),
            rows: Rows::default(),
        }
    }

    /// The rows that have become complete since the last time.
    pub(crate) fn read(&mut self) -> io::Result<Vec<SampleRow>> {
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(mut file) => {
                    file.seek(SeekFrom::Start(self.from))?;
                    self.file = Some(file);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            }
        }
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut bytes)?;
        }
        Ok(self.rows.take(&bytes))
    }

    /// Rows that could not be read.
    pub(crate) fn unreadable(&self) -> u64 {
        self.rows.unreadable
    }
}

/// Rows out of pieces of a CSV file: a row may be cut anywhere, and may have line ends in quotes.
#[derive(Debug, Default)]
struct Rows {
    /// What has come of a row that is not complete.
    rest: Vec<u8>,
    /// Whether it ends inside of a quoted field. Quotes in a field are doubled, so that their
    /// number tells.
    quoted: bool,
    unreadable: u64,
}

impl Rows {
    fn take(&mut self, bytes: &[u8]) -> Vec<SampleRow> {
        let known = self.rest.len();
        self.rest.extend_from_slice(bytes);
        let (mut start, mut ends) = (0, Vec::new());
        for (at, byte) in self.rest.iter().enumerate().skip(known) {
            match byte {
                b'"' => self.quoted = !self.quoted,
                b'\n' if !self.quoted => ends.push(at + 1),
                _ => {}
            }
        }
        let Some(whole) = ends.last().copied() else {
            if self.rest.len() > ROW_BYTES_MAX {
                self.rest.clear();
                self.quoted = false;
                self.unreadable += 1;
            }
            return Vec::new();
        };
        let rows = if let Some(rows) = parse(&self.rest[..whole]) {
            rows
        } else {
            // One of them is wrong; the others count.
            let mut rows = Vec::new();
            for end in ends {
                match parse(&self.rest[start..end]) {
                    Some(row) => rows.extend(row),
                    None => self.unreadable += 1,
                }
                start = end;
            }
            rows
        };
        self.rest.drain(..whole);
        rows
    }
}

/// Whole rows as samples, headers left out; `None` when one of them is no sample.
fn parse(rows: &[u8]) -> Option<Vec<SampleRow>> {
    let has_header = rows.starts_with(FIRST_COLUMN.as_bytes());
    let header: &[u8] = if has_header { b"" } else { HEADER.as_bytes() };
    let input = header
        .chain(if has_header { &b""[..] } else { &b"\n"[..] })
        .chain(rows);
    JtlReader::new(input).ok()?.samples().ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// Rows as JMeter 5.6.3 writes them, one with a line end and quotes in its failure message.
    const FILE: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n\
1795226422800,58,first,200,OK,Users 1-1,text,true,,120,118,1,1,http://127.0.0.1:9080/a,57,0,40\n\
1795226422860,3,\"a, \"\"b\"\"\",200,OK,Users 1-1,text,false,\"Test failed: \n\"\"x\"\"\",120,118,1,2,null,3,0,0\n\
1795226422864,1,last,Non HTTP response code: java.net.SocketException,\"Non HTTP response message: reset, by peer\",Users 1-2,,false,,0,0,1,2,null,0,0,1\n";

    fn labels(rows: &[SampleRow]) -> Vec<&str> {
        rows.iter().map(|row| &*row.label).collect()
    }

    #[test]
    fn rows_are_read_as_they_become_complete() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out.jtl");
        let mut tail = ResultTail::new(&path);
        assert!(tail.read().unwrap().is_empty(), "there is no file yet");
        let mut file = File::create(&path).unwrap();
        let (cut, all) = (FILE.find("failed").unwrap(), FILE.len());
        file.write_all(&FILE.as_bytes()[..cut]).unwrap();
        assert_eq!(labels(&tail.read().unwrap()), ["first"]);
        file.write_all(&FILE.as_bytes()[cut..all]).unwrap();
        let rows = tail.read().unwrap();
        assert_eq!(labels(&rows), ["a, \"b\"", "last"]);
        assert_eq!(&*rows[0].failure_message, "Test failed: \n\"x\"");
        assert!(tail.read().unwrap().is_empty());
        assert_eq!(tail.unreadable(), 0);
    }

    #[test]
    fn what_stood_in_the_file_before_is_not_read_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out.jtl");
        std::fs::write(&path, FILE).unwrap();
        let mut tail = ResultTail::new(&path);
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        writeln!(file, "1,2,more,200,OK,t,text,true,,1,2,3,4,u,5,6,7").unwrap();
        assert_eq!(labels(&tail.read().unwrap()), ["more"]);
    }

    #[test]
    fn a_row_that_is_wrong_costs_only_itself() {
        let mut rows = Rows::default();
        let read = rows.take(
            b"1,2,good,200,OK,t,text,true,,1,2,3,4,u,5,6,7\nx,y,bad,200,OK,t,text,true,,1,2,3,4,u,5,6,7\n\
              1,2,more,200,OK,t,text,true,,1,2,3,4,u,5,6,7,\"a variable\"\n",
        );
        assert_eq!(labels(&read), ["good", "more"]);
        assert_eq!(rows.unreadable, 1);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(cuts in proptest::collection::vec(0..FILE.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.extend([0, FILE.len()]);
            cuts.sort_unstable();
            let mut rows = Rows::default();
            let mut read = Vec::new();
            for pair in cuts.windows(2) {
                read.extend(rows.take(&FILE.as_bytes()[pair[0]..pair[1]]));
            }
            prop_assert_eq!(labels(&read), ["first", "a, \"b\"", "last"]);
            prop_assert_eq!(rows.unreadable, 0);
        }

        #[test]
        fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            Rows::default().take(&bytes);
        }
    }
}
