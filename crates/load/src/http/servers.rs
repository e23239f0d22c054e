//! The servers of a load: those that the plan names, and those that are found while it runs.
//!
//! What the plan names is known, shown and looked up before the first request. A redirect, a page,
//! or a variable in a sampler may name another server. It is asked only if all its addresses are
//! private ones or its host is allowed by name, and only so many of them: everything else is a
//! failed sample that says so. With a target that gets all requests, redirects to the plan's own
//! hosts lead to the target too.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::ops::Index;
use std::sync::{Arc, OnceLock};

use tokio_rustls::rustls::ClientConfig;
use weir_exchange::{is_near, kind};
use weir_plan::DnsCache;
use weir_script::{HttpVersion, SentRequest, Target, Text, retarget};

use crate::http::outcome::Failure;
use crate::http::server::Server;
use crate::http::tls;

/// The most servers that may be found.
const FOUND_MAX: usize = 64;

/// Every host is allowed.
const ANY_HOST: &str = "*";

/// All servers; each has a place that stays the same.
#[derive(Debug)]
pub(crate) struct Servers {
    planned: Vec<Server>,
    /// Filled from the front.
    found: [OnceLock<Server>; FOUND_MAX],
    reach: Reach,
    http_version: HttpVersion,
    /// How all users speak TLS.
    tls: ClientConfig,
}

/// Which servers may be found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    /// Hosts that may be asked although their addresses are public.
    pub(crate) allowed: Vec<String>,
    /// The server that gets what is meant for `named`.
    pub(crate) target: Option<Target>,
    /// The plan's own hosts.
    pub(crate) named: BTreeSet<String>,
    /// The plan's own tables of hosts.
    pub(crate) tables: Arc<[DnsCache<Text>]>,
}

impl Servers {
    /// The servers that the plan names.
    pub(crate) fn new(planned: Vec<Server>, reach: Reach, http_version: HttpVersion) -> Self {
        Self {
            planned,
            found: [const { OnceLock::new() }; FOUND_MAX],
            reach,
            http_version,
            tls: tls::for_all(http_version),
        }
    }

    /// Which version of HTTP the plan asks for.
    pub(crate) fn http_version(&self) -> HttpVersion {
        self.http_version
    }

    /// How all users speak TLS; each takes its own with [`tls::of_user`].
    pub(crate) fn tls(&self) -> &ClientConfig {
        &self.tls
    }

    /// How many the plan names.
    pub(crate) fn len(&self) -> usize {
        self.planned.len()
    }

    /// All that are known now, in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Server> {
        let found = self.found.iter().map_while(OnceLock::get);
        self.planned.iter().chain(found)
    }

    /// The place of the server that a request goes to, if it is known.
    pub(crate) fn place(&self, sent: &SentRequest) -> Option<usize> {
        self.iter().position(|server| server.takes(sent))
    }

    /// The URL that is asked when a response leads to this one.
    pub(crate) fn here<'u>(&self, url: &'u str) -> Cow<'u, str> {
        let target = self.reach.target.as_ref();
        let moved = target.and_then(|target| retarget(url, target, &self.reach.named));
        moved.map_or(Cow::Borrowed(url), Cow::Owned)
    }

    /// The place of a server that is found now.
    pub(crate) async fn reach(&self, sent: &SentRequest) -> Result<usize, Failure> {
        if let Some(place) = self.place(sent) {
            return Ok(place);
        }
        let server = Target {
            scheme: sent.scheme,
            host: sent.host.clone(),
            port: sent.port,
        };
        // The system's resolver blocks, and everybody else on this runtime must go on.
        let proxy = sent.proxy.clone();
        let (table, tables) = (sent.table, Arc::clone(&self.reach.tables));
        let look_up = move || {
            let at = |proxy| Server::look_up(&server, proxy, table, &tables);
            (at(None), proxy.as_ref().map(|proxy| at(Some(proxy))))
        };
        let looked_up = tokio::task::spawn_blocking(look_up).await;
        let (direct, by_proxy) = looked_up.map_err(|_| Failure::UnknownHost)?;
        self.add(self.reach.way(direct, by_proxy)?)
    }

    /// Two runtimes that find the same server at once may both add it, which is harmless.
    fn add(&self, server: Server) -> Result<usize, Failure> {
        let mut server = server;
        for (at, place) in self.found.iter().enumerate() {
            match place.set(server) {
                Ok(()) => return Ok(self.planned.len() + at),
                Err(back) => server = back,
            }
        }
        Err(Failure::NotAllowed(format!(
            "{} is one of more than {FOUND_MAX} servers that the plan does not name",
            server.host
        )))
    }

    /// Whether figures of the test may be sent to this host, which is near or allowed.
    ///
    /// # Errors
    /// It is not: what to do, for people.
    pub(crate) fn may_be_told(&self, host: &str, addresses: &[SocketAddr]) -> Result<(), String> {
        self.reach.judge(host, addresses.iter().map(SocketAddr::ip))
    }
}

