//! `[target.KIND.database]`: the PostgreSQL that Weir starts behind a server.

use weir_userfile::Section;

/// Connections that the application may have when the study does not say: more than any pool that
/// is worth trying, so that the pool is what limits.
const CONNECTIONS: u32 = 300;
/// Most posts that can be asked for; a million take about 400 MB.
const POSTS_MAX: u32 = 20_000_000;

/// The database behind a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseSpec {
    /// Connections that the application may have at once.
    pub connections: u32,
    /// Rows of the table of posts; `None`: there is no table.
    pub posts: Option<u32>,
}

impl Default for DatabaseSpec {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            posts: None,
        }
    }
}

/// Reads the table, if there is one.
pub(super) fn read(section: &Section<'_>, name: &str) -> Option<DatabaseSpec> {
    let section = section.section("database", name)?;
    let connections = section.whole("connections", 1..=10_000);
    let posts = section.whole("posts", 0..=POSTS_MAX);
    section.finish();
    Some(DatabaseSpec {
        connections: connections.map_or(CONNECTIONS, toml::Spanned::into_inner),
        posts: posts.map(toml::Spanned::into_inner),
    })
}
