//! Files as JMeter 5.6.3 writes them.
#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use jiff::tz::TimeZone;

use super::*;
use crate::sample::{DataType, SampleDetails, SampleRow};

fn properties(set: &[(&str, &str)]) -> SaveConfiguration {
    let property = |name: &str| {
        let short = name.strip_prefix("jmeter.save.saveservice.");
        let found = set
            .iter()
            .find(|(key, _)| Some(*key) == short || *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    SaveConfiguration::from_properties(property, &TimeZone::UTC).unwrap()
}

fn written(configuration: SaveConfiguration, rows: &[SampleRow]) -> String {
    let mut text = Vec::new();
    let mut jtl = JtlWriter::new(&mut text, configuration).unwrap();
    for row in rows {
        jtl.write(row).unwrap();
    }
    jtl.finish().unwrap();
    String::from_utf8(text).unwrap()
}

fn row() -> SampleRow {
    SampleRow {
        timestamp_ms: 1_700_000_000_123,
        elapsed_ms: 42,
        label: "a, \"b\"".into(),
        response_code: "200".into(),
        response_message: "OK".into(),
        thread_name: "Users 1-2".into(),
        data_type: DataType::Text,
        success: true,
        received_bytes: 321,
        sent_bytes: 123,
        group_threads: 2,
        all_threads: 4,
        latency_ms: 41,
        connect_ms: 1,
        ..SampleRow::default()
    }
}

#[test]
fn writes_rows_as_jmeter_does() {
    let text = written(SaveConfiguration::default(), &[row()]);
    assert_eq!(
        text,
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
         failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n\
         1700000000123,42,\"a, \"\"b\"\"\",200,OK,Users 1-2,text,true,,321,123,2,4,null,41,0,1\n"
    );
    let read = JtlReader::new(text.as_bytes()).unwrap().samples().unwrap();
    assert_eq!(read, vec![row()]);
}

/// Everything that JMeter 5.6.3 can say of samples with odd texts, redirects, embedded resources,
/// assertions and transactions: read, and written again, it is the same file.
#[test]
fn files_of_jmeter_are_written_again_to_the_byte() {
    let all = [
        ("encoding", "true"),
        ("response_data", "true"),
        ("samplerData", "true"),
        ("responseHeaders", "true"),
        ("requestHeaders", "true"),
        ("filename", "true"),
        ("hostname", "true"),
        ("sample_count", "true"),
        ("sample_variables", "V1,V2,V3"),
    ];
    let xml = [("output_format", "xml")];
    let csv = [
        ("default_delimiter", ";"),
        ("timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS"),
    ];
    let files = [
        (include_str!("../../tests/jmeter/all.xml"), xml.as_slice()),
        (include_str!("../../tests/jmeter/all.csv"), csv.as_slice()),
    ];
    for (text, own) in files {
        let mut configuration = properties(&[all.as_slice(), own].concat());
        configuration.host_name = "vm".to_owned();
        let read = JtlReader::with(text.as_bytes(), &configuration, &TimeZone::UTC).unwrap();
        let rows = read.samples().unwrap();
        assert!(configuration.wants_details());
        let ours = written(configuration, &rows);
        for (ours, theirs) in ours.lines().zip(text.lines()) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours.len(), text.len());
    }
}

#[test]
fn transactions_and_their_parts_are_told_apart() {
    let text = include_str!("../../tests/jmeter/all.xml");
    let rows = JtlReader::new(text.as_bytes()).unwrap().samples().unwrap();
    assert_eq!(rows.len(), 17);
    let shape: Vec<(&str, usize)> = rows
        .iter()
        .filter(|row| row.is_transaction || !row.children.is_empty())
        .map(|row| (&*row.label, row.children.len()))
        .collect();
    assert_eq!(
        shape,
        [
            ("redirect", 3),
            ("page", 5),
            ("T-parent", 2),
            ("T-add", 0),
            ("T-empty", 0)
        ]
    );
    assert!(rows[16].is_empty_transaction());
    let failing = rows[3].details.as_ref().unwrap();
    assert!(failing.assertions[0].failure && !failing.assertions[1].failure);
    // As a CSV file the parts are rows after their whole, as JMeter's own file of the plan has
    // them.
    let csv = written(SaveConfiguration::default(), &rows);
    let labels = |text: &str, delimiter: char| -> Vec<String> {
        let rows = text.lines().filter(|line| line.contains("TG 1-1"));
        let label = |line: &str| line.split(delimiter).nth(2).map(str::to_owned);
        rows.filter_map(label)
            .filter(|label| !label.contains('"'))
            .collect()
    };
    let theirs = labels(include_str!("../../tests/jmeter/all.csv"), ';');
    let theirs: Vec<&str> = theirs
        .iter()
        .map(String::as_str)
        // Its delimiter is in this label.
        .filter(|label| *label != "semi")
        .collect();
    let ours = labels(&csv, ',');
    let ours: Vec<&str> = ours
        .iter()
        .map(String::as_str)
        .filter(|label| !label.starts_with("semi"))
        .collect();
    assert_eq!(ours, theirs);
}

#[test]
fn listeners_say_what_their_file_holds() {
    let saved = [
        ("time", "false"),
        ("success", "true"),
        ("label", "true"),
        ("threadName", "true"),
        ("dataType", "true"),
        ("fieldNames", "false"),
    ];
    let configuration = SaveConfiguration::of_listener(saved, &SaveConfiguration::default());
    assert!(!configuration.wants_details());
    // The layout of a listener of JMeter's own tests.
    assert_eq!(
        written(configuration, &[row()]),
        "\"a, \"\"b\"\"\",Users 1-2,text,true\n"
    );
    let xml = [("xml", "true"), ("success", "true"), ("label", "true")];
    let configuration = SaveConfiguration::of_listener(xml, &SaveConfiguration::default());
    assert_eq!(
        written(configuration, &[row()]),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n\
         <sample s=\"true\" lb=\"a, &quot;b&quot;\"/>\n\n</testResults>\n"
    );
}

/// JMeter 5.6.3 writes what was sent beside the response of a failed sample.
#[test]
fn failed_samples_show_their_request_with_their_response() {
    let xml = [("xml", "true"), ("responseDataOnError", "true")];
    let configuration = SaveConfiguration::of_listener(xml, &SaveConfiguration::default());
    let details = SampleDetails {
        sampler_data: Some("asked".to_owned()),
        response_data: Some(b"answered".to_vec()),
        ..SampleDetails::default()
    };
    let sample = |success| SampleRow {
        success,
        is_http: false,
        data_type: DataType::Text,
        details: Some(Box::new(details.clone())),
        ..row()
    };
    let failed = written(configuration.clone(), &[sample(false)]);
    assert!(
        failed.contains(">answered<") && failed.contains(">asked<"),
        "{failed}"
    );
    let fine = written(configuration, &[sample(true)]);
    assert!(
        !fine.contains("answered") && !fine.contains("asked"),
        "{fine}"
    );
}

#[test]
fn files_are_continued() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format, begins) in [
        ("new/a.jtl", JtlFormat::Csv, "timeStamp"),
        ("b.xml", JtlFormat::Xml, "<?xml"),
    ] {
        let path = folder.path().join(name);
        for _ in 0..3 {
            let mut configuration = SaveConfiguration::default();
            configuration.format = format;
            let mut jtl = open_jtl(&path, configuration).unwrap();
            jtl.write(&row()).unwrap();
            jtl.finish().unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(begins).count(), 1, "{text}");
        let read = JtlReader::new(text.as_bytes()).unwrap().samples().unwrap();
        assert_eq!(read.len(), 3);
    }
}

