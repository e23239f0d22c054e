//! Rows for each sample, written beside the runtimes.
//!
//! A runtime collects rows and hands them over in batches; one thread formats and writes them. When
//! that thread falls far behind, the runtimes wait for it, which makes users late: rows are never
//! dropped, and the lateness shows. Rows stand nearly, not exactly, in the order of their ends.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use weir_record::{JtlError, JtlWriter, SampleRow, SaveConfiguration, open_jtl};

use crate::control::{Control, Stage};
use crate::core::Census;
use crate::error::LoadError;

/// Rows in a batch.
const BATCH_ROWS: usize = 512;
/// Batches that wait to be written, all runtimes together: about 8 MB.
const BATCHES_MAX: usize = 64;

/// Users of a test at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UserCounts {
    /// Users that run.
    pub active: u32,
    /// Users that have started, those that ended included.
    pub started: u32,
}

impl UserCounts {
    /// Users that have ended.
    pub fn finished(self) -> u32 {
        self.started.saturating_sub(self.active)
    }
}

/// Hears of each sample, on the thread that writes the rows, in the order of the rows.
pub type SampleObserver = Box<dyn FnMut(&SampleRow, UserCounts) + Send>;

/// Who gets each sample: a file in JMeter's format, an observer, or both.
///
/// As with JMeter, a file that has rows already is continued without a second header.
#[derive(Default)]
pub struct SampleSink {
    file: Option<(PathBuf, SaveConfiguration)>,
    observer: Option<SampleObserver>,
}

impl fmt::Debug for SampleSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SampleSink")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl SampleSink {
    /// Rows into this file, which is created if need be, with the columns JMeter writes by default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with(path, SaveConfiguration::default())
    }

    /// Samples into this file, written as the configuration says.
    pub fn with(path: impl Into<PathBuf>, configuration: SaveConfiguration) -> Self {
        Self {
            file: Some((path.into(), configuration)),
            observer: None,
        }
    }

    /// Samples to this observer too.
    #[must_use]
    pub fn observed(mut self, observer: SampleObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Whether samples need their details: see [`SaveConfiguration::wants_details`].
    pub fn wants_details(&self) -> bool {
        let file = self.file.as_ref();
        file.is_some_and(|(_, configuration)| configuration.wants_details())
    }

    /// Opens the file.
    pub(crate) fn open(self) -> Result<RowWriter, LoadError> {
        let file = self.file.map(|(path, configuration)| {
            let opened = open_jtl(&path, configuration);
            let jtl = opened.map_err(|error| match error {
                JtlError::Open { path, source } => LoadError::OpenSamples { path, source },
                other => LoadError::OpenSamples {
                    path: path.clone(),
                    source: std::io::Error::other(other),
                },
            })?;
            Ok::<_, LoadError>((path, jtl))
        });
        Ok(RowWriter {
            file: file.transpose()?,
            observer: self.observer,
        })
    }
}

/// The writing side: an open file.
pub(crate) struct RowWriter {
    file: Option<(PathBuf, Jtl)>,
    observer: Option<SampleObserver>,
}

type Jtl = JtlWriter<BufWriter<File>>;

/// What became of the rows.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Rows in the file.
    pub(crate) rows: u64,
    /// Why there are not more.
    pub(crate) problem: Option<String>,
}

/// Where runtimes send their batches.
pub(crate) type Batches = SyncSender<Vec<SampleRow>>;

/// The bounded way from the runtimes to the writer.
pub(crate) fn batches() -> (Batches, Receiver<Vec<SampleRow>>) {
    sync_channel(BATCHES_MAX)
}

impl RowWriter {
    /// Writes all batches until there are no more. If that fails (the disk is full), the load is
    /// stopped and what still comes is thrown away.
    pub(crate) fn run(
        self,
        batches: &Receiver<Vec<SampleRow>>,
        control: &Control,
        census: &Census,
    ) -> Written {
        let mut written = Written::default();
        let (path, jtl) = self.file.unzip();
        let mut rows = Rows {
            jtl,
            observer: self.observer,
            unsure: 0,
            written: 0,
        };
        if let Err(error) = rows.write_all(batches, census) {
            control.order(Stage::Stopping);
            written.problem = Some(format!(
                "failed to write {} after {} samples: {}",
                path.unwrap_or_default().display(),
                rows.written,
                root_cause(&error)
            ));
            while batches.recv().is_ok() {}
        }
        written.rows = rows.written;
        written
    }
}

/// Rows on their way.
struct Rows {
    jtl: Option<Jtl>,
    observer: Option<SampleObserver>,
    /// Rows that may not have reached the file.
    unsure: u64,
    written: u64,
}

