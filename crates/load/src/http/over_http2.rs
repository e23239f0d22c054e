//! A request and its response over HTTP/2.

use std::borrow::Cow;
use std::rc::Rc;

use weir_script::Scheme;

use crate::http::client::{Answered, Client, Notes};
use crate::http::http2::{self, Http2, Piece};
use crate::http::outcome::Failure;
use crate::http::request::{BODY_MAX, Request};
use crate::http::response::{Head, Kept};
use crate::http::servers::Servers;
use crate::http::upload::{Pieces, UPLOAD_PIECE_BYTES};

/// All bytes of a request at once: HTTP/2 sends files from memory, up to a limit.
fn whole<'a>(request: &Request<'a>) -> Result<Cow<'a, [u8]>, Failure> {
    if request.uploads.is_empty() {
        return Ok(Cow::Borrowed(request.bytes));
    }
    if request.length() > BODY_MAX as u64 {
        let says = format!("files of more than {BODY_MAX} bytes are not sent over HTTP/2");
        return Err(Failure::Upload(says));
    }
    let mut whole = request.bytes.to_vec();
    let mut buffer = vec![0; UPLOAD_PIECE_BYTES];
    for upload in request.uploads {
        let mut pieces = Pieces::open(upload)?;
        while let Some(piece) = pieces.next(&mut buffer)? {
            whole.extend_from_slice(piece);
        }
        whole.extend_from_slice(&upload.after);
    }
    Ok(Cow::Owned(whole))
}

impl Client {
    pub(super) async fn attempt_http2(
        &mut self,
        connection: &mut Http2,
        servers: &Servers,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Answered, Failure> {
        notes.sent = request.length();
        let is_tls = servers[request.server].scheme == Scheme::Https;
        let before = connection.received();
        let read = self.read_http2(connection, is_tls, request, notes).await;
        notes.received = connection.received() - before;
        let (head, kept) = read?;
        if let Some(kept) = kept {
            notes.kept = Some(self.decoded(kept, head.codings)?);
        }
        Ok(Answered {
            head,
            is_free: true,
        })
    }

    async fn read_http2(
        &mut self,
        connection: &mut Http2,
        is_tls: bool,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<(Head, Option<Box<Kept>>), Failure> {
        let io = Rc::clone(&self.io);
        let until = || request.response_timeout.map(|t| io.now().after(t));
        let whole = whole(request)?;
        let sending = connection.send(&whole, is_tls, &mut notes.is_written);
        let sent = self.timer.within(until(), sending).await;
        let mut answer = sent.unwrap_or(Err(Failure::ReadTimeOut))?;
        let mut head = None;
        let mut kept = request.keep_body.map(|max| io.kept.borrow_mut().take(max));
        loop {
            let piece = self.timer.within(until(), answer.next()).await;
            notes.last_byte = Some(io.now());
            match piece.unwrap_or(Err(Failure::ReadTimeOut)) {
                Ok(Piece::Head(response)) => {
                    head = Some(Head::of_http2(&response, &mut io.texts.borrow_mut()));
                    if let Some(kept) = &mut kept {
                        kept.took_head(&http2::head_text(&response));
                    }
                }
                Ok(Piece::Data(data)) => {
                    if !data.is_empty() && notes.first_body.is_none() {
                        notes.first_body = notes.last_byte;
                    }
                    if let Some(kept) = &mut kept {
                        kept.took_body(&data);
                    }
                }
                Ok(Piece::End) => return Ok((head.ok_or(Failure::NoResponse)?, kept)),
                Err(Failure::NoResponse | Failure::Unprocessed) if head.is_some() => {
                    let says = "the connection ended inside the response";
                    return Err(Failure::Http2(says.to_owned()));
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}
