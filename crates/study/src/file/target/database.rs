//! `[target.KIND.database]`: the PostgreSQL that Weir starts behind a server.

use std::time::Duration;

use toml::Spanned;
use weir_metric::{parse_bytes, parse_duration};
use weir_userfile::Section;

/// Connections that the application may have when the study does not say: more than any pool that
/// is worth trying, so that the pool is what limits.
const CONNECTIONS: u32 = 300;
/// Most posts that can be asked for; a million take about 400 MB.
const POSTS_MAX: u32 = 20_000_000;
/// Bytes that a post's text may have: those of the posts without it, and what fits into a page of
/// the table with the rest.
const TEXT: std::ops::RangeInclusive<u64> = 200..=7_000;
/// The least memory in which PostgreSQL and the sessions of a pool find room.
const MEMORY_MIN: u64 = 32 << 20;

/// The database behind a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseSpec {
    /// Connections that the application may have at once.
    pub connections: u32,
    /// Rows of the table of posts; `None`: there is no table.
    pub posts: Option<u32>,
    /// Bytes of a post's text; `None`: those of the sample server's posts.
    pub post_text: Option<u32>,
    /// Bytes of memory that it may have, with what the kernel keeps of its files; `None`: any.
    pub memory: Option<u64>,
    /// What each statement that reads posts waits for, as for a disk.
    pub delay: Option<Duration>,
}

impl Default for DatabaseSpec {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            posts: None,
            post_text: None,
            memory: None,
            delay: None,
        }
    }
}

/// Reads the table, if there is one.
pub(super) fn read(section: &Section<'_>, name: &str) -> Option<DatabaseSpec> {
    let section = section.section("database", name)?;
    let connections = section.whole("connections", 1..=10_000);
    let posts = section.whole("posts", 0..=POSTS_MAX);
    let post_text = bytes(&section, "post-text", TEXT);
    let memory = bytes(&section, "memory", MEMORY_MIN..=u64::MAX);
    let delay = section.parsed("delay", parse_duration);
    section.finish();
    Some(DatabaseSpec {
        connections: connections.map_or(CONNECTIONS, Spanned::into_inner),
        posts: posts.map(Spanned::into_inner),
        post_text: post_text.and_then(|bytes| u32::try_from(bytes).ok()),
        memory,
        delay: delay.map(Spanned::into_inner),
    })
}

/// An amount in the range.
fn bytes(
    section: &Section<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u64>,
) -> Option<u64> {
    let amount = section.parsed(key, parse_bytes)?;
    let span = amount.span();
    let amount = amount.into_inner();
    if range.contains(&amount) {
        return Some(amount);
    }
    let says = if amount < *range.start() {
        format!("`{key}` is at least {} bytes", range.start())
    } else {
        format!("`{key}` is at most {} bytes", range.end())
    };
    section.problems().add(span, says);
    None
}
