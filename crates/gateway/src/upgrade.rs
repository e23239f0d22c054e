//! Connections that stop being HTTP: WebSocket and its like. Both ways are copied until the backend
//! ends, or until nothing has passed for too long.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue, UPGRADE};
use http::{Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf, copy, split};
use weir_limit::Kind;

use crate::body::ResponseBody;
use crate::ending::Ending;
use crate::hop::remove_hop_by_hop;
use crate::live::Live;
use crate::patience::Patience;

/// Tells the client that the protocol is switched, and copies from then on. The request keeps its
/// slot until the end.
pub(crate) fn switch(
    client: OnUpgrade,
    mut response: Response<Incoming>,
    live: &Live,
    mut ending: Ending,
) -> Response<ResponseBody> {
    ending.answers(StatusCode::SWITCHING_PROTOCOLS);
    ending.switched();
    let backend = hyper::upgrade::on(&mut response);
    let timeouts = &live.settings.timeouts;
    let (idle, last, quiet) = (timeouts.idle, timeouts.body, timeouts.upgraded);
    tokio::spawn(async move {
        // The client's side is there once it has been told; one that has left never is.
        let both = async { tokio::try_join!(client, backend) };
        let Ok(Ok((client, backend))) = tokio::time::timeout(idle, both).await else {
            return;
        };
        let (client, backend) = (TokioIo::new(client), TokioIo::new(backend));
        let moved = AtomicBool::new(false);
        let passing = pass(client, backend, last, &moved);
        let ended = match while_it_moves(passing, &moved, quiet).await {
            Ok(sent_bytes) => {
                ending.passed(sent_bytes);
                Kind::Completed
            }
            Err(_) => Kind::Abandoned,
        };
        ending.end(ended);
    });
    let (mut head, _) = response.into_parts();
    let protocol = head.headers.get(UPGRADE).cloned();
    remove_hop_by_hop(&mut head.headers);
    if let Some(protocol) = protocol {
        head.headers.insert(UPGRADE, protocol);
    }
    head.headers
        .insert(CONNECTION, HeaderValue::from_static("upgrade"));
    Response::from_parts(head, ResponseBody::empty())
}

/// Copies both ways until the backend ends; after the client has, it has `last` to do so. Gives
/// back how many bytes the client was sent.
async fn pass(
    client: impl AsyncRead + AsyncWrite,
    backend: impl AsyncRead + AsyncWrite,
    last: Duration,
    moved: &AtomicBool,
) -> io::Result<u64> {
    let (from_client, mut to_client) = split(client);
    let (from_backend, mut to_backend) = split(backend);
    let mut from_client = Noting::new(from_client, moved);
    let mut from_backend = Noting::new(from_backend, moved);
    let mut down = pin!(async {
        let sent_bytes = copy(&mut from_backend, &mut to_client).await?;
        to_client.shutdown().await?;
        Ok(sent_bytes)
    });
    let up = async {
        copy(&mut from_client, &mut to_backend).await?;
        to_backend.shutdown().await
    };
    tokio::select! {
        ended = down.as_mut() => return ended,
        ended = up => ended?,
    }
    tokio::time::timeout(last, down).await?
}

/// What reads from a side, and notes that something came.
struct Noting<'a, R> {
    side: R,
    moved: &'a AtomicBool,
}

impl<'a, R> Noting<'a, R> {
    fn new(side: R, moved: &'a AtomicBool) -> Self {
        Self { side, moved }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Noting<'_, R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.side).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.moved.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

/// Waits for the end of a copying, or until nothing has moved for so long.
async fn while_it_moves<T>(
    copying: impl Future<Output = io::Result<T>>,
    moved: &AtomicBool,
    quiet: Duration,
) -> io::Result<T> {
    let mut copying = pin!(copying);
    let mut patience = Patience::new(quiet);
    poll_fn(|context| {
        if let Poll::Ready(ended) = copying.as_mut().poll(context) {
            return Poll::Ready(ended);
        }
        if moved.swap(false, Ordering::Relaxed) {
            patience.progress();
        }
        ready!(patience.poll_lost(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    })
    .await
}
