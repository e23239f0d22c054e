//! The worker threads: each takes a request from the queue, runs it and answers, one at a time.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::connection::Connection;
use crate::dispatch::Outcome;
use crate::endpoint::Application;
use crate::funnel::Funnel;
use crate::http::Unreadable;

/// Stack of a worker: the deepest recursion (SQLite's parser, the walk of a flat tree) needs a
/// fraction of it.
const STACK_BYTES: usize = 1 << 20;

/// Starts `count` workers; on failure the thread limit becomes what there is.
pub(crate) fn start(funnel: &Arc<Funnel>, count: u64) -> io::Result<()> {
    for started in 0..count {
        let shared = Arc::clone(funnel);
        let worker = thread::Builder::new()
            .name("worker".to_owned())
            .stack_size(STACK_BYTES);
        if let Err(error) = worker.spawn(move || work(&shared)) {
            funnel.dispatch.not_started(count - started);
            return Err(error);
        }
    }
    Ok(())
}

/// The life of one worker.
fn work(funnel: &Funnel) {
    let mut random: Xoshiro256PlusPlus = rand::make_rng();
    while let Some(ready) = funnel.dispatch.take() {
        let mut application = Application {
            content: &funnel.content,
            pool: &funnel.pool,
            statements: &funnel.statements,
            random: &mut random,
        };
        let (outcome, connection) = turn(ready.connection, &mut application);
        funnel.dispatch.finish(ready.since, outcome);
        match connection {
            // The next request came with this one; it queues behind those that are there.
            Some(connection) if connection.has_more() => {
                funnel.dispatch.push(connection, Instant::now());
            }
            Some(connection) => funnel.parking.park(connection),
            None => {}
        }
    }
}

/// One request on one connection, which comes back if it stays open.
fn turn(
    mut connection: Connection,
    application: &mut Application<'_>,
) -> (Outcome, Option<Connection>) {
    match connection.read_request() {
        Ok(request) => {
            let response = application.answer(&request);
            let sent = connection
                .write_response(&response, request.keep_alive)
                .is_ok();
            (
                Outcome::Answered(response.status),
                (sent && request.keep_alive).then_some(connection),
            )
        }
        Err(Unreadable::Refused(response)) => {
            if connection.write_response(&response, false).is_ok() {
                connection.close_after_refusal();
            }
            (Outcome::Answered(response.status), None)
        }
        Err(Unreadable::Gone) => (Outcome::Abandoned, None),
    }
}