#[test]
fn says_what_is_wrong_with_a_file() {
    let missing = JtlReader::new("label,elapsed\n1,2\n".as_bytes())
        .err()
        .unwrap();
    assert!(missing.to_string().contains("timeStamp"));
    let text = "timeStamp,elapsed,label,success\n1,x,l,true\n1,2,l,true\n1,2";
    let read: Vec<_> = JtlReader::new(text.as_bytes()).unwrap().collect();
    let wrong = read[0].as_ref().unwrap_err().to_string();
    assert!(wrong.contains("`x` in line 2, column `elapsed`"), "{wrong}");
    assert!(read[1].is_ok());
    // The writer was killed: the rows before its last are good.
    let cut = read[2].as_ref().unwrap_err();
    assert!(
        cut.is_one_row() && cut.to_string().contains("line 4"),
        "{cut}"
    );
    assert_eq!(read.len(), 3);
    for cut in [
        "<samp",
        "<sample lb=\"b",
        "<sample lb=\"b\">",
        "<sample lb=\"b\"><respo",
    ] {
        let cut = format!("<testResults><sample t=\"1\" lb=\"a\"/>{cut}");
        let read: Vec<_> = JtlReader::new(cut.as_bytes()).unwrap().collect();
        let is_cut = matches!(&read[..], [Ok(_), Err(JtlError::CutOff { .. })]);
        assert!(is_cut, "{cut}: {read:?}");
    }
}

