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

use std::io;
use std::path::Path;

pub use folder::{Content, Folder, Rights, new_name};
pub use owner::{
    Distrust, check_facts, check_not_planted, check_obeyed, check_own, check_program_tree,
    check_tree, close_folder, close_tree, hide_tree, is_hidden, read_obeyed, user,
};
pub use resolve::real_path;

/// Reads a text; links are followed as [`real_path`] follows them.
///
/// # Errors
/// As of [`Folder::read`]; or it is not there, or no text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let (folder, name) = Folder::of(&real_path(path)?)?;
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    text(folder.read(&name)?.ok_or_else(missing)?.bytes)
}

/// Bytes as the text that they are.
///
/// # Errors
/// They are none.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
