//! Statements to the server, through PostgreSQL's own client.
//!
//! `psql` comes with the server and speaks what it speaks; a client library of its own would bring
//! thirty crates into Weir for a dozen statements.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use weir_probe::PostgresqlClient;

use super::Programs;
use crate::error::TargetError;

/// The way in for Weir.
#[derive(Debug, Clone)]
pub(super) struct Psql {
    programs: Programs,
    sockets: PathBuf,
    port: u16,
}

impl Psql {
    pub(super) fn new(programs: &Programs, sockets: &Path, port: u16) -> Self {
        Self {
            programs: programs.clone(),
            sockets: sockets.to_owned(),
            port,
        }
    }

    /// Runs a statement as Weir's own user.
    pub(super) fn run(&self, database: &str, statement: &str) -> Result<(), TargetError> {
        let mut command = self.command(database);
        command.arg("-c").arg(statement);
        output(command).map(|_| ())
    }

    /// Runs a statement as a role, to which what it makes belongs.
    pub(super) fn run_as(
        &self,
        database: &str,
        role: &str,
        statement: &str,
    ) -> Result<(), TargetError> {
        let mut command = self.command(database);
        command.arg("-c").arg(format!("SET ROLE {role}"));
        command.arg("-c").arg(statement);
        output(command).map(|_| ())
    }

    /// `psql` for the one who watches a database.
    pub(super) fn client(&self, database: &str) -> PostgresqlClient {
        PostgresqlClient {
            program: self.programs.directory.join("psql"),
            environment: self.programs.environment(),
            connection: self.connection("postgres"),
            database: database.to_owned(),
        }
    }

    /// `psql`, connected: no settings of the user's, values only, nothing said.
    fn command(&self, database: &str) -> Command {
        let mut command = self.programs.command("psql");
        command
            .args(["-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1"])
            .args(self.connection(database));
        command
    }

    fn connection(&self, database: &str) -> Vec<String> {
        let (sockets, port) = (self.sockets.display(), self.port);
        vec![
            format!("--host={sockets}"),
            format!("--port={port}"),
            "--username=weir".to_owned(),
            format!("--dbname={database}"),
        ]
    }
}

/// Runs a program of PostgreSQL to its end; what it wrote.
pub(super) fn output(mut command: Command) -> Result<String, TargetError> {
    let program = PathBuf::from(command.get_program());
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| TargetError::Spawn {
            program: program.clone(),
            source,
        })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(TargetError::Postgresql {
        doing: format!("run `{}`", program.display()),
        says: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
