//! The samples of a result file, kept so small that a file of tens of millions fits.
//!
//! Rows stand in a file in about the order in which samples ended, but not quite, and files that
//! were put together from several do not. So all are read before they are counted by seconds.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use weir_record::{
    Adjustment, AdjustmentKind, ClassSecond, Connects, JtlError, JtlReader, LABELS_MAX, LoadSecond,
    OTHER_LABELS, Parts, SampleRow, SaveConfiguration,
};

use crate::IntakeError;
use crate::broken::Broken;
use crate::foreign;
use crate::stretches::{self, Stretch};

/// One load test lasts no longer.
const DAYS_MAX: u64 = 7;
const DAY_MS: u64 = 86_400_000;

/// A result file that has been read: one test, or several of which each is taken by itself.
#[derive(Debug)]
pub struct ResultFile(Samples);

/// The samples of one test.
#[derive(Debug)]
pub struct Samples {
    file: String,
    kept: Vec<Kept>,
    labels: Vec<String>,
    codes: Vec<String>,
    threads: Vec<String>,
    /// Rows of transaction controllers whose samples count themselves.
    sums: u64,
    /// Rows that stood in the file twice.
    doubles: u64,
    /// How users were told, where it was not by the file's own count.
    users_by: Option<UsersBy>,
    /// What is said of the tests that the file holds, where it is more than one.
    parts: Option<Adjustment>,
    broken: Broken,
    start_ms: u64,
    end_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    end_ms: u64,
    /// More than 49 days count as that.
    elapsed_ms: u32,
    connect_ms: u32,
    label: u32,
    thread: u32,
    /// Twice the index of its response code, and one more if it failed.
    outcome: u32,
    users: u32,
}

/// Seconds from 1970 to the years between which load tests are.
const YEAR_2000_S: u64 = 946_684_800;
const YEAR_2100_S: u64 = 4_102_444_800;

/// Where the number of users is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UsersBy {
    /// The file has no count: the threads between their first and their last sample.
    Threads,
    /// The file's count is less than its threads: each of several engines counts its own.
    Engines,
}

impl Kept {
    fn start_ms(&self) -> u64 {
        self.end_ms.saturating_sub(u64::from(self.elapsed_ms))
    }
}

/// Which of the tests is taken that one file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The one with most samples.
    Largest,
    /// Each, as a trial of its own.
    Each,
    /// This one, from 1.
    Number(usize),
}

impl ResultFile {
    /// Reads a result file, CSV or XML; times without a zone are of this one.
    pub fn read(input: impl Read, file: &str, zone: &TimeZone) -> Result<Self, IntakeError> {
        Self::of(Box::new(input), file, zone)
    }

    fn of(input: Box<dyn Read + '_>, file: &str, zone: &TimeZone) -> Result<Self, IntakeError> {
        let failed = |source| IntakeError::Jtl {
            file: file.to_owned(),
            source,
        };
        let input = foreign::opened(input).map_err(|error| failed(JtlError::Read(error)))?;
        let input = input.map_err(|says| IntakeError::NoSample {
            file: file.to_owned(),
            says,
        })?;
        let rows = JtlReader::with(input, &SaveConfiguration::default(), zone).map_err(failed)?;
        let mut reading = Reading::default();
        for row in rows {
            match row {
                Ok(row) => reading.row(&row),
                Err(error) if error.is_one_row() || is_cut_off(&error) => {
                    reading.untimed += u64::from(error.is_time());
                    reading.broken.add(|| error.to_string());
                }
                Err(error) => return Err(failed(error)),
            }
        }
        reading.finish(file).map(Self)
    }

    /// The tests that the file holds: stretches of samples with a long time between them in which
    /// nothing was sent. JMeter adds to a result file that is there.
    ///
    /// # Errors
    /// There is no part of this number, or it lasts too long for one load test.
    pub fn parts(self, part: Part) -> Result<Vec<Samples>, IntakeError> {
        let Self(all) = self;
        let spans = all.kept.iter().map(|kept| (kept.start_ms(), kept.end_ms));
        let stretches = stretches::of(spans);
        let chosen: Vec<usize> = match part {
            Part::Each => (0..stretches.len()).collect(),
            Part::Number(number) if (1..=stretches.len()).contains(&number) => vec![number - 1],
            Part::Number(number) => {
                return Err(IntakeError::NoPart {
                    file: all.file,
                    number,
                    parts: stretches.len(),
                });
            }
            // Of those that are as large, the first.
            Part::Largest => (0..stretches.len())
                .max_by_key(|at| (stretches[*at].samples.len(), Reverse(*at)))
                .into_iter()
                .collect(),
        };
        let chosen = chosen.into_iter();
        chosen.map(|at| all.part(&stretches, at)).collect()
    }
}

