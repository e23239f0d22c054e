//! Every signal: its name, unit and definition.
//!
//! Parts of names in capitals stand for what differs from target to target: `PORT` for a port
//! number (or `gate` for the port of a gateway in front of the target), `STAGE` for the name of a stage (`gate`, `backlog`, `connections`, `request-queue`, `threads`,
//! `pool.NAME`, `database`), `GROUP` for what a pool's threads are called, `OWN` for any name.

/// A signal and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// Its name, with `PORT`, `STAGE`, `GROUP` or `OWN` where names differ.
    pub name: &'static str,
    /// Its unit: `1` for a share of one, `s`, `By`, `/s`, or what is counted in braces, as in UCUM.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub definition: &'static str,
}

/// All signals in the order of documentation.
pub fn catalogue() -> &'static [Signal] {
    CATALOGUE
}

/// The entry of a signal by its full name, such as `tcp.8080.established` or `pool.db.wait`.
pub fn describe(name: &str) -> Option<&'static Signal> {
    CATALOGUE.iter().find(|signal| fits(signal.name, name))
}

fn fits(pattern: &str, name: &str) -> bool {
    for place in ["PORT", "STAGE", "GROUP", "OWN"] {
        if let Some((before, after)) = pattern.split_once(place) {
            let filled = name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_suffix(after));
            return filled.is_some_and(|filled| fills(place, filled));
        }
    }
    pattern == name
}

fn fills(place: &str, filled: &str) -> bool {
    match place {
        "PORT" => filled == "gate" || filled.parse::<u16>().is_ok(),
        "STAGE" => is_stage(filled),
        "GROUP" => is_plain(filled) && !filled.contains('.'),
        _ => is_plain(filled),
    }
}

/// Whether a name is that of a stage. Others are passed over: they could pass for other signals.
fn is_stage(name: &str) -> bool {
    const STAGES: [&str; 6] = [
        "gate",
        "backlog",
        "connections",
        "request-queue",
        "threads",
        "database",
    ];
    STAGES.contains(&name) || name.strip_prefix("pool.").is_some_and(is_plain)
}

fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(plain)
}

const fn signal(name: &'static str, unit: &'static str, definition: &'static str) -> Signal {
    Signal {
        name,
        unit,
        definition,
    }
}

