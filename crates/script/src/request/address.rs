//! The URL of a request: path and query of the plan, at the plan's own host or the target's.

use weir_plan::HttpRequest;

use super::fields::{Fields, push_query};
use crate::url::{self, Parts};
use crate::{Scope, Target, Text, Unsendable};

pub(super) fn write_url(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
    scope: &mut Scope,
    method: &str,
    fields: Fields<'_>,
    out: &mut String,
) -> Result<(), Unsendable> {
    let path = request.path.as_rendered(scope).replace(' ', "%20");
    if url::is_whole(&path) {
        // JMeter 5.6.3 sends no query arguments with a whole URL.
        return write_whole_url(&path, target, out);
    }
    let mut host = Ok(());
    if let Some(target) = target {
        url::push_target(target, out);
    } else {
        let name = request.host.as_rendered(scope);
        let protocol = request.protocol.as_rendered(scope);
        let port = request.port.as_rendered(scope);
        url::push_origin(out, &protocol, &name, &port).inspect_err(|_| out.clear())?;
        host = url::check_host(&name, out);
    }
    if !path.starts_with('/') {
        out.push('/');
    }
    out.push_str(&path);
    if matches!(method, "GET" | "DELETE" | "OPTIONS") {
        push_query(fields, path.contains('?'), out);
    }
    // Last, because results show the whole URL beside a host that is refused.
    host
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
