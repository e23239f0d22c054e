//! Whom requests go to, and host names to addresses, once, before the test.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use weir_plan::DnsCache;
use weir_script::{ProxyServer, Scheme, SentRequest, Target, Text, static_addresses};

use crate::http::outcome::Place;

/// A server that the plan loads, and the way to it.
#[derive(Debug)]
pub(crate) struct Server {
    /// How it is spoken to.
    pub(crate) scheme: Scheme,
    /// Host name or address, as the plan says it; an IPv6 address without brackets.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
    /// Who stands in between.
    pub(crate) proxy: Option<ProxyServer>,
    /// Which of the plan's tables of hosts the name is looked up in first.
    pub(crate) table: Option<usize>,
    /// The addresses to connect to, the proxy's if there is one, in the order in which they are
    /// tried; empty when the name is not known.
    pub(crate) addresses: Vec<IpAddr>,
    /// Whether addresses that are not near may be connected to: the user has allowed it by name.
    pub(crate) reaches_far: bool,
}

impl Server {
    /// Looks up the name of the server, or of its proxy, in one of the plan's tables before the
    /// system is asked, which blocks as long as its resolver does.
    pub(crate) fn look_up(
        target: &Target,
        proxy: Option<&ProxyServer>,
        table: Option<usize>,
        tables: &[DnsCache<Text>],
    ) -> Self {
        let mut server = Self {
            scheme: target.scheme,
            host: target.host.clone(),
            port: target.port,
            proxy: proxy.cloned(),
            table,
            addresses: Vec::new(),
            reaches_far: false,
        };
        let (name, _) = server.peer();
        let of_plan = table.and_then(|table| static_addresses(&tables[table], name));
        server.addresses = match of_plan {
            Some(of_plan) => of_plan.into_iter().flat_map(addresses).collect(),
            None => addresses(name),
        };
        server
    }

    /// Host and port that are connected to.
    pub(crate) fn peer(&self) -> (&str, u16) {
        match &self.proxy {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&self.host, self.port),
        }
    }

    /// Whether a request goes this way.
    pub(crate) fn takes(&self, sent: &SentRequest) -> bool {
        self.port == sent.port
            && self.host == sent.host
            && self.scheme == sent.scheme
            && self.proxy == sent.proxy
            && self.table == sent.table
    }

    /// Where its requests go, for messages.
    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            host: &self.host,
            port: self.port,
            peer: self.peer(),
            addresses: &self.addresses,
        }
    }
}

/// The addresses of a name. None is an outcome of every sample, as in JMeter.
fn addresses(host: &str) -> Vec<IpAddr> {
    let found = (host, 0).to_socket_addrs();
    let mut addresses: Vec<IpAddr> = found.map_or_else(
        |_| Vec::new(),
        |found| found.map(|address: SocketAddr| address.ip()).collect(),
    );
    // Java's order: IPv4 first.
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.dedup();
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses_of(host: &str) -> Vec<IpAddr> {
        let target = Target {
            scheme: Scheme::Http,
            host: host.to_owned(),
            port: 80,
        };
        Server::look_up(&target, None, None, &[]).addresses
    }

    #[test]
    fn addresses_stand_for_themselves() {
        assert_eq!(addresses_of("127.0.0.1"), [IpAddr::from([127, 0, 0, 1])]);
        assert_eq!(
            addresses_of("::1"),
            [IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16])]
        );
    }

    #[test]
    fn a_name_that_cannot_be_has_no_address() {
        assert!(addresses_of("").is_empty());
        assert!(addresses_of("a name with blanks").is_empty());
    }

    #[test]
    fn a_proxy_is_connected_to_instead() {
        let target = Target {
            scheme: Scheme::Https,
            host: "a name with blanks".to_owned(),
            port: 443,
        };
        let proxy = ProxyServer {
            host: "127.0.0.1".to_owned(),
            port: 3128,
            authorization: None,
        };
        let server = Server::look_up(&target, Some(&proxy), None, &[]);
        assert_eq!(server.peer(), ("127.0.0.1", 3128));
        assert_eq!(server.addresses, [IpAddr::from([127, 0, 0, 1])]);
    }
}
