//! Studies that nobody should write: no panic, and every problem has its place and its words.

use weir_fuzz::Target;
use weir_study::StudyFile;

const TUNE: &[u8] = include_bytes!("../../../../studies/default.toml");
const SWEEP: &[u8] = include_bytes!("../../../../studies/e4-matrix.toml");
const GATE: &[u8] = include_bytes!("../../../../studies/e1-gate.toml");

#[test]
fn fuzz_studies() {
    let target = Target {
        name: "studies",
        seeds: &[TUNE, SWEEP, GATE],
        words: &[
            b"[target.tomcat]",
            b"[[sweep.case]]",
            b"[[sweep.overview.column]]",
            b"set = { users = 1 }",
            b"\"{2 * p99(light) of off} ms\"",
            b"\"p99 <= 1 ms\"",
            b"\"0-99999999\"",
            b"= -1",
            b"= 1e309",
            b"\"\"",
            b"\xff",
            b"\x00",
        ],
        length_max: 16 * 1024,
    };
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Err(problems) = StudyFile::parse(&text) else {
            return;
        };
        for problem in problems {
            assert!(!problem.says.is_empty());
            assert!(problem.span.end <= text.len(), "{:?}", problem.span);
        }
    });
}
