//! The threads that forward: each has a runtime of its own, and connections stay with the thread
//! that took them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::time::sleep;

use crate::connection::serve;
use crate::error::GatewayError;
use crate::gatehouse::{Counted, Shared, drained};
use crate::health::look_after_backends;
use crate::keys::connect;
use crate::listening::{Listener, Listening};
use crate::names::follow_names;
use crate::outliers::judge_backends;

/// How long nothing is accepted when the system has no room for another connection.
const NO_ROOM_PAUSE: Duration = Duration::from_millis(20);
/// How often what is kept is looked through.
const TIDY_EVERY: Duration = Duration::from_secs(1);

/// Starts thread number `number`; it ends when all its connections have, after the gateway drains.
pub(crate) fn start(
    number: usize,
    listeners: &[Listening],
    shared: &Arc<Shared>,
) -> Result<JoinHandle<()>, GatewayError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(GatewayError::Thread)?;
    let listeners: Result<Vec<_>, _> = {
        let _inside = runtime.enter();
        listeners.iter().map(Listening::watch).collect()
    };
    let listeners = listeners.map_err(GatewayError::Thread)?;
    let shared = Arc::clone(shared);
    thread::Builder::new()
        .name(format!("weir-gate-{number}"))
        .spawn(move || runtime.block_on(run(number, listeners, shared)))
        .map_err(GatewayError::Thread)
}

async fn run(number: usize, listeners: Vec<Listener>, shared: Arc<Shared>) {
    for listener in listeners {
        tokio::spawn(accept(number, listener, Arc::clone(&shared)));
    }
    tokio::spawn(tidy(number, Arc::clone(&shared)));
    if number == 0 {
        tokio::spawn(look_after_backends(Arc::clone(&shared)));
        tokio::spawn(follow_names(Arc::clone(&shared)));
        tokio::spawn(judge_backends(Arc::clone(&shared)));
    }
    let mut drains = shared.drains.clone();
    drained(&mut drains).await;
    let within = shared.current.get().settings.timeouts.drain;
    // All room is free when no connection is left; what has not ended by then is cut off.
    let all = shared.room.acquire_many(shared.room_total as u32);
    let _ = tokio::time::timeout(within, all).await;
}

/// Takes connections until the gateway drains.
async fn accept(number: usize, listener: Listener, shared: Arc<Shared>) {
    let mut drains = shared.drains.clone();
    tokio::select! {
        () = accept_all(number, &listener, &shared) => {}
        () = drained(&mut drains) => {}
    }
}

async fn accept_all(number: usize, listener: &Listener, shared: &Arc<Shared>) {
    loop {
        // Without room, clients wait in the kernel's backlog.
        let room = if let Ok(room) = Arc::clone(&shared.room).try_acquire_owned() {
            room
        } else {
            shared.counts.full.fetch_add(1, Ordering::Relaxed);
            let room = Arc::clone(&shared.room).acquire_owned().await;
            room.expect("the semaphore is never closed")
        };
        let accepting = Counted::new(&shared.counts.accepting);
        let accepted = listener.accept().await;
        drop(accepting);
        if let Ok((stream, address)) = accepted {
            shared.counts.connections.fetch_add(1, Ordering::Relaxed);
            let Some(connected) = connect(&shared.current.get(), address) else {
                continue;
            };
            let shared = Arc::clone(shared);
            tokio::spawn(async move {
                serve(stream, address, shared, number).await;
                drop((room, connected));
            });
        } else {
            shared.counts.not_accepted.fetch_add(1, Ordering::Relaxed);
            drop(room);
            sleep(NO_ROOM_PAUSE).await;
        }
    }
}

/// Lets go of what was kept for too long, and of certificates that have been replaced.
async fn tidy(number: usize, shared: Arc<Shared>) {
    loop {
        sleep(TIDY_EVERY).await;
        let live = shared.current.get();
        for backend in &live.backends {
            backend.let_go(number, live.settings.timeouts.backend_idle);
        }
        if number > 0 {
            continue;
        }
        live.keys.iter().for_each(|table| table.tidy());
        if let Some(tls) = &shared.tls {
            tls.reload_if_written();
        }
    }
}
