//! The applications that servers under test run.
//!
//! Their sources (`java/` in the repository) are part of the program, so that a study runs from an
//! installed Weir as it does from a checkout. [`build`] turns them into a WAR or JAR with the
//! user's Maven and JDK, once for each content, and keeps it in the cache.
//!
//! Why not the built file: it is made for a version of the JDK and of the servlet API, it would be
//! trusted unseen, and 28 MB of it are libraries that Maven has anyway.
//!
//! Invariant: what is in the cache under a name was built whole from exactly the sources that the
//! name's digest stands for.

mod build;
mod sources;

pub use build::{AppError, build, place};
pub use sources::{App, ServletApi};
