//! Rows for each sample, written beside the runtimes.
//!
//! A runtime collects rows and hands them over in batches; one thread formats and writes them. When
//! that thread falls far behind, the runtimes wait for it, which makes users late: rows are never
//! dropped, and the lateness shows. Rows stand nearly, not exactly, in the order of their ends.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use weir_record::{JtlError, JtlWriter, SampleRow, SaveConfiguration, open_jtl};

use crate::audience::{Audience, Audiences, Wanted};
use crate::backend::SentFigures;
use crate::census::{Census, UserCounts};
use crate::control::{Control, Stage};
use crate::error::LoadError;
use crate::listener_files::{ListenerFiles, Unwritten};

/// Rows in a batch.
const BATCH_ROWS: usize = 512;
/// Batches that wait to be written, all runtimes together: about 8 MB.
const BATCHES_MAX: usize = 64;

/// Hears of each sample, on the thread that writes the rows, in the order of the rows.
pub type SampleObserver = Box<dyn FnMut(&SampleRow, UserCounts) + Send>;

/// Who gets each sample: a file in JMeter's format, an observer, the files of the plan's listeners,
/// or all of them.
///
/// As with JMeter, a file that has rows already is continued without a second header.
#[derive(Default)]
pub struct SampleSink {
    file: Option<(PathBuf, SaveConfiguration)>,
    observer: Option<SampleObserver>,
    listeners: Option<SaveConfiguration>,
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
            ..Self::default()
        }
    }

    /// Listeners in the plan write their files too. What their own settings cannot say (dates,
    /// delimiter, variables) is as in this configuration.
    #[must_use]
    pub fn with_listeners(mut self, all: SaveConfiguration) -> Self {
        self.listeners = Some(all);
        self
    }

    /// Samples to this observer too.
    #[must_use]
    pub fn observed(mut self, observer: SampleObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// What files of listeners take from the test's properties, if they are to be written.
    pub(crate) fn listeners(&self) -> Option<&SaveConfiguration> {
        self.listeners.as_ref()
    }

    /// The test's result file.
    pub(crate) fn result_file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// What the result file shows of samples.
    pub(crate) fn wanted(&self) -> Wanted {
        let file = self.file.as_ref();
        file.map_or_else(Wanted::default, |(_, configuration)| {
            Wanted::by(configuration)
        })
    }

    /// Names of the variables whose values are written with each sample.
    pub(crate) fn variables(&self) -> Vec<String> {
        let file = self.file.as_ref().map(|(_, configuration)| configuration);
        let configuration = file.or(self.listeners.as_ref());
        configuration.map_or_else(Vec::new, |configuration| configuration.variables.clone())
    }

    /// Opens the file.
    pub(crate) fn open(
        self,
        listeners: ListenerFiles,
        audiences: Audiences,
    ) -> Result<RowWriter, LoadError> {
        let file = self.file.map(|(path, configuration)| {
            let jtl = open_jtl(&path, configuration)
                .map_err(|error| LoadError::cannot_open(&path, error))?;
            Ok::<_, LoadError>((path, jtl))
        });
        Ok(RowWriter {
            file: file.transpose()?,
            observer: self.observer,
            listeners,
            audiences,
        })
    }
}

/// The writing side: open files.
pub(crate) struct RowWriter {
    file: Option<(PathBuf, Jtl)>,
    observer: Option<SampleObserver>,
    listeners: ListenerFiles,
    audiences: Audiences,
}

type Jtl = JtlWriter<BufWriter<File>>;

/// What became of the rows.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Rows in the file.
    pub(crate) rows: u64,
    /// Why there are not more.
    pub(crate) problem: Option<String>,
    /// What Backend Listeners sent.
    pub(crate) sent: Vec<SentFigures>,
}

/// A sample on its way to those who hear of it.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) row: SampleRow,
    pub(crate) audience: Audience,
}

/// Where runtimes send their batches.
pub(crate) type Batches = SyncSender<Vec<Told>>;

