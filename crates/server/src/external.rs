//! A server that runs already, here or elsewhere, as a target.
//!
//! Weir neither starts nor stops it. Its limits are set by commands of the user, or by the user,
//! who is asked to; each has to be known before it is changed, so that it can be put back. Where
//! its machine is reached over ssh, commands are run there.

mod commands;
mod jmx;
mod kind;
mod options;
mod process;
mod shell;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use weir_exchange::takes_connections;
use weir_probe::{MachineFacts, Source, WatchedMachine, quota_of_process};
use weir_record::{CpuScope, Stage, TargetFacts};

use crate::error::TargetError;
use crate::funnel::{check_limit, whole};
use crate::journal::LiveSetting;
use crate::kinds::POOLS;
use crate::recognise::Found;
use crate::server::{ChangedSetting, Server, Watched};

use commands::{VALUE, check_command, read, run, set_by_command, way_back};
use jmx::Jmx;
pub use jmx::JmxAgent;
pub(crate) use kind::KIND;
pub use options::{ExternalLimit, ExternalOptions, SetBy};
use process::{ServerProcess, successor};

/// What is said of the log of a server that is not Weir's.
const OF_ANOTHER: &str = "(not known: it is not Weir's own)";
const LOOK: Duration = Duration::from_millis(200);

/// A server that runs already, with its limits as found.
#[derive(Debug)]
pub struct External {
    options: ExternalOptions,
    jmx: Option<Jmx>,
    found: BTreeMap<String, f64>,
    current: BTreeMap<String, f64>,
    /// Pools that the study may set and that the running server has not.
    not_there: Vec<String>,
    process: ServerProcess,
}

impl External {
    /// How long a server may mostly take to use a limit.
    pub const TAKES_EFFECT: Duration = Duration::from_secs(10);

    /// Reads the limits as they are, and sets those of the study.
    pub fn join(mut options: ExternalOptions) -> Result<Self, TargetError> {
        for page in &options.metrics {
            page.source(options.address)?;
        }
        // Before anything is read: what another Weir has set is not what was found.
        for name in options.limits.keys() {
            options.journal.claim(&claimed(name, &options))?;
        }
        let jmx = options.connect()?;
        let not_there = leave_out_pools(&mut options, jmx.as_ref());
        let mut found = BTreeMap::new();
        for (name, limit) in &options.limits {
            check_command(name, limit)?;
            let now = match (&limit.set, &jmx) {
                (SetBy::Jmx, Some(jmx)) => jmx.found(name)?,
                _ => read(name, limit, &options)?,
            };
            found.insert(name.clone(), now);
        }
        let mut server = Self {
            jmx,
            current: found.clone(),
            found,
            not_there,
            process: ServerProcess::of(&options),
            options,
        };
        server.apply(&BTreeMap::new())?;
        Ok(server)
    }

    /// Pools that the study may set over JMX and that the running server has not: nothing has used
    /// them since its start, or they have no MBean. They are left alone.
    pub fn not_there(&self) -> &[String] {
        &self.not_there
    }

    /// The limits that trials start from: as found, with those of the study.
    fn base(&self) -> BTreeMap<String, f64> {
        let mut base = self.found.clone();
        base.extend(self.options.settings.clone());
        base
    }

    /// The virtual machine whose threads are dumped: one that Weir was allowed to attach to.
    fn dumped(&self) -> Option<u32> {
        self.options.pid_here().filter(|_| self.options.dumps)
    }

    /// The CPUs that it may use, of those of its machine: no more than its control group's quota
    /// is worth.
    fn cpus(&self, of_machine: u32) -> u32 {
        let own = self.options.cpus.as_ref();
        let cpus = own.map_or(of_machine, |own| own.count() as u32);
        let quota = self.options.pid_here().and_then(quota_of_process);
        quota.map_or(cpus, |quota| cpus.min(quota.ceil() as u32).max(1))
    }

