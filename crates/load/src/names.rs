//! Host names to addresses, once, before the test.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use weir_script::Target;

/// A server that the plan loads.
#[derive(Debug)]
pub(crate) struct Server {
    /// Host name or address, as the plan says it.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
    /// Its addresses in the order in which they are tried; empty when the name is not known.
    pub(crate) addresses: Vec<IpAddr>,
}

impl Server {
    /// Looks the server's name up. Blocks as long as the system's resolver does.
    pub(crate) fn look_up(target: &Target) -> Self {
        let found = (target.host.as_str(), target.port).to_socket_addrs();
        // A name that is not known is an outcome of every sample, as in JMeter.
        let mut addresses: Vec<IpAddr> = found.map_or_else(
            |_| Vec::new(),
            |found| found.map(|address: SocketAddr| address.ip()).collect(),
        );
        // Java's order: IPv4 first.
        addresses.sort_by_key(IpAddr::is_ipv6);
        addresses.dedup();
        Self {
            host: target.host.clone(),
            port: target.port,
            addresses,
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_script::Scheme;

    use super::*;

    fn addresses(host: &str) -> Vec<IpAddr> {
        Server::look_up(&Target {
            scheme: Scheme::Http,
            host: host.to_owned(),
            port: 80,
        })
        .addresses
    }

    #[test]
    fn addresses_stand_for_themselves() {
        assert_eq!(addresses("127.0.0.1"), [IpAddr::from([127, 0, 0, 1])]);
        assert_eq!(
            addresses("::1"),
            [IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16])]
        );
    }

    #[test]
    fn a_name_that_cannot_be_has_no_address() {
        assert!(addresses("").is_empty());
        assert!(addresses("a name with blanks").is_empty());
    }
}
