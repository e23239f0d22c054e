//! `[target.external]`: a server that runs already.

use std::io::{self, BufRead as _};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use url::Url;
use weir_metric::CpuSet;
use weir_probe::{FarMachine, WatchedMachine, cpus_of_process};
use weir_server::{
    External, ExternalLimit, ExternalOptions, Found, JmxAgent, Machine, ProcessFacts, Server,
    SetBy, recognise,
};
use weir_shelf::JOLOKIA;
use weir_ssh::SshHost;
use weir_study::{ExternalSpec, JolokiaSpec, LimitSetter};

use super::{Place, failed, metrics};
use crate::error::{ExpectedError, FileProblem, FileProblems, environment};
use crate::job::Job;
use crate::{answering, far, hosts, output, shelf};

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
    answering::ask(&address.to_string(), &[address])?;
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
    let metrics = metrics::pages(&spec.metrics, job)?;
    let at = whereabouts(spec, address, job)?;
    let server = External::join(ExternalOptions {
        name: url.to_string(),
        address,
        recognised: at
            .pid
            .and_then(|pid| recognised(pid, address.port(), &at.machine)),
        machine: at.machine,
        cpus: at.cpus,
        pid: at.pid,
        jmx: jmx(spec, at.pid, place)?,
        dumps: spec.thread_dumps,
        metrics,
        limits: limits.collect(),
        settings: job.study.target.settings.clone(),
        directory: Path::new(".").join(&job.base),
        log: place.log(),
        journal: place.journal.clone(),
        takes_effect: External::TAKES_EFFECT,
        ask,
        serving: hosts::process_serving,
    });
    let server = server.map_err(|error| failed(place, error))?;
    for pool in server.not_there() {
        output::talk(&format!(
            "{pool} is left alone: the running server has no such pool, which may come with the first request that \
             needs it, or with an MBean of its own"
        ));
    }
    Ok(Box::new(server))
}

/// What is known of the server's kind and limits, where its process may be looked at.
pub(crate) fn recognised(pid: u32, port: u16, machine: &WatchedMachine) -> Option<Found> {
    let machine = match machine {
        WatchedMachine::This => Machine::here(),
        WatchedMachine::Far(far) => Machine::far(far.connection().clone()),
        WatchedMachine::Unseen => return None,
    };
    let facts = ProcessFacts::of(pid, &machine).ok()?;
    Some(recognise(&facts, port, &machine))
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
            ExpectedError::File(FileProblems::new(&job.file, &job.text, vec![problem]))
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

/// What is wrong with it as far as it shows without asking anybody.
pub(super) fn check(spec: &ExternalSpec, job: &Job) -> Result<(), ExpectedError> {
    if let Some(name) = &spec.ssh
        && SshHost::new(name.get_ref()).is_err()
    {
        let problem = FileProblem {
            span: name.span(),
            says: format!("`{}` is no ssh host", name.get_ref()),
            help: Some("write it as for ssh: a host of ~/.ssh/config, or USER@HOST".to_owned()),
        };
        let problems = FileProblems::new(&job.file, &job.text, vec![problem]);
        return Err(ExpectedError::File(problems));
    }
    metrics::pages(&spec.metrics, job).map(|_| ())
}

/// Where the server runs.
struct Whereabouts {
    machine: WatchedMachine,
    cpus: Option<CpuSet>,
    pid: Option<u32>,
}

fn whereabouts(
    spec: &ExternalSpec,
    address: SocketAddr,
    job: &Job,
) -> Result<Whereabouts, ExpectedError> {
    let Some(name) = &spec.ssh else {
        let found = hosts::process_serving(address);
        let here = found.is_some() || hosts::is_here(address);
        return Ok(Whereabouts {
            machine: if here {
                WatchedMachine::This
            } else {
                WatchedMachine::Unseen
            },
            cpus: None,
            pid: spec.pid.or(found),
        });
    };
    check(spec, job)?;
    let configuration = spec.ssh_config.as_ref();
    let configuration: Option<PathBuf> =
        configuration.map(|file| Path::new(".").join(&job.base).join(file.get_ref()));
    let machine = far::reach(name.get_ref(), configuration.as_deref())?;
    let pid = match spec.pid {
        Some(pid) => Some(pid),
        None => far::process_listening(&machine, address.port())?,
    };
    let cpus = far_cpus(spec, &machine, pid, job)?;
    let process = pid.map(|pid| format!("process {pid} on "));
    output::talk(&format!(
        "{} is read over ssh: {}CPUs {cpus}{}",
        name.get_ref(),
        process.unwrap_or_default(),
        if machine.is_this_one() {
            ", which are those of this machine"
        } else {
            ""
        }
    ));
    Ok(Whereabouts {
        machine: WatchedMachine::Far(machine),
        cpus: Some(cpus),
        pid,
    })
}

/// The CPUs that a server of this machine may use, as its processes and their threads are bound;
/// nothing when it cannot be looked at.
pub(crate) fn cpus_of_running(spec: &ExternalSpec) -> Option<CpuSet> {
    let behind_port = || {
        let addresses = Url::parse(spec.url.get_ref())
            .ok()?
            .socket_addrs(|| None)
            .ok()?;
        addresses.into_iter().find_map(hosts::process_serving)
    };
    cpus_of_process(spec.pid.or_else(behind_port)?)
}

/// The CPUs there that the server may use: as the study says, else as the machine does.
fn far_cpus(
    spec: &ExternalSpec,
    machine: &FarMachine,
    pid: Option<u32>,
    job: &Job,
) -> Result<CpuSet, ExpectedError> {
    if let Some(asked) = &job.study.target.cpus {
        if asked
            .get_ref()
            .iter()
            .all(|cpu| machine.cpus().contains(cpu))
        {
            return Ok(asked.get_ref().clone());
        }
        let problem = FileProblem {
            span: asked.span(),
            says: format!("not all of the CPUs {} are there", asked.get_ref()),
            help: Some(format!(
                "{} has the CPUs {}",
                machine.connection().host().name(),
                machine.cpus()
            )),
        };
        let problems = FileProblems::new(&job.file, &job.text, vec![problem]);
        return Err(ExpectedError::File(problems));
    }
    let Some(pid) = pid else {
        return Ok(machine.cpus().clone());
    };
    let allowed = machine.cpus_of(pid).map_err(|error| far::failed(&error))?;
    allowed.ok_or_else(|| {
        let host = machine.connection().host().name();
        problem(
            spec,
            job,
            &format!("is to be process {pid}, which does not run on {host}"),
            "write its present id, or leave `pid` out: it is found by the port",
        )
    })
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
    ExpectedError::File(FileProblems::new(&job.file, &job.text, vec![problem]))
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