    /// Every stage that is known, settable or not: what the server says counts more than its files.
    fn stages(&self) -> Vec<Stage> {
        let recognised = self.options.recognised.as_ref();
        let mut limits = recognised.map(Found::known_limits).unwrap_or_default();
        let said = self.jmx.iter().flat_map(Jmx::all_found);
        limits.extend(said.map(|(name, limit)| (name.clone(), Some(*limit))));
        // A limit below 0 is none.
        let base = self.base().into_iter();
        limits.extend(base.map(|(name, limit)| (name, Some(limit).filter(|limit| *limit >= 0.0))));
        let settable = self.options.limits.keys().cloned().collect();
        let kind = recognised.map_or(&KIND, |found| found.kind.words());
        let mut stages = whole(kind, &KIND, &settable, &limits);
        // Of what a kind has several of (pools), each has its own word.
        for limit in recognised.iter().flat_map(|found| &found.limits) {
            let mut of_stage = stages.iter_mut();
            if let Some(stage) = of_stage.find(|stage| stage.name == limit.stage) {
                stage.native = Some(limit.native.clone());
            }
        }
        stages
    }

    fn set(&mut self, name: &str, to: f64) -> Result<(), TargetError> {
        // One that fails may have changed it all the same: then nobody knows what it is.
        self.current.remove(name);
        self.change(name, to)?;
        self.current.insert(name.to_owned(), to);
        Ok(())
    }

    fn change(&mut self, name: &str, to: f64) -> Result<(), TargetError> {
        let limit = &self.options.limits[name];
        match &limit.set {
            SetBy::Command(line) => {
                self.options.journal.live(way_back(
                    name,
                    line,
                    self.found[name],
                    &self.options,
                )?)?;
                let line = line.replace(VALUE, &to.to_string());
                run(&line, &self.options)?;
                self.follow()?;
            }
            SetBy::Jmx => {
                let jmx = self.jmx.as_mut();
                return jmx.map_or(Ok(()), |jmx| jmx.set(name, to, &self.options.journal));
            }
            SetBy::Asking => {
                (self.options.ask)(&format!("set {name} of {} to {to}", self.options.name))
                    .map_err(|error| TargetError::Setting {
                        name: name.to_owned(),
                        says: format!("nobody can be asked to set it to {to}: {error}"),
                    })?;
                self.follow()?;
            }
        }
        self.wait_for(name, to)
    }

    /// Waits until the server says that it has the limit, where it says so.
    fn wait_for(&self, name: &str, wanted: f64) -> Result<(), TargetError> {
        let limit = &self.options.limits[name];
        if limit.get.is_none() {
            return Ok(());
        }
        let until = Instant::now() + self.options.takes_effect;
        loop {
            let now = read(name, limit, &self.options)?;
            if (now - wanted).abs() < f64::EPSILON {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(TargetError::Setting {
                    name: name.to_owned(),
                    says: format!(
                        "it was set to {wanted} and is {now} after {} s",
                        self.options.takes_effect.as_secs()
                    ),
                });
            }
            std::thread::sleep(LOOK);
        }
    }

    fn change_to(&mut self, wanted: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let commands_first = |(name, _): &(&String, &f64)| {
            let limit = self.options.limits.get(*name);
            limit.is_some_and(|limit| limit.set == SetBy::Jmx)
        };
        let mut names: Vec<(&String, &f64)> = wanted.iter().collect();
        names.sort_by_key(commands_first);
        for (name, limit) in names {
            if self.current.get(name) != Some(limit) {
                self.set(name, *limit)?;
            }
        }
        Ok(())
    }