impl Reach {
    /// Lets a server be asked at the addresses that were found: those that are near, and others if
    /// its name or the address is allowed. The connections go to these addresses, however often the
    /// name changes what it stands for.
    ///
    /// # Errors
    /// One of its addresses is not near, and nobody has allowed it: what to do, for people.
    pub(crate) fn admit(&self, server: &mut Server) -> Result<(), String> {
        self.judge(server.peer().0, server.addresses.iter().copied())?;
        server.reaches_far = server.addresses.iter().any(|ip| !is_near(*ip));
        Ok(())
    }

    /// Whether all addresses of this name are near, or the name or the others are allowed.
    fn judge(&self, name: &str, addresses: impl Iterator<Item = IpAddr>) -> Result<(), String> {
        let mut far = addresses.filter(|ip| !is_near(*ip) && !self.allows_address(*ip));
        match far.next().filter(|_| !self.allows(name)) {
            Some(ip) => Err(not_allowed(name, ip)),
            None => Ok(()),
        }
    }

    /// The way to a server that was found: a proxy does not change whom the load is for, and gets
    /// load itself.
    fn way(&self, mut direct: Server, by_proxy: Option<Server>) -> Result<Server, Failure> {
        self.admit(&mut direct).map_err(Failure::NotAllowed)?;
        let Some(mut by_proxy) = by_proxy else {
            return Ok(direct);
        };
        // Whom the proxy will ask cannot be judged where the name means nothing.
        if direct.addresses.is_empty() && !self.allows(&direct.host) {
            let name = &direct.host;
            return Err(Failure::NotAllowed(format!(
                "{name} is known to the proxy alone and is not allowed: --allow-host {name}"
            )));
        }
        self.admit(&mut by_proxy).map_err(Failure::NotAllowed)?;
        Ok(by_proxy)
    }

    fn allows(&self, host: &str) -> bool {
        let mut allowed = self.allowed.iter();
        allowed.any(|name| name == ANY_HOST || name.eq_ignore_ascii_case(host))
    }

    fn allows_address(&self, ip: IpAddr) -> bool {
        let mut allowed = self.allowed.iter();
        allowed.any(|name| name.parse() == Ok(ip))
    }
}

/// What is said of a server at such an address.
pub(crate) fn not_allowed(name: &str, ip: IpAddr) -> String {
    let kind = kind(ip);
    format!("{name} has the {kind} address {ip} and is not allowed: --allow-host {name}")
}

impl Index<usize> for Servers {
    type Output = Server;