#[rustfmt::skip] // One signal, one line: this is a table.
const CATALOGUE: &[Signal] = &[
    signal("cpu", "1", "Busy share of the CPUs that the target may use, of the time that was not stolen: (elapsed − idle − iowait − steal) / (elapsed − steal). Counts everything that runs on them."),
    signal("target.cpus", "{cpu}", "CPUs that the target may use and that are online."),
    signal("cpu.user", "1", "Share of the target's CPUs' time spent in user mode, niced included; the total includes stolen time. How user and system share the busy time is what the kernel's ticks have met."),
    signal("cpu.system", "1", "Share of the target's CPUs' time spent in the kernel, interrupts included."),
    signal("cpu.iowait", "1", "Share of the target's CPUs' time spent idle while a task waited for storage; a lower bound of such waiting."),
    signal("cpu.steal", "1", "Share of the target's CPUs' time in which the hypervisor ran something else: steal / total."),
    signal("machine.cpu.user", "1", "Share of all CPUs' time spent in user mode, niced included."),
    signal("machine.cpu.system", "1", "Share of all CPUs' time spent in the kernel, interrupts included."),
    signal("machine.cpu.iowait", "1", "Share of all CPUs' time spent idle while a task waited for storage."),
    signal("machine.cpu.steal", "1", "Share of all CPUs' time in which the hypervisor ran something else."),
    signal("machine.cpu.idle", "1", "Share of all CPUs' time spent idle."),
    signal("machine.cpu.frequency", "1", "Mean clock frequency of the CPUs as a share of the nominal one (base_frequency, else cpuinfo_max_freq); absent where the kernel does not tell, as in most virtual machines."),
    signal("machine.context-switches", "/s", "Context switches of all CPUs."),
    signal("target.cpu.user", "{cpu}", "CPU seconds per second that the target's processes spent in user mode, children that ended included."),
    signal("target.cpu.system", "{cpu}", "CPU seconds per second that the kernel spent for the target's processes, children that ended included."),
    signal("target.memory.rss", "By", "Resident memory of the target's processes; memory that they share counts in each."),
    signal("target.processes", "{process}", "The target's processes, those that descend from the ones named included."),
    signal("target.threads", "{thread}", "Threads of the target's processes."),
    signal("target.run-queue-wait", "1", "Seconds per second that the target's threads were ready to run and waited for a CPU, summed over the threads; above 500 threads estimated from those read in turn."),
    signal("target.run-queue-wait.coverage", "1", "Share of the target's threads that were read for the run-queue wait of this second."),
    signal("target.time-slices", "/s", "How often the target's threads were put on a CPU; above 500 threads estimated from those read in turn."),
    signal("target.context-switches.voluntary", "/s", "Context switches of the target's threads because they waited for something; above 64 threads estimated from those read in turn."),
    signal("target.context-switches.involuntary", "/s", "Context switches of the target's threads because the CPU was given to another; above 64 threads estimated from those read in turn."),
    signal("target.context-switches.coverage", "1", "Share of the target's threads that were read for the context switches of this second."),
    signal("target.arrival.to-read", "s", "Mean time from the arrival of a request's first data on its connection until a thread of the server had taken them, from the kernel's tracepoints; of the requests of the second's sample, which arrived in a slice of it."),
    signal("target.arrival.to-read.p50", "s", "Median of the same; in a result over all requests sampled in the window."),
    signal("target.arrival.to-read.p99", "s", "99th percentile of the same."),
    signal("target.arrival.to-read.max", "s", "Longest of the same."),
    signal("target.arrival.cpu-wait", "s", "Mean part of that time in which the thread that takes the data, or before that one was woken the one that woke it, and so on, was ready to run and waited for a CPU."),
    signal("target.arrival.sampled", "{request}", "Requests that these figures are of; in a result those of the whole window."),
    signal("target.arrival.unread", "{request}", "Requests of the sample that no thread had read a second after the slice; they are in none of these figures. In a result those of the whole window."),
    signal("target.blocked", "{thread}", "Threads of the server's own process that slept without being interruptible (state D), as a task does that waits for storage; one reading a second, above 500 threads one every so many seconds."),
    signal("target.storage.read", "By/s", "Bytes that the target's processes had fetched from storage, those already in memory left out."),
    signal("target.storage.written", "By/s", "Bytes that the target's processes gave to the kernel for storage."),
    signal("pressure.cpu.some", "1", "Share of the second in which at least one task of the machine was ready and waited for a CPU."),
    signal("pressure.io.some", "1", "Share of the second in which at least one task of the machine waited for storage."),
    signal("pressure.memory.some", "1", "Share of the second in which at least one task of the machine waited for memory."),
    signal("tcp.PORT.syn-recv", "{connection}", "Connections of the port whose handshake is not complete."),
    signal("tcp.PORT.established", "{connection}", "Open connections of the port, those included that wait to be accepted."),
    signal("tcp.PORT.fin-wait", "{connection}", "Connections of the port that the server closed and the client did not yet (FIN-WAIT-1 and FIN-WAIT-2)."),
    signal("tcp.PORT.close-wait", "{connection}", "Connections of the port that the client closed and the server did not yet."),
    signal("tcp.PORT.last-ack", "{connection}", "Connections of the port closed by the client, then by the server, whose end is not acknowledged."),
    signal("tcp.PORT.closing", "{connection}", "Connections of the port that both sides closed at the same time."),
    signal("tcp.PORT.time-wait", "{connection}", "Connections of the port that are closed and kept for late packets; the side that closed first keeps them."),
    signal("tcp.PORT.accept-queue", "{connection}", "Connections of the port that are complete and wait to be accepted; all its listeners together."),
    signal("tcp.PORT.accept-queue.limit", "{connection}", "Most connections that may wait to be accepted, as the listener asked for (at most somaxconn); the kernel lets one more wait. Absent where only /proc/net/tcp can be read."),
    signal("tcp.PORT.syn-sent", "{connection}", "Clients on this machine whose first packet to the port has not been answered; read only while the port's accept queue is full, when the kernel drops such packets."),
    signal("tcp.listen-overflows", "/s", "Connections that found an accept queue full (TcpExt ListenOverflows), all ports."),
    signal("tcp.listen-drops", "/s", "Connection attempts that a listener dropped for any reason (TcpExt ListenDrops), all ports."),
    signal("tcp.syn-retries", "/s", "SYN and SYN-ACK packets sent again (TcpExt TCPSynRetrans), all connections of the machine."),
    signal("tcp.segments", "/s", "Segments sent (Tcp OutSegs), those sent again left out, all connections of the machine."),
    signal("tcp.retransmissions", "/s", "Segments sent again (Tcp RetransSegs), all connections of the machine."),
    signal("tcp.resets", "/s", "Segments sent with the reset flag (Tcp OutRsts), all connections of the machine."),
    signal("STAGE.limit", "{place}", "Most that may be in the stage at once."),
    signal("STAGE.occupancy", "{place}", "How many are in the stage: the average over the second where the server tells the time integral, else one reading."),
    signal("STAGE.waiting", "{place}", "How many wait to get into the stage: the average over the second where the server tells the time integral, else one reading."),
    signal("STAGE.wait", "s", "Mean time that those who got into the stage in this second had waited for it, 0 for those who did not have to; absent when nobody got in."),
    signal("STAGE.entries", "/s", "How many got into the stage, whether they waited or not."),
    signal("STAGE.refused", "/s", "How many the stage turned away because it was full."),
    signal("STAGE.idle", "{place}", "How many places of the stage are open and unused: pooled connections that nobody holds, threads without a request, kept connections on which none is under way."),
    signal("gc.time", "1", "Seconds per second in which the garbage collector ran; for HotSpot those in which it had stopped the application."),
    signal("gc.count", "/s", "Garbage collections."),
    signal("safepoints.time", "1", "Seconds per second in which all threads of the virtual machine were stopped, for collections and for anything else."),
    signal("safepoints.count", "/s", "How often all threads of the virtual machine were stopped."),
    signal("locks.contended", "/s", "How often a thread found a monitor (`synchronized`) taken and was put to sleep; locks of java.util.concurrent are not counted."),
    signal("jvm.threads", "{thread}", "Platform threads of the virtual machine, daemons included."),
    signal("jvm.threads.daemon", "{thread}", "Daemons among the threads of the virtual machine."),
    signal("event-loop.lag", "s", "How late the event loop of a Node process ran what was due."),
    signal("census.GROUP", "{thread}", "Threads of the target with this name, the number at its end left out; the kernel keeps 15 characters of a name. Told for the 16 largest groups of two and more; above 500 threads every so many seconds."),
    signal("census.GROUP.running", "{thread}", "Those of them that were running, ready to run, or waiting for storage."),
    signal("census.GROUP.cpu", "{cpu}", "CPU seconds per second of the target's threads with this name; told for the 8 groups that were first to use a hundredth of the CPU time and waiting of all."),
    signal("census.GROUP.run-queue-wait", "1", "Seconds per second that these threads were ready to run and waited for a CPU."),
    signal("app.OWN", "1", "A figure of the application under the name that the study gives it, in the unit that the server has it in."),
    signal("STAGE.total", "{place}", "How many places of the stage there are now, in use or idle: processes, threads, connections of a pool."),
    signal("STAGE.lifetime", "{connection}", "Connections after which a place of the stage ends and has to be started anew; absent where places stay."),
    signal("STAGE.spawned", "/s", "Places that are started per second while eight or more are started at once, from httpd's error log; absent in seconds in which it told nothing."),
    signal("load.tcp.syn-retries", "/s", "SYN packets that the load tool's side sent again, where the target is on another machine or in another network namespace."),
    signal("load.tcp.retransmissions", "/s", "Segments that the load tool's side sent again, the same."),
    signal("load.cpu", "{cpu}", "CPU seconds per second of the load tool, watching included: Weir's own process, and JMeter when that sends the load."),
    signal("load.memory.rss", "By", "Resident memory of the load tool: Weir's own process, and JMeter when that sends the load."),
    signal("load.run-queue-wait", "1", "Seconds per second that the threads that send the load were ready to run and waited for a CPU, summed over them; absent when JMeter sends the load."),
    signal("load.time-slices", "/s", "How often these threads were put on a CPU."),
    signal("load.sockets", "{socket}", "Sockets that Weir's own process has open, of any kind; absent when JMeter sends the load."),
    signal("watch.cpu", "{cpu}", "CPU seconds per second of the threads that watch; the cost of all these signals, but for what the kernel spends on making records of tracepoints."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_short_dotted_and_lower_case() {
        let names: BTreeSet<&str> = CATALOGUE.iter().map(|signal| signal.name).collect();
        assert_eq!(names.len(), CATALOGUE.len());
        for signal in CATALOGUE {
            let plain = signal
                .name
                .replace("PORT", "80")
                .replace("STAGE", "threads")
                .replace("GROUP", "http-nio")
                .replace("OWN", "orders");
            let allowed =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
            assert!(plain.chars().all(allowed), "{}", signal.name);
            assert!(signal.definition.ends_with('.'), "{}", signal.name);
            assert_eq!(describe(&plain), Some(signal));
        }
    }

    #[test]
    fn full_names_find_their_entry() {
        for (name, entry) in [
            ("tcp.8080.accept-queue", Some("tcp.PORT.accept-queue")),
            (
                "tcp.8080.accept-queue.limit",
                Some("tcp.PORT.accept-queue.limit"),
            ),
            ("pool.db.wait", Some("STAGE.wait")),
            ("pool.orders.limit.limit", Some("STAGE.limit")),
            ("request-queue.occupancy", Some("STAGE.occupancy")),
            ("target.cpu.user", Some("target.cpu.user")),
            ("tcp.70000.established", None),
            ("tcp.x.established", None),
            ("pool.a b.wait", None),
            ("census.http-nio", Some("census.GROUP")),
            ("census.http-nio.running", Some("census.GROUP.running")),
            ("app.orders.open", Some("app.OWN")),
            ("app.", None),
            ("disks.wait", None),
            ("STAGE.wait", None),
            ("", None),
        ] {
            assert_eq!(describe(name).map(|signal| signal.name), entry, "{name}");
        }
    }
}