    /// Goes on with the process that serves now, where a command has ended the one before: it has
    /// what its files say of the limits that were set over JMX.
    fn follow(&mut self) -> Result<(), TargetError> {
        let Some(pid) = successor(&self.options)? else {
            return Ok(());
        };
        self.options.pid = Some(pid);
        self.process = ServerProcess::of(&self.options);
        let before = self.jmx.take().map(|jmx| jmx.url().to_string());
        self.jmx = self.options.connect()?;
        if self.jmx.as_ref().map(|jmx| jmx.url().to_string()) != before {
            let was_there = |live: &LiveSetting| matches!(live, LiveSetting::Attribute { url, .. } if Some(url) == before.as_ref());
            self.options.journal.undone(was_there)?;
        }
        for (name, limit) in &self.options.limits {
            if let (SetBy::Jmx, Some(jmx)) = (&limit.set, &self.jmx) {
                self.current.insert(name.clone(), jmx.found(name)?);
            }
        }
        Ok(())
    }

    /// Puts every limit back, and goes on when one cannot be.
    fn put_back(&mut self) -> Result<(), TargetError> {
        let found = self.found.clone();
        let mut first = Ok(());
        for (name, limit) in &found {
            let only = BTreeMap::from([(name.clone(), *limit)]);
            let done = self.change_to(&only).and_then(|()| self.is_back(name));
            first = first.and(done);
        }
        first
    }

    /// A limit that its command has put back is not set by it once more, which may start the server
    /// anew.
    fn is_back(&self, name: &str) -> Result<(), TargetError> {
        let back = set_by_command(name, &self.options);
        let is_it =
            |live: &LiveSetting| matches!(live, LiveSetting::Command { what, .. } if *what == back);
        Ok(self.options.journal.undone(is_it)?)
    }
}

/// Takes out the pools that may be set over JMX and are not there, unless the study sets one:
/// pools come into being when something asks for their first connection.
fn leave_out_pools(options: &mut ExternalOptions, jmx: Option<&Jmx>) -> Vec<String> {
    let Some(jmx) = jmx else { return Vec::new() };
    let settings = &options.settings;
    let is_not_there = |name: &str, limit: &ExternalLimit| {
        let may_come = name.starts_with(POOLS) && !settings.contains_key(name);
        may_come && limit.set == SetBy::Jmx && jmx.found(name).is_err()
    };
    let names = options.limits.iter();
    let not_there = names.filter(|(name, limit)| is_not_there(name, limit));
    let not_there: Vec<String> = not_there.map(|(name, _)| name.clone()).collect();
    options.limits.retain(|name, _| !not_there.contains(name));
    not_there
}

