//! The table of posts: what a bulletin board reads.
//!
//! Its content is that of the sample server's table, row for row, so that a study moves from one to
//! the other. An empty table makes every page free and the throughput misleading, which is a case
//! that a study can ask for.

use super::psql::Psql;
use super::{APPLICATION, Filled};
use crate::error::TargetError;

/// Changed whenever the content of the table changes, so that a kept database is made again.
const CONTENT_VERSION: u32 = 1;
/// Rows that one statement adds; about a second's work.
const ROWS_AT_ONCE: u32 = 50_000;

const CREATE: &str = "CREATE TABLE posts (id bigint NOT NULL, board_id integer NOT NULL, \
    title text NOT NULL, writer text NOT NULL, body text NOT NULL, created_at text NOT NULL)";

/// After the rows: an index is built faster than it grows.
const FINISH: [&str; 3] = [
    "ALTER TABLE posts ADD PRIMARY KEY (id)",
    "CREATE INDEX posts_by_board ON posts (board_id, id)",
    "VACUUM (ANALYZE, FREEZE) posts",
];

/// A table of posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostsTable {
    /// How many rows it has; none is a case of its own.
    pub rows: u32,
}

impl PostsTable {
    /// The name under which a database with this table is kept.
    pub(super) fn key(self, major: u32) -> String {
        format!("posts-{}-v{CONTENT_VERSION}-postgresql-{major}", self.rows)
    }

    /// Makes and fills the table. `go_on` is asked between statements.
    pub(super) fn fill(
        self,
        psql: &Psql,
        progress: &mut dyn FnMut(Filled),
        go_on: &dyn Fn() -> Result<(), TargetError>,
    ) -> Result<(), TargetError> {
        let run = |statement: &str| {
            go_on()?;
            psql.run_as(APPLICATION, APPLICATION, statement)
        };
        run(CREATE)?;
        let mut rows = 0;
        while rows < self.rows {
            let last = self.rows.min(rows + ROWS_AT_ONCE);
            run(&insert(rows + 1, last))?;
            rows = last;
            progress(Filled {
                rows,
                of: self.rows,
            });
        }
        FINISH.iter().try_for_each(|statement| run(statement))
    }
}

/// Adds rows `first` to `last`. The words of a body are picked without order by Knuth's
/// multiplicative hash (The Art of Computer Programming, vol. 3, 6.4) of row and place, in 32 bits.
fn insert(first: u32, last: u32) -> String {
    format!(
        "INSERT INTO posts \
         SELECT id, 1 + id % 10, 'Post ' || id || ' of the day', 'writer' || id % 997, \
         (SELECT string_agg((ARRAY['river', 'wall', 'stone', 'water', 'gate', 'bridge', 'level', 'flow']) \
         [1 + ((((id + (place << 20)) * 2654435761) & 4294967295) >> 29)::int], ' ' ORDER BY place) || ' ' \
         FROM generate_series(0::bigint, 31) place), \
         to_char(timestamp '2020-01-01' + id * interval '1 minute', 'YYYY-MM-DD HH24:MI:SS') \
         FROM generate_series({first}::bigint, {last}) id"
    )
}
