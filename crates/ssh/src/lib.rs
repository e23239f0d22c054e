//! Another machine over the user's own `ssh`: its files, and commands run there.
//!
//! A [`Connection`] is one `ssh` process with a shell of POSIX at its other end.
//! [`Connection::run`] sends that shell a script and gives what it printed; [`Connection::ask`] and
//! [`Pending::answer`] are the same in two steps, for what is watched once a second and must not
//! wait. [`Batch`] reads many files in one script. What the user wrote himself is run by
//! [`Connection::command`], a process of its own on the same connection, so that whatever it prints
//! or leaves running disturbs nothing else.
//!
//! Why the program and not a library: hosts, users, keys, jump hosts and agents are set up for it
//! already, in `~/.ssh/config`, and whoever may log in there is the user's and the host's business.
//!
//! Invariants:
//!
//! * Nothing is asked of the user: `BatchMode`. What ssh would have asked is an error that says
//!   what to do by hand.
//! * Nothing is written or installed there, and nothing stays running when the connection ends.
//! * The other end needs `sh`, `head`, `cat` and `ls`; `awk` only makes answers shorter.
//! * Answers are bounded, and an answer that comes late is never taken for that of the next
//!   question.
//! * A Ctrl-C at the terminal does not end the connection: what was changed is put back over it.
//!
//! ```no_run
//! use weir_ssh::{Connection, SshHost};
//!
//! # fn main() -> Result<(), weir_ssh::SshError> {
//! let app01 = Connection::open(SshHost::new("app01")?)?;
//! let version = app01.file("/proc/version")?;
//! let listing = app01.run("ls /etc/tomcat10")?;
//! assert!(version.is_some() && listing.succeeded());
//! # Ok(())
//! # }
//! ```

mod batch;
mod connection;
mod error;
mod host;
mod shell;

pub use batch::{Batch, BatchAnswer};
pub use connection::Connection;
pub use error::SshError;
pub use host::{SshHost, quoted};
pub use shell::{Output, Pending};
