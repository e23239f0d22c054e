//! Pages that the machine has to fetch, and to fetch again, because its memory is full.
//!
//! From `/proc/vmstat`. A page that is fetched again soon after it was taken away was still needed
//! (kernel documentation, `mm/workingset.c`: refaults); a swap that only holds what nobody asks for
//! has none.

use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{lines, number, words};
use crate::reading::{Reading, put, rate};

/// Each counter of pages, and the signal that it stands for.
const COUNTERS: [(&[u8], Told); 6] = [
    (b"pswpin", Told::Bytes("machine.swap.in")),
    (b"pswpout", Told::Bytes("machine.swap.out")),
    (b"pgmajfault", Told::Number("machine.page-faults.major")),
    // Kernels before 5.9 have one counter for both.
    (b"workingset_refault", Told::Number("machine.refaults")),
    (b"workingset_refault_anon", Told::Number("machine.refaults")),
    (b"workingset_refault_file", Told::Number("machine.refaults")),
];

/// What becomes of a counter's growth.
#[derive(Debug, Clone, Copy)]
enum Told {
    /// Pages, told in bytes.
    Bytes(&'static str),
    Number(&'static str),
}

/// The counters and their last reading.
#[derive(Debug)]
pub(crate) struct Paging {
    file: KeptFile,
    page_bytes: u64,
    last: Option<(Instant, [Option<u64>; COUNTERS.len()])>,
}

impl Paging {
    pub(crate) fn new(page_bytes: u64) -> Self {
        Self {
            file: KeptFile::new("/proc/vmstat"),
            page_bytes,
            last: None,
        }
    }

    pub(crate) fn sample(&mut self, now: Instant, files: &mut Files, reading: &mut Reading) {
        let counted = self.file.read(files).map(counted);
        if let (Some(counted), Some((then, before))) = (counted, self.last) {
            let elapsed_s = now.duration_since(then).as_secs_f64();
            for (at, (_, told)) in COUNTERS.iter().enumerate() {
                let grown = before[at].zip(counted[at]);
                let Some(pages) = grown.and_then(|(before, now)| rate(before, now, elapsed_s))
                else {
                    continue;
                };
                let (signal, figure) = match told {
                    Told::Bytes(signal) => (*signal, pages * self.page_bytes as f64),
                    Told::Number(signal) => (*signal, pages),
                };
                let so_far = reading.get(signal).copied().unwrap_or(0.0);
                put(reading, signal, Some(so_far + figure));
            }
        }
        self.last = counted.map(|counted| (now, counted));
    }
}

fn counted(text: &[u8]) -> [Option<u64>; COUNTERS.len()] {
    let mut found = [None; COUNTERS.len()];
    for line in lines(text) {
        let mut columns = words(line);
        let name = columns.next().unwrap_or_default();
        if let Some(at) = COUNTERS.iter().position(|(counter, _)| *counter == name) {
            found[at] = columns.next().and_then(number);
        }
    }
    found
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are whole numbers")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn both_kinds_of_refaults_are_one_signal() {
        let text = b"nr_free_pages 9\nworkingset_refault_anon 5\nworkingset_refault_file 7\n\
            pswpin 1\npswpout 2\npgmajfault 30\npgmajfault_x 4\n";
        assert_eq!(
            counted(text),
            [Some(1), Some(2), Some(30), None, Some(5), Some(7)]
        );
        let mut paging = Paging::new(4096);
        let now = Instant::now();
        let then = now.checked_sub(Duration::from_secs(2)).unwrap_or(now);
        let file = tempfile::NamedTempFile::new();
        let file = file.as_ref().map(tempfile::NamedTempFile::path);
        let Ok(path) = file else {
            panic!("a file can be made");
        };
        std::fs::write(path, text).unwrap_or_default();
        paging.file = KeptFile::new(path.to_string_lossy());
        paging.last = Some((then, [Some(1), Some(0), Some(10), None, Some(1), Some(1)]));
        let mut reading = Reading::new();
        paging.sample(now, &mut Files::here(), &mut reading);
        assert_eq!(reading["machine.swap.in"], 0.0);
        assert_eq!(reading["machine.swap.out"], 4096.0);
        assert_eq!(reading["machine.page-faults.major"], 10.0);
        assert_eq!(reading["machine.refaults"], 5.0);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: Vec<u8>) {
            let _ = counted(&text);
        }
    }
}