impl Server for External {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        TargetFacts {
            name: self.options.name.clone(),
            kind: KIND.name.to_owned(),
            recognised: self
                .options
                .recognised
                .as_ref()
                .and_then(|found| found.kind.name())
                .map(str::to_owned),
            cpus: self.cpus(cpus),
            cpu_scope: match &self.options.machine {
                WatchedMachine::This => cpu_scope,
                WatchedMachine::Far(far) if far.is_this_one() => CpuScope::SharedCpus,
                WatchedMachine::Far(_) => CpuScope::OwnCpus,
                WatchedMachine::Unseen => CpuScope::Unknown,
            },
            stages: self.stages(),
        }
    }

    fn address(&self) -> SocketAddr {
        self.options.address
    }

    fn watched(&self) -> Watched {
        let options = &self.options;
        let pages = options.metrics.iter();
        let ports = match options.machine {
            WatchedMachine::This | WatchedMachine::Far(_) => vec![options.address.port()],
            WatchedMachine::Unseen => Vec::new(),
        };
        let queues = ports.iter().map(|&port| Source::DerivedQueue { port });
        let counted = ports.iter().flat_map(|&port| {
            let found = options.recognised.as_ref();
            found.map_or(Vec::new(), |found| found.sources(port, options.pid_here()))
        });
        let port = options.address.port();
        let dumps = self
            .dumped()
            .map(|pid| Source::RequestThreads { pid, port });
        Watched {
            pids: options.pid.into_iter().collect(),
            // Those that are no URL were refused at the start.
            sources: pages
                .filter_map(|page| page.source(options.address).ok())
                .chain(self.jmx.as_ref().map(Jmx::source))
                .chain(Source::of_processes(options.pid_here().as_slice()))
                .chain(counted)
                .chain(queues)
                .chain(dumps)
                .collect(),
            ports,
            machine: options.machine.clone(),
            cpus: options.cpus.clone(),
            gate: None,
        }
    }

    fn machine(&self) -> Option<MachineFacts> {
        match &self.options.machine {
            // Without its facts the figures are still right.
            WatchedMachine::Far(far) => far.facts().ok(),
            WatchedMachine::This | WatchedMachine::Unseen => None,
        }
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        if let WatchedMachine::Far(far) = &self.options.machine {
            // It may have been lost in the trial before.
            far.connection().reopen()?;
        }
        if self.options.pid.is_none() {
            // Nothing else tells whether it is still there.
            takes_connections(&[self.options.address]).map_err(|says| TargetError::Ended {
                status: format!("nobody answers at {}: {says}", self.options.address),
                last_words: OF_ANOTHER.to_owned(),
            })?;
        }
        let mut wanted = self.found.clone();
        for (name, limit) in self.options.settings.iter().chain(limits) {
            if !self.options.limits.contains_key(name) {
                let known: Vec<&str> = self.options.limits.keys().map(String::as_str).collect();
                return Err(TargetError::NoSuchStage {
                    stage: name.clone(),
                    known: if known.is_empty() {
                        format!("none: say how to set {name} under `set`")
                    } else {
                        known.join(", ")
                    },
                });
            }
            check_limit(name, *limit)?;
            wanted.insert(name.clone(), *limit);
        }
        self.change_to(&wanted)
    }

    fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check()
    }

    fn log_length(&self) -> u64 {
        std::fs::metadata(&self.options.log).map_or(0, |facts| facts.len())
    }

    fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError> {
        let copied = File::create(to).and_then(|mut copy| {
            // Commands that complain about nothing leave no log.
            if let Ok(mut log) = File::open(&self.options.log) {
                log.seek(SeekFrom::Start(from))?;
                io::copy(&mut log, &mut copy)?;
            }
            Ok(())
        });
        copied.map_err(|source| TargetError::Log {
            path: to.to_owned(),
            source,
        })
    }

    fn changed_by_others(&mut self) -> Result<Vec<ChangedSetting>, TargetError> {
        let mut changed = Vec::new();
        for (name, limit) in &self.options.limits {
            let now = match (&limit.set, &mut self.jmx) {
                (SetBy::Jmx, Some(jmx)) => jmx.now(name)?,
                _ if limit.get.is_some() => Some(read(name, limit, &self.options)?),
                _ => None,
            };
            let Some(set) = self.current.get(name).copied() else {
                continue;
            };
            if let Some(now) = now.filter(|now| (now - set).abs() > f64::EPSILON) {
                let setting = name.clone();
                changed.push(ChangedSetting { setting, set, now });
            }
        }
        for ChangedSetting { setting, now, .. } in &changed {
            // So that the next trial sets it again.
            self.current.insert(setting.clone(), *now);
        }
        Ok(changed)
    }

    fn stop(mut self: Box<Self>) -> Result<(), TargetError> {
        self.put_back()
    }
}

impl Drop for External {
    fn drop(&mut self) {
        // Whoever wants to know what could not be put back stops it.
        let _ = self.put_back();
    }
}

