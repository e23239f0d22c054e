//! Whom a plan is going to load, before it does.

use std::collections::BTreeSet;

use weir_plan::{HttpRequest, Position};

use crate::resolved::{ResolvedGroup, ResolvedPlan};
use crate::url::{self, Parts};
use crate::{Problem, ProxyServer, ResolveError, Target, Text};

/// A server that gets requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Protocol, name and port.
    pub server: Target,
    /// The proxy through which it gets them.
    pub proxy: Option<ProxyServer>,
    /// The first sampler that loads it.
    pub at: Position,
    /// Which of the plan's tables of hosts its name is looked up in first.
    pub table: Option<usize>,
}

impl ResolvedPlan {
    /// Every server that the plan loads, each once for each proxy, in the order of the file; only
    /// the target, if one is given. Servers that are known only at run time are not among them, nor
    /// are those that are none: such samples fail.
    ///
    /// # Errors
    /// Samplers that read files, or whose proxy is known only at run time: all of them at once.
    pub fn hosts(&self, target: Option<&Target>) -> Result<Vec<Host>, ResolveError> {
        let mut hosts = Vec::new();
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        for request in self.groups.iter().flat_map(ResolvedGroup::requests) {
            let server = match target {
                Some(target) => Ok(Some(target.clone())),
                None if asks_nobody(&request.protocol, &request.path) => continue,
                None => match server_of(request) {
                    Err(_) if !reads_file(request) => continue,
                    found => found,
                },
            };
            let server = match server {
                Ok(Some(server)) => Ok(server),
                Ok(None) if request.proxy.is_none() => continue,
                Ok(None) => Err(Problem::new(
                    request.at,
                    "the server behind a proxy changes while the test runs",
                )
                .instead(INSTEAD)),
                Err(problem) => Err(problem),
            };
            let route = server.and_then(|server| Ok((proxy_of(request, &server)?, server)));
            let table = request.dns.filter(|_| target.is_none());
            match route {
                Ok((proxy, server)) => {
                    if seen.insert((server.clone(), proxy.clone(), table)) {
                        hosts.push(Host {
                            server,
                            proxy,
                            at: request.at,
                            table,
                        });
                    }
                }
                Err(problem) => problems.push(problem),
            }
        }
        ResolveError::check(self.source.as_deref(), problems, &[])?;
        Ok(hosts)
    }
}

fn proxy_of(request: &HttpRequest<Text>, server: &Target) -> Result<Option<ProxyServer>, Problem> {
    let Some(proxy) = &request.proxy else {
        return Ok(None);
    };
    let problem = |says: &str| {
        Problem::new(request.at, says).instead("use a property or a user-defined variable")
    };
    let mut is_fixed = true;
    let proxy = proxy.map(&mut |text| {
        is_fixed &= text.constant().is_some();
        text.constant().unwrap_or_default().to_owned()
    });
    if !is_fixed {
        return Err(problem("the proxy changes while the test runs"));
    }
    let found = ProxyServer::of(&proxy, &server.host);
    let scheme = proxy.scheme.trim();
    if found.is_some() && !scheme.is_empty() && !scheme.eq_ignore_ascii_case("http") {
        let says = format!("the proxy is spoken to over \"{scheme}\", which is not supported");
        return Err(Problem::new(request.at, says).instead("write http, or leave it empty"));
    }
    Ok(found)
}

impl ResolvedPlan {
    /// Every host that the plan names, as far as that is known before it runs; each once.
    ///
    /// A redirect to one of them goes to the target, if one is given.
    pub fn named_hosts(&self) -> BTreeSet<String> {
        let requests = self.groups.iter().flat_map(ResolvedGroup::requests);
        let servers = requests.filter_map(|request| server_of(request).ok()?);
        servers.map(|server| server.host).collect()
    }

    /// Where the samplers stand whose server is known only at run time.
    pub fn later_hosts(&self) -> Vec<Position> {
        let requests = self.groups.iter().flat_map(ResolvedGroup::requests);
        let later = requests.filter(|request| finds_server(request));
        later.map(|request| request.at).collect()
    }
}

