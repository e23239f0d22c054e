//! What a virtual machine leaves for others to read, changed at random: whoever may write the file
//! of another's counters may write anything into it.

use weir_fuzz::Target;

use crate::perf_data::PerfCounters;
use crate::thread_dump::RequestThreads;

const COUNTERS: &[u8] = include_bytes!("../tests/recorded/hsperfdata-17-g1");
const DUMP: &[u8] =
    b"2026-11-30 12:00:00\nFull thread dump:\n\n\"http-nio-8080-exec-1\" #31 daemon prio=5 os_prio=0 \
    cpu=1.00ms elapsed=2.00s tid=0x1 nid=0x2 waiting for monitor entry [0x3]\n   \
    java.lang.Thread.State: BLOCKED (on object monitor)\n\tat a.B.c(B.java:1)\n\t- waiting to lock <0x4> (a a.B)\n\
    \tat org.apache.catalina.core.StandardWrapperValve.invoke(X.java:1)\n\n\"VirtualThread-unparker\" #40\n";
const VIRTUAL: &[u8] = br#"{"threadDump":{"processId":"1","time":"t","threadContainers":[{"container":"<root>","parent":null,
    "owner":null,"threads":[{"tid":"31","name":"","virtual":true,"state":"TIMED_WAITING","stack":["java.lang.VirtualThread.sleep(V.java:1)"]}],
    "threadCount":"1"}]}}"#;

#[test]
fn fuzz_counters() {
    let target = Target {
        name: "counters",
        seeds: &[COUNTERS],
        words: &[
            b"\xca\xfe\xc0\xc0",
            b"\xff\xff\xff\xff",
            b"\x7f\xff\xff\xff",
            b"\x00\x00\x00\x80",
            b"sun.os.hrt.frequency\0",
            b"sun.gc.collector.0.time\0",
        ],
        length_max: COUNTERS.len(),
    };
    target.run(|content| {
        if let Ok(counters) = PerfCounters::parse(content) {
            let times = counters.collectors.iter().map(|collector| collector.time_s);
            for time in times.chain(counters.safepoint_s) {
                assert!(time.is_finite(), "{time}");
            }
        }
    });
}

#[test]
fn fuzz_thread_dumps() {
    let target = Target {
        name: "thread dumps",
        seeds: &[DUMP, VIRTUAL],
        words: &[
            b"\n\"",
            b"\tat ",
            b"java.lang.Thread.State: ",
            b"- waiting to lock <",
            b"\"threads\":[",
            b"null",
            b"{}",
            b"\xff",
        ],
        length_max: 8 * 1024,
    };
    target.run(|dump| {
        let dump = String::from_utf8_lossy(dump);
        let mut threads = RequestThreads::in_dump(&dump, 8_080);
        threads.add_virtual(&dump);
    });
}
