//! Where the CPU of the servers behind is read: as the file says, or of the processes that listen
//! on their ports.

use std::error::Error;
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use super::FIND_EVERY;
use crate::error::GatewayError;
use crate::live::Live;
use crate::settings::{CpuFrom, Settings};
use weir_metric::Metric;
use weir_probe::{BusyOf, listening_ports, servers_listening, user_listening};

/// Where the CPU is read, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    from: From,
    /// Whether a limit depends on it.
    steers: bool,
    goal: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum From {
    File(CpuFrom),
    /// The processes that listen on these ports of this machine.
    Servers(Vec<u16>),
}

/// What is read, and how it was come by.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) of: BusyOf,
    pub(super) from: String,
}

/// Why there is nothing to read.
#[derive(Debug)]
pub(super) struct NotFound(pub(super) String);

impl Place {
    /// Where the settings ask to read.
    pub(crate) fn of(live: &Live) -> Self {
        let settings = &live.settings;
        let adaptive = settings.limit.adaptive.as_ref();
        let named = adaptive.and_then(|adaptive| adaptive.cpu_from.clone());
        let scale = settings.scale.as_ref();
        let named = named.or_else(|| scale?.cpu_from.clone());
        // What promises leave over is a limit of the same kind.
        let promises = settings.classes.iter().any(|class| class.promise.is_some());
        Self {
            from: named.map_or_else(|| From::Servers(ports_here(live)), From::File),
            steers: adaptive.is_some() || promises,
            goal: goal(settings),
        }
    }

    /// Says so if there is a goal for the CPU and no place to read it.
    pub(crate) fn check(live: &Live) -> Result<(), GatewayError> {
        let place = Self::of(live);
        if place.goal.is_none() || place.is_anywhere() {
            return Ok(());
        }
        let backends: Vec<String> = live
            .backends
            .iter()
            .map(|backend| backend.address.to_string())
            .collect();
        Err(GatewayError::CpuElsewhere {
            backends: backends.join(", "),
        })
    }

    /// Whether there is anything to read.
    pub(super) fn is_anywhere(&self) -> bool {
        !matches!(&self.from, From::Servers(ports) if ports.is_empty())
    }

    /// Whether a limit depends on the reading.
    pub(super) fn steers(&self) -> bool {
        self.steers
    }

    /// The busy share that a limit is to hold.
    pub(super) fn goal(&self) -> Option<f64> {
        self.goal
    }

    /// Whether the same is read.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.from == other.from
    }

    /// Whether it costs the server something to be read.
    pub(super) fn is_page(&self) -> bool {
        matches!(self.from, From::File(CpuFrom::Prometheus { .. }))
    }

    /// Whether what was found by its port still listens there; what the file names is what it is.
    pub(super) fn still_listen(&self, of: &BusyOf) -> bool {
        let (From::Servers(ports), BusyOf::Processes(pids)) = (&self.from, of) else {
            return true;
        };
        let listens = |pid: &u32| {
            listening_ports(*pid)
                .iter()
                .any(|port| ports.contains(port))
        };
        pids.iter().all(listens)
    }

    /// How long after it was lost it is looked for; `None`: never.
    pub(super) fn find_again(&self) -> Option<Duration> {
        match &self.from {
            // Whoever was found by a port may have a successor on it already.
            From::Servers(_) => Some(Duration::ZERO),
            // A process that is gone does not come back: its number may be another's by now.
            From::File(CpuFrom::Pid(_)) => None,
            From::File(_) => Some(FIND_EVERY),
        }
    }

    /// What is read.
    pub(super) fn find(&self) -> Result<Found, NotFound> {
        let of = match &self.from {
            From::Servers(ports) => return servers(ports),
            From::File(CpuFrom::Cpus(cpus)) => BusyOf::Cpus(cpus.clone()),
            From::File(CpuFrom::Pid(pid)) => BusyOf::Processes(vec![*pid]),
            From::File(CpuFrom::Cgroup(path)) => BusyOf::ControlGroup(path.clone()),
            From::File(CpuFrom::Prometheus { url, cpus }) => BusyOf::Page {
                url: url.parse().map_err(|error| NotFound(cannot(&error)))?,
                cpus: *cpus,
            },
        };
        let from = of.to_string();
        Ok(Found { of, from })
    }
}

/// The goal for the CPU, if the file has one.
pub(crate) fn goal(settings: &Settings) -> Option<f64> {
    let goal = settings.limit.adaptive.as_ref()?.goal.as_ref()?;
    (goal.metric == Metric::Cpu).then(|| goal.bound_base())
}

/// An error that fits after "cannot", with what led to it.
pub(super) fn cannot(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let says: Vec<String> = causes.map(ToString::to_string).collect();
    format!("cannot {}", says.join(": "))
}

/// Ports of the backends that are on this machine.
fn ports_here(live: &Live) -> Vec<u16> {
    let here = live.backends.iter().filter(|backend| {
        let addresses = backend.addresses();
        addresses.iter().any(|address| is_here(address.ip()))
    });
    let ports = here.filter_map(|backend| backend.address.host_and_port());
    let mut ports: Vec<u16> = ports.map(|(_, port)| port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Whether an address is one of this machine: only such a one can be bound to.
fn is_here(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// The processes that listen on these ports. Backends that are down have none; those that are up
/// are read.
fn servers(ports: &[u16]) -> Result<Found, NotFound> {
    let mut pids = Vec::new();
    let mut from = Vec::new();
    for &port in ports {
        let listening = servers_listening(port);
        from.extend(
            listening
                .iter()
                .map(|pid| format!("process {pid} on port {port}")),
        );
        pids.extend(listening);
    }
    if pids.is_empty() {
        return Err(NotFound(nobody(ports)));
    }
    pids.sort_unstable();
    pids.dedup();
    Ok(Found {
        of: BusyOf::Processes(pids),
        from: from.join(", "),
    })
}

/// Why no process is found: none listens, or nobody but its user may look at it.
fn nobody(ports: &[u16]) -> String {
    let hidden = ports
        .iter()
        .find_map(|&port| Some((port, user_listening(port)?)));
    if let Some((port, user)) = hidden {
        return format!(
            "who listens on port {port} is known only to user {user} and root; run the gateway as one of them, or name \
             `cpu-from = {{ pid = … }}`, `cgroup` or `cpus`"
        );
    }
    let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
    format!(
        "no process of this machine listens on port {}",
        ports.join(" or ")
    )
}
