//! Who and where: names of users, groups, samplers, plans and machines; the log.

use std::net::{IpAddr, ToSocketAddrs as _};

use super::{Answer, Call, Function, Name, Prepared, push};
use crate::Scope;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__threadNum", (0, 0), Answer::OfUser, |_, scope, out| {
        // As in JMeter: what stands behind the last hyphen of the name.
        match scope.thread_name.rsplit('-').next() {
            Some(number) if !number.is_empty() => out.push_str(number),
            _ => push(out, scope.user),
        }
    }),
    Function::new(
        "__threadGroupName",
        (0, 0),
        Answer::OfUser,
        |_, scope, out| {
            out.push_str(&scope.group);
        },
    ),
    Function::new("__samplerName", (0, 1), Answer::OfUser, |_, scope, out| {
        out.push_str(&scope.sampler_name());
    })
    .stores(0, Name::Trimmed),
    Function::new("__TestPlanName", (0, 0), Answer::Same, |_, scope, out| {
        out.push_str(scope.live().plan_name().unwrap_or("null"));
    }),
    Function::new("__machineName", (0, 1), Answer::Changes, render_known)
        .stores(0, Name::Trimmed)
        .prepares(|_, _| Ok(Prepared::Known(machine_name().into()))),
    Function::new("__machineIP", (0, 1), Answer::Changes, render_known)
        .stores(0, Name::Trimmed)
        .prepares(|_, _| Ok(Prepared::Known(machine_address().into()))),
    Function::new("__log", (1, 4), Answer::Changes, |call, scope, out| {
        let text = log(call, scope);
        out.push_str(&text);
    }),
    Function::new("__logn", (1, 3), Answer::Changes, |call, scope, _| {
        log(call, scope);
    }),
];

fn render_known(call: &Call, _: &mut Scope, out: &mut String) {
    if let Prepared::Known(answer) = &call.prepared {
        out.push_str(answer);
    }
}

/// The name that the machine has for itself.
fn machine_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// The address that the machine finds under its own name, as `InetAddress.getLocalHost` does.
fn machine_address() -> String {
    let addresses = (machine_name(), 0).to_socket_addrs();
    let mut addresses: Vec<IpAddr> = addresses.into_iter().flatten().map(|a| a.ip()).collect();
    // Java prefers IPv4.
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses
        .first()
        .map_or("127.0.0.1".to_owned(), IpAddr::to_string)
}

/// Writes the text with its level; in JMeter, a level OUT or ERR is a stream instead.
fn log(call: &Call, scope: &mut Scope) -> String {
    let text = call.argument(0, scope).into_owned();
    let level = call.argument(1, scope);
    let error = call.argument(2, scope);
    let comment = call.argument(3, scope);
    let parts = [&*comment, &text, &error].into_iter();
    let line: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let level = if level.is_empty() { "INFO" } else { &*level };
    scope.live().log(level, &line.join(" "));
    text
}
