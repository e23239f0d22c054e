//! Which files a plan may touch, and opening them so that nothing else is touched.
//!
//! A plan is often somebody else's: sent by mail, found in a repository. It names files to read and
//! files to write, and a server of its choice gets what it reads. So a plan reaches what it needs
//! to work, its own folder and the one that Weir is run in, and beyond them what the user names. In
//! a sandbox its own folder has to do.
//!
//! [`Reach`] is that rule with the places that it looks at. What counts is the file that is opened,
//! not its name: links, `..` and names below `/proc` lead wherever they lead, and the rule is asked
//! about that place, after the file is held and before a byte of it is read, cut or written. Pipes
//! and devices are no files, because a plan that waits for one never ends.
//!
//! Below the folders that nobody named, what begins with a dot is out of reach: a home folder has
//! keys and passwords there (`.ssh`, `.netrc`).
//!
//! ```
//! use std::path::Path;
//! use weir_reach::Reach;
//!
//! let reach = Reach::of_plan(Some(Path::new("src/plan.jmx")));
//! assert!(reach.judge(Path::new("src/users.csv")).is_allowed);
//! assert!(!reach.judge(Path::new("/etc/passwd")).is_allowed);
//! let reach = reach.allow(Path::new("/etc"));
//! assert!(reach.judge(Path::new("/etc/passwd")).is_allowed);
//! ```
//!
//! Deliberately absent: what a plan is, whom the file is sent to. Hard links are not seen through:
//! who may make one may read the file.

mod open;
mod place;
mod rule;

pub use open::WriteMode;
pub use rule::{Access, Judgement, Reach, Refusal, is_refusal};
