//! Stage `pool.db`: the database connections that the workers share.
//!
//! First come, first served: a connection given back goes to whoever has waited longest, and nobody
//! who comes later can take it. There is no time-out: as many can wait as there are worker threads,
//! and each connection comes back.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use rusqlite::Connection;

use crate::stage::{Level, Line, StageReading};

/// Makes another database connection.
type Open = Box<dyn Fn() -> rusqlite::Result<Connection> + Send + Sync>;

/// A bounded set of database connections.
pub(crate) struct Pool {
    state: Mutex<State>,
    open: Open,
}

struct State {
    limit: u64,
    /// Connections that exist, held or idle.
    total: u64,
    /// Empty whenever somebody waits.
    idle: Vec<Connection>,
    waiters: VecDeque<Waiter>,
    held: Level,
    line: Line,
}

struct Waiter {
    since: Instant,
    hand: SyncSender<Connection>,
}

impl State {
    /// Gives a connection to the one who has waited longest, or keeps it for the next.
    fn hand_on(&mut self, connection: Connection) {
        let Some(waiter) = self.waiters.pop_front() else {
            self.idle.push(connection);
            return;
        };
        let now = Instant::now();
        self.line.leave(now, waiter.since, true);
        self.held.rise(now);
        waiter
            .hand
            .send(connection)
            .expect("who waits for a connection does not go away");
    }
}

impl Pool {
    /// Opens `limit` connections with `open`.
    pub(crate) fn new(
        limit: u64,
        open: impl Fn() -> rusqlite::Result<Connection> + Send + Sync + 'static,
    ) -> rusqlite::Result<Self> {
        let now = Instant::now();
        let state = State {
            limit: 0,
            total: 0,
            idle: Vec::new(),
            waiters: VecDeque::new(),
            held: Level::new(now),
            line: Line::new(now),
        };
        let pool = Self {
            state: Mutex::new(state),
            open: Box::new(open),
        };
        pool.set_limit(limit)?;
        Ok(pool)
    }

    /// Takes a connection, after everyone who asked before.
    pub(crate) fn acquire(&self) -> Lease<'_> {
        let mut state = self.lock();
        let now = Instant::now();
        if let Some(connection) = state.idle.pop() {
            state.line.pass();
            state.held.rise(now);
            return Lease {
                pool: self,
                connection: Some(connection),
            };
        }
        let (hand, take) = sync_channel(1);
        state.line.join(now, now);
        state.waiters.push_back(Waiter { since: now, hand });
        drop(state);
        let connection = take.recv().expect("the pool serves everyone who waits");
        Lease {
            pool: self,
            connection: Some(connection),
        }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.lock().limit
    }

    /// Changes the number of connections: at once when it grows, as connections come back when it
    /// shrinks.
    ///
    /// When one cannot be opened, the limit stays at what there is.
    pub(crate) fn set_limit(&self, limit: u64) -> rusqlite::Result<()> {
        let (missing, surplus) = {
            let mut state = self.lock();
            state.limit = limit;
            let surplus = state
                .total
                .saturating_sub(limit)
                .min(state.idle.len() as u64);
            state.total -= surplus;
            let keep = state.idle.len() - surplus as usize;
            (
                limit.saturating_sub(state.total),
                state.idle.split_off(keep),
            )
        };
        drop(surplus);
        for _ in 0..missing {
            match (self.open)() {
                Ok(connection) => {
                    let mut state = self.lock();
                    state.total += 1;
                    state.hand_on(connection);
                }
                Err(error) => {
                    let mut state = self.lock();
                    state.limit = state.total;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn read(&self) -> StageReading {
        let state = self.lock();
        let now = Instant::now();
        let mut reading = StageReading::of("pool.db").occupied(&state.held, now);
        reading.limit = Some(state.limit);
        state.line.read_into(&mut reading, now);
        reading
    }

    fn give_back(&self, connection: Connection) {
        let mut state = self.lock();
        state.held.fall(Instant::now());
        if state.total > state.limit {
            state.total -= 1;
            drop(state);
            drop(connection);
        } else {
            state.hand_on(connection);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while it holds the pool")
    }
}

/// A connection held; given back when dropped.
pub(crate) struct Lease<'pool> {
    pool: &'pool Pool,
    connection: Option<Connection>,
}

impl Deref for Lease<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
            .as_ref()
            .expect("a lease has its connection until it is dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.give_back(connection);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    fn pool(limit: u64) -> Arc<Pool> {
        Arc::new(Pool::new(limit, Connection::open_in_memory).unwrap())
    }

    fn until(pool: &Pool, condition: impl Fn(&StageReading) -> bool) {
        while !condition(&pool.read()) {
            thread::yield_now();
        }
    }

    #[test]
    fn those_who_wait_are_served_in_the_order_they_came() {
        let pool = pool(1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = pool.acquire();
        let waiters: Vec<_> = (0..8)
            .map(|who| {
                let (shared, order) = (Arc::clone(&pool), Arc::clone(&order));
                let waiter = thread::spawn(move || {
                    let _lease = shared.acquire();
                    order.lock().unwrap().push(who);
                });
                until(&pool, |reading| reading.waiting == Some(who + 1));
                waiter
            })
            .collect();
        drop(first);
        for waiter in waiters {
            waiter.join().unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
        let reading = pool.read();
        assert_eq!(
            (reading.entries, reading.waits, reading.waiting),
            (Some(9), Some(8), Some(0))
        );
        assert_eq!(
            reading.waiting_seconds.unwrap().to_bits(),
            reading.wait_seconds.unwrap().to_bits()
        );
    }

    #[test]
    fn never_more_held_than_the_limit_and_nothing_is_lost() {
        let pool = pool(3);
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let lease = pool.acquire();
                        most.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        assert_eq!(
                            lease
                                .query_row("SELECT 7", [], |row| row.get::<_, u32>(0))
                                .unwrap(),
                            7
                        );
                        held.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        let reading = pool.read();
        assert_eq!(
            (reading.entries, reading.occupancy, reading.waiting),
            (Some(2_400), Some(0), Some(0))
        );
        assert!((1..=3).contains(&most.into_inner()));
    }

    #[test]
    fn growing_serves_waiters_at_once_and_shrinking_waits_for_what_is_held() {
        let pool = pool(1);
        let first = pool.acquire();
        thread::scope(|scope| {
            let second = scope.spawn(|| drop(pool.acquire()));
            until(&pool, |reading| reading.waiting == Some(1));
            pool.set_limit(2).unwrap();
            second.join().unwrap();
        });
        pool.set_limit(1).unwrap();
        assert_eq!(pool.lock().total, 1, "the idle one is closed at once");
        let limit = pool.limit();
        drop(first);
        assert_eq!((limit, pool.lock().idle.len()), (1, 1));
        let leases = {
            pool.set_limit(3).unwrap();
            [pool.acquire(), pool.acquire(), pool.acquire()]
        };
        pool.set_limit(1).unwrap();
        assert_eq!(pool.read().occupancy, Some(3));
        drop(leases);
        let state = pool.lock();
        assert_eq!((state.total, state.idle.len()), (1, 1));
    }

    #[test]
    fn a_connection_that_cannot_be_opened_leaves_the_limit_at_what_there_is() {
        let opened = AtomicU64::new(0);
        let pool = Pool::new(2, move || match opened.fetch_add(1, Ordering::SeqCst) {
            0..3 => Connection::open_in_memory(),
            _ => Err(rusqlite::Error::InvalidQuery),
        });
        let pool = pool.unwrap();
        assert!(pool.set_limit(9).is_err());
        assert_eq!(pool.limit(), 3);
    }
}