    fn index(&self, place: usize) -> &Server {
        match place.checked_sub(self.planned.len()) {
            None => &self.planned[place],
            Some(at) => self.found[at]
                .get()
                .expect("places are given out for servers that are there"),
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_script::{ProxyServer, Scheme};

    use super::*;

    fn server(host: &str, port: u16, ip: [u8; 4]) -> Server {
        Server {
            scheme: Scheme::Http,
            proxy: None,
            host: host.to_owned(),
            port,
            table: None,
            addresses: vec![IpAddr::from(ip)],
            reaches_far: false,
        }
    }

    #[test]
    fn places_stay_the_same() {
        let planned = vec![server("a", 1, [127, 0, 0, 1])];
        let servers = Servers::new(planned, Reach::default(), HttpVersion::One);
        for port in 0..FOUND_MAX {
            let port = u16::try_from(port).unwrap_or(0);
            let place = servers.add(server("b", port, [127, 0, 0, 1]));
            assert_eq!(place, Ok(1 + usize::from(port)));
            assert_eq!(servers[1 + usize::from(port)].port, port);
        }
        assert_eq!((&*servers[0].host, servers.iter().count()), ("a", 65));
        assert!(matches!(
            servers.add(server("b", 99, [127, 0, 0, 1])),
            Err(Failure::NotAllowed(_))
        ));
    }

    fn allowing(hosts: &[&str]) -> Reach {
        let allowed = hosts.iter().map(|host| (*host).to_owned()).collect();
        Reach {
            allowed,
            ..Reach::default()
        }
    }

    /// Documentation addresses (RFC 5737) are public; nothing is ever sent to them, here neither.
    #[test]
    fn public_servers_need_a_word() {
        let admit = |hosts: &[&str]| {
            let mut public = server("shop.example", 80, [203, 0, 113, 7]);
            let admitted = allowing(hosts).admit(&mut public);
            assert_eq!(public.reaches_far, admitted.is_ok());
            admitted.is_ok()
        };
        assert!(!admit(&[]));
        assert!(!admit(&["other"]));
        assert!(admit(&["Shop.Example"]));
        assert!(admit(&["203.0.113.7"]));
        assert!(admit(&["*"]));
    }

    #[test]
    fn every_address_of_a_name_is_judged() {
        let mut both = server("shop.example", 80, [127, 0, 0, 1]);
        assert_eq!(allowing(&[]).admit(&mut both), Ok(()));
        assert!(!both.reaches_far);
        both.addresses.push(IpAddr::from([169, 254, 169, 254]));
        let refused = allowing(&[]).admit(&mut both);
        assert!(refused.is_err_and(|says| says.contains("169.254.169.254")));
    }

    #[test]
    fn a_proxy_and_whom_it_asks_are_both_judged() {
        let proxied = |ip| {
            let proxy = ProxyServer {
                host: "proxy.example".to_owned(),
                port: 3128,
                authorization: None,
            };
            Server {
                proxy: Some(proxy),
                ..server("shop.example", 80, ip)
            }
        };
        let near = || server("shop.example", 80, [10, 0, 0, 1]);
        let unknown = || Server {
            addresses: Vec::new(),
            ..near()
        };
        let way = |direct, ip, hosts: &[&str]| allowing(hosts).way(direct, Some(proxied(ip)));
        assert!(way(near(), [10, 0, 0, 2], &[]).is_ok());
        assert!(way(near(), [169, 254, 0, 2], &[]).is_err());
        assert!(way(near(), [169, 254, 0, 2], &["proxy.example"]).is_ok());
        assert!(way(unknown(), [10, 0, 0, 2], &[]).is_err());
        assert!(way(unknown(), [10, 0, 0, 2], &["shop.example"]).is_ok());
    }

    #[test]
    fn the_target_gets_what_is_meant_for_the_plans_hosts() {
        let reach = Reach {
            target: "http://127.0.0.1:9".parse().ok(),
            named: BTreeSet::from(["shop.example".to_owned()]),
            ..Reach::default()
        };
        let servers = Servers::new(Vec::new(), reach, HttpVersion::One);
        for (url, here) in [
            ("https://shop.example/a?b", "http://127.0.0.1:9/a?b"),
            ("http://SHOP.example:81", "http://127.0.0.1:9"),
            ("http://other.example/a", "http://other.example/a"),
            ("http://127.0.0.1:9/a", "http://127.0.0.1:9/a"),
        ] {
            assert_eq!(servers.here(url), here);
        }
    }
}
