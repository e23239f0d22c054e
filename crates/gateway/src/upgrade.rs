//! Connections that stop being HTTP: WebSocket and its like. Both ways are copied until the backend ends.

use std::io;
use std::pin::pin;
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue, UPGRADE};
use http::{Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, copy, split};
use weir_limit::Kind;

use crate::body::ResponseBody;
use crate::ending::Ending;
use crate::hop::remove_hop_by_hop;
use crate::live::Live;

/// Tells the client that the protocol is switched, and copies from then on. The request keeps its slot until the end.
pub(crate) fn switch(
    client: OnUpgrade,
    mut response: Response<Incoming>,
    live: &Live,
    mut ending: Ending,
) -> Response<ResponseBody> {
    ending.answers(StatusCode::SWITCHING_PROTOCOLS);
    let backend = hyper::upgrade::on(&mut response);
    let (idle, last) = (live.settings.timeouts.idle, live.settings.timeouts.body);
    tokio::spawn(async move {
        // The client's side is there once it has been told; one that has left never is.
        let both = async { tokio::try_join!(client, backend) };
        let Ok(Ok((client, backend))) = tokio::time::timeout(idle, both).await else {
            return;
        };
        let ended = match pass(TokioIo::new(client), TokioIo::new(backend), last).await {
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

/// Copies both ways until the backend ends; after the client has, it has `last` to do so. Gives back how many bytes
/// the client was sent.
async fn pass(
    client: impl AsyncRead + AsyncWrite,
    backend: impl AsyncRead + AsyncWrite,
    last: Duration,
) -> io::Result<u64> {
    let (mut from_client, mut to_client) = split(client);
    let (mut from_backend, mut to_backend) = split(backend);
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
