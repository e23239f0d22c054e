//! Networks that nobody should write: no panic, and every problem has its place and its words.

use weir_fuzz::Target;
use weir_sim::NetworkFile;

const DATABASE: &[u8] = include_bytes!("../../../../networks/shared-database.toml");
const RETRIES: &[u8] = include_bytes!("../../../../networks/retry-storm.toml");

#[test]
fn fuzz_networks() {
    let target = Target {
        name: "networks",
        seeds: &[DATABASE, RETRIES],
        words: &[
            b"[[station]]",
            b"[[class]]",
            b"servers = 0",
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
        let Err(problems) = NetworkFile::parse(&text) else {
            return;
        };
        for problem in problems {
            assert!(!problem.says.is_empty());
            assert!(problem.span.end <= text.len(), "{:?}", problem.span);
        }
    });
}
