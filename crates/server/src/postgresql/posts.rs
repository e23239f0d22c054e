//! The table of posts: what a bulletin board reads.
//!
//! Its content is that of the sample server's table, row for row, so that a study moves from one to
//! the other. An empty table makes every page free and the throughput misleading, which is a case
//! that a study can ask for.

use std::time::Duration;

use super::psql::Psql;
use super::{APPLICATION, Filled};
use crate::error::TargetError;

/// Changed whenever the content of the table changes, so that a kept database is made again.
const CONTENT_VERSION: u32 = 1;
/// Rows that one statement adds; about a second's work.
const ROWS_AT_ONCE: u32 = 50_000;

const CREATE: &str = "CREATE TABLE posts (id bigint NOT NULL, board_id integer NOT NULL, \
    title text NOT NULL, writer text NOT NULL, body text NOT NULL, created_at text NOT NULL)";

/// Long texts lie in their rows as they are, not compressed beside them.
const LIE_IN_ROWS: &str = "ALTER TABLE posts ALTER body SET STORAGE PLAIN";

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
    /// Bytes of a post's text; `None`: those of the sample server's.
    pub text: Option<u32>,
}

impl PostsTable {
    /// The name under which a database with this table is kept.
    pub(super) fn key(self, major: u32) -> String {
        let text = self
            .text
            .map_or_else(String::new, |text| format!("-of-{text}"));
        format!(
            "posts-{}{text}-v{CONTENT_VERSION}-postgresql-{major}",
            self.rows
        )
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
        if self.text.is_some() {
            run(LIE_IN_ROWS)?;
        }
        let mut rows = 0;
        while rows < self.rows {
            let last = self.rows.min(rows + ROWS_AT_ONCE);
            run(&insert(rows + 1, last, self.text))?;
            rows = last;
            progress(Filled {
                rows,
                of: self.rows,
            });
        }
        FINISH.iter().try_for_each(|statement| run(statement))
    }
}

/// Has each statement that reads posts wait: an uncorrelated subquery is run once for it.
pub(super) fn delay(psql: &Psql, delay: Duration) -> Result<(), TargetError> {
    for statement in [
        "ALTER TABLE posts RENAME TO prompt_posts".to_owned(),
        format!(
            "CREATE VIEW posts AS SELECT * FROM prompt_posts WHERE (SELECT pg_sleep({})::text) IS NOT NULL",
            delay.as_secs_f64()
        ),
    ] {
        psql.run_as(APPLICATION, APPLICATION, &statement)?;
    }
    Ok(())
}

/// Adds rows `first` to `last`. The words of a body are picked without order by Knuth's
/// multiplicative hash (The Art of Computer Programming, vol. 3, 6.4) of row and place, in 32 bits.
/// A longer body has them again and again.
fn insert(first: u32, last: u32, text: Option<u32>) -> String {
    let words = "(SELECT string_agg((ARRAY['river', 'wall', 'stone', 'water', 'gate', 'bridge', 'level', 'flow']) \
         [1 + ((((id + (place << 20)) * 2654435761) & 4294967295) >> 29)::int], ' ' ORDER BY place) || ' ' \
         FROM generate_series(0::bigint, 31) place)";
    let body = text.map_or_else(
        || words.to_owned(),
        |text| format!("(SELECT rpad(words, {text}, words) FROM {words} AS of_row(words))"),
    );
    format!(
        "INSERT INTO posts \
         SELECT id, 1 + id % 10, 'Post ' || id || ' of the day', 'writer' || id % 997, \
         {body}, \
         to_char(timestamp '2020-01-01' + id * interval '1 minute', 'YYYY-MM-DD HH24:MI:SS') \
         FROM generate_series({first}::bigint, {last}) id"
    )
}
