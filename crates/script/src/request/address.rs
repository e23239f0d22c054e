//! The URL of a request: path and query of the plan, at the plan's own host or the target's.

use std::borrow::Cow;

use super::LateFields;
use super::fields::push_query;
use crate::url::{self, Parts};
use crate::{Scope, Target, Unsendable};

/// How a URL is asked for.
pub(super) struct Asked<'r> {
    pub(super) method: Cow<'r, str>,
    /// The arguments stand in it.
    pub(super) has_query: bool,
}

/// Writes the URL and gives the method; the query is put together apart, since the port is looked
/// at after it.
pub(super) fn write_url<'r>(
    target: Option<&Target>,
    scope: &mut Scope,
    fields: &mut LateFields<'r>,
    query: &mut String,
    out: &mut String,
) -> Result<Asked<'r>, Unsendable> {
    let request = fields.request;
    let path = request.path.as_rendered(scope).replace(' ', "%20");
    if url::is_whole(&path) {
        // JMeter 5.6.3 sends no query arguments with a whole URL.
        write_whole_url(&path, target, out)?;
        return Ok(Asked {
            method: request.method.as_rendered(scope),
            has_query: false,
        });
    }
    let (mut name, mut protocol) = (Cow::default(), Cow::default());
    if target.is_none() {
        name = request.host.as_rendered(scope);
        protocol = request.protocol.as_rendered(scope);
    }
    let method = request.method.as_rendered(scope);
    let has_query = matches!(&*method, "GET" | "DELETE" | "OPTIONS");
    if has_query {
        push_query(fields.render_query(scope), path.contains('?'), query);
    }
    let mut host = Ok(());
    if let Some(target) = target {
        url::push_target(target, out);
    } else {
        let port = request.port.as_rendered(scope);
        url::push_origin(out, &protocol, &name, &port).inspect_err(|_| out.clear())?;
        host = url::check_host(&name, out);
    }
    if !path.starts_with('/') {
        out.push('/');
    }
    out.extend([&*path, &*query]);
    // Last, because results show the whole URL beside a host that is refused.
    host.map(|()| Asked { method, has_query })
}

fn write_whole_url(
    path: &str,
    target: Option<&Target>,
    out: &mut String,
) -> Result<(), Unsendable> {
    let parts = Parts::of(path);
    match (target, parts) {
        (Some(target), Some(parts)) => {
            url::push_target(target, out);
            out.push_str(parts.tail);
        }
        (None, Some(parts)) => {
            url::host_and_port(&parts)?;
            out.push_str(path);
        }
        (_, None) => out.push_str(path),
    }
    Ok(())
}