impl Samples {
    fn part(&self, stretches: &[Stretch], at: usize) -> Result<Self, IntakeError> {
        let Stretch {
            start_ms,
            end_ms,
            samples,
        } = stretches[at].clone();
        if end_ms - start_ms > DAYS_MAX * DAY_MS {
            return Err(IntakeError::TooLong {
                file: self.file.clone(),
                from: moment(start_ms),
                until: moment(end_ms),
                days: DAYS_MAX,
            });
        }
        let mut kept = self.kept[samples].to_vec();
        let users_by = tell_users(&mut kept, &self.threads);
        Ok(Self {
            file: self.file.clone(),
            parts: (stretches.len() > 1).then(|| self.several(stretches, at)),
            kept,
            labels: self.labels.clone(),
            codes: self.codes.clone(),
            threads: self.threads.clone(),
            sums: self.sums,
            doubles: self.doubles,
            users_by,
            broken: self.broken.clone(),
            start_ms,
            end_ms,
        })
    }

    /// What is said of the tests in the file, of which one is taken.
    fn several(&self, stretches: &[Stretch], at: usize) -> Adjustment {
        const NAMED_MAX: usize = 6;
        let spans = stretches.iter().enumerate().take(NAMED_MAX);
        let mut spans: Vec<String> = spans
            .map(|(number, of)| {
                let (from, until) = (moment(of.start_ms), moment(of.end_ms));
                let samples = of.samples.len();
                format!("part {}: {from} to {until}, {samples} samples", number + 1)
            })
            .collect();
        if stretches.len() > NAMED_MAX {
            spans.push("…".to_owned());
        }
        let gap = stretches.windows(2).map(|of| of[1].start_ms - of[0].end_ms);
        let (parts, gap_s) = (stretches.len(), gap.max().unwrap_or(0) / 1_000);
        let left = self.kept.len() - stretches[at].samples.len();
        let says = format!(
            "{}: it looks like {parts} tests in one file ({}): nothing was sent for up to {gap_s} s between them. Part {} \
             is taken, {:.1} % of the file's samples are left out; weir explain --part N takes another, --part each all of them",
            self.file,
            spans.join("; "),
            at + 1,
            left as f64 * 100.0 / self.kept.len() as f64,
        );
        Adjustment {
            id: AdjustmentKind::RowsOfOtherTests,
            count: left as u64,
            says,
        }
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.kept.len() as u64
    }

    /// The start of the first sample and the end of the last, in milliseconds since 1970.
    pub fn span_ms(&self) -> (u64, u64) {
        (self.start_ms, self.end_ms)
    }

    /// Most users at once; `None` when the file does not say.
    pub fn users(&self) -> Option<u32> {
        let most = self.kept.iter().map(|kept| kept.users).max();
        most.filter(|most| *most > 0)
    }

    /// What of the file is not counted as it stands there.
    pub(crate) fn adjustments(&self) -> Vec<Adjustment> {
        let sums = Adjustment::counted(AdjustmentKind::RowsOfTransactions, self.sums, || {
            format!(
                "{}: {} row(s) of transaction controllers are left out, because the samples that they sum up are counted",
                self.file, self.sums
            )
        });
        let (file, doubles) = (&self.file, self.doubles);
        let doubles = Adjustment::counted(AdjustmentKind::RowsTwice, doubles, || {
            let share = doubles as f64 * 100.0 / (self.count() + doubles) as f64;
            format!(
                "{file}: {doubles} row(s) stand in it twice ({share:.1} %) and are counted once: a thread sends one request \
                 at a time"
            )
        });
        let parts = self.parts.clone().into_iter();
        parts
            .chain(sums)
            .chain(doubles)
            .chain(self.broken.adjustment(&self.file))
            .collect()
    }

    /// What else a reader should know of the file.
    pub(crate) fn note(&self) -> Option<String> {
        self.users_by.map(|by| match by {
            UsersBy::Threads => format!(
                "{}: it does not count its users (allThreads); they are told from its threads, each there from its first \
                 to its last sample",
                self.file
            ),
            UsersBy::Engines => format!(
                "{}: it names more threads at a time than it counts users (allThreads), as several engines do that each \
                 count their own; the threads are taken",
                self.file
            ),
        })
    }

    /// The start of second 0, in seconds since 1970.
    pub(crate) fn origin_s(&self) -> i64 {
        (self.start_ms / 1_000).cast_signed()
    }

