//! The accounts that a root lends to servers that do not run, or do not answer, as root.

use std::fs;
use std::path::Path;

use crate::error::TargetError;

/// A user that is not the one who runs Weir.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// The first of these users that this machine has.
    pub(crate) fn first_of(names: &[&str]) -> Result<Option<Self>, TargetError> {
        let path = Path::new("/etc/passwd");
        let accounts = fs::read_to_string(path).map_err(TargetError::file(path))?;
        Ok(names.iter().find_map(|name| Self::named(&accounts, name)))
    }

    /// The account of this name in a text like `/etc/passwd` (passwd(5)).
    fn named(accounts: &str, name: &str) -> Option<Self> {
        let mut fields = accounts
            .lines()
            .map(|line| line.split(':'))
            .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Self {
            name: name.to_owned(),
            uid,
            gid,
        })
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
        let postgres = Account {
            name: "postgres".to_owned(),
            uid: 101,
            gid: 104,
        };
        assert_eq!(Account::named(accounts, "postgres"), Some(postgres));
        assert_eq!(Account::named(accounts, "nobody"), None);
        assert_eq!(Account::named(accounts, "broken"), None);
    }
}
