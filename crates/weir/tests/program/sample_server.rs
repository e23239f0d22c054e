//! The sample server as a study sets it: started by the program, its limits read back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_record::{CpuScope, WhenFull};
use weir_server::{Builtin, BuiltinOptions, Server};

/// The largest that may be asked for; kernels allow 4,096 unless set.
const LARGEST: f64 = 65_535.0;

/// The server says what is in force, which is less than was asked for; that is no reason to start
/// it again for the next limit, nor to ask for the backlog while it runs.
#[test]
fn a_backlog_that_the_kernel_cuts_down_stays_as_asked() {
    let place = tempfile::tempdir().unwrap();
    let mut server = Builtin::start(BuiltinOptions {
        program: env!("CARGO_BIN_EXE_weir").into(),
        port: 0,
        cpus: None,
        settings: BTreeMap::new(),
        when_connections_full: WhenFull::Wait,
        interrupted: Arc::new(AtomicBool::new(false)),
        log: place.path().join("server.log"),
    })
    .unwrap();
    let found = server.facts(1, CpuScope::Unknown);
    let backlog = found.stage("backlog").unwrap().limit.unwrap();
    assert!(backlog < LARGEST);
    let first = server.watched().pids;

    let wanted = limits(&[("backlog", LARGEST), ("connections", 300.0)]);
    server.apply(&wanted).unwrap();
    let second = server.watched().pids;
    assert_ne!(first, second, "a backlog needs a new start");

    let wanted = limits(&[("backlog", LARGEST), ("connections", 200.0)]);
    server.apply(&wanted).unwrap();
    server.apply(&wanted).unwrap();
    assert_eq!(second, server.watched().pids);

    server.apply(&BTreeMap::new()).unwrap();
    assert_ne!(
        second,
        server.watched().pids,
        "the backlog goes back to what was found"
    );
    Box::new(server).stop().unwrap();
}

fn limits(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
    pairs
        .iter()
        .map(|(stage, limit)| ((*stage).to_owned(), *limit))
        .collect()
}
