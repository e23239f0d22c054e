//! Where the operating system's signals come from.

/// The file or interface that a signal is read from; `None` for one that the operating system does
/// not tell.
pub(crate) fn of_system(name: &str) -> Option<&'static str> {
    let first = name.split('.').next().unwrap_or(name);
    Some(match (first, name) {
        (_, "machine.cpu.frequency") => "/sys/devices/system/cpu/cpu*/cpufreq",
        (_, name)
            if ["machine.swap", "machine.page-faults", "machine.refaults"]
                .iter()
                .any(|start| name.starts_with(start)) =>
        {
            "/proc/vmstat"
        }
        ("cpu" | "machine", _) | (_, "target.cpus") => "/proc/stat",
        ("pressure", _) => "/proc/pressure",
        (_, "tcp.segments" | "tcp.retransmissions" | "tcp.resets" | "load.tcp.retransmissions") => {
            "/proc/net/snmp"
        }
        (
            _,
            "tcp.listen-overflows"
            | "tcp.listen-drops"
            | "tcp.syn-retries"
            | "load.tcp.syn-retries",
        ) => "/proc/net/netstat",
        ("tcp", _) => "sock_diag, or /proc/net/tcp",
        (_, "target.throttled" | "target.throttled.time") => {
            "cpu.stat of the process's control groups"
        }
        (_, "target.group.cpu") => "cpuacct.usage or cpu.stat of the process's control group",
        ("target", name) if name.starts_with("target.group.memory") => {
            "memory.* of the process's control groups"
        }
        ("target", name) if name.contains("run-queue-wait") => "/proc/PID/task/*/schedstat",
        ("target", name) if name.contains("context-switches") => "/proc/PID/task/*/status",
        ("target", name) if name.contains("time-slices") || name == "target.threads.ran" => {
            "/proc/PID/task/*/schedstat"
        }
        ("target", name) if name.starts_with("target.arrival") => {
            "perf events: tcp:tcp_probe, sock:sock_recv_length, sched:sched_waking, sched:sched_switch"
        }
        ("target", name) if name.starts_with("target.storage") => "/proc/PID/io",
        ("census", name) if is_of_groups(name) => "/proc/PID/task/*/schedstat, comm",
        ("target", _) => "/proc/PID/stat",
        ("load", "load.run-queue-wait" | "load.time-slices") => "/proc/self/task/*/schedstat",
        ("load", _) => "/proc/self",
        ("watch", _) => "clock_gettime",
        _ => return None,
    })
}

/// Whether a figure of threads by name is one of those that every thread's own files tell.
fn is_of_groups(name: &str) -> bool {
    let figure = name.rsplit('.').next();
    matches!(figure, Some("cpu" | "run-queue-wait"))
}

/// As `of_system`, for a machine that is read over ssh.
pub(crate) fn over_ssh(name: &str) -> Option<String> {
    let origin = of_system(name)?;
    // The load generator is of this machine in any case.
    if ["load.", "watch."].iter().any(|own| name.starts_with(own)) {
        return Some(origin.to_owned());
    }
    let file = origin.rsplit(", or ").next().unwrap_or(origin);
    Some(format!("{file}, over ssh"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_metric::catalogue;

    #[test]
    fn what_is_read_over_ssh_says_so() {
        for (name, origin) in [
            ("cpu", "/proc/stat, over ssh"),
            ("tcp.80.established", "/proc/net/tcp, over ssh"),
            ("load.cpu", "/proc/self"),
        ] {
            assert_eq!(over_ssh(name).as_deref(), Some(origin));
        }
        assert_eq!(over_ssh("threads.limit"), None);
    }

    #[test]
    fn every_signal_of_the_operating_system_has_an_origin_and_no_other() {
        for signal in catalogue() {
            let name = signal.name.replace("PORT", "80");
            let first = name.split('.').next().unwrap_or_default();
            let systems = [
                "cpu", "machine", "pressure", "tcp", "target", "load", "watch",
            ];
            let expected = systems.contains(&first) || first == "census" && is_of_groups(&name);
            assert_eq!(of_system(&name).is_some(), expected, "{name}");
        }
    }
}
