//! Looking after backends: whether they answer, asked on a connection of their own.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::time::{sleep, timeout};

use crate::backend::Backend;
use crate::dial::{dial, is_http2};
use crate::gatehouse::Shared;
use crate::live::Live;

/// Looks at each backend again and again.
pub(crate) async fn look_after_backends(shared: Arc<Shared>) {
    loop {
        let live = shared.current.get();
        let health = &live.settings.health;
        // Side by side: one that does not answer is no reason to look at the others later.
        for (backend, settings) in live.backends.iter().zip(&live.settings.backends) {
            if backend.begin_look() {
                let (backend, live) = (Arc::clone(backend), Arc::clone(&live));
                let own = settings.health_path.clone();
                tokio::spawn(async move {
                    let path = own.as_ref().or(live.settings.health.path.as_ref());
                    look(&backend, path, &live).await;
                    backend.end_look();
                });
            }
        }
        sleep(health.every).await;
    }
}

async fn look(backend: &Backend, path: Option<&String>, live: &Live) {
    let well = match path {
        Some(path) => is_well(backend, path, live).await,
        // Without a path, only a backend that took no connection is asked whether it does again.
        None if backend.is_down() => backend.takes_connections(live).await,
        None => return,
    };
    backend.looked(well, &live.settings.health);
}

/// Whether a backend answers with a status below 400 in time.
async fn is_well(backend: &Backend, path: &str, live: &Live) -> bool {
    let within = live.settings.health.timeout;
    matches!(timeout(within, ask(backend, path, live)).await, Ok(Some(status)) if status < 400)
}

async fn ask(backend: &Backend, path: &str, live: &Live) -> Option<u16> {
    let offers_http2 = backend.is_http2;
    let stream = dial(backend, live.tls.as_deref(), None, offers_http2);
    let stream = stream.await.ok()?;
    let is_http2 = is_http2(&stream, offers_http2);
    let stream = TokioIo::new(stream);
    let authority = backend.address.authority();
    let request = Request::builder().header(USER_AGENT, "weir-gate (health)");
    let body = Empty::<Bytes>::new();
    if is_http2 {
        let executor = TokioExecutor::new();
        let (mut sender, connection) = http2::handshake(executor, stream).await.ok()?;
        let scheme = if backend.address.is_secure() {
            "https"
        } else {
            "http"
        };
        let request = request.uri(format!("{scheme}://{authority}{path}"));
        let asked = sender.send_request(request.body(body).ok()?);
        return tokio::select! {
            status = status(asked) => status,
            _ = connection => None,
        };
    }
    let (mut sender, connection) = http1::handshake(stream).await.ok()?;
    let request = request.uri(path).header(HOST, authority);
    let asked = sender.send_request(request.body(body).ok()?);
    tokio::select! {
        status = status(asked) => status,
        _ = connection => None,
    }
}

async fn status(asked: impl Future<Output = hyper::Result<Response<Incoming>>>) -> Option<u16> {
    let response = asked.await.ok()?;
    let status = response.status().as_u16();
    // Read to its end, so that the backend does not log a client that broke off.
    let mut body = response.into_body();
    while let Some(Ok(_)) = body.frame().await {}
    Some(status)
}
