//! What is watched: the server of a study, whatever stands behind a URL, or a process.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_metric::is_stage;
use weir_probe::{
    FarProcess, MetricsUrl, Source, WatchPlan, WatchedMachine, listening_ports, mbeans,
};
use weir_record::{CpuScope, RunDirectory, failed_to};
use weir_server::{Found, Journal, Server};

use crate::commands::studies;
use crate::commands::watch::WatchArguments;
use crate::commands::watch::over_ssh::{self, FarSubject};
use crate::error::{ExpectedError, environment};
use crate::job::Job;
use crate::{commands_of, hosts, output, put_back, targets};

/// What is watched.
pub(crate) struct Subject {
    /// In words.
    pub(crate) target: String,
    /// Names the run directory.
    pub(crate) name: String,
    pub(crate) plan: WatchPlan,
    /// Limits of stages that are known beforehand.
    pub(crate) limits: BTreeMap<String, f64>,
    /// The study's text, of a study.
    pub(crate) study: String,
    /// Where the server of a study was started.
    pub(crate) directory: Option<RunDirectory>,
    /// What was started for it.
    server: Option<(Box<dyn Server>, Journal)>,
    /// The process that is watched on another machine.
    far_process: Option<FarProcess>,
}

impl Subject {
    /// Finds what was typed; a study's server is started.
    pub(crate) fn find(
        arguments: &WatchArguments,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Self, ExpectedError> {
        let typed = arguments.target.as_str();
        let mut subject = if let Ok(pid) = typed.parse::<u32>() {
            match &arguments.ssh {
                Some(host) => {
                    let configuration = arguments.ssh_config.as_deref();
                    over_ssh::of_process(host, configuration, pid)?.into()
                }
                None => of_process(pid)?,
            }
        } else if typed.starts_with("http://") || typed.starts_with("https://") {
            of_url(typed, arguments)?
        } else if arguments.ssh.is_some() {
            return Err(ExpectedError::Input(format!(
                "{typed}: --ssh is for a URL or a process; a study says `ssh = \"HOST\"` under [target.external]"
            )));
        } else {
            of_study(Path::new(typed), arguments, interrupted)?
        };
        let sources = &mut subject.plan.sources;
        sources.extend(arguments.metrics.iter().cloned().map(Source::prometheus));
        sources.extend(
            arguments
                .jolokia
                .iter()
                .cloned()
                .map(|url| Source::Jolokia {
                    url,
                    reads: mbeans::all(),
                }),
        );
        Ok(subject)
    }

    /// Whether there is still anything to watch.
    pub(crate) fn is_there(&mut self) -> bool {
        match (&mut self.server, &self.plan.machine) {
            (Some((server, _)), _) => server.check_alive().is_ok(),
            (None, WatchedMachine::This) => self
                .plan
                .target_pids
                .first()
                .is_none_or(|pid| Path::new(&format!("/proc/{pid}")).exists()),
            (None, _) => self.far_process.as_mut().is_none_or(FarProcess::runs),
        }
    }

    /// Stops what was started and puts back what was changed.
    pub(crate) fn stop(self) -> Result<(), ExpectedError> {
        let Some((server, journal)) = self.server else {
            return Ok(());
        };
        let stopped = server.stop();
        let stopped = stopped.map_err(|error| ExpectedError::Environment(failed_to(&error)));
        put_back::conclude(stopped, &journal.put_back())
    }
}

impl From<FarSubject> for Subject {
    fn from(far: FarSubject) -> Self {
        Self {
            target: far.target,
            name: format!("watch-{}", as_name(&far.name)),
            plan: far.plan,
            limits: BTreeMap::new(),
            study: String::new(),
            directory: None,
            server: None,
            far_process: far.process,
        }
    }
}

fn of_process(pid: u32) -> Result<Subject, ExpectedError> {
    let command = std::fs::read_to_string(format!("/proc/{pid}/comm"))
        .map_err(|_| ExpectedError::Input(format!("there is no process {pid} on this machine")))?;
    let command = command.trim_end();
    let ports = listening_ports(pid);
    let seen = Seen::of(&[pid], ports.first().copied());
    Ok(Subject {
        target: format!("process {pid} ({command})"),
        name: format!("watch-{}", as_name(command)),
        plan: WatchPlan {
            target_pids: vec![pid],
            sources: seen.sources,
            ports,
            arrivals: true,
            ..WatchPlan::default()
        },
        limits: seen.limits,
        study: String::new(),
        directory: None,
        server: None,
        far_process: None,
    })
}

/// What is seen of processes without asking them.
#[derive(Default)]
struct Seen {
    /// What they tell, the connections of their port, and the queue in front of it.
    sources: Vec<Source>,
    /// Their limits by stage, as they are configured, where the kind is known.
    limits: BTreeMap<String, f64>,
}

impl Seen {
    fn of(pids: &[u32], port: Option<u16>) -> Self {
        let first = pids.first().copied();
        let found = first
            .zip(port)
            .and_then(|(pid, port)| targets::recognised(pid, port, &WatchedMachine::This));
        let limits = found.as_ref().map(Found::known_limits).unwrap_or_default();
        let stages = limits.into_iter().filter(|(name, _)| is_stage(name));
        let counted = found
            .zip(port)
            .map(|(found, port)| found.sources(port, first));
        let queue = port.map(|port| Source::DerivedQueue { port });
        Self {
            sources: Source::of_processes(pids)
                .into_iter()
                .chain(counted.unwrap_or_default())
                .chain(queue)
                .collect(),
            limits: stages
                .filter_map(|(name, limit)| Some((name, limit?)))
                .collect(),
        }
    }
}

fn of_url(typed: &str, arguments: &WatchArguments) -> Result<Subject, ExpectedError> {
    let wrong = |says: String| ExpectedError::Input(format!("{typed}: {says}"));
    let url = url::Url::parse(typed).map_err(|error| wrong(error.to_string()))?;
    let host = url
        .host_str()
        .ok_or_else(|| wrong("it has no host".to_owned()))?;
    let port = url.port_or_known_default().unwrap_or(80);
    if let Some(machine) = &arguments.ssh {
        let configuration = arguments.ssh_config.as_deref();
        return Ok(over_ssh::of_url(machine, configuration, typed, port)?.into());
    }
    let addresses: Vec<SocketAddr> = (host.trim_matches(['[', ']']), port)
        .to_socket_addrs()
        .map_err(|error| wrong(format!("failed to find the host: {error}")))?
        .collect();
    // A URL of a page of metrics is read as one.
    let page = is_page_of_metrics(url.path()).then(|| typed.parse::<MetricsUrl>());
    let page = page.transpose().map_err(|error| wrong(failed_to(&error)))?;
    let found = addresses.iter().copied().find_map(hosts::process_serving);
    let here = found.is_some() || addresses.iter().all(|address| address.ip().is_loopback());
    let told = page.is_some() || !arguments.metrics.is_empty() || !arguments.jolokia.is_empty();
    if !here && !told {
        return Err(wrong(
            "the host is not this machine, so that nothing can be read but what it tells: name a page of metrics \
             (--metrics URL) or a Jolokia agent (--jolokia URL)"
                .to_owned(),
        ));
    }
    let pids: Vec<u32> = found.into_iter().collect();
    if here && pids.is_empty() {
        output::talk(&format!(
            "no process that listens on port {port} can be seen: its connections are watched, and all CPUs of the machine"
        ));
    }
    let mut plan = WatchPlan {
        machine: if here {
            WatchedMachine::This
        } else {
            WatchedMachine::Unseen
        },
        arrivals: true,
        ..WatchPlan::default()
    };
    let mut seen = Seen::default();
    if here {
        seen = Seen::of(&pids, Some(port));
        plan.sources = seen.sources;
        plan.ports = vec![port];
    }
    plan.sources.extend(page.map(Source::prometheus));
    let process = pids.first().map(|pid| format!(" (process {pid})"));
    plan.target_pids = pids;
    Ok(Subject {
        target: format!("{typed}{}", process.unwrap_or_default()),
        name: format!("watch-{}-{port}", as_name(host)),
        plan,
        limits: seen.limits,
        study: String::new(),
        directory: None,
        server: None,
        far_process: None,
    })
}

fn is_page_of_metrics(path: &str) -> bool {
    path.ends_with("/metrics") || path.ends_with("/prometheus")
}

/// The server of a study, started with the study's settings on the study's CPUs.
fn of_study(
    file: &Path,
    arguments: &WatchArguments,
    interrupted: &Arc<AtomicBool>,
) -> Result<Subject, ExpectedError> {
    let job = Job::from_file(file)?;
    commands_of::show_and_check(&job, arguments.allow_commands)?;
    let cpus = studies::divide_cpus(&job)?;
    // The watch keeps to the CPUs that the load generator would have, so that it takes none from
    // the server.
    cpus.load
        .pin_this_thread()
        .map_err(|error| environment(&format!("run on the CPUs {}: {error}", cpus.load)))?;
    let name = format!("watch-{}", job.name);
    let directory = studies::create_run(&arguments.runs, &name)?;
    let journal = put_back::open()?;
    let in_study = job.study.load.allow_hosts.iter();
    let allowed: Vec<String> = in_study.map(|host| host.get_ref().clone()).collect();
    // A gateway only matters to a load, and here is none.
    let server = targets::start_server(&targets::Place {
        job: &job,
        cpus: &cpus.target,
        load_cpus: &cpus.load,
        directory: &directory,
        interrupted,
        journal: &journal,
        allowed: &allowed,
    });
    let server = match server {
        Ok(server) => server,
        Err(error) => return put_back::conclude(Err(error), &journal.put_back()),
    };
    let facts = server.facts(cpus.target.count() as u32, cpus.scope());
    let watched = server.watched();
    let limits = facts.stages.into_iter();
    let scope = match facts.cpu_scope {
        CpuScope::OwnCpus => {
            let of_target = watched.cpus.as_ref().unwrap_or(&cpus.target);
            format!(" on CPUs {of_target}")
        }
        CpuScope::SharedCpus | CpuScope::Unknown => String::new(),
    };
    Ok(Subject {
        target: format!("{} of {}{scope}", facts.name, job.file),
        name,
        plan: WatchPlan {
            target_pids: watched.pids,
            target_cpus: Some(watched.cpus.unwrap_or(cpus.target)),
            ports: watched.ports,
            sources: watched.sources,
            machine: watched.machine,
            arrivals: true,
            ..WatchPlan::default()
        },
        limits: limits
            .filter_map(|stage| Some((stage.name, stage.limit?)))
            .collect(),
        study: job.text.clone(),
        directory: Some(directory),
        server: Some((server, journal)),
        far_process: None,
    })
}

/// A word for a file name.
fn as_name(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect()
}
