//! The process behind a URL.

use std::net::{SocketAddr, ToSocketAddrs as _};

use url::{Position, Url};
use weir_metric::CpuSet;
use weir_probe::{FarMachine, cpus_of_process, online_cpus, processes_listening, user_listening};
use weir_server::{Found, Machine, ProcessFacts, recognise};

use crate::error::ExpectedError;
use crate::{far, hosts, output};

/// What a URL says.
pub(super) struct Place {
    url: Url,
    port: u16,
    addresses: Vec<SocketAddr>,
    /// Path and query.
    pub(super) path: String,
}

impl Place {
    /// Reads what was typed; only servers that speak `http` can be looked at, of this machine or
    /// over ssh.
    pub(super) fn of(typed: &str, over_ssh: bool) -> Result<Self, ExpectedError> {
        let wrong = |says: &str| ExpectedError::Input(format!("{typed}: {says}"));
        let url = Url::parse(typed)
            .map_err(|error| wrong(&format!("{error}; write it as http://HOST:PORT/PATH")))?;
        if url.scheme() == "https" {
            return Err(wrong(
                "a study loads its server over http; name the port that the server has behind the TLS, such as \
                 http://127.0.0.1:8080/, or load https with a JMeter plan (`weir run PLAN.jmx`)",
            ));
        }
        let host = url.host_str().filter(|_| url.scheme() == "http");
        let host = host.ok_or_else(|| wrong("write it as http://HOST:PORT/PATH"))?;
        let port = url.port_or_known_default().unwrap_or(80);
        let addresses: Vec<SocketAddr> = (host.trim_matches(['[', ']']), port)
            .to_socket_addrs()
            .map_err(|error| wrong(&format!("failed to find the host: {error}")))?
            .collect();
        let is_here = |address: &SocketAddr| {
            hosts::is_here(*address) || hosts::process_serving(*address).is_some()
        };
        if !over_ssh && !addresses.iter().any(is_here) {
            return Err(wrong(
                "the host is neither this machine nor a container of it whose server this user may see: to look at its \
                 processes and files, say how ssh reaches it (--ssh HOST)",
            ));
        }
        Ok(Self {
            path: url[Position::BeforePath..Position::AfterQuery].to_owned(),
            port,
            addresses,
            url,
        })
    }

    /// `http://HOST:PORT`.
    pub(super) fn server(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        format!("http://{host}:{}", self.port)
    }
}

/// A server that was looked at.
pub(super) struct Looked {
    pub(super) found: Found,
    /// The CPUs that it may use, and those of its machine.
    pub(super) cpus: Option<(CpuSet, CpuSet)>,
}

/// What is known of the server; nothing when its process may not be looked at, which is said.
pub(super) fn look(place: &Place) -> Result<Option<Looked>, ExpectedError> {
    let port = place.port;
    let machine = Machine::here();
    let mut addresses = place.addresses.iter().copied();
    let Some(pid) = addresses.find_map(hosts::process_serving) else {
        if !processes_listening(port).is_empty() {
            // It is a proxy, which was said.
            return Ok(None);
        }
        let Some(user) = user_listening(port) else {
            return Err(ExpectedError::Environment(format!(
                "{}: nothing listens on port {port} of this machine; start the server first",
                place.url
            )));
        };
        not_looked_at(port, &format!("it belongs to user {user}"));
        return Ok(None);
    };
    match ProcessFacts::of(pid, &machine) {
        Ok(facts) => Ok(Some(Looked {
            found: recognise(&facts, port, &machine),
            cpus: cpus_of_process(pid).zip(online_cpus().ok()),
        })),
        Err(error) => {
            not_looked_at(port, &format!("process {pid}: {error}"));
            Ok(None)
        }
    }
}

/// As `look`, of a server of another machine.
pub(super) fn look_over_ssh(
    place: &Place,
    far: &FarMachine,
) -> Result<Option<Looked>, ExpectedError> {
    let Some(pid) = far::process_listening(far, place.port)? else {
        return Ok(None);
    };
    let machine = Machine::far(far.connection().clone());
    match ProcessFacts::of(pid, &machine) {
        Ok(facts) => {
            let of_server = far.cpus_of(pid).map_err(|error| far::failed(&error))?;
            Ok(Some(Looked {
                found: recognise(&facts, place.port, &machine),
                cpus: of_server.map(|of_server| (of_server, far.cpus().clone())),
            }))
        }
        Err(error) => {
            not_looked_at(place.port, &format!("process {pid}: {error}"));
            Ok(None)
        }
    }
}

fn not_looked_at(port: u16, why: &str) {
    output::talk(&format!(
        "the process that listens on port {port} cannot be looked at ({why}): its kind, its limits, its CPU and its memory \
         are not known. Run `weir init` as that user or as root to have them"
    ));
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn only_http_of_this_machine_is_taken() {
        let place = Place::of("http://127.0.0.1:8080/a?b=1#c", false).unwrap();
        assert_eq!(
            (place.server(), place.path.as_str()),
            ("http://127.0.0.1:8080".to_owned(), "/a?b=1")
        );
        assert_eq!(
            Place::of("http://[::1]", false).unwrap().server(),
            "http://[::1]:80"
        );
        // Documentation addresses (RFC 5737): nothing is sent to them.
        for (typed, says) in [
            ("https://127.0.0.1/", "behind the TLS"),
            ("http://203.0.113.7/", "neither this machine"),
            ("127.0.0.1:8080", "http://HOST:PORT/PATH"),
            ("file:///x", "http://HOST:PORT/PATH"),
        ] {
            let error = Place::of(typed, false).err().unwrap();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
