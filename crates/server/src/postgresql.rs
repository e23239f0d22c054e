//! A private PostgreSQL: the database behind a server under load.
//!
//! It runs as an ordinary user (PostgreSQL refuses root; Weir as root lends it another account) in
//! a directory of its own under the system's temporary directory, listens on a free port of the
//! loopback address, and goes with all its data when it is stopped. It does not sync to the disk:
//! what it holds is made by Weir and worth nothing after the study.
//!
//! Two ways lead in. Applications connect over TCP as `app`, who owns the database `app` and can do
//! nothing else. Weir itself connects as `weir` over a socket that only the server's account and
//! root can reach, on one of three connections that PostgreSQL keeps for it, so that the figures
//! can be read when the application has taken all of its own.

mod cluster;
mod kind;
mod memory;
mod posts;
mod psql;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use weir_metric::CpuSet;
use weir_probe::Source;
use weir_record::Stage;

use crate::child::{Patience, ServerProcess};
use crate::error::TargetError;
use crate::free_port::free_port;
use crate::journal::Journal;
use cluster::Cluster;
pub(crate) use kind::{DATABASE, KIND};
use memory::MemoryBound;
pub use posts::PostsTable;
use psql::Psql;

/// How long the server may take to be ready; recovery of a copied directory is not needed.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// Connections that PostgreSQL keeps for its own user (its default); Weir reads over one of them.
const RESERVED: u32 = 3;
/// Where its memory is bounded, one part in so many is PostgreSQL's own buffers: what they hold,
/// the kernel keeps as well.
const BUFFERS: u64 = 8;
/// The role and the database of the application.
const APPLICATION: &str = "app";

/// How to start a private PostgreSQL.
#[derive(Debug, Clone)]
pub struct PostgresqlOptions {
    /// Directory of `initdb`, `postgres` and `psql`.
    pub programs: PathBuf,
    /// What `LD_LIBRARY_PATH` has to be for programs that are not installed.
    pub libraries: Vec<PathBuf>,
    /// Connections that the application may have at once. PostgreSQL's own `max_connections` is
    /// three more, which it keeps for Weir.
    pub connections: u32,
    /// Bytes of memory that it may have, with what the kernel keeps of its files; `None`: any.
    pub memory: Option<u64>,
    /// The table of posts to fill, if one is wanted.
    pub table: Option<PostsTable>,
    /// What each statement that reads posts waits for without using a CPU, as for a disk.
    pub delay: Option<Duration>,
    /// Directory in which filled databases are kept, so that a table is filled once.
    pub kept: PathBuf,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// File that gets what the server prints.
    pub log: PathBuf,
    /// Where the server and its directory are written down.
    pub journal: Journal,
}

/// How far the filling of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// Rows that are in the table.
    pub rows: u32,
    /// Rows that are wanted.
    pub of: u32,
}

/// A running private PostgreSQL.
#[derive(Debug)]
pub struct Postgresql {
    // Ends before its directory goes: fields are dropped in this order.
    process: ServerProcess,
    _memory: Option<MemoryBound>,
    psql: Psql,
    port: u16,
    connections: u32,
    cluster: Cluster,
}

impl Postgresql {
    /// Starts it with its table filled; `progress` hears how far the filling is, if it has to be
    /// done.
    ///
    /// # Errors
    /// A program is missing or fails, a directory cannot be written, an interrupt came.
    pub fn start(
        options: &PostgresqlOptions,
        interrupted: &AtomicBool,
        progress: &mut dyn FnMut(Filled),
    ) -> Result<Self, TargetError> {
        if !(1..=10_000).contains(&options.connections) {
            return Err(TargetError::Setting {
                name: "max_connections".to_owned(),
                says: format!(
                    "{} connections are not accepted; give 1 to 10000",
                    options.connections
                ),
            });
        }
        let programs = Programs::find(options)?;
        let cluster = Cluster::make(&options.journal)?;
        let Some(table) = options.table else {
            cluster.initialise(&programs)?;
            let server = Self::launch(cluster, &programs, options, options.memory, interrupted)?;
            server.make_database()?;
            return Ok(server);
        };
        let kept = options.kept.join(table.key(programs.major));
        if cluster.copy_from(&kept)? {
            return Self::launch(cluster, &programs, options, options.memory, interrupted)?
                .delayed(options.delay);
        }
        cluster.initialise(&programs)?;
        let mut server = Self::launch(cluster, &programs, options, None, interrupted)?;
        server.make_database()?;
        table.fill(&server.psql, progress, &|| {
            if interrupted.load(Ordering::Relaxed) {
                Err(TargetError::Interrupted)
            } else {
                Ok(())
            }
        })?;
        // Copied while nothing runs on it.
        server.process.stop();
        server.cluster.keep(&kept)?;
        Self::launch(
            server.cluster,
            &programs,
            options,
            options.memory,
            interrupted,
        )?
        .delayed(options.delay)
    }

    /// This, with posts that come so late.
    fn delayed(self, delay: Option<Duration>) -> Result<Self, TargetError> {
        if let Some(delay) = delay {
            posts::delay(&self.psql, delay)?;
        }
        Ok(self)
    }

