//! Responses as they come in, piece by piece: head, and body by length, by chunks or until the end.

use crate::exchange::ExchangeError;

/// The largest body that is read; a page of metrics has some tens of kilobytes.
pub(crate) const LARGEST_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Header fields that an answer may have.
const MOST_FIELDS: usize = 64;

/// How the end of a body is known (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Length(usize),
    Chunked,
    UntilClosed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) length: usize,
    pub(crate) body: Body,
    pub(crate) keep: bool,
}

/// The head of the answer, once all of it is there.
pub(crate) fn head(received: &[u8]) -> Result<Option<Head>, ExchangeError> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let not_http = |_| ExchangeError::NotHttp;
    let httparse::Status::Complete(length) = response.parse(received).map_err(not_http)? else {
        return Ok(None);
    };
    let field = |name: &str| {
        let mut fields = response.headers.iter();
        let found = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    let says = |name, word: &str| field(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
    let status = response.code.ok_or(ExchangeError::NotHttp)?;
    let body = if matches!(status, 204 | 304) {
        Body::Length(0)
    } else if says("transfer-encoding", "chunked") {
        Body::Chunked
    } else if let Some(length) = field("content-length") {
        Body::Length(length.parse().map_err(|_| ExchangeError::NotHttp)?)
    } else {
        Body::UntilClosed
    };
    let keep = match response.version {
        Some(1) => !says("connection", "close"),
        _ => says("connection", "keep-alive"),
    };
    Ok(Some(Head {
        status,
        length,
        body,
        keep: keep && body != Body::UntilClosed,
    }))
}

/// The body, once all of it is there.
pub(crate) fn body(
    received: &[u8],
    kind: Body,
    ended: bool,
) -> Result<Option<Vec<u8>>, ExchangeError> {
    match kind {
        Body::Length(length) if length > LARGEST_BODY_BYTES => Err(ExchangeError::TooLarge),
        Body::Length(length) => Ok(received.get(..length).map(<[u8]>::to_vec)),
        Body::UntilClosed => Ok(ended.then(|| received.to_vec())),
        Body::Chunked => chunks(received),
    }
}

/// The chunks put together, once the last one is there.
fn chunks(mut received: &[u8]) -> Result<Option<Vec<u8>>, ExchangeError> {
    let mut page = Vec::new();
    loop {
        let parsed = httparse::parse_chunk_size(received).map_err(|_| ExchangeError::NotHttp)?;
        let httparse::Status::Complete((start, size)) = parsed else {
            return Ok(None);
        };
        let size = usize::try_from(size).map_err(|_| ExchangeError::TooLarge)?;
        if page.len().saturating_add(size) > LARGEST_BODY_BYTES {
            return Err(ExchangeError::TooLarge);
        }
        // Each chunk, and the last one of length 0, is followed by an end of line. Trailer fields
        // would stand before the last one; no server of metrics sends them.
        let Some(chunk) = received.get(start..start + size + 2) else {
            return Ok(None);
        };
        let (data, end) = chunk.split_at(size);
        if end != b"\r\n" {
            return Err(ExchangeError::NotHttp);
        }
        if size == 0 {
            return Ok(Some(page));
        }
        page.extend_from_slice(data);
        received = &received[start + size + 2..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_answer_is_taken(received: Vec<u8>, chunk: Vec<u8>) {
            let _ = head(&received);
            let _ = chunks(&chunk);
        }

        #[test]
        fn chunks_come_whole_or_not_yet(page in prop::collection::vec(any::<u8>(), 1..200), size in 1_usize..50) {
            let mut wire = Vec::new();
            for chunk in page.chunks(size) {
                wire.extend(format!("{:x}\r\n", chunk.len()).bytes());
                wire.extend(chunk);
                wire.extend(b"\r\n");
            }
            wire.extend(b"0\r\n\r\n");
            for cut in 0..wire.len() {
                prop_assert!(matches!(chunks(&wire[..cut]), Ok(None)));
            }
            prop_assert_eq!(chunks(&wire).ok().flatten(), Some(page));
        }
    }
}