impl Rows {
    fn write_all(
        &mut self,
        batches: &Receiver<Vec<SampleRow>>,
        census: &Census,
    ) -> Result<(), JtlError> {
        loop {
            let batch = match batches.try_recv() {
                Ok(batch) => batch,
                // With nothing else to do, everything goes to the file: who follows it sees it,
                // and an interrupted program loses at most what has not been handed over.
                Err(TryRecvError::Empty) => {
                    self.flush()?;
                    match batches.recv() {
                        Ok(batch) => batch,
                        Err(_) => break,
                    }
                }
                Err(TryRecvError::Disconnected) => break,
            };
            for row in &batch {
                if let Some(observer) = &mut self.observer {
                    observer(row, census.counts());
                }
                if let Some(jtl) = &mut self.jtl {
                    jtl.write(row)?;
                }
            }
            self.unsure += batch.len() as u64;
        }
        if let Some(jtl) = self.jtl.take() {
            jtl.finish()?;
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), JtlError> {
        if let Some(jtl) = &mut self.jtl {
            jtl.flush()?;
        }
        self.written += std::mem::take(&mut self.unsure);
        Ok(())
    }
}

/// The text of the innermost error, which is the operating system's.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// One runtime's rows that are not handed over yet.
#[derive(Debug)]
pub(crate) struct RowBatch {
    rows: RefCell<Vec<SampleRow>>,
    batches: Batches,
    waited: Cell<Duration>,
}

impl RowBatch {
    /// An empty batch for this writer.
    pub(crate) fn new(batches: Batches) -> Self {
        Self {
            rows: RefCell::new(Vec::with_capacity(BATCH_ROWS)),
            batches,
            waited: Cell::new(Duration::ZERO),
        }
    }

    /// Adds a row, and hands the batch over when it is full.
    pub(crate) fn push(&self, row: SampleRow) {
        let mut rows = self.rows.borrow_mut();
        rows.push(row);
        if rows.len() == BATCH_ROWS {
            drop(rows);
            self.hand_over();
        }
    }

    /// Hands over what there is; waits if the writer is far behind.
    pub(crate) fn hand_over(&self) {
        let rows = self.rows.replace(Vec::with_capacity(BATCH_ROWS));
        if rows.is_empty() {
            return;
        }
        // A writer that is gone has been dropped with its thread; there is nobody to tell.
        if let Err(TrySendError::Full(rows)) = self.batches.try_send(rows) {
            let from = Instant::now();
            let _ = self.batches.send(rows);
            self.waited.set(self.waited.get() + from.elapsed());
        }
    }

    /// How long the runtime has waited for the writer.
    pub(crate) fn waited(&self) -> Duration {
        self.waited.get()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn write(path: &std::path::Path, rows: usize) -> (Written, Control) {
        write_into(SampleSink::new(path), rows)
    }

    fn write_into(sink: SampleSink, rows: usize) -> (Written, Control) {
        let writer = sink.open().unwrap();
        let (batches, received) = batches();
        let control = Control::new();
        let thread = std::thread::spawn({
            let control = control.clone();
            move || writer.run(&received, &control, &Census::new(1, Vec::new()))
        });
        let batch = RowBatch::new(batches);
        for at in 0..rows {
            batch.push(SampleRow {
                timestamp_ms: at as u64,
                ..SampleRow::default()
            });
        }
        batch.hand_over();
        drop(batch);
        (thread.join().unwrap(), control)
    }

    #[test]
    fn a_file_is_continued_without_a_second_header() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.jtl");
        assert_eq!(write(&path, 1_000).0.rows, 1_000);
        assert_eq!(write(&path, 3).0.rows, 3);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1_004);
        assert_eq!(text.matches("timeStamp").count(), 1);
    }

    #[test]
    fn an_observer_hears_of_every_sample() {
        let (heard_in, heard) = std::sync::mpsc::channel();
        let sink = SampleSink::default().observed(Box::new(move |row, users| {
            heard_in.send((row.timestamp_ms, users.active)).unwrap();
        }));
        assert!(!sink.wants_details());
        let written = write_into(sink, 1_000).0;
        assert_eq!((written.rows, written.problem), (1_000, None));
        assert_eq!(heard.iter().count(), 1_000);
    }

    #[test]
    fn a_full_disk_stops_the_load_and_says_so() {
        let (written, control) = write("/dev/full".as_ref(), 100_000);
        assert_eq!(written.rows, 0);
        let problem = written.problem.unwrap();
        assert!(
            problem.starts_with("failed to write /dev/full after 0 samples: No space left"),
            "{problem}"
        );
        assert_eq!(control.stage(), Stage::Stopping);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let error = SampleSink::new("/dev/null/out.jtl").open().err().unwrap();
        assert_eq!(error.to_string(), "open /dev/null/out.jtl for samples");
    }
}