/// What a limit is called by every Weir of this machine that may change it.
fn claimed(name: &str, options: &ExternalOptions) -> String {
    let address = options.address;
    match &options.machine {
        WatchedMachine::Far(far) => {
            let host = far.connection().host().name();
            format!("{name} of {host}, port {}", address.port())
        }
        // Whichever of its addresses is named.
        WatchedMachine::This => format!("{name} of port {}", address.port()),
        WatchedMachine::Unseen => format!("{name} of {address}"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::free_port::free_port;
    use crate::journal::Journal;

    /// A "server" whose limit is a file.
    fn options(folder: &Path) -> ExternalOptions {
        std::fs::write(folder.join("threads"), "200\n").unwrap();
        let limit = ExternalLimit {
            set: SetBy::Command("echo {value} > threads".to_owned()),
            get: Some("cat threads".to_owned()),
            found: None,
        };
        ExternalOptions {
            name: "files".to_owned(),
            // Another one in each test: two Weirs never set the same server.
            address: (Ipv4Addr::LOCALHOST, free_port().unwrap()).into(),
            machine: WatchedMachine::This,
            cpus: None,
            // A process that is there for as long as the test.
            pid: Some(std::process::id()),
            metrics: Vec::new(),
            jmx: None,
            dumps: false,
            recognised: None,
            limits: BTreeMap::from([("threads".to_owned(), limit)]),
            settings: BTreeMap::new(),
            directory: folder.to_owned(),
            log: folder.join("log"),
            journal: Journal::new(folder.join("state")),
            takes_effect: Duration::from_millis(300),
            ask: |what| Err(io::Error::other(format!("asked: {what}"))),
            serving: |_| None,
        }
    }

    #[test]
    fn a_second_weir_is_refused_until_the_first_has_put_everything_back() {
        let folder = tempfile::tempdir().unwrap();
        let first = options(folder.path());
        let second = ExternalOptions {
            journal: Journal::new(folder.path().join("of another user")),
            ..first.clone()
        };
        let journal = first.journal.clone();
        let server = External::join(first).unwrap();
        let error = External::join(second.clone()).unwrap_err();
        let error = weir_record::failed_to(&error);
        let pid = format!("process id {}", std::process::id());
        assert!(
            error.contains("threads of port") && error.contains(&pid),
            "{error}"
        );
        Box::new(server).stop().unwrap();
        assert_eq!(journal.put_back().failed, [""; 0]);
        External::join(second).unwrap();
    }

    #[test]
    fn a_limit_that_somebody_else_changes_is_told_and_set_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = External::join(options(folder.path())).unwrap();
        server.apply(&limits(20.0)).unwrap();
        assert_eq!(server.changed_by_others().unwrap(), []);
        std::fs::write(folder.path().join("threads"), "77\n").unwrap();
        let changed = ChangedSetting {
            setting: "threads".to_owned(),
            set: 20.0,
            now: 77.0,
        };
        assert_eq!(server.changed_by_others().unwrap(), [changed]);
        server.apply(&limits(20.0)).unwrap();
        assert_eq!(now(folder.path()), "20\n");
        Box::new(server).stop().unwrap();
        assert_eq!(now(folder.path()), "200\n");
    }

    fn now(folder: &Path) -> String {
        std::fs::read_to_string(folder.join("threads")).unwrap()
    }

    fn limits(threads: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([("threads".to_owned(), threads)])
    }

    #[test]
    fn a_limit_is_read_set_and_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut server = External::join(options(folder)).unwrap();
        let facts = server.facts(1, CpuScope::OwnCpus);
        assert_eq!(facts.stage("threads").unwrap().limit, Some(200.0));
        server.apply(&limits(20.0)).unwrap();
        assert_eq!(now(folder), "20\n");
        server.apply(&BTreeMap::new()).unwrap();
        assert_eq!(now(folder), "200\n", "what is not named is as found");
        server.apply(&limits(30.0)).unwrap();
        Box::new(server).stop().unwrap();
        assert_eq!(now(folder), "200\n");
    }

    #[test]
    fn what_could_not_be_put_back_is_tried_again_and_not_taken_for_done() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path());
        options.settings = limits(50.0);
        let journal = options.journal.clone();
        for limit in options.limits.values_mut() {
            let line =
                "if test {value} = 200; then test -e allowed || exit 1; fi; echo {value} > threads";
            limit.set = SetBy::Command(line.to_owned());
        }
        let server = External::join(options).unwrap();
        let error = Box::new(server).stop().unwrap_err().to_string();
        assert!(error.contains("exit status: 1"), "{error}");
        assert_eq!(now(folder.path()), "50\n");
        std::fs::write(folder.path().join("allowed"), "").unwrap();
        assert_eq!(journal.put_back().failed, [""; 0]);
        assert_eq!(now(folder.path()), "200\n");
    }

    #[test]
    fn a_server_that_is_dropped_is_put_back_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path());
        options.settings = limits(50.0);
        let server = External::join(options).unwrap();
        assert_eq!(now(folder.path()), "50\n");
        drop(server);
        assert_eq!(now(folder.path()), "200\n");
    }

    #[test]
    fn what_a_killed_weir_has_changed_is_put_back_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path());
        options.settings = limits(50.0);
        let journal = options.journal.clone();
        let server = External::join(options).unwrap();
        // As if it had been killed: nothing of it runs any more.
        std::mem::forget(server);
        assert_eq!(now(folder.path()), "50\n");
        let restored = journal.put_back();
        assert_eq!(restored.failed, [""; 0]);
        assert_eq!(now(folder.path()), "200\n");
    }

    #[test]
    fn what_cannot_be_set_or_put_back_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let changed = |change: &dyn Fn(&mut ExternalLimit)| {
            let mut options = options(folder.path());
            options.settings = limits(20.0);
            options.limits.values_mut().for_each(change);
            External::join(options).unwrap_err().to_string()
        };
        for (error, says) in [
            (
                changed(&|limit| limit.get = None),
                "write a command under `get`",
            ),
            (
                changed(&|limit| limit.get = Some("echo many".to_owned())),
                "prints no number but `many`",
            ),
            (
                changed(&|limit| limit.set = SetBy::Command("true".to_owned())),
                "has no {value}",
            ),
            (
                changed(&|limit| limit.set = SetBy::Command("exit {value}".to_owned())),
                "exit status: 20",
            ),
            (
                changed(&|limit| limit.set = SetBy::Asking),
                "asked: set threads of files to 20",
            ),
        ] {
            assert!(error.contains(says), "{says}: {error}");
        }
        let mut server = External::join(options(folder.path())).unwrap();
        let other = BTreeMap::from([("backlog".to_owned(), 3.0)]);
        let error = server.apply(&other).unwrap_err().to_string();
        assert!(
            error.contains("set `backlog`: the target has the settings threads"),
            "{error}"
        );
    }

    /// A pool that nothing has used yet has no MBean.
    #[test]
    fn a_pool_that_is_not_there_is_left_alone_unless_the_study_sets_it() {
        let folder = tempfile::tempdir().unwrap();
        let with = |settings: BTreeMap<String, f64>| {
            let mut options = options(folder.path());
            let limit = ExternalLimit {
                set: SetBy::Jmx,
                get: None,
                found: None,
            };
            options.limits = ["pool.db", "threads"]
                .map(|name| (name.to_owned(), limit.clone()))
                .into();
            options.settings = settings;
            let jmx = Jmx::without_limits();
            let not_there = leave_out_pools(&mut options, Some(&jmx));
            (not_there, options.limits.len())
        };
        let pool = vec!["pool.db".to_owned()];
        assert_eq!(with(BTreeMap::new()), (pool, 1), "threads have to be there");
        let set = BTreeMap::from([("pool.db".to_owned(), 5.0)]);
        assert_eq!(with(set), (Vec::new(), 2));
    }

    #[test]
    fn a_limit_that_takes_no_effect_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path());
        for limit in options.limits.values_mut() {
            limit.set = SetBy::Command("true {value}".to_owned());
        }
        let mut server = External::join(options).unwrap();
        let error = server.apply(&limits(20.0)).unwrap_err().to_string();
        assert!(error.contains("it was set to 20 and is 200"), "{error}");
    }
}