    /// The samples by the second in which they ended.
    pub(crate) fn seconds(&self) -> impl Iterator<Item = LoadSecond> + '_ {
        let origin_ms = self.start_ms / 1_000 * 1_000;
        let last = (self.end_ms - origin_ms) / 1_000;
        let mut at = 0;
        let mut users = 0;
        // A file without the column has nothing but zeros there.
        let tells_connects = self.kept.iter().any(|kept| kept.connect_ms > 0);
        (0..=last).map(move |number| {
            let mut second = LoadSecond::empty(number);
            let mut connecting_ms = 0;
            let until = origin_ms + (number + 1) * 1_000;
            while let Some(kept) = self.kept.get(at).filter(|kept| kept.end_ms < until) {
                at += 1;
                users = kept.users;
                connecting_ms += u64::from(kept.connect_ms);
                let label = &self.labels[kept.label as usize];
                let known = second
                    .classes
                    .iter()
                    .position(|class| class.label == *label);
                let place = known.unwrap_or_else(|| {
                    second.classes.push(ClassSecond::empty(label));
                    second.classes.len() - 1
                });
                let code = &self.codes[(kept.outcome / 2) as usize];
                let success = kept.outcome % 2 == 0;
                second.classes[place].count(kept.elapsed_ms.into(), code, success);
            }
            second.users = users;
            second.connects = tells_connects.then(|| Connects {
                made: None,
                took_s: connecting_ms as f64 / 1e3,
            });
            second
        })
    }
}

/// A writer that was killed leaves its last sample half written.
fn is_cut_off(error: &JtlError) -> bool {
    matches!(error, JtlError::CutOff { .. })
}

/// Counts the users by the threads where the file does not count them, or counts those of one
/// engine only.
fn tell_users(kept: &mut [Kept], threads: &[String]) -> Option<UsersBy> {
    let is_named = kept
        .iter()
        .all(|kept| !threads[kept.thread as usize].is_empty());
    if !is_named {
        return None;
    }
    let mut spans: HashMap<u32, (u64, u64)> = HashMap::new();
    for kept in &*kept {
        let (start, end) = (kept.start_ms(), kept.end_ms);
        let span = spans.entry(kept.thread).or_insert((start, end));
        *span = (span.0.min(start), span.1.max(end));
    }
    let mut starts: Vec<u64> = spans.values().map(|span| span.0).collect();
    let mut ends: Vec<u64> = spans.values().map(|span| span.1).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let users_at = |at_ms: u64| {
        let begun = starts.partition_point(|start| *start <= at_ms);
        (begun - ends.partition_point(|end| *end < at_ms)) as u32
    };
    let counted = kept.iter().map(|kept| kept.users).max().unwrap_or(0);
    let by = if counted == 0 {
        UsersBy::Threads
    } else {
        let more = |kept: &&Kept| users_at(kept.end_ms) > kept.users;
        let engines: HashSet<&str> = threads.iter().map(|name| engine(name)).collect();
        // One engine has no more threads than it counts, but for those that have just ended.
        let most_have_more = kept.iter().filter(more).count() * 2 > kept.len();
        if engines.len() < 2 || !most_have_more {
            return None;
        }
        UsersBy::Engines
    };
    for kept in kept {
        kept.users = users_at(kept.end_ms);
    }
    Some(by)
}

/// What stands before the group's name of a thread that a remote engine ran: `10.0.0.7-Users 1-3`.
fn engine(thread: &str) -> &str {
    let (engine, _) = thread.split_once('-').unwrap_or_default();
    let is_host = engine.contains(['.', ':']) && !engine.contains(' ');
    if is_host { engine } else { "" }
}

#[derive(Default)]
struct Reading {
    kept: Vec<Kept>,
    labels: Names,
    codes: Names,
    threads: Threads,
    parts: Parts,
    /// Of each thread, the last sample that counts.
    last: HashMap<Arc<str>, (u64, u64)>,
    sums: u64,
    broken: Broken,
    /// Rows among them whose time cannot be read.
    untimed: u64,
    start_ms: Option<u64>,
}

impl Reading {
    fn row(&mut self, row: &SampleRow) {
        if self.parts.is_part(row) {
            return;
        }
        let span = (row.timestamp_ms, row.end_ms());
        let before = self.last.get(&row.thread_name);
        // The pauses between its parts may be in no column, so that it seems to end before them.
        let sums_up = before.is_some_and(|part| span.0 <= part.0);
        if row.is_transaction && (sums_up || row.is_empty_transaction()) {
            self.sums += 1;
            return;
        }
        self.last.insert(Arc::clone(&row.thread_name), span);
        self.start_ms = Some(self.start_ms.map_or(span.0, |first| first.min(span.0)));
        self.kept.push(Kept {
            end_ms: span.1,
            elapsed_ms: u32::try_from(row.elapsed_ms).unwrap_or(u32::MAX),
            connect_ms: u32::try_from(row.connect_ms).unwrap_or(u32::MAX),
            label: self.labels.of(&row.label),
            thread: self.threads.of(&row.thread_name),
            outcome: 2 * self.codes.of(&row.response_code) + u32::from(!row.success),
            users: row.all_threads,
        });
    }

