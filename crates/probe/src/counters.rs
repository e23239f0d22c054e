//! The kernel's TCP counters: `/proc/net/netstat` and `/proc/net/snmp`.
//!
//! Both files hold pairs of lines: the names of the counters, then their values. They count for
//! the whole network namespace, so the load generator's own connections are in them when it runs on
//! the same machine. A target in a namespace of its own has its own files, `/proc/PID/net`; what
//! the load generator's side then sends again is told apart.

use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{lines, number, words};
use crate::reading::{Reading, put, rate};

/// Signals from the group `TcpExt:` of `/proc/net/netstat`.
const EXTENDED: [(&str, &[u8]); 3] = [
    ("tcp.listen-overflows", b"ListenOverflows"),
    ("tcp.listen-drops", b"ListenDrops"),
    ("tcp.syn-retries", b"TCPSynRetrans"),
];

/// Signals from the group `Tcp:` of `/proc/net/snmp`.
const BASIC: [(&str, &[u8]); 3] = [
    ("tcp.segments", b"OutSegs"),
    ("tcp.retransmissions", b"RetransSegs"),
    ("tcp.resets", b"OutRsts"),
];
/// What the load generator's side sends again, where that is another namespace than the target's.
const LOAD_EXTENDED: [(&str, &[u8]); 1] = [("load.tcp.syn-retries", b"TCPSynRetrans")];
/// As `LOAD_EXTENDED`, from the group `Tcp:`.
const LOAD_BASIC: [(&str, &[u8]); 1] = [("load.tcp.retransmissions", b"RetransSegs")];

/// The counters and their last reading.
#[derive(Debug)]
pub(crate) struct Counters<const E: usize, const B: usize> {
    extended: Group<E>,
    basic: Group<B>,
}

/// The counters of the target's namespace.
pub(crate) type TargetCounters = Counters<3, 3>;
/// The counters of the load generator's namespace.
pub(crate) type LoadCounters = Counters<1, 1>;

impl TargetCounters {
    /// Those of a process's namespace, or of this process's.
    pub(crate) fn of(process: Option<u32>) -> Self {
        Self::new(process, EXTENDED, BASIC)
    }
}

impl LoadCounters {
    /// Those of this process's namespace.
    pub(crate) fn of_load() -> Self {
        Self::new(None, LOAD_EXTENDED, LOAD_BASIC)
    }
}

/// Whether a process of this machine is in another network namespace than this one.
pub(crate) fn is_apart(process: u32) -> bool {
    let namespace = |of: &str| std::fs::read_link(format!("/proc/{of}/ns/net")).ok();
    let theirs = namespace(&process.to_string());
    theirs.is_some() && theirs != namespace("self")
}

impl<const E: usize, const B: usize> Counters<E, B> {
    fn new(
        process: Option<u32>,
        extended: [(&'static str, &'static [u8]); E],
        basic: [(&'static str, &'static [u8]); B],
    ) -> Self {
        let folder = process.map_or("/proc/net".to_owned(), |pid| format!("/proc/{pid}/net"));
        Self {
            extended: Group::new(format!("{folder}/netstat"), b"TcpExt:", extended),
            basic: Group::new(format!("{folder}/snmp"), b"Tcp:", basic),
        }
    }

    pub(crate) fn sample(&mut self, now: Instant, files: &mut Files, reading: &mut Reading) {
        self.extended.sample(now, files, reading);
        self.basic.sample(now, files, reading);
    }
}

/// The counters of one group of one file.
#[derive(Debug)]
struct Group<const N: usize> {
    file: KeptFile,
    prefix: &'static [u8],
    counters: [(&'static str, &'static [u8]); N],
    last: Option<(Instant, [Option<u64>; N])>,
}

impl<const N: usize> Group<N> {
    fn new(
        path: String,
        prefix: &'static [u8],
        counters: [(&'static str, &'static [u8]); N],
    ) -> Self {
        Self {
            file: KeptFile::new(path),
            prefix,
            counters,
            last: None,
        }
    }

    fn sample(&mut self, now: Instant, files: &mut Files, reading: &mut Reading) {
        let text = self.file.read(files);
        let values = text.map(|text| values(text, self.prefix, self.counters.map(|(_, key)| key)));
        if let (Some(values), Some((then, before))) = (values, self.last) {
            let elapsed_s = now.duration_since(then).as_secs_f64();
            for (at, (signal, _)) in self.counters.iter().enumerate() {
                let grown = before[at]
                    .zip(values[at])
                    .and_then(|(before, value)| rate(before, value, elapsed_s));
                put(reading, *signal, grown);
            }
        }
        self.last = values.map(|values| (now, values));
    }
}

/// The values of the named counters of one group; `None` for one that this kernel does not have.
fn values<const N: usize>(text: &[u8], prefix: &[u8], keys: [&[u8]; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    let mut group = lines(text).filter_map(|line| line.strip_prefix(prefix));
    if let (Some(names), Some(numbers)) = (group.next(), group.next()) {
        for (name, value) in words(names).zip(words(numbers)) {
            if let Some(at) = keys.iter().position(|key| *key == name) {
                found[at] = number(value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_stands_below_its_name() {
        let text = b"TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans\n\
            TcpExt: 0 537 5447 153\n\
            IpExt: ListenDrops\nIpExt: 1\n";
        let keys = EXTENDED.map(|(_, key)| key);
        assert_eq!(
            values(text, b"TcpExt:", keys),
            [Some(537), Some(5447), Some(153)]
        );
    }

    #[test]
    fn the_group_is_taken_by_its_whole_name() {
        let text = b"TcpX: RetransSegs\nTcpX: 9\n\
            Tcp: RtoAlgorithm MaxConn RetransSegs OutRsts\nTcp: 1 -1 12 34\n";
        assert_eq!(
            values(text, b"Tcp:", BASIC.map(|(_, key)| key)),
            [None, Some(12), Some(34)]
        );
        assert_eq!(
            values(text, b"Tcp:", [b"MaxConn"]),
            [None],
            "a negative value is none"
        );
    }

    #[test]
    fn a_counter_this_kernel_lacks_is_absent() {
        assert_eq!(
            values(b"TcpExt: A B\nTcpExt: 1\n", b"TcpExt:", [b"B", b"C"]),
            [None, None]
        );
        assert_eq!(values(b"", b"TcpExt:", [b"A"]), [None]);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: Vec<u8>) {
            let _ = values(&text, b"TcpExt:", EXTENDED.map(|(_, key)| key));
        }
    }
}
