//! Files of runs and of other tools, changed at random: what cannot be read is an error.

use weir_fuzz::Target;

use crate::{IntervalHistograms, JtlReader, Timeline};

const CSV: &[u8] = include_bytes!("../tests/jmeter/all.csv");
const XML: &[u8] = include_bytes!("../tests/jmeter/all.xml");
const TIMELINE: &[u8] =
    b"second,cpu,threads.occupancy,throughput_per_s\n0,0.5,3,10\n1,,4,\n2,0.75,5,12\n";

#[test]
fn fuzz_stored_files() {
    let target = Target {
        name: "stored files",
        seeds: &[CSV, XML, TIMELINE],
        words: &[
            b",",
            b"\"",
            b"\n",
            b"timeStamp,elapsed,label",
            b"<sample t=\"1\"",
            b"</sample>",
            b"&#0;",
            b"18446744073709551616",
            b"-1",
            b"NaN",
            b"#[StartTime: 1]",
            b"\xff",
        ],
        length_max: 64 * 1024,
    };
    target.run(|bytes| {
        if let Ok(reader) = JtlReader::new(bytes) {
            for sample in reader.take(10_000) {
                if let Err(error) = sample {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        drop(Timeline::read_csv(bytes));
        drop(IntervalHistograms::read_hlog(bytes));
    });
}