#[test]
fn files_without_a_header_have_the_configured_columns() {
    let text = include_str!("../../tests/jmeter/struct.jtl");
    let (header, rest) = text.split_once('\n').unwrap();
    let whole = JtlReader::new(text.as_bytes()).unwrap().samples().unwrap();
    let headless = JtlReader::new(rest.as_bytes()).unwrap().samples().unwrap();
    assert_eq!(whole, headless);
    assert!(header.starts_with("timeStamp"));
    assert_eq!(written(SaveConfiguration::default(), &whole), text);
}

#[test]
fn no_sample_takes_all_memory() {
    struct Endless(&'static [u8]);
    impl io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                buffer.fill(b'a');
                return Ok(buffer.len());
            }
            self.0.read(buffer)
        }
    }
    for start in [
        "timeStamp,elapsed,label,success\n1,2,\"",
        "<testResults><sample lb=\"a\"><x>",
        "<testResults><sample lb=\"",
    ] {
        let read: Vec<_> = JtlReader::new(Endless(start.as_bytes())).unwrap().collect();
        let error = read[0].as_ref().unwrap_err();
        assert!(!error.is_one_row() && read.len() == 1, "{error}");
    }
    let deep = "<sample>".repeat(100_000);
    let read: Vec<_> = JtlReader::new(deep.as_bytes()).unwrap().collect();
    assert!(matches!(&read[..], [Err(JtlError::Xml { .. })]));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (name, value) in [("default_delimiter", "ab"), ("timestamp_format", "yyyyb")] {
        let property = |asked: &str| asked.ends_with(name).then(|| value.to_owned());
        let error = SaveConfiguration::from_properties(property, &TimeZone::UTC).unwrap_err();
        assert!(error.to_string().contains(value), "{error}");
    }
    assert_eq!(properties(&[("default_delimiter", "\\t")]).delimiter, '\t');
}

/// What JMeter 5.6.3 writes of a request for `gopher`, and of a body that XML has no place for.
#[test]
fn requests_without_a_url_have_an_empty_element() {
    let every = [
        ("output_format", "xml"),
        ("samplerData", "true"),
        ("url", "true"),
        ("response_data", "true"),
    ];
    let details = crate::SampleDetails {
        encoding: "ISO-8859-1".to_owned(),
        response_data: Some(b"\xe9".to_vec()),
        ..crate::SampleDetails::default()
    };
    let row = SampleRow {
        label: "\u{fffe}".into(),
        is_http: true,
        details: Some(Box::new(details)),
        ..row()
    };
    let text = written(properties(&every), &[row]);
    assert!(text.contains(" lb=\"&#xfffe;\" "), "{text}");
    assert!(
        text.contains(
            "  <responseData class=\"java.lang.String\">é</responseData>\n  \
         <cookies class=\"java.lang.String\"></cookies>\n  \
         <queryString class=\"java.lang.String\"></queryString>\n  <null/>\n</httpSample>\n"
        ),
        "{text}"
    );
}