    /// What is said of times that are no milliseconds since 1970, told by where they would be.
    fn other_unit(&self) -> Option<String> {
        let first = self.kept.first()?.start_ms();
        let are_all = |low: u64, high: u64| {
            let mut times = self.kept.iter().map(Kept::start_ms);
            times.all(|time| (low..high).contains(&time))
        };
        let unit = [
            (1, "seconds"),
            (1_000_000, "microseconds"),
            (1_000_000_000, "nanoseconds"),
        ];
        let (_, unit) = unit
            .into_iter()
            .find(|(per_s, _)| are_all(YEAR_2000_S * per_s, YEAR_2100_S * per_s))?;
        Some(format!(
            "its times ({first} …) are {unit} since 1970, it seems, where JMeter writes milliseconds: as such they would \
             be of another time, and every rate wrong; write milliseconds"
        ))
    }

    fn finish(mut self, file: &str) -> Result<Samples, IntakeError> {
        let no_sample = |says: &str| IntakeError::NoSample {
            file: file.to_owned(),
            says: says.to_owned(),
        };
        let Some(start_ms) = self.start_ms else {
            return Err(match self.broken.count {
                0 => no_sample("it is empty, or has a header and nothing else"),
                count if self.untimed == count => no_sample(&format!(
                    "none of its times can be read; Weir reads milliseconds since 1970, \
                     yyyy/MM/dd HH:mm:ss.SSS, yyyy-MM-dd HH:mm:ss.SSS, MM/dd/yy HH:mm:ss and ISO 8601: write it with \
                     jmeter.save.saveservice.timestamp_format=ms; {}",
                    self.broken.first.join("; ")
                )),
                _ => no_sample(&format!(
                    "none of its {} lines is one; {}",
                    self.broken.count,
                    self.broken.first.join("; ")
                )),
            });
        };
        self.broken.check(file, self.kept.len() as u64)?;
        if let Some(says) = self.other_unit() {
            return Err(no_sample(&says));
        }
        let doubles = self.drop_doubles();
        let end_ms = self.kept.last().map_or(start_ms, |last| last.end_ms);
        Ok(Samples {
            file: file.to_owned(),
            kept: self.kept,
            labels: self.labels.names,
            codes: self.codes.names,
            threads: self.threads.names,
            sums: self.sums,
            doubles,
            users_by: None,
            parts: None,
            broken: self.broken,
            start_ms,
            end_ms,
        })
    }

    /// Sorts the samples by their ends and drops those that stand there twice, because two
    /// listeners wrote into one file or a file was put together with itself: a thread has no second
    /// sample of the same label, start and end, unless it takes no time.
    fn drop_doubles(&mut self) -> u64 {
        let key = |kept: &Kept| (kept.end_ms, kept.thread, kept.label, kept.elapsed_ms);
        self.kept.sort_by_key(key);
        let before = self.kept.len();
        let unnamed = self.threads.names.iter().position(String::is_empty);
        let unnamed = unnamed.map(|at| at as u32);
        self.kept.dedup_by(|one, other| {
            key(one) == key(other) && one.elapsed_ms > 0 && Some(one.thread) != unnamed
        });
        (before - self.kept.len()) as u64
    }
}

/// A moment in UTC for people.
fn moment(epoch_ms: u64) -> String {
    let moment = Timestamp::from_millisecond(epoch_ms.cast_signed());
    moment.map_or_else(|_| epoch_ms.to_string(), |moment| moment.to_string())
}

/// Names of threads, each kept once; there are as many as there are users.
#[derive(Default)]
struct Threads {
    names: Vec<String>,
    known: HashMap<Arc<str>, u32>,
}

impl Threads {
    fn of(&mut self, name: &Arc<str>) -> u32 {
        *self.known.entry(Arc::clone(name)).or_insert_with(|| {
            self.names.push(name.to_string());
            self.names.len() as u32 - 1
        })
    }
}

/// Texts that come again and again, each kept once.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    known: HashMap<Box<str>, u32>,
}

impl Names {
    fn of(&mut self, name: &str) -> u32 {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let name = if self.names.len() < LABELS_MAX {
            name
        } else {
            OTHER_LABELS
        };
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.known.insert(name.into(), number);
        number
    }
}
