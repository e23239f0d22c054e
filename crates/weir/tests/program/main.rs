//! The program from outside: what its commands print, write and refuse.
//!
//! One test program, because each one links every dependency for seconds.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod adjustments;
mod backend_listener;
mod changed_samples;
mod changing_names;
mod check_and_run;
mod cli;
mod compare;
mod compare_jmeter;
mod corpus;
mod data_files;
mod documented;
mod engine_auto;
mod explain;
mod graphite_listener;
mod hostile;
mod hostile_pages;
mod init;
mod malformed;
mod models;
mod nobody_answers;
mod other_user;
mod rate;
mod reach;
mod recorded;
mod recorded_http;
#[path = "../support/rows.rs"]
mod rows;
mod sample_server;
mod sandbox;
mod scripts_before;
mod session;
mod simulate;
mod size;
mod slow_start;
#[path = "../support/mod.rs"]
mod support;
mod url_form;
mod watch;
