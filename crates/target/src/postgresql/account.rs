//! The account that the server runs under.

use std::fs;
use std::path::Path;

use crate::error::TargetError;

/// Accounts that a root lends to the server, in this order: Debian's own, and one that owns nothing.
const LENT: [&str; 2] = ["postgres", "nobody"];

/// A user that is not the one who runs Weir.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Account {
    /// The account to change to; `None` stays who one is. PostgreSQL does not run as root.
    pub(super) fn to_lend() -> Result<Option<Self>, TargetError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let path = Path::new("/etc/passwd");
        let accounts = fs::read_to_string(path).map_err(TargetError::file(path))?;
        let found = LENT.iter().find_map(|name| Self::named(&accounts, name));
        found.map(Some).ok_or_else(|| TargetError::Postgresql {
            doing: "find an account for it, as it does not run as root".to_owned(),
            says: format!("there is no user {}", LENT.join(" or ")),
        })
    }

    /// The account of this name in a text like `/etc/passwd` (passwd(5)).
    fn named(accounts: &str, name: &str) -> Option<Self> {
        let mut fields = accounts
            .lines()
            .map(|line| line.split(':'))
            .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Self { uid, gid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_whole_name() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\n\
            postgres2:x:7:8::/:/bin/sh\n\
            postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash\n\
            broken:x\n";
        let postgres = Account { uid: 101, gid: 104 };
        assert_eq!(Account::named(accounts, "postgres"), Some(postgres));
        assert_eq!(Account::named(accounts, "nobody"), None);
        assert_eq!(Account::named(accounts, "broken"), None);
    }
}
