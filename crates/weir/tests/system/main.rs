//! The program with real servers: the *system* profile.
//!
//! Without `WEIR_SYSTEM_TESTS=1` every test says that it is skipped. They measure, so one at a
//! time: `WEIR_SYSTEM_TESTS=1 cargo test -p weir --test system -- --test-threads=1`, or those of
//! one server: `… --test system httpd:: -- --test-threads=1`.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod container;
mod explain;
mod httpd;
mod idle_threads;
mod init;
mod jmeter;
mod liberty;
mod namespace;
mod nginx;
mod own_server;
mod spring;
mod ssh;
#[path = "../support/mod.rs"]
mod support;
mod tomcat;
mod tune;
