//! Files in folders that others may write.
//!
//! Weir often runs as root, on files of users that it does not know: a server's configuration, a
//! run directory, a journal, a cache. Whoever may write one of the folders on the way can put a
//! link where a file was, at any moment. So a [`Folder`] is opened once, without following a link,
//! and what is done in it is done relative to its descriptor: a file is made under a name that
//! nobody can know, gets its owner and its permissions through its descriptor, and is renamed. What
//! is a link honestly is followed once, before anything is kept or changed, by [`real_path`], which
//! says whose links are followed. What is run or obeyed has to belong to the user that Weir runs
//! as, or to root: [`check_own`], [`check_tree`] and [`check_program_tree`] say so.
//!
//! Why not `std::fs`: it follows links, and it changes owner and permissions by name.

mod folder;
mod owner;
mod resolve;

pub use folder::{Content, Folder, Rights};
pub use owner::{Distrust, check_facts, check_own, check_program_tree, check_tree, user};
pub use resolve::real_path;
