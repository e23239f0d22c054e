//! The limit of open files: every virtual user needs one for its connection.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::error::LoadError;

/// Files that the rest of the process may need while a load runs: results, pipes, libraries,
/// readings of `/proc`.
const OTHERS: u64 = 256;

/// Makes sure that this many sockets can be open at once.
///
/// Raises the soft limit of this process as far as the hard limit allows, but only if the limit in
/// force is too low: children that are started later inherit it.
pub(crate) fn allow_sockets(sockets: u64) -> Result<(), LoadError> {
    let needed = sockets.saturating_add(OTHERS);
    let mut limits = getrlimit(Resource::Nofile);
    if limits.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let allowed = limits.maximum.unwrap_or(u64::MAX);
    if allowed < needed {
        return Err(LoadError::OpenFiles {
            needed,
            limit: allowed,
        });
    }
    limits.current = Some(needed);
    setrlimit(Resource::Nofile, limits).map_err(|_| LoadError::OpenFiles {
        needed,
        limit: allowed,
    })
}

/// How many sockets this process could ever have.
pub(crate) fn most_sockets() -> u64 {
    let allowed = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    allowed.saturating_sub(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_many_are_needed() {
        // No process of this system can open that many (fs.nr_open is far lower).
        let error = allow_sockets(u64::MAX / 2);
        let maximum = getrlimit(Resource::Nofile).maximum;
        if maximum.is_some() {
            assert!(
                matches!(error, Err(LoadError::OpenFiles { .. })),
                "{error:?}"
            );
        }
    }
}
