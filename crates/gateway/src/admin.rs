//! The admin port: metrics, status, a live page, and changes of the limits.
//!
//! It runs on a thread of its own with a runtime of its own. When it crashes it is started again;
//! traffic does not notice.

mod access;
mod metrics;

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::sleep;

use self::access::Rule;
use crate::client::ClientAddress;
use crate::control::{Change, Control};
use crate::error::GatewayError;
use crate::gate_file::{FileError, Reload};
use crate::gatehouse::drained;
use crate::listening::{Listener, Listening};
use crate::status::Status;

/// Bytes of a change.
const CHANGE_MAX: usize = 64 * 1024;
/// Connections are closed that do not say what they want within this.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// From a crash to the next start.
const RESTART_AFTER: Duration = Duration::from_millis(500);

type Answer = Response<Full<Bytes>>;

/// The admin side; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Admin {
    ends: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Admin {
    /// Starts it on a socket that listens.
    pub(crate) fn start(
        listener: Listening,
        control: Arc<Control>,
        page: String,
    ) -> Result<Self, GatewayError> {
        let (ends, ended) = watch::channel(false);
        let page = Bytes::from(page);
        let thread = thread::Builder::new()
            .name("weir-gate-admin".to_owned())
            .spawn(move || {
                let counts = Arc::clone(&control.shared);
                again_and_again(&counts.counts.admin_restarts, || {
                    serve(&listener, &control, &page, ended.clone())
                });
            })
            .map_err(GatewayError::Thread)?;
        Ok(Self {
            ends,
            thread: Some(thread),
        })
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.ends.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Panics inside are caught.
            let _ = thread.join();
        }
    }
}

/// Runs something until it ends of itself; after a panic or an error it is run again.
fn again_and_again(restarts: &std::sync::atomic::AtomicU64, run: impl Fn() -> std::io::Result<()>) {
    while !matches!(catch_unwind(AssertUnwindSafe(&run)), Ok(Ok(()))) {
        restarts.fetch_add(1, Ordering::Relaxed);
        thread::sleep(RESTART_AFTER);
    }
}

fn serve(
    listener: &Listening,
    control: &Arc<Control>,
    page: &Bytes,
    mut ended: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = listener.watch()?;
        tokio::select! {
            () = accept(&listener, control, page) => {}
            () = drained(&mut ended) => {}
        }
        Ok(())
    })
}

async fn accept(listener: &Listener, control: &Arc<Control>, page: &Bytes) {
    loop {
        let Ok((stream, caller)) = listener.accept().await else {
            sleep(RESTART_AFTER).await;
            continue;
        };
        let (control, page) = (Arc::clone(control), page.clone());
        let service = service_fn(move |request| {
            let (control, page) = (Arc::clone(&control), page.clone());
            async move { Ok::<_, Infallible>(answer(&control, page, caller, request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WITHIN)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // Whoever asks and leaves has been told what there was to tell.
            let _ = connection.await;
        });
    }
}

async fn answer(
    control: &Control,
    page: Bytes,
    caller: ClientAddress,
    request: Request<Incoming>,
) -> Answer {
    let live = control.shared.current.get();
    let rule = Rule {
        token: live.settings.admin_token.as_deref(),
        read_token: live.settings.admin_read_token.as_deref(),
        is_local: caller == ClientAddress::Unix,
    };
    if let Err((status, says)) = rule.check(&request) {
        return text(status, says);
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => typed("text/html; charset=utf-8", page),
        (&Method::GET, "/status") => json(&Status::of(control)),
        (&Method::GET, "/metrics") => match metrics::text(&Status::of(control)) {
            Ok(metrics) => typed(metrics::CONTENT_TYPE, Bytes::from(metrics)),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        (&Method::POST, "/limits") => change(control, request).await,
        (&Method::POST, "/reload") => reload(control),
        (_, "/" | "/status" | "/metrics" | "/limits" | "/reload") => {
            text(StatusCode::METHOD_NOT_ALLOWED, "not with this method")
        }
        _ => text(
            StatusCode::NOT_FOUND,
            "here are GET /, GET /status, GET /metrics, POST /limits and POST /reload",
        ),
    }
}

async fn change(control: &Control, request: Request<Incoming>) -> Answer {
    let body = Limited::new(request.into_body(), CHANGE_MAX).collect();
    let Ok(Ok(body)) = tokio::time::timeout(HEAD_WITHIN, body).await else {
        return text(StatusCode::BAD_REQUEST, "the change did not come whole");
    };
    // A list would do for the fields one after the other.
    let change = serde_json::from_slice::<Map<String, Value>>(&body.to_bytes())
        .and_then(|change| serde_json::from_value::<Change>(Value::Object(change)));
    let change = match change {
        Ok(change) if change.names_nothing() => {
            let says = "nothing is named that is to be changed: `concurrency`, `rate`";
            return text(StatusCode::BAD_REQUEST, says);
        }
        Ok(change) => change,
        Err(error) => {
            let says = format!(
                "{error}; write such as {{\"concurrency\": 40, \"rate\": \"50/s\", \"class\": \"heavy\"}}, null takes a limit away"
            );
            return text(StatusCode::BAD_REQUEST, &says);
        }
    };
    match control.change(&change) {
        Ok(()) => text(StatusCode::OK, "changed"),
        Err(says) => text(StatusCode::BAD_REQUEST, &says),
    }
}

fn reload(control: &Control) -> Answer {
    let (status, reload) = match control.reload_file() {
        Ok(reload) => (StatusCode::OK, reload),
        Err(error) => {
            let status = match &error {
                FileError::None => StatusCode::CONFLICT,
                FileError::Unreadable { .. } => StatusCode::INTERNAL_SERVER_ERROR,
                FileError::Mistakes { .. } | FileError::Gateway { .. } => {
                    StatusCode::UNPROCESSABLE_ENTITY
                }
            };
            (status, Reload::failed(&error))
        }
    };
    let mut response = json(&reload);
    *response.status_mut() = status;
    response
}

fn json(content: &impl Serialize) -> Answer {
    let text = serde_json::to_vec_pretty(content).expect("plain data serialises");
    typed("application/json", Bytes::from(text))
}

fn text(status: StatusCode, says: &str) -> Answer {
    let mut response = typed(
        "text/plain; charset=utf-8",
        Bytes::from(format!("{says}\n")),
    );
    *response.status_mut() = status;
    response
}

fn typed(kind: &'static str, body: Bytes) -> Answer {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // What a page may do stands in the page; this is what others may do with it.
    let alone = HeaderValue::from_static("frame-ancestors 'none'");
    headers.insert(CONTENT_SECURITY_POLICY, alone);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests;