    fn launch(
        cluster: Cluster,
        programs: &Programs,
        options: &PostgresqlOptions,
        memory: Option<u64>,
        interrupted: &AtomicBool,
    ) -> Result<Self, TargetError> {
        let port = free_port()?;
        cluster.write_access()?;
        let bound = memory.map(|bytes| MemoryBound::make(&cluster.name(), bytes));
        let bound = bound.transpose()?;
        if bound.is_some() {
            cluster.leave_on_disk()?;
        }
        let mut command = programs.command("postgres");
        cluster.run_as_its_account(&mut command);
        command.arg("-D").arg(cluster.data());
        let max_connections = options.connections + RESERVED;
        for setting in [
            format!("port={port}"),
            "listen_addresses=127.0.0.1".to_owned(),
            format!("unix_socket_directories={}", cluster.sockets().display()),
            format!("max_connections={max_connections}"),
            format!("superuser_reserved_connections={RESERVED}"),
            // No replicas: their senders would count as connections of a small server.
            "max_wal_senders=0".to_owned(),
            "fsync=off".to_owned(),
            "synchronous_commit=off".to_owned(),
            "full_page_writes=off".to_owned(),
        ] {
            command.arg("-c").arg(setting);
        }
        if let Some(bytes) = memory {
            let buffers_kib = (bytes >> 10) / BUFFERS;
            command
                .arg("-c")
                .arg(format!("shared_buffers={buffers_kib}kB"));
        }
        options.journal.mark(&mut command)?;
        // SIGINT closes its connections; on SIGTERM it would wait for the clients to go.
        let mut process =
            ServerProcess::launch(Signal::INT, command, options.cpus.as_ref(), &options.log)?;
        options.journal.process(process.pid())?;
        if let Some(bound) = &bound {
            bound.take(process.pid())?;
        }
        let patience = Patience {
            longest: START_PATIENCE,
            interrupted,
        };
        process.wait_until(patience, || cluster.is_ready())?;
        let psql = Psql::new(programs, cluster.sockets(), port);
        Ok(Self {
            process,
            _memory: bound,
            psql,
            port,
            connections: options.connections,
            cluster,
        })
    }

    fn make_database(&self) -> Result<(), TargetError> {
        for statement in [
            format!("CREATE ROLE {APPLICATION} LOGIN"),
            format!("CREATE DATABASE {APPLICATION} OWNER {APPLICATION}"),
        ] {
            self.psql.run("postgres", &statement)?;
        }
        Ok(())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Its first process; the others descend from it.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The database of the application.
    pub fn database(&self) -> &'static str {
        APPLICATION
    }

    /// The role that applications connect as; it has no password.
    pub fn user(&self) -> &'static str {
        APPLICATION
    }

    /// Where a Java application finds it. `application` is the name that its connections carry.
    pub fn jdbc_url(&self, application: &str) -> String {
        format!(
            "jdbc:postgresql://{}/{APPLICATION}?ApplicationName={application}",
            self.address()
        )
    }

    /// The stage that it is to the servers in front of it: who finds all connections taken gets an
    /// error.
    pub fn stage(&self) -> Stage {
        KIND.stage(DATABASE.stage, Some(f64::from(self.connections)), false)
    }

    /// Where its figures are read: over the socket that is Weir's, from the side.
    pub fn source(&self) -> Source {
        Source::Postgresql(self.psql.client(APPLICATION))
    }

    /// An error when the server has ended by itself.
    pub fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive()
    }

    /// Stops it and removes its data.
    pub fn stop(mut self) {
        self.process.stop();
    }
}

/// The programs of one version.
#[derive(Debug, Clone)]
struct Programs {
    directory: PathBuf,
    libraries: Vec<PathBuf>,
    /// The version's first number: data directories of different ones do not mix.
    major: u32,
}

impl Programs {
    fn find(options: &PostgresqlOptions) -> Result<Self, TargetError> {
        let mut programs = Self {
            directory: options.programs.clone(),
            libraries: options.libraries.clone(),
            major: 0,
        };
        let mut version = programs.command("postgres");
        version.arg("--version");
        let says = psql::output(version)?;
        programs.major = major(&says).ok_or_else(|| TargetError::Postgresql {
            doing: "read its version".to_owned(),
            says,
        })?;
        Ok(programs)
    }

    /// One of them, without what the user's environment says about other databases.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.directory.join(program));
        // The user's working directory may be closed to the server's account.
        command.current_dir("/").env("LC_ALL", "C");
        for name in [
            "PGDATA",
            "PGHOSTADDR",
            "PGOPTIONS",
            "PGSERVICE",
            "PGPASSWORD",
            "PGSSLMODE",
        ] {
            command.env_remove(name);
        }
        command.envs(self.environment());
        command
    }

    /// What their environment has to have.
    fn environment(&self) -> Vec<(String, String)> {
        if self.libraries.is_empty() {
            return Vec::new();
        }
        let libraries = self.libraries.iter().map(|path| path.to_string_lossy());
        let joined = libraries.collect::<Vec<_>>().join(":");
        vec![("LD_LIBRARY_PATH".to_owned(), joined)]
    }
}

/// The first number in `postgres (PostgreSQL) 15.18 (Debian …)`.
fn major(version: &str) -> Option<u32> {
    let numbers = version.split_once("(PostgreSQL) ")?.1;
    let end = numbers
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(numbers.len());
    numbers[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_postgresql_writes_them() {
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(major(debian), Some(15));
        assert_eq!(major("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major("postgres (PostgreSQL) 17"), Some(17));
        assert_eq!(major("psql: not found"), None);
    }
}