/// The bounded way from the runtimes to the writer.
pub(crate) fn batches() -> (Batches, Receiver<Vec<Told>>) {
    sync_channel(BATCHES_MAX)
}

impl RowWriter {
    /// Writes all batches until there are no more. If that fails (the disk is full), the load is
    /// stopped and what still comes is thrown away.
    pub(crate) fn run(
        self,
        batches: &Receiver<Vec<Told>>,
        control: &Control,
        census: &Census,
    ) -> Written {
        let mut written = Written::default();
        let mut rows = Rows {
            file: self.file,
            observer: self.observer,
            listeners: self.listeners,
            audiences: self.audiences,
            unsure: 0,
            written: 0,
        };
        if let Err(Unwritten { path, error }) = rows.write_all(batches, census) {
            control.order(Stage::Stopping);
            written.problem = Some(format!(
                "failed to write {} after {} samples: {}",
                path.display(),
                rows.written,
                root_cause(&error)
            ));
            while batches.recv().is_ok() {}
        }
        written.rows = rows.written;
        written.sent = rows.listeners.finish_sending();
        written
    }
}

/// Rows on their way.
struct Rows {
    file: Option<(PathBuf, Jtl)>,
    observer: Option<SampleObserver>,
    listeners: ListenerFiles,
    audiences: Audiences,
    /// Rows that may not have reached the file.
    unsure: u64,
    written: u64,
}

impl Rows {
    fn write_all(
        &mut self,
        batches: &Receiver<Vec<Told>>,
        census: &Census,
    ) -> Result<(), Unwritten> {
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
            for told in &batch {
                self.tell(told, census)?;
            }
        }
        self.listeners.finish()?;
        if let Some((path, jtl)) = self.file.take() {
            jtl.finish().map_err(|error| Unwritten { path, error })?;
        }
        self.flush()
    }

    fn tell(&mut self, told: &Told, census: &Census) -> Result<(), Unwritten> {
        let hearers = self.audiences.hearers(told.audience);
        if !hearers.listeners.is_empty() {
            let users = census.counts();
            self.listeners.tell(&hearers.listeners, &told.row, users)?;
        }
        if !hearers.test {
            return Ok(());
        }
        if let Some(observer) = &mut self.observer {
            observer(&told.row, census.counts());
        }
        if let Some((path, jtl)) = &mut self.file {
            let written = jtl.write(&told.row);
            written.map_err(|error| unwritten(path, error))?;
        }
        self.unsure += 1;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Unwritten> {
        self.listeners.flush()?;
        if let Some((path, jtl)) = &mut self.file {
            jtl.flush().map_err(|error| unwritten(path, error))?;
        }
        self.written += std::mem::take(&mut self.unsure);
        Ok(())
    }
}

fn unwritten(path: &Path, error: JtlError) -> Unwritten {
    Unwritten {
        path: path.to_owned(),
        error,
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
    rows: RefCell<Vec<Told>>,
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
    pub(crate) fn push(&self, row: SampleRow, audience: Audience) {
        let mut rows = self.rows.borrow_mut();
        rows.push(Told { row, audience });
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
        let writer = sink
            .open(ListenerFiles::default(), Audiences::default())
            .unwrap();
        let (batches, received) = batches();
        let control = Control::new();
        let thread = std::thread::spawn({
            let control = control.clone();
            move || writer.run(&received, &control, &Census::new(1, Vec::new()))
        });
        let batch = RowBatch::new(batches);
        for at in 0..rows {
            let row = SampleRow {
                timestamp_ms: at as u64,
                ..SampleRow::default()
            };
            batch.push(row, Audience::default());
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
        assert_eq!(sink.wanted(), Wanted::default());
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
        let error = SampleSink::new("/dev/null/out.jtl")
            .open(ListenerFiles::default(), Audiences::default())
            .err()
            .unwrap();
        assert_eq!(error.to_string(), "open /dev/null/out.jtl for samples");
    }
}
