//! Whom Weir may load.
//!
//! Loopback and private addresses go ([`is_near`]). Any other has to be allowed by name, on the
//! command line, in the study, or in the user's own configuration ([`UserConfiguration`], key
//! `allow-hosts`). `*` allows any host, also those that only a JMeter knows (see
//! [`crate::jmeter`]).

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use weir_exchange::{decimal_reading, is_near, kind};
use weir_probe::{passes_on_to, process_in_other_namespace, processes_listening};

use crate::error::ExpectedError;
use crate::output;
use crate::user_configuration::UserConfiguration;

/// The word that allows hosts which cannot be known before the run.
pub(crate) const ANY_HOST: &str = "*";

/// A host that a plan names, and where it names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedHost {
    /// The host as named.
    pub(crate) host: String,
    /// Its port.
    pub(crate) port: u16,
    /// Where it is named, for people: `stress.jmx:43` or `the command line`.
    pub(crate) named_in: String,
}

/// Whether an address is one of this machine: only of those a socket can be bound to.
pub(crate) fn is_here(address: SocketAddr) -> bool {
    UdpSocket::bind((address.ip(), 0)).is_ok()
}

/// The process of this machine that serves at an address, also in another network namespace: that
/// of a container at its own address. Docker's proxy of a published port is not the server, and its
/// CPU is not the server's: whose port that is, is told.
pub(crate) fn process_serving(address: SocketAddr) -> Option<u32> {
    if !is_here(address) {
        return process_in_other_namespace(address);
    }
    let pid = processes_listening(address.port()).first().copied()?;
    let Some(inside) = passes_on_to(pid) else {
        return Some(pid);
    };
    output::talk_once(&format!(
        "port {} is passed on by docker-proxy (process {pid}): name the container's own address, http://{inside}, so that \
         the server is looked at and the proxy is left out",
        address.port()
    ));
    None
}

/// Prints the hosts that are going to be loaded, and refuses public ones that nobody allowed.
pub(crate) fn check(hosts: &[NamedHost], allowed: &[String]) -> Result<(), ExpectedError> {
    let configured = UserConfiguration::read()?.allow_hosts;
    let mut told: Vec<String> = Vec::new();
    for named in hosts {
        let text = format!("{}:{}", named.host, named.port);
        if told.contains(&text) {
            continue;
        }
        let mut addresses: Vec<IpAddr> = (named.host.as_str(), named.port)
            .to_socket_addrs()
            .map(|found| found.map(|address| address.ip()).collect())
            .unwrap_or_default();
        // JMeter looks the name up again, as Java does.
        addresses.extend(decimal_reading(&named.host).map(IpAddr::V4));
        let far = addresses.into_iter().find(|address| !is_near(*address));
        let allows = |list: &[String]| {
            list.iter()
                .any(|name| name == ANY_HOST || name.eq_ignore_ascii_case(&named.host))
        };
        if let Some(address) = far
            && !allows(allowed)
            && !allows(&configured)
        {
            return Err(ExpectedError::Input(format!(
                "{}: the host `{}` has the {} address {address}; Weir loads only loopback and private addresses \
                 unless the host is allowed: --allow-host {} (or allow-hosts in the study), or send the load \
                 elsewhere with --target http://127.0.0.1:PORT",
                named.named_in,
                named.host,
                kind(address),
                named.host
            )));
        }
        told.push(text);
    }
    if !told.is_empty() {
        output::talk_once(&format!("load goes to {}", told.join(", ")));
    }
    Ok(())
}

/// All hosts that are allowed by name: those given and those of the user's own configuration.
pub(crate) fn allowed(given: &[String]) -> Result<Vec<String>, ExpectedError> {
    let mut allowed = UserConfiguration::read()?.allow_hosts;
    allowed.extend_from_slice(given);
    Ok(allowed)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn host(name: &str) -> NamedHost {
        NamedHost {
            host: name.to_owned(),
            port: 80,
            named_in: "plan.jmx:12".to_owned(),
        }
    }

    #[test]
    fn private_addresses_go_and_public_ones_need_a_word() {
        for name in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.9",
            "172.31.0.1",
            "::1",
            "fd00::1",
        ] {
            check(&[host(name)], &[]).unwrap();
        }
        for (name, address) in [
            ("169.254.169.254", "link-local address 169.254.169.254"),
            ("2852039166", "link-local address 169.254.169.254"),
            ("0xa9.254.43518", "link-local address 169.254.169.254"),
            ("::ffff:169.254.169.254", "link-local address"),
            ("fe80::1%lo", "link-local address fe80::1"),
            ("fd00:ec2::254", "metadata address"),
            ("100.100.100.200", "shared address"),
            ("0177.0.0.1", "public address 177.0.0.1"),
        ] {
            let refused = check(&[host(name)], &[]).unwrap_err().to_string();
            assert!(refused.contains(address), "{name}: {refused}");
            check(&[host(name)], &[name.to_owned()]).unwrap();
        }
        // Documentation addresses (RFC 5737): nothing is ever sent to them, here neither.
        let refused = check(&[host("203.0.113.7")], &[]).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(
            refused
                .to_string()
                .starts_with("plan.jmx:12: the host `203.0.113.7`")
        );
        check(&[host("203.0.113.7")], &["203.0.113.7".to_owned()]).unwrap();
    }
}
