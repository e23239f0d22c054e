//! The file of HotSpot's performance counters, `hsperfdata_USER/PID`.
//!
//! After `PerfDataPrologue` and `PerfDataEntry` of OpenJDK's `runtime/perfMemory.hpp`, version 2.0:
//! a head of 32 bytes, then entries, each with its name and value at offsets from its own start.
//! The virtual machine keeps the file mapped, so what is read is the present. It is absent with
//! `-XX:-UsePerfData`.
//!
//! The folder lies where everybody can write. What counts as the virtual machine's own is what it
//! takes itself (`is_dirfd_secure` and `is_file_secure` of `os/posix/perfMemory_posix.cpp`): a
//! folder that nobody else can write into, a regular file with one name, both its user's, and no
//! links.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::error::JvmError;
use crate::folder::{Folder, not_of};
use crate::process::Vm;

/// Bytes of the head.
const HEAD: usize = 32;
/// Bytes of an entry before its name.
const ENTRY: usize = 20;
/// Most that is read; `PerfDataMemorySize` is 32 KiB unless told otherwise.
const LARGEST_FILE_BYTES: usize = 4 * 1024 * 1024;
/// Collectors that are looked for; no collector of HotSpot has more than these.
const COLLECTORS: u32 = 8;

/// The counters of a running virtual machine.
#[derive(Debug)]
pub struct PerfFile {
    path: PathBuf,
    file: File,
    content: Vec<u8>,
}

/// What the virtual machine counted since it was started.
#[derive(Debug, Clone, PartialEq)]
pub struct PerfCounters {
    /// Its version, such as `17.0.15+6`.
    pub version: Option<String>,
    /// The parts of its garbage collector. Times are those in which the application stood still,
    /// except for collectors that work beside it, as their names say.
    pub collectors: Vec<Collector>,
    /// How often all threads were stopped, for collections and for anything else.
    pub safepoints: Option<u64>,
    /// How long they were stopped.
    pub safepoint_s: Option<f64>,
    /// How often a thread found a monitor (`synchronized`) taken and had to be put to sleep. Locks
    /// of `java.util.concurrent` are not monitors and not counted.
    pub contended_monitors: Option<u64>,
    /// Platform threads, daemons included.
    pub threads: Option<u64>,
    /// Daemons among them.
    pub daemon_threads: Option<u64>,
}

/// One part of a garbage collector.
#[derive(Debug, Clone, PartialEq)]
pub struct Collector {
    /// Its name, such as `G1 young collection pauses`.
    pub name: String,
    /// How often it ran.
    pub count: u64,
    /// How long it ran, in all.
    pub time_s: f64,
}