/// Whether the server of a request is known only at run time.
pub fn finds_server(request: &HttpRequest<Text>) -> bool {
    !asks_nobody(&request.protocol, &request.path) && matches!(server_of(request), Ok(None))
}

/// The URL at the target, when its host is one of these.
pub fn retarget(url: &str, target: &Target, hosts: &BTreeSet<String>) -> Option<String> {
    let parts = Parts::of(url)?;
    let (host, _) = url::host_and_port(&parts).ok()?;
    hosts
        .iter()
        .any(|known| known.eq_ignore_ascii_case(host))
        .then(|| {
            let mut moved = String::new();
            url::push_target(target, &mut moved);
            moved.push_str(parts.tail);
            moved
        })
}

/// Whether each sample fails before anything is sent, because of its protocol.
pub(crate) fn asks_nobody(protocol: &Text, path: &Text) -> bool {
    let is_whole = url::is_whole(path.start()) || path.constant().is_none();
    url::is_no_server(protocol.constant().unwrap_or_default()) && !is_whole
}

/// Whether JMeter would read a file.
fn reads_file(request: &HttpRequest<Text>) -> bool {
    let protocol = request.protocol.constant().unwrap_or_default();
    protocol.eq_ignore_ascii_case("file") && !url::is_whole(request.path.start())
}

/// Samplers whose URL names no server, which is known before they run.
pub(crate) fn without_server(groups: &[ResolvedGroup]) -> Vec<Problem> {
    let requests = groups.iter().flat_map(ResolvedGroup::requests);
    requests
        .filter(|request| !asks_nobody(&request.protocol, &request.path) && !reads_file(request))
        .filter_map(|request| server_of(request).err())
        .map(|problem| {
            let says = format!(
                "{}: nothing is sent, and the sample fails, as in JMeter",
                problem.says
            );
            Problem::new(problem.at, says).instead(INSTEAD)
        })
        .collect()
}

const INSTEAD: &str = "use a property or a user-defined variable, or override it with --target";

/// The server of a request; none if that is known only at run time.
fn server_of(request: &HttpRequest<Text>) -> Result<Option<Target>, Problem> {
    let problem = |says: &str| Problem::new(request.at, says).instead(INSTEAD);
    let start = request.path.start();
    if url::is_whole(start) {
        // The server is known if its name ends inside the part of the text that never changes.
        let ends = Parts::of(start).is_some_and(|parts| !parts.tail.is_empty());
        if ends || request.path.constant().is_some() {
            return server_of_url(start)
                .map(Some)
                .map_err(|says| problem(&says));
        }
        return Ok(None);
    }
    // It may turn out to be a whole URL.
    if request.path.constant().is_none() && "http".starts_with(start.get(..4).unwrap_or(start)) {
        return Ok(None);
    }
    let fixed = (
        request.protocol.constant(),
        request.host.constant(),
        request.port.constant(),
    );
    let (Some(protocol), Some(host), Some(port)) = fixed else {
        return Ok(None);
    };
    let mut url = String::new();
    url::push_origin(&mut url, protocol, host, port).map_err(|e| problem(e.message()))?;
    url::check_host(host, &url).map_err(|error| problem(error.message()))?;
    url.push('/');
    server_of_url(&url).map(Some).map_err(|says| problem(&says))
}

fn server_of_url(url: &str) -> Result<Target, String> {
    let parts = Parts::of(url).ok_or("the path is not a URL")?;
    // With the character that ends it: what else the URL holds is not about the server.
    let ends = parts.tail.len().min(1);
    let origin = &url[..url.len() - parts.tail.len() + ends];
    url::check(origin).map_err(|error| error.message().to_owned())?;
    let (host, port) = url::host_and_port(&parts).map_err(|e| e.message().to_owned())?;
    Ok(Target {
        scheme: parts.scheme,
        host: host.to_owned(),
        port: port.unwrap_or(parts.scheme.default_port()),
    })
}
