//! Stage `database`: the table of posts, and the statements that run on it.
//!
//! The table resembles the one behind a bulletin board: some boards, each with its posts, read page
//! by page, newest first, through an index. Its size matters: on an empty table every page is free,
//! and throughput says nothing about the application. Its content depends on the row number only,
//! so every server has the same.
//!
//! The occupancy of this stage is the number of statements running: a connection that is held while
//! nothing runs on it takes up the pool, not the database.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, params};
use serde::Serialize;

use crate::stage::{Level, StageReading};

/// Boards that the posts are spread over.
pub(crate) const BOARDS: u32 = 10;
/// Changed whenever the content of the table changes, so that a kept database is built again.
const CONTENT_VERSION: u32 = 1;

const CREATE: &str = "
    CREATE TABLE posts (
        id INTEGER PRIMARY KEY,
        board_id INTEGER NOT NULL,
        title TEXT NOT NULL,
        writer TEXT NOT NULL,
        body TEXT NOT NULL,
        created_at TEXT NOT NULL
    );
    CREATE INDEX posts_by_board ON posts (board_id, id);";

const INSERT: &str = "
    INSERT INTO posts (id, board_id, title, writer, body, created_at)
    VALUES (?1, ?2, ?3, ?4, ?5, datetime('2020-01-01', ?1 || ' minutes'))";

const PAGE: &str = "
    SELECT id, title, writer, body, created_at FROM posts
    WHERE board_id = ?1 ORDER BY id DESC LIMIT ?2 OFFSET ?3";

/// One row of a page.
#[derive(Debug, Serialize)]
pub(crate) struct Post {
    pub(crate) id: u32,
    pub(crate) title: String,
    pub(crate) writer: String,
    pub(crate) body: String,
    pub(crate) created_at: String,
}

/// Which posts to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) board: u64,
    pub(crate) size: u64,
    /// The first page is 1.
    pub(crate) number: u64,
}

/// Whether `file` is a database that [`build`] made with this many rows.
pub(crate) fn is_built(file: &Path, rows: u32) -> bool {
    let built = open(file).and_then(|connection| {
        let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let last: u32 = connection.query_row("SELECT max(id) FROM posts", [], |row| row.get(0))?;
        Ok((version, last))
    });
    built == Ok((CONTENT_VERSION, rows))
}

/// Makes the table of posts in a new database.
pub(crate) fn build(file: &Path, rows: u32) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // An interrupted build is thrown away whole, so nothing has to be safe on the disk in between.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(CREATE)?;
    {
        let mut insert = transaction.prepare(INSERT)?;
        for id in 1..=rows {
            let title = format!("Post {id} of the day");
            let writer = format!("writer{}", id % 997);
            insert.execute(params![id, 1 + id % BOARDS, title, writer, body(id)])?;
        }
    }
    transaction.commit()?;
    connection.pragma_update(None, "user_version", CONTENT_VERSION)
}

/// Opens the database for reading.
pub(crate) fn open(file: &Path) -> rusqlite::Result<Connection> {
    // One thread at a time uses a connection (the pool sees to it), so SQLite need not lock it.
    let connection = Connection::open_with_flags(
        file,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}

/// Reads one page of posts.
pub(crate) fn page(connection: &Connection, page: Page) -> rusqlite::Result<Vec<Post>> {
    let mut statement = connection.prepare_cached(PAGE)?;
    let offset = page.size * (page.number - 1);
    let rows = statement.query_map(
        [page.board, page.size, offset].map(u64::cast_signed),
        |row| {
            Ok(Post {
                id: row.get(0)?,
                title: row.get(1)?,
                writer: row.get(2)?,
                body: row.get(3)?,
                created_at: row.get(4)?,
            })
        },
    )?;
    rows.collect()
}

/// Some 200 characters that differ from row to row.
fn body(id: u32) -> String {
    let words = [
        "river", "wall", "stone", "water", "gate", "bridge", "level", "flow",
    ];
    let mut text = String::with_capacity(220);
    for place in 0..32_u32 {
        // Knuth's multiplicative hash, to pick words without order (The Art of Computer
        // Programming, vol. 3, 6.4).
        let hash = id.wrapping_add(place << 20).wrapping_mul(2_654_435_761);
        text.push_str(words[(hash >> 29) as usize]);
        text.push(' ');
    }
    text
}

/// The count of running statements.
pub(crate) struct Statements(Mutex<Counts>);

struct Counts {
    running: Level,
    entries: u64,
}

impl Statements {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Counts {
            running: Level::new(Instant::now()),
            entries: 0,
        }))
    }

    /// Runs a statement and counts it while it runs.
    pub(crate) fn run<T>(&self, statement: impl FnOnce() -> T) -> T {
        self.change(|counts, now| {
            counts.entries += 1;
            counts.running.rise(now);
        });
        let result = statement();
        self.change(|counts, now| counts.running.fall(now));
        result
    }

    /// The stage has no limit of its own (the pool bounds it) and no line: what waits for it waits
    /// for the pool.
    pub(crate) fn read(&self) -> StageReading {
        self.change(|counts, now| {
            let mut reading = StageReading::of("database").occupied(&counts.running, now);
            reading.entries = Some(counts.entries);
            reading
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Counts, Instant) -> T) -> T {
        let mut counts = self
            .0
            .lock()
            .expect("nothing panics while it holds the count of statements");
        change(&mut counts, Instant::now())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_newest_first() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("posts.sqlite");
        assert!(!is_built(&file, 1_000));
        build(&file, 1_000).unwrap();
        assert!(is_built(&file, 1_000) && !is_built(&file, 2_000));

        let connection = open(&file).unwrap();
        let ids = |number| -> Vec<u32> {
            let posts = page(
                &connection,
                Page {
                    board: 2,
                    size: 10,
                    number,
                },
            )
            .unwrap();
            posts.iter().map(|post| post.id).collect()
        };
        // Ids of board 2 end in 1.
        assert_eq!(
            ids(1),
            (0..10).map(|step| 991 - 10 * step).collect::<Vec<_>>()
        );
        assert_eq!(
            ids(10),
            (0..10).map(|step| 91 - 10 * step).collect::<Vec<_>>()
        );
        assert_eq!(ids(11), Vec::<u32>::new());
    }

    #[test]
    fn a_page_is_read_through_the_index() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("posts.sqlite");
        build(&file, 1_000).unwrap();
        let connection = open(&file).unwrap();
        let plan: String = connection
            .query_row(&format!("EXPLAIN QUERY PLAN {PAGE}"), [2, 10, 0], |row| {
                row.get("detail")
            })
            .unwrap();
        assert!(plan.contains("posts_by_board"), "{plan}");
    }

    #[test]
    fn rows_differ() {
        assert_ne!(body(1), body(2));
        assert!((150..250).contains(&body(1).len()));
    }
}
