//! Plans that nobody should write: no panic, no endless loop, and whatever is read can be told.

use std::path::Path;

use weir_fuzz::Target;
use weir_jmx::read_text;

use super::{plan, studies};

const WORDS: [&[u8]; 14] = [
    b"<hashTree>",
    b"</hashTree>",
    b"<hashTree/>",
    b"<stringProp name=\"HTTPSampler.path\">/</stringProp>",
    b"<LoopController testname=\"L\"/>",
    b"<ModuleController/>",
    b"<IncludeController/>",
    b" enabled=\"false\"",
    b" testclass=\"HTTPSamplerProxy\"",
    b"<![CDATA[",
    b"]]>",
    b"&amp;",
    b"&#0;",
    b"-2147483649",
];

#[test]
fn fuzz_plans() {
    let old = include_bytes!("../old.jmx");
    let stress = std::fs::read(studies("stress.jmx")).unwrap();
    let small = plan(
        "<ThreadGroup testname=\"G\"/><hashTree><HTTPSamplerProxy testname=\"S\"/><hashTree/></hashTree>",
    );
    let target = Target {
        name: "plans",
        seeds: &[old, &stress, small.as_bytes()],
        words: &WORDS,
        length_max: 64 * 1024,
    };
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(reading) = read_text(&text, Path::new("any.jmx")) {
            for finding in &reading.findings {
                assert!(!finding.to_string().is_empty());
            }
        }
    });
}
