//! The head of a request: JMeter's order of its fields.

use std::io::Write as _;

use weir_charset::Charset;

use super::SentRequest;
use super::body::Content;
use crate::Unsendable;
use crate::encode::{push_ascii, push_header_text, push_path};
use crate::url::{self, Parts};
use crate::{ProxyServer, Scheme};

const USER_AGENT: &str = concat!("weir/", env!("CARGO_PKG_VERSION"));

/// Writes request line and header fields: JMeter's own first field, the plan's, the body's, then
/// what the HTTP library adds; after them the body up to the first file. A proxy that is to forward
/// the request gets the whole URL.
pub(super) fn write_head(sent: &mut SentRequest, method: &str) -> Result<(), Unsendable> {
    let parts = Parts::of(&sent.url).expect("the URL has been checked");
    let (host, port) = url::host_and_port(&parts)?;
    sent.scheme = parts.scheme;
    sent.port = port.unwrap_or(parts.scheme.default_port());
    sent.host.clear();
    sent.host.push_str(host);
    let proxy = sent.plan.proxy.as_ref();
    sent.proxy = proxy.and_then(|proxy| ProxyServer::of(proxy, &sent.host));
    let is_forwarded = sent.proxy.is_some() && parts.scheme == Scheme::Http;
    let authority = parts.authority.rsplit('@').next().unwrap_or_default();
    let line = &mut sent.scratch;
    line.clear();
    if is_forwarded {
        line.extend(["http://", authority]);
    }
    let (path, query) = parts.path_and_query();
    push_path(line, path);
    push_ascii(line, query);
    let head = &mut sent.bytes;
    head.extend_from_slice(method.as_bytes());
    head.push(b' ');
    head.extend_from_slice(line.as_bytes());
    head.extend_from_slice(b" HTTP/1.1\r\n");
    let connection = if sent.plan.keep_alive {
        "keep-alive"
    } else {
        "close"
    };
    push_field(head, "Connection", connection);
    let default_port = parts.scheme.default_port();
    let unusual = port.filter(|p| *p != default_port);
    let in_parts = matches!(sent.content, Content::Parts(_));
    sent.plan.push(head, unusual, !in_parts);
    sent.fields_end = head.len();
    let uploads = sent.uploads.iter();
    let files: u64 = uploads.map(|u| u.length + u.after.len() as u64).sum();
    let body = sent.charset.encode(&sent.body);
    let length = (body.len() + sent.start.len()) as u64 + files;
    if sent.plan.content_type.is_some() {
        push_content(head, &sent.content, length, None);
    } else {
        push_content(head, &sent.content, length, Some(sent.charset));
    }
    if sent.plan.host.is_none() {
        push_field(head, "Host", authority);
    }
    if is_forwarded {
        push_field(head, "Proxy-Connection", "Keep-Alive");
    }
    if !sent.plan.user_agent {
        push_field(head, "User-Agent", USER_AGENT);
    }
    sent.head_end = head.len();
    head.extend_from_slice(b"\r\n");
    head.extend_from_slice(&body);
    head.extend_from_slice(&sent.start);
    Ok(())
}

/// What the head says of the body; with its type only if a character set is given, as the plan has
/// none of its own.
fn push_content(head: &mut Vec<u8>, content: &Content, length: u64, typed: Option<Charset>) {
    let push_length = |head: &mut Vec<u8>| {
        write!(head, "Content-Length: {length}\r\n").expect("a Vec takes all bytes");
    };
    match content {
        Content::None => {}
        Content::Usual(content_type) => {
            push_length(head);
            if let Some(charset) = typed {
                let name = charset.name();
                write!(head, "Content-Type: {content_type}; charset={name}\r\n")
                    .expect("a Vec takes all bytes");
            }
        }
        Content::Own(content_type) => {
            if let Some(content_type) = content_type.as_ref().filter(|_| typed.is_some()) {
                push_field(head, "Content-Type", content_type);
            }
            push_length(head);
        }
        Content::Parts(content_type) => {
            push_length(head);
            push_field(head, "Content-Type", content_type);
        }
    }
}

/// JMeter appends the URL's port to a `Host` of the plan that has none.
pub(super) fn host_field(value: &str, port: Option<u16>) -> String {
    let own_port = value
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    match port {
        Some(port) if !own_port => format!("{value}:{port}"),
        _ => value.to_owned(),
    }
}

pub(super) fn push_field(head: &mut Vec<u8>, name: &str, value: &str) {
    push_header_text(head, name);
    head.extend_from_slice(b": ");
    push_header_text(head, value);
    head.extend_from_slice(b"\r\n");
}
