//! Looking after backends: whether they answer, asked on a connection of their own.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http::header::{HOST, USER_AGENT};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::backend::Backend;
use crate::gatehouse::Shared;
use crate::settings::Health;

/// Looks at each backend again and again.
pub(crate) async fn look_after_backends(shared: Arc<Shared>) {
    loop {
        let live = shared.current.get();
        let health = &live.settings.health;
        // Side by side: one that does not answer is no reason to look at the others later.
        for (backend, settings) in live.backends.iter().zip(&live.settings.backends) {
            if backend.begin_look() {
                let (backend, health) = (Arc::clone(backend), health.clone());
                let own = settings.health_path.clone();
                tokio::spawn(async move {
                    let path = own.as_ref().or(health.path.as_ref());
                    look(&backend, path, &health).await;
                    backend.end_look();
                });
            }
        }
        sleep(health.every).await;
    }
}

async fn look(backend: &Backend, path: Option<&String>, health: &Health) {
    let well = match path {
        Some(path) => is_well(backend, path, health).await,
        // Without a path, only a backend that took no connection is asked whether it does again.
        None if backend.is_down() => backend.takes_connections(health.timeout).await,
        None => return,
    };
    backend.looked(well, health);
}

/// Whether a backend answers with a status below 400 in time.
async fn is_well(backend: &Backend, path: &str, health: &Health) -> bool {
    matches!(timeout(health.timeout, ask(backend, path)).await, Ok(Some(status)) if status < 400)
}

async fn ask(backend: &Backend, path: &str) -> Option<u16> {
    let stream = TcpStream::connect(backend.addresses()).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let host = backend.address.to_string();
    let request = Request::builder()
        .uri(path)
        .header(HOST, host.trim_start_matches("http://"))
        .header(USER_AGENT, "weir-gate (health)")
        .body(Empty::<Bytes>::new())
        .ok()?;
    let asking = async {
        let response = sender.send_request(request).await.ok()?;
        let status = response.status().as_u16();
        // Read to its end, so that the backend does not log a client that broke off.
        let mut body = response.into_body();
        while let Some(Ok(_)) = body.frame().await {}
        Some(status)
    };
    tokio::select! {
        status = asking => status,
        _ = connection => None,
    }
}
