//! `[target.external]`: a server that runs already.

use std::io::{self, BufRead as _};
use std::net::{SocketAddr, ToSocketAddrs as _, UdpSocket};

use url::Url;
use weir_probe::processes_listening;
use weir_shelf::JOLOKIA;
use weir_study::{ExternalSpec, JolokiaSpec, LimitSetter};
use weir_target::{External, ExternalLimit, ExternalOptions, JmxAgent, Server, SetBy};

use super::{Place, failed, metrics};
use crate::error::{ExpectedError, FileProblem, FileProblems, environment};
use crate::job::Job;
use crate::{hosts, output, shelf};

/// Reads its limits; it has to be allowed to be loaded before anything is asked of it.
pub(super) fn join(
    spec: &ExternalSpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let job = place.job;
    let url = parse(spec, job)?;
    let (host, address) = address(&url, spec, job)?;
    let named = hosts::NamedHost {
        host,
        port: address.port(),
        named_in: job.file.clone(),
    };
    hosts::check(&[named], place.allowed)?;
    let limits = spec.limits.iter().map(|(name, limit)| {
        let limit = ExternalLimit {
            set: match &limit.set {
                LimitSetter::Ask => SetBy::Asking,
                LimitSetter::Jmx => SetBy::Jmx,
                LimitSetter::Command(line) => SetBy::Command(line.clone()),
            },
            get: limit.get.clone(),
            found: limit.found,
        };
        (name.clone(), limit)
    });
    let elsewhere = !is_here(address);
    let pid = spec.pid.or_else(|| {
        let behind = if elsewhere {
            Vec::new()
        } else {
            processes_listening(address.port())
        };
        behind.first().copied()
    });
    let server = External::join(ExternalOptions {
        name: url.to_string(),
        address,
        elsewhere,
        pid,
        jmx: jmx(spec, pid, place)?,
        metrics: metrics::pages(&spec.metrics, job)?,
        limits: limits.collect(),
        settings: job.study.target.settings.clone(),
        directory: std::path::Path::new(".").join(&job.base),
        log: place.log(),
        journal: place.journal.clone(),
        takes_effect: External::TAKES_EFFECT,
        ask,
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
}

/// How its virtual machine is reached, where the study says that it is.
fn jmx(
    spec: &ExternalSpec,
    pid: Option<u32>,
    place: &Place<'_>,
) -> Result<Option<JmxAgent>, ExpectedError> {
    let agent = match &spec.jolokia {
        None => return Ok(None),
        Some(JolokiaSpec::At(url)) => JmxAgent::At(url.get_ref().parse().map_err(|_| {
            let problem = FileProblem {
                span: url.span(),
                says: format!("`{}` is no URL of a Jolokia agent", url.get_ref()),
                help: Some(
                    "write it like \"http://127.0.0.1:8778/jolokia\", or \"attach\"".to_owned(),
                ),
            };
            let job = place.job;
            ExpectedError::File(FileProblems::new(
                &job.file,
                job.text.clone(),
                vec![problem],
            ))
        })?),
        Some(JolokiaSpec::Attach) => {
            let agent = shelf::jars(&JOLOKIA, place.interrupted)?.pop();
            if let Some(pid) = pid {
                output::talk(&format!(
                    "process {pid} gets a Jolokia agent on the loopback address; it is stopped at the end"
                ));
            }
            JmxAgent::Load(
                agent.ok_or_else(|| environment("find the agent in the package of Jolokia"))?,
            )
        }
    };
    Ok(Some(agent))
}

fn parse(spec: &ExternalSpec, job: &Job) -> Result<Url, ExpectedError> {
    let url = Url::parse(spec.url.get_ref())
        .ok()
        .filter(|url| url.scheme() == "http" && url.has_host());
    url.ok_or_else(|| {
        problem(
            spec,
            job,
            "is no URL of a server",
            "write `url = \"http://HOST:PORT\"`",
        )
    })
}

fn address(
    url: &Url,
    spec: &ExternalSpec,
    job: &Job,
) -> Result<(String, SocketAddr), ExpectedError> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, port).to_socket_addrs();
    // Where a name has addresses of both kinds, servers on this machine mostly listen on the older.
    let found = found.ok().and_then(|found| {
        let all: Vec<SocketAddr> = found.collect();
        all.iter()
            .find(|address| address.is_ipv4())
            .or(all.first())
            .copied()
    });
    found
        .map(|address| (bare.to_owned(), address))
        .ok_or_else(|| {
            problem(
                spec,
                job,
                "names a host that nobody knows",
                "write its address",
            )
        })
}

fn problem(spec: &ExternalSpec, job: &Job, what: &str, help: &str) -> ExpectedError {
    let problem = FileProblem {
        span: spec.url.span(),
        says: format!("`{}` {what}", spec.url.get_ref()),
        help: Some(help.to_owned()),
    };
    ExpectedError::File(FileProblems::new(
        &job.file,
        job.text.clone(),
        vec![problem],
    ))
}

/// Whether an address is one of this machine: only of those a socket can be bound to.
fn is_here(address: SocketAddr) -> bool {
    UdpSocket::bind((address.ip(), 0)).is_ok()
}

/// Asks the user to do something and waits for Enter.
fn ask(what: &str) -> io::Result<()> {
    output::talk(&format!("please {what}, then press Enter"));
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line)? {
        0 => Err(io::Error::other("standard input is closed")),
        _ => Ok(()),
    }
}