impl PerfFile {
    /// The file of a virtual machine, whatever user it runs as, if that may be read.
    pub fn of(vm: &Vm) -> Result<Self, JvmError> {
        let (path, file) = find(vm)?;
        Ok(Self {
            path,
            file,
            content: Vec::new(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The present counters. An ended virtual machine leaves its last ones.
    pub fn read(&mut self) -> Result<PerfCounters, JvmError> {
        let reading = || JvmError::file("read", &self.path);
        let length = self.file.metadata().map_err(reading())?.len();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > LARGEST_FILE_BYTES {
            return Err(JvmError::PerfData("the file has more than 4 MiB"));
        }
        self.content.resize(length, 0);
        self.file
            .read_exact_at(&mut self.content, 0)
            .map_err(reading())?;
        PerfCounters::parse(&self.content)
    }
}

/// The file lies in a folder named for the user, of whom nothing but the number need be known.
fn find(vm: &Vm) -> Result<(PathBuf, File), JvmError> {
    let temporary = Folder::temporary(vm).map_err(|source| JvmError::Process {
        pid: vm.pid(),
        source,
    })?;
    let looking = || JvmError::file("look for counters in", temporary.path());
    let name = vm.own_pid().to_string();
    // What somebody else has put there, to be told when nothing better is found.
    let mut wrong = None;
    for entry in fs::read_dir(temporary.way_to(".")).map_err(looking())? {
        let folder = entry.map_err(looking())?.file_name();
        if !folder.as_encoded_bytes().starts_with(b"hsperfdata_") {
            continue;
        }
        let path = temporary.path().join(&folder).join(&name);
        let opened = temporary
            .folder(&folder)
            .and_then(|folder| open(vm, &folder, &name));
        match opened {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => wrong = Some(JvmError::file("open", path)(error)),
        }
    }
    Err(wrong.unwrap_or(JvmError::NotSpokenTo {
        pid: vm.pid(),
        why: "it keeps no file of counters (-XX:-UsePerfData, or not HotSpot)",
    }))
}

/// Opens the file, if folder and file are the virtual machine's own.
fn open(vm: &Vm, folder: &Folder, name: &str) -> io::Result<File> {
    folder.stat_of(name)?;
    let stat = folder.stat()?;
    if ![0, vm.owner().user].contains(&stat.st_uid) {
        return Err(not_of(vm.owner()));
    }
    if stat.st_mode & 0o022 != 0 {
        return Err(io::Error::other("others can write into its folder"));
    }
    folder.open_file(name, vm.owner())
}

impl PerfCounters {
    /// Reads the counters from the content of such a file.
    pub fn parse(content: &[u8]) -> Result<Self, JvmError> {
        let entries = Entries::of(content)?;
        let frequency = entries
            .number("sun.os.hrt.frequency")
            .filter(|&frequency| frequency > 0)
            .ok_or(JvmError::PerfData("the length of a tick is missing"))?
            as f64;
        let seconds = |name: &str| entries.number(name).map(|ticks| ticks as f64 / frequency);
        let collector = |at: u32| {
            let of = |what: &str| format!("sun.gc.collector.{at}.{what}");
            Some(Collector {
                name: entries.text(&of("name"))?,
                count: entries.number(&of("invocations"))?,
                time_s: seconds(&of("time"))?,
            })
        };
        Ok(Self {
            version: entries.text("java.property.java.vm.version"),
            collectors: (0..COLLECTORS).filter_map(collector).collect(),
            safepoints: entries.number("sun.rt.safepoints"),
            safepoint_s: seconds("sun.rt.safepointTime"),
            contended_monitors: entries.number("sun.rt._sync_ContendedLockAttempts"),
            threads: entries.number("java.threads.live"),
            daemon_threads: entries.number("java.threads.daemon"),
        })
    }
}

/// The part of the file that holds entries.
struct Entries<'c> {
    content: &'c [u8],
    first: usize,
    count: usize,
    little: bool,
}

impl<'c> Entries<'c> {
    fn of(content: &'c [u8]) -> Result<Self, JvmError> {
        let wrong = JvmError::PerfData;
        if content.len() < HEAD || content[..4] != [0xca, 0xfe, 0xc0, 0xc0] {
            return Err(wrong("it does not begin as such a file does"));
        }
        if content[5] != 2 {
            return Err(wrong("it has another version than 2"));
        }
        if content[7] == 0 {
            return Err(wrong("the virtual machine has not filled it yet"));
        }
        let little = content[4] == 1;
        let at = |offset| word(content, offset, little).ok_or(wrong("its head is cut short"));
        Ok(Self {
            content,
            first: at(24)?,
            count: at(28)?,
            little,
        })
    }

    /// Names and where their entries begin. An entry that reaches beyond the content ends them.
    fn each(&self) -> impl Iterator<Item = (&'c [u8], &'c [u8])> {
        let Self {
            content, little, ..
        } = *self;
        let mut next = self.first;
        (0..self.count).map_while(move |_| {
            let length = word(content, next, little)?;
            let entry = content.get(next..next.checked_add(length)?)?;
            let name = entry.get(word(entry, 4, little)?..)?;
            let name = name.split(|&byte| byte == 0).next()?;
            if length < ENTRY {
                return None;
            }
            next += length;
            Some((name, entry))
        })
    }

    fn find(&self, name: &str) -> Option<&'c [u8]> {
        let mut each = self.each();
        each.find_map(|(found, entry)| (found == name.as_bytes()).then_some(entry))
    }

    /// A single number of 64 bits; negative ones do not count anything.
    fn number(&self, name: &str) -> Option<u64> {
        let entry = self.find(name)?;
        let is_single = word(entry, 8, self.little)? == 0 && entry.get(12) == Some(&b'J');
        let at = word(entry, 16, self.little).filter(|_| is_single)?;
        let bytes: [u8; 8] = entry.get(at..at.checked_add(8)?)?.try_into().ok()?;
        let number = if self.little {
            i64::from_le_bytes(bytes)
        } else {
            i64::from_be_bytes(bytes)
        };
        u64::try_from(number).ok()
    }

    /// Bytes up to the first zero.
    fn text(&self, name: &str) -> Option<String> {
        let entry = self.find(name)?;
        let length = word(entry, 8, self.little).filter(|_| entry.get(12) == Some(&b'B'))?;
        let at = word(entry, 16, self.little)?;
        let text = entry.get(at..at.checked_add(length)?)?;
        let text = text.split(|&byte| byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// A number of 32 bits that is an offset or a length.
fn word(content: &[u8], at: usize, little: bool) -> Option<usize> {
    let bytes: [u8; 4] = content.get(at..at.checked_add(4)?)?.try_into().ok()?;
    let word = if little {
        i32::from_le_bytes(bytes)
    } else {
        i32::from_be_bytes(bytes)
    };
    usize::try_from(word).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;
    use crate::planted::{Process, STRANGER, VICTIM, own};
    use proptest::prelude::*;
    use rustix::fs::{CWD, Mode, mkfifoat};

    /// The file of a JDK 17 with G1, and what `jcmd PID PerfCounter.print` read from it.
    const RECORDED: &[u8] = include_bytes!("../tests/recorded/hsperfdata-17-g1");
    const PRINTED: &str = include_str!("../tests/recorded/perf-counter-print-17-g1.txt");

    #[test]
    fn every_counter_is_what_jcmd_printed() {
        let entries = Entries::of(RECORDED).unwrap();
        let mut compared = 0;
        for line in PRINTED.lines() {
            let (name, value) = line.split_once('=').unwrap();
            // The clock of the application went on between the two.
            if name == "sun.rt.applicationTime" {
                continue;
            }
            match value.strip_prefix('"') {
                Some(text) => assert_eq!(entries.text(name).as_deref(), text.strip_suffix('"')),
                None => assert_eq!(entries.number(name), value.parse().ok(), "{name}"),
            }
            compared += 1;
        }
        assert_eq!(compared, 26);
        assert_eq!(entries.each().count(), 187);
    }

    #[test]
    fn counters_have_names_and_seconds() {
        let counters = PerfCounters::parse(RECORDED).unwrap();
        let collector = |name: &str, count, time_s| Collector {
            name: name.to_owned(),
            count,
            time_s,
        };
        let expected = PerfCounters {
            version: Some("17.0.15+6-Debian-1deb12u1".to_owned()),
            collectors: vec![
                collector("G1 young collection pauses", 3, 0.052_515_665),
                collector("G1 full collection pauses", 3, 0.048_509_181),
                collector("G1 concurrent cycle pauses", 0, 0.0),
            ],
            safepoints: Some(7),
            safepoint_s: Some(0.108_551_935),
            contended_monitors: Some(0),
            threads: Some(7),
            daemon_threads: Some(6),
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn what_is_not_such_a_file_says_why() {
        let with = |at: usize, byte: u8| {
            let mut content = RECORDED.to_vec();
            content[at] = byte;
            content
        };
        for (content, why) in [
            (Vec::new(), "does not begin"),
            (RECORDED[..31].to_vec(), "does not begin"),
            (with(0, 0), "does not begin"),
            (with(5, 3), "another version"),
            (with(7, 0), "not filled it yet"),
            (with(27, 0xff), "cut short"),
            (RECORDED[..40].to_vec(), "length of a tick"),
        ] {
            let error = PerfCounters::parse(&content).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    /// Puts something at a path, in this folder.
    type Plant<'p> = &'p dyn Fn(&Path, &Path);

    #[test]
    fn a_file_that_is_not_the_virtual_machines_own_is_not_read() {
        let Some(mut process) = Process::start() else {
            return;
        };
        let place = tempfile::tempdir().unwrap();
        let elsewhere = place.path().join("counters");
        fs::write(&elsewhere, RECORDED).unwrap();
        own(&elsewhere, VICTIM, 0o600);
        let folder_name = format!("hsperfdata_weir{}", process.pid());
        let name = process.pid().to_string();
        let file = |path: &Path, user, mode| {
            fs::write(path, RECORDED).unwrap();
            own(path, user, mode);
        };
        let plants: [(&str, u32, u32, Plant); 7] = [
            ("does not belong", VICTIM, 0o755, &|path, _| {
                file(path, STRANGER, 0o600);
            }),
            ("does not belong", STRANGER, 0o755, &|path, _| {
                file(path, VICTIM, 0o600);
            }),
            ("can write into its folder", VICTIM, 0o777, &|path, _| {
                file(path, VICTIM, 0o600);
            }),
            ("can change it", VICTIM, 0o755, &|path, _| {
                file(path, VICTIM, 0o666);
            }),
            ("can change it", VICTIM, 0o755, &|path, folder| {
                file(path, VICTIM, 0o600);
                fs::hard_link(path, folder.join("other")).unwrap();
            }),
            ("symbolic links", VICTIM, 0o755, &|path, _| {
                symlink(&elsewhere, path).unwrap();
            }),
            // Whoever opens it as a file waits for a writer for ever.
            ("no regular file", VICTIM, 0o755, &|path, _| {
                mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
                own(path, VICTIM, 0o600);
            }),
        ];
        for (why, user, mode, plant) in plants {
            let folder = process.plant(&folder_name);
            fs::create_dir(&folder).unwrap();
            plant(&folder.join(&name), &folder);
            own(&folder, user, mode);
            let error = PerfFile::of(&process.vm()).unwrap_err();
            let says = format!("{error}: {}", std::error::Error::source(&error).unwrap());
            assert!(says.contains(why), "{why}: {says}");
        }
        let folder = process.plant(&folder_name);
        symlink(place.path(), &folder).unwrap();
        fs::rename(&elsewhere, place.path().join(&name)).unwrap();
        own(place.path(), VICTIM, 0o755);
        assert!(
            PerfFile::of(&process.vm()).is_err(),
            "a folder that is a link"
        );

        let folder = process.plant(&folder_name);
        fs::create_dir(&folder).unwrap();
        file(&folder.join(&name), VICTIM, 0o600);
        own(&folder, VICTIM, 0o755);
        let counters = PerfFile::of(&process.vm()).unwrap().read().unwrap();
        assert_eq!(counters.threads, Some(7), "its own is");
    }

    proptest! {
        #[test]
        fn any_content_is_taken(at in 0..RECORDED.len(), byte: u8, cut in 0..RECORDED.len(), noise: Vec<u8>) {
            let mut content = RECORDED.to_vec();
            content[at] = byte;
            let _ = PerfCounters::parse(&content);
            let _ = PerfCounters::parse(&content[..cut]);
            let _ = PerfCounters::parse(&noise);
            content.truncate(HEAD);
            content.extend(noise);
            let _ = PerfCounters::parse(&content);
        }
    }
}
