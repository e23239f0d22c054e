//! The admin endpoint: read and change limits, scrape the stages.
//!
//! It has its own listener and threads of its own, so it answers while every worker is busy. It
//! asks nobody who they are, which is why it listens on loopback only, and answers nobody who came
//! by a name: that may be a web page's, which has it looked up as this machine (DNS rebinding).

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::acceptor;
use crate::funnel::{Change, Funnel};
use crate::http::{HttpStream, Method, Number, Parameters, Request, Response, Unreadable};
use crate::metrics;
use crate::options::{CONNECTIONS_MAX, POOL_MAX, THREADS_MAX};

/// Admin connections open at a time; one more is closed at once.
const CONNECTIONS: usize = 32;
/// How long an admin connection may stay without a request.
const TIMEOUT: Duration = Duration::from_secs(60);

const NEW_CONNECTIONS: Number = Number {
    name: "connections",
    unit: "connections",
    range: 1..=CONNECTIONS_MAX as u64,
    default: 0,
};
const NEW_THREADS: Number = Number {
    name: "threads",
    unit: "threads",
    range: 1..=THREADS_MAX as u64,
    default: 0,
};
const NEW_POOL: Number = Number {
    name: "pool.db",
    unit: "connections",
    range: 1..=POOL_MAX as u64,
    default: 0,
};

/// Answers admin requests until `stop` becomes readable.
pub(crate) fn run(listener: &TcpListener, stop: &OwnedFd, funnel: &Arc<Funnel>) {
    let open = Arc::new(AtomicUsize::new(0));
    while let Some(socket) = acceptor::next_connection(listener, stop) {
        let place = Place::take(&open);
        if place.number > CONNECTIONS {
            continue;
        }
        let funnel = Arc::clone(funnel);
        // Without a thread the connection is closed, and whoever asks will ask again.
        let _ = thread::Builder::new()
            .name("admin-client".to_owned())
            .spawn(move || {
                let _place = place;
                converse(socket, &funnel);
            });
    }
}

/// A place among the admin connections, given back when dropped.
struct Place {
    open: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        let number = open.fetch_add(1, Ordering::Relaxed) + 1;
        Self {
            open: Arc::clone(open),
            number,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One admin connection until it closes.
fn converse(socket: TcpStream, funnel: &Arc<Funnel>) {
    let Ok(mut stream) = HttpStream::new(socket, TIMEOUT) else {
        return;
    };
    loop {
        match stream.read_request() {
            Ok(request) => {
                let response = answer(&request, funnel).unwrap_or_else(|refusal| refusal);
                if stream
                    .write_response(&response, request.keep_alive)
                    .is_err()
                    || !request.keep_alive
                {
                    return;
                }
            }
            Err(Unreadable::Refused(response)) => {
                if stream.write_response(&response, false).is_ok() {
                    stream.close_after_refusal();
                }
                return;
            }
            Err(Unreadable::Gone) => return,
        }
    }
}

fn answer(request: &Request, funnel: &Arc<Funnel>) -> Result<Response, Response> {
    if request.is_for_other_name {
        return Err(Response::refusal(
            403,
            "the admin endpoints are asked by an address or as localhost",
        ));
    }
    match (request.path.as_str(), request.method) {
        ("/limits", Method::Get) => {
            request.parameters.expect_only(&[])?;
            Ok(Response::json(&funnel.limits()))
        }
        ("/limits", Method::Put) => {
            funnel
                .change(change(&request.parameters)?)
                .map_err(|error| Response::refusal(503, error))?;
            Ok(Response::json(&funnel.limits()))
        }
        ("/limits", _) => Err(Response::method_not_allowed(&[Method::Get, Method::Put])),
        ("/metrics", Method::Get) => Ok(Response::metrics(metrics::render(funnel))),
        ("/metrics", _) => Err(Response::method_not_allowed(&[Method::Get])),
        _ => Err(Response::refusal(
            404,
            "there is nothing here; the admin endpoints are /limits and /metrics",
        )),
    }
}

/// The change asked for; all of it is checked before any of it is made.
fn change(parameters: &Parameters) -> Result<Change, Response> {
    parameters.expect_only(&[NEW_CONNECTIONS.name, NEW_THREADS.name, NEW_POOL.name])?;
    Ok(Change {
        connections: parameters.given_number(&NEW_CONNECTIONS)?,
        threads: parameters.given_number(&NEW_THREADS)?,
        pool: parameters.given_number(&NEW_POOL)?,
    })
}
