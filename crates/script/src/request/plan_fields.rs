//! The plan's own header fields.

use std::ops::Range;

use weir_plan::{HttpRequest, Proxy};

use super::head::{host_field, push_field};
use crate::{Scope, Text};

/// The plan's own header fields, rendered for one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlanFields {
    pub(super) keep_alive: bool,
    /// As they go out, except `Host`.
    bytes: Vec<u8>,
    /// Where among the bytes `Host` goes, and its value.
    pub(super) host: Option<(usize, String)>,
    /// Where the type of the body stands, which parts of a form do not have.
    pub(super) content_type: Option<Range<usize>>,
    pub(super) user_agent: bool,
    /// Where it goes through, unless that does not stand in between for its host.
    pub(super) proxy: Option<Proxy<String>>,
}

impl PlanFields {
    pub(super) fn render(&mut self, request: &HttpRequest<Text>, scope: &mut Scope) {
        self.keep_alive = request.keep_alive;
        let proxy = request.proxy.as_ref();
        self.proxy = proxy.map(|proxy| proxy.map(&mut |text| text.rendered(scope)));
        self.render_fields(request, scope);
    }

    /// Renders the fields alone.
    pub(super) fn render_fields(&mut self, request: &HttpRequest<Text>, scope: &mut Scope) {
        self.bytes.clear();
        self.host = None;
        self.content_type = None;
        self.user_agent = false;
        for (name, value) in &request.headers {
            let name = name.as_rendered(scope);
            let value = value.as_rendered(scope);
            if name.eq_ignore_ascii_case("Content-Length") {
                continue;
            }
            let start = self.bytes.len();
            if name.eq_ignore_ascii_case("Host") {
                self.host = Some((start, value.into_owned()));
                continue;
            }
            push_field(&mut self.bytes, &name, &value);
            if name.eq_ignore_ascii_case("Content-Type") {
                self.content_type = Some(start..self.bytes.len());
            }
            self.user_agent |= name.eq_ignore_ascii_case("User-Agent");
        }
    }

    /// Writes them; the port is that of the URL, if it names one that is not usual.
    pub(super) fn push(&self, head: &mut Vec<u8>, port: Option<u16>, with_content_type: bool) {
        let left_out = match &self.content_type {
            Some(range) if !with_content_type => range.clone(),
            _ => 0..0,
        };
        let push = |head: &mut Vec<u8>, range: Range<usize>| {
            if range.start <= left_out.start && left_out.end <= range.end {
                head.extend_from_slice(&self.bytes[range.start..left_out.start]);
                head.extend_from_slice(&self.bytes[left_out.end..range.end]);
            } else {
                head.extend_from_slice(&self.bytes[range]);
            }
        };
        let Some((at, host)) = &self.host else {
            push(head, 0..self.bytes.len());
            return;
        };
        push(head, 0..*at);
        push_field(head, "Host", &host_field(host, port));
        push(head, *at..self.bytes.len());
    }
}
