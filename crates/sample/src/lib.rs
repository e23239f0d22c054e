//! The built-in application server: the default system under test of Weir.
//!
//! It is a real thread-per-request server with the whole funnel of one, each stage with a limit
//! that can be set and a queue that can be read:
//!
//! ```text
//! listen backlog → open connections → request queue → worker threads → pool of connections → SQLite
//!   (kernel)         (gate)            (dispatch)       (worker)         (pool)               (database)
//! ```
//!
//! Why not something existing: the servers people run hide one stage or another (the queue in front
//! of the threads, as a rule), need a runtime that takes minutes to fetch, and report single
//! readings where an average over time is needed. Here every stage keeps the exact time integral of
//! its occupancy, so that two scrapes of `/metrics` give the true mean between them and Little's
//! law can be checked at each stage.
//!
//! What is deliberately absent: an asynchronous runtime (a request costs a thread for as long as it
//! runs, because that is what is studied), any state shared between requests, TLS, and write access
//! to the data.
//!
//! [`serve`] runs until SIGTERM or SIGINT; [`Server`] is the same without the signals, for tests:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//!
//! let options = weir_sample::Options {
//!     listen: "127.0.0.1:0".parse()?,
//!     admin: "127.0.0.1:0".parse()?,
//!     rows: 1_000,
//!     ..weir_sample::Options::default()
//! };
//! let server = weir_sample::Server::start(&options)?;
//! let mut socket = TcpStream::connect(server.addresses().listen)?;
//! socket.write_all(b"GET /light?n=10 HTTP/1.0\r\n\r\n")?;
//! let mut answer = String::new();
//! socket.read_to_string(&mut answer)?;
//! assert!(answer.ends_with("fibonacci(10) = 55\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acceptor;
mod admin;
mod backlog;
mod connection;
mod content;
mod database;
mod dispatch;
mod endpoint;
mod error;
mod funnel;
mod gate;
mod http;
mod metrics;
mod open_files;
mod options;
mod parking;
mod pool;
mod prime;
mod server;
mod stage;
mod worker;

pub use error::SampleError;
pub use options::{Options, WhenFull};
pub use server::{Addresses, Server, serve};
