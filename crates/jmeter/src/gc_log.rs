//! The pauses of JMeter's garbage collector, from the log that Java writes.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use weir_record::Reading;
use weir_record::names::{LOAD_GC_COUNT as COUNT, LOAD_GC_PAUSE as PAUSE};

/// A log that grows.
#[derive(Debug)]
pub(crate) struct GcLog {
    path: PathBuf,
    read: u64,
    rest: String,
    origin_ms: u64,
    pauses: Vec<(u64, f64)>,
}

/// What makes Java write the log: one line a collection, with the wall clock's milliseconds. Java
/// 8 knows nothing of it and is told to take no offence; there are no such figures then.
pub(crate) fn java_options(log: &Path) -> Vec<String> {
    let path = log.display().to_string();
    // Java would take what follows a colon for something else.
    if path.contains([':', ',', '"', '%']) {
        return Vec::new();
    }
    vec![
        "-XX:+IgnoreUnrecognizedVMOptions".to_owned(),
        format!("-Xlog:gc:file={path}:timemillis"),
    ]
}

impl GcLog {
    pub(crate) fn new(path: &Path, origin_ms: u64) -> Self {
        Self {
            path: path.to_owned(),
            read: 0,
            rest: String::new(),
            origin_ms,
            pauses: Vec::new(),
        }
    }

    /// Reads what is new. A log that cannot be read gives no figures.
    pub(crate) fn read(&mut self) {
        let Ok(mut file) = File::open(&self.path) else {
            return;
        };
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(self.read)).is_err() || file.read_to_end(&mut bytes).is_err() {
            return;
        }
        self.read += bytes.len() as u64;
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        let whole = self.rest.rfind('\n').map_or(0, |at| at + 1);
        let lines: String = self.rest.drain(..whole).collect();
        self.pauses.extend(lines.lines().filter_map(pause));
    }

    /// What there is to say of a second; nothing when there is no log.
    pub(crate) fn second(&mut self, second: u64) -> Reading {
        let mut reading = Reading::new();
        if self.read == 0 {
            return reading;
        }
        let end_ms = self.origin_ms + (second + 1) * 1_000;
        let (of_this, later): (Vec<_>, Vec<_>) =
            self.pauses.iter().partition(|(at_ms, _)| *at_ms < end_ms);
        self.pauses = later;
        let start_ms = end_ms - 1_000;
        let pauses = of_this
            .iter()
            .filter(|(at_ms, _)| *at_ms >= start_ms)
            .map(|(_, pause_s)| pause_s);
        let (mut count, mut sum) = (0.0, 0.0);
        for pause_s in pauses {
            count += 1.0;
            sum += pause_s;
        }
        reading.insert(PAUSE.to_owned(), sum);
        reading.insert(COUNT.to_owned(), count);
        reading
    }
}

/// End of a pause and its length in seconds.
fn pause(line: &str) -> Option<(u64, f64)> {
    let (at, what) = line.strip_prefix('[')?.split_once("ms]")?;
    let length = what.rsplit(' ').next()?.strip_suffix("ms")?;
    let length_ms: f64 = length.parse().ok()?;
    what.contains(" Pause ")
        .then_some((at.parse().ok()?, length_ms / 1e3))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// Written by Java 17.
    const LOG: &str = "[1795238049335ms] Using G1\n\
[1795238050100ms] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 51M->8M(1024M) 12.500ms\n\
[1795238050200ms] GC(1) Concurrent Mark Cycle 30.100ms\n\
[1795238050900ms] GC(1) Pause Remark 60M->60M(1024M) 2.500ms\n\
[1795238052000ms] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 90M->9M(1024M) 1.000ms\n";

    #[test]
    fn pauses_belong_to_the_second_in_which_they_ended() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("gc.log");
        let mut log = GcLog::new(&path, 1_795_238_050_000);
        log.read();
        assert!(log.second(0).is_empty(), "there is no log");
        std::fs::write(&path, LOG).unwrap();
        log.read();
        let first = log.second(0);
        assert!((first[PAUSE] - 0.015).abs() < 1e-9, "{first:?}");
        assert!((first[COUNT] - 2.0).abs() < 1e-9);
        assert!(log.second(1)[PAUSE].abs() < 1e-9);
        assert!((log.second(2)[COUNT] - 1.0).abs() < 1e-9);
    }
}
