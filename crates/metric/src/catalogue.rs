//! Every signal: its name, unit, weight, direction and definition.
//!
//! Parts of names in capitals stand for what differs from target to target: `PORT` for a port
//! number (or `gate` for the port of a gateway in front of the target), `STAGE` for the name of a
//! stage (`gate`, `gate.CLASS`, `backlog`, `connections`, `request-queue`, `threads`, `pool.NAME`,
//! `database`), `GROUP` for what a pool's threads are called, `OWN` for any name.

use crate::names;
use crate::signal::Better::{self, Less, More, Neither};
use crate::signal::{Signal, Weight};
use crate::signal_unit::SignalUnit::{
    self, Bytes, BytesPerSecond, Each, Milliseconds, Number, PerSecond, Seconds, Share,
};

/// What the watch reads, in the order of documentation.
pub fn catalogue() -> &'static [Signal] {
    WATCHED
}

/// What the load generator adds to the seconds of a timeline.
pub fn load_figures() -> &'static [Signal] {
    OF_THE_LOAD
}

/// What a trial's record has beside the means of signals.
pub fn record_figures() -> &'static [Signal] {
    RECORDED
}

/// The entry of a signal of the watch by its full name, such as `tcp.8080.established` or
/// `pool.db.wait`.
pub fn describe(name: &str) -> Option<&'static Signal> {
    WATCHED.iter().find(|signal| fits(signal.name, name))
}

/// What is known of a figure by the name that it has in a record, a timeline or a study's column: a
/// signal of the watch, one of the load, or a figure of the record, each also of one class
/// (`throughput_per_s(light)`) and of the port that a study does not know (`tcp.PORT.established`).
pub fn figure(name: &str) -> Option<&'static Signal> {
    let base = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        Some((base, _)) => base,
        None => name,
    };
    let port = base.strip_prefix("tcp.PORT.");
    let port = port.map(|quantity| format!("tcp.0.{quantity}"));
    let base = match base {
        "response_time_ms.p999" => "response_time_ms.p99.9",
        _ => port.as_deref().unwrap_or(base),
    };
    let own = OF_THE_LOAD.iter().chain(RECORDED);
    let mut exact = own.filter(|signal| signal.name == base);
    exact.next().or_else(|| describe(base))
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

/// Whether a name is that of a stage, or of the part of a gateway that a class of requests passes.
/// Others are passed over: they could pass for other signals.
fn is_stage(name: &str) -> bool {
    const STAGES: [&str; 6] = [
        "gate",
        "backlog",
        "connections",
        "request-queue",
        "threads",
        "database",
    ];
    let is_part = |whole| name.strip_prefix(whole).is_some_and(is_plain);
    STAGES.contains(&name) || is_part("pool.") || is_part("gate.")
}

fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(plain)
}

const fn signal(
    name: &'static str,
    unit: SignalUnit,
    better: Better,
    definition: &'static str,
) -> Signal {
    Signal {
        name,
        unit,
        weight: Weight::Time,
        better,
        definition,
    }
}

impl Signal {
    const fn weighted(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }
}

#[rustfmt::skip] // One signal, one line: this is a table.
const WATCHED: &[Signal] = &[
    signal("cpu", Share, Less, "Busy share of the CPUs that the target may use, of the time that was not stolen: (elapsed − idle − iowait − steal) / (elapsed − steal). Counts everything that runs on them. Under a quota of the control group: what its processes use over what they could. That is the quota, or what others left of the CPUs, if less."),
    signal("cpu.fullest", Share, Less, "Busy share of the one of these CPUs that is busiest in the second."),
    signal("target.cpus", Each("cpu"), Neither, "CPUs that the target may use and that are online; at most the quota of its control group."),
    signal("cpu.user", Share, Less, "Share of the target's CPUs' time spent in user mode, niced included; the total includes stolen time. How user and system share the busy time is what the kernel's ticks have met."),
    signal("cpu.system", Share, Less, "Share of the target's CPUs' time spent in the kernel, interrupts included."),
    signal("cpu.iowait", Share, Less, "Share of the target's CPUs' time spent idle while a task waited for storage; a lower bound of such waiting."),
    signal("cpu.steal", Share, Less, "Share of the target's CPUs' time in which the hypervisor ran something else: steal / total."),
    signal("machine.cpu.user", Share, Less, "Share of all CPUs' time spent in user mode, niced included."),
    signal("machine.cpu.system", Share, Less, "Share of all CPUs' time spent in the kernel, interrupts included."),
    signal("machine.cpu.iowait", Share, Less, "Share of all CPUs' time spent idle while a task waited for storage."),
    signal("machine.cpu.steal", Share, Less, "Share of all CPUs' time in which the hypervisor ran something else."),
    signal("machine.cpu.idle", Share, Neither, "Share of all CPUs' time spent idle."),
    signal("machine.cpu.frequency", Share, More, "Mean clock frequency of the CPUs as a share of the nominal one (base_frequency, else cpuinfo_max_freq). Absent where the kernel does not tell, as in most virtual machines."),
    signal("machine.swap.in", BytesPerSecond, Less, "Bytes that the machine fetched from its swap (pswpin)."),
    signal("machine.swap.out", BytesPerSecond, Less, "Bytes that the machine wrote to its swap (pswpout)."),
    signal("machine.page-faults.major", PerSecond, Less, "Page faults of all processes that had to fetch a page from storage."),
    signal("machine.refaults", PerSecond, Less, "Pages that were fetched again soon after they had been taken away for want of memory (workingset_refault), files' pages and others."),
    signal("machine.context-switches", PerSecond, Less, "Context switches of all CPUs."),
    signal("target.cpu.user", Each("cpu"), Less, "CPU seconds per second that the target's processes spent in user mode, children that ended included."),
    signal("target.cpu.system", Each("cpu"), Less, "CPU seconds per second that the kernel spent for the target's processes, children that ended included."),
    signal("target.throttled", Share, Less, "Share of its periods in which the control group of the server was stopped because its CPU quota was used up (nr_throttled of cpu.stat). Of the groups around it the one that was stopped most; 0 without a quota."),
    signal("target.throttled.time", Share, Less, "Share of the time in which that group stood still because its quota was used up: a mean over the server's CPUs. It is throttled_usec of cpu.stat, in version 1 throttled_time: the kernel counts a CPU on which the group has work. 0 without a quota."),
    signal("target.group.cpu", Each("cpu"), Less, "CPUs that all processes of the server's control group have used, those of other programs included; only under a CPU quota, which they share."),
    signal("target.group.memory", Bytes, Less, "Memory of the server's control group, files that are kept in memory included. Of the groups around it, the one that has used most of what it may. Only with a limit."),
    signal("target.group.memory.limit", Bytes, Neither, "Memory that the control group may have at most (`memory.max`, `memory.limit_in_bytes`)."),
    signal("target.group.memory.hits", PerSecond, Less, "How often the control group came to its limit and had to free memory before it got more (`max` of `memory.events`, `memory.failcnt`)."),
    signal("target.memory.rss", Bytes, Less, "Resident memory of the target's processes; memory that they share counts in each."),
    signal("target.page-faults.major", PerSecond, Less, "Page faults of the target's processes that had to fetch a page from storage, children that ended included."),
    signal("target.processes", Each("process"), Neither, "The target's processes, those that descend from the ones named included."),
    signal("target.threads", Each("thread"), Neither, "Threads of the target's processes."),
    signal("target.threads.ran", Each("thread"), Neither, "Threads of the target that were put on a CPU in the second; one that runs every other second counts half. Above 500 threads estimated from those read in turn."),
    signal("target.busiest-thread", Each("cpu"), Less, "CPU seconds per second of the target's thread that uses most: at 1 it has a CPU of its own. Above 500 threads of those that are read in turn."),
    signal("target.run-queue-wait", Each("thread"), Less, "Seconds per second that the target's threads were ready to run and waited for a CPU, summed over the threads. Above 500 threads estimated from those read in turn."),
    signal("target.run-queue-wait.coverage", Share, Neither, "Share of the target's threads that were read for the run-queue wait of this second."),
    signal("target.time-slices", PerSecond, Neither, "How often the target's threads were put on a CPU; above 500 threads estimated from those read in turn."),
    signal("target.context-switches.voluntary", PerSecond, Less, "Context switches of the target's threads because they waited for something; above 64 threads estimated from those read in turn."),
    signal("target.context-switches.involuntary", PerSecond, Less, "Context switches of the target's threads because the CPU was given to another; above 64 threads estimated from those read in turn."),
    signal("target.context-switches.coverage", Share, Neither, "Share of the target's threads that were read for the context switches of this second."),
    signal("target.arrival.to-read", Seconds, Less, "Mean time from the arrival of a request's first data until a thread of the server had taken them. It is read from the kernel's tracepoints. It is of the second's sample of requests, which arrived in a slice of it.").weighted(Weight::By(names::ARRIVAL_SAMPLED)),
    signal("target.arrival.to-read.p50", Seconds, Less, "Median of the same; in a result over all requests sampled in the window."),
    signal("target.arrival.to-read.p99", Seconds, Less, "99th percentile of the same."),
    signal("target.arrival.to-read.max", Seconds, Less, "Longest of the same."),
    signal("target.arrival.cpu-wait", Seconds, Less, "Mean part of that time in which the thread that takes the data was ready to run and waited for a CPU. Before it was woken, the thread that woke it counts, and so on.").weighted(Weight::By(names::ARRIVAL_SAMPLED)),
    signal("target.arrival.sampled", Each("request"), Neither, "Requests that these figures are of; in a result those of the whole window."),
    signal("target.arrival.unread", Each("request"), Less, "Requests of the sample that no thread had read a second after the slice; they are in none of these figures. In a result those of the whole window."),
    signal("target.blocked", Each("thread"), Less, "Threads of the server's own process that slept without being interruptible (state D), as a task does that waits for storage. One reading a second, above 500 threads one every so many seconds."),
    signal("target.storage.read", BytesPerSecond, Neither, "Bytes that the target's processes had fetched from storage, those already in memory left out."),
    signal("target.storage.written", BytesPerSecond, Neither, "Bytes that the target's processes gave to the kernel for storage."),
    signal("pressure.cpu.some", Share, Less, "Share of the second in which at least one task of the machine was ready and waited for a CPU."),
    signal("pressure.io.some", Share, Less, "Share of the second in which at least one task of the machine waited for storage."),
    signal("pressure.memory.some", Share, Less, "Share of the second in which at least one task of the machine waited for memory."),
    signal("tcp.PORT.syn-recv", Each("connection"), Neither, "Connections of the port whose handshake is not complete."),
    signal("tcp.PORT.established", Each("connection"), Neither, "Open connections of the port, those included that wait to be accepted."),
    signal("tcp.PORT.fin-wait", Each("connection"), Neither, "Connections of the port that the server closed and the client did not yet (FIN-WAIT-1 and FIN-WAIT-2)."),
    signal("tcp.PORT.close-wait", Each("connection"), Neither, "Connections of the port that the client closed and the server did not yet."),
    signal("tcp.PORT.last-ack", Each("connection"), Neither, "Connections of the port closed by the client, then by the server, whose end is not acknowledged."),
    signal("tcp.PORT.closing", Each("connection"), Neither, "Connections of the port that both sides closed at the same time."),
    signal("tcp.PORT.time-wait", Each("connection"), Neither, "Connections of the port that are closed and kept for late packets; the side that closed first keeps them."),
    signal("tcp.PORT.accept-queue", Each("connection"), Less, "Connections of the port that are complete and wait to be accepted; all its listeners together."),
    signal("tcp.PORT.accept-queue.limit", Each("connection"), Neither, "Most connections that may wait to be accepted, as the listener asked for (at most somaxconn); the kernel lets one more wait. Absent where only /proc/net/tcp can be read."),
    signal("tcp.PORT.syn-sent", Each("connection"), Less, "Clients on this machine whose first packet to the port has not been answered. Read only while the port's accept queue is full, when the kernel drops such packets."),
    signal("tcp.listen-overflows", PerSecond, Less, "Connections that found an accept queue full (TcpExt ListenOverflows), all ports."),
    signal("tcp.listen-drops", PerSecond, Less, "Connection attempts that a listener dropped for any reason (TcpExt ListenDrops), all ports."),
    signal("tcp.syn-retries", PerSecond, Less, "SYN and SYN-ACK packets sent again (TcpExt TCPSynRetrans), all connections of the machine."),
    signal("tcp.segments", PerSecond, Neither, "Segments sent (Tcp OutSegs), those sent again left out, all connections of the machine."),
    signal("tcp.retransmissions", PerSecond, Less, "Segments sent again (Tcp RetransSegs), all connections of the machine."),
    signal("tcp.resets", PerSecond, Less, "Segments sent with the reset flag (Tcp OutRsts), all connections of the machine."),
    signal("STAGE.limit", Each("place"), Neither, "Most that may be in the stage at once."),
    signal("STAGE.rate-limit", PerSecond, Neither, "Most that may get into the stage per second, where that is limited."),
    signal("STAGE.occupancy", Each("place"), Neither, "How many are in the stage: the average over the second where the server tells the time integral, else one reading."),
    signal("STAGE.waiting", Each("place"), Less, "How many wait to get into the stage: the average over the second where the server tells the time integral, else one reading."),
    signal("STAGE.wait", Seconds, Less, "Mean time that those who got into the stage in this second had waited for it, 0 for those who did not have to. Absent when nobody got in.").weighted(Weight::OfStage("entries")),
    signal("STAGE.entries", PerSecond, More, "How many got into the stage, whether they waited or not."),
    signal("STAGE.refused", PerSecond, Less, "How many the stage rejected because it was full."),
    signal("STAGE.idle", Each("place"), Neither, "How many places of the stage are open and unused. They are pooled connections that nobody holds, threads without a request, and kept connections on which none is under way."),
    signal("STAGE.full", Share, Less, "Share of the looks at which somebody waited for a place of the stage, so that all were taken; of pools."),
    signal("gc.time", Share, Less, "Seconds per second in which the garbage collector ran; for HotSpot those in which it had stopped the application."),
    signal("gc.count", PerSecond, Less, "Garbage collections."),
    signal("safepoints.time", Share, Less, "Seconds per second in which all threads of the virtual machine were stopped, for collections and for anything else."),
    signal("safepoints.count", PerSecond, Less, "How often all threads of the virtual machine were stopped."),
    signal("locks.contended", PerSecond, Less, "How often a thread found a monitor (`synchronized`) taken and was put to sleep; locks of java.util.concurrent are not counted."),
    signal("jvm.processors", Each("cpu"), Neither, "Processors that the virtual machine reckons with when it chooses a collector and sizes its pools (`availableProcessors`)."),
    signal("jvm.threads", Each("thread"), Neither, "Platform threads of the virtual machine, daemons included."),
    signal("jvm.threads.daemon", Each("thread"), Neither, "Daemons among the threads of the virtual machine."),
    signal("request-threads.seen", Each("thread"), Neither, "Threads of the virtual machine that serve a request: a servlet or a filter stands in their stack. From thread dumps, which take a thousandth of its time at most, or five thousandths where the next would not come within ten seconds. Virtual threads are in them from JDK 25 on. In seconds without a dump the signals of this kind are absent."),
    signal("request-threads.running", Each("thread"), Neither, "Those of them that run, or are ready to."),
    signal("request-threads.monitor", Each("thread"), Less, "Those of them that wait for a monitor (`synchronized`)."),
    signal("request-threads.lock", Each("thread"), Less, "Those of them that wait for a lock of java.util.concurrent."),
    signal("request-threads.asleep", Each("thread"), Less, "Those of them that sleep (`Thread.sleep`)."),
    signal("request-threads.answer", Each("thread"), Less, "Those of them that wait for an answer of a database or another service: for bytes of a socket, or in an asynchronous client."),
    signal("request-threads.lookup", Each("thread"), Less, "Those of them that wait for a host's name or address to be looked up."),
    signal("request-threads.random", Each("thread"), Less, "Those of them that wait for random numbers of the system."),
    signal("request-threads.pool", Each("thread"), Less, "Those of them that wait for a connection of a pool."),
    signal("request-threads.hikari-pool", Each("thread"), Less, "Those of them that wait for a connection of HikariCP. Absent where it has no pool or several."),
    signal("request-threads.liberty-pool", Each("thread"), Less, "Those of them that wait for a connection of Liberty's own pools."),
    signal("request-threads.parked", Each("thread"), Less, "Those of them that wait for something else: a queue, a semaphore, another thread."),
    signal("event-loop.lag", Seconds, Less, "How late the event loop of a Node process ran what was due."),
    signal("census.GROUP", Each("thread"), Neither, "Threads of the target with this name, the number at its end left out; the kernel keeps 15 characters of a name. Told for the 16 largest groups of two and more; above 500 threads every so many seconds."),
    signal("census.GROUP.running", Each("thread"), Neither, "Those of them that were running, ready to run, or waiting for storage."),
    signal("census.GROUP.cpu", Each("cpu"), Less, "CPU seconds per second of the target's threads with this name. Told for the 8 groups that were first to use a hundredth of the CPU time and waiting of all."),
    signal("census.GROUP.run-queue-wait", Each("thread"), Less, "Seconds per second that these threads were ready to run and waited for a CPU."),
    signal("app.OWN.mean", Seconds, Less, "A mean time of the application under the name that the study gives it, in seconds unless the study says another unit."),
    signal("app.OWN", Number, Neither, "A figure of the application under the name that the study gives it, in the unit that the study says (`… in s`), else a plain number."),
    signal("STAGE.total", Each("place"), Neither, "How many places of the stage there are now, in use or idle: processes, threads, connections of a pool."),
    signal("STAGE.lifetime", Each("connection"), Neither, "Connections after which a place of the stage ends and has to be started anew; absent where places stay."),
    signal("STAGE.spawned", PerSecond, Neither, "Places that are started per second while eight or more are started at once, from httpd's error log. Absent in seconds in which it told nothing."),
    signal("load.tcp.syn-retries", PerSecond, Less, "SYN packets that the load generator's side sent again, where the target is on another machine or in another network namespace."),
    signal("load.tcp.retransmissions", PerSecond, Less, "Segments that the load generator's side sent again, the same."),
    signal("load.cpu", Each("cpu"), Less, "CPU seconds per second of the load generator, watching included: Weir's own process, and JMeter when that sends the load."),
    signal("load.memory.rss", Bytes, Less, "Resident memory of the load generator: Weir's own process, and JMeter when that sends the load."),
    signal("load.run-queue-wait", Each("thread"), Less, "Seconds per second that the threads that send the load were ready to run and waited for a CPU, summed over them. Absent when JMeter sends the load."),
    signal("load.time-slices", PerSecond, Neither, "How often these threads were put on a CPU."),
    signal("load.sockets", Each("socket"), Neither, "Sockets that Weir's own process has open, of any kind; absent when JMeter sends the load."),
    signal("watch.cpu", Each("cpu"), Less, "CPU seconds per second of the threads that watch. It is the cost of all these signals, but for what the kernel spends on making records of tracepoints."),
];

#[rustfmt::skip]
const OF_THE_LOAD: &[Signal] = &[
    signal(names::THROUGHPUT, PerSecond, More, "Samples answered per second, failed ones included."),
    signal(names::THROUGHPUT_STEADY, PerSecond, More, "Loads of a fixed number of requests: mean throughput of the whole seconds behind the slow beginning that MSER-5 cuts off. One figure of the trial; it stands in no timeline."),
    signal(names::ERRORS, PerSecond, Less, "Samples that failed per second."),
    signal(names::REDIRECTS, PerSecond, Neither, "Samples per second that were answered with a redirect or by way of one; of a real JMeter only those that it did not follow."),
    signal(names::RESENDS, PerSecond, Neither, "Requests per second that Weir's own engine sent on a second connection, because the one that was kept took no byte of them."),
    signal(names::CONNECTED, PerSecond, Neither, "Connections per second that Weir's own engine made."),
    signal(names::CONNECTING, Each("user"), Less, "Users that had a connection made, on average: the seconds per second that connecting took, with looking up names and the handshakes of TLS. Of a real JMeter and of result files by their column Connect, in whole milliseconds a connection."),
    signal(names::USERS, Each("user"), Neither, "Users running at the end of the second."),
    signal(names::IN_FLIGHT, Each("request"), Neither, "Samples in flight at the end of the second."),
    signal(names::CONNECTIONS, Each("connection"), Neither, "Connections of the users that are open at the end of the second."),
    signal(names::RESPONSE_MEAN, Seconds, Less, "Mean response time."),
    signal(names::RESPONSE_P50, Seconds, Less, "Median response time."),
    signal(names::RESPONSE_P99, Seconds, Less, "99th percentile of the response time."),
    signal(names::SERVICE_MEAN, Seconds, Less, "Open workloads: mean time from the actual start of a sample to its end; its response time counts from when it was due.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::SERVICE_P99, Seconds, Less, "99th percentile of the same.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::START_DELAY_P50, Seconds, Less, "Open workloads: median time from when a sample was due to its actual start.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::START_DELAY_P99, Seconds, Less, "99th percentile of the same.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::LATENESS_P50, Seconds, Less, "Median lateness: how long after its time a user woke up.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::LATENESS_P99, Seconds, Less, "99th percentile of the lateness.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::MISSED, Share, Less, "Share of the arrivals of an open workload that were due and not answered, beyond what chance makes of a load that keeps up. One figure of the trial; it stands in no timeline."),
    signal(names::LATE_SHARE, Share, Less, "Share of the wake-ups that were more than 10 ms late.").weighted(Weight::By(names::THROUGHPUT)),
    signal(names::RECEIVED, BytesPerSecond, Neither, "Bytes that the load received, heads and bodies as they were on the wire. One figure of a run; it stands in no timeline."),
    signal(names::SENT, BytesPerSecond, Neither, "Bytes that the load sent in samples that were answered. One figure of a run; it stands in no timeline."),
    signal(names::LOAD_CPUS, Each("cpu"), Neither, "CPUs that the load generator may use. One figure of the trial; it stands in no timeline."),
    signal(names::LOAD_SHARED_CPUS, Each("cpu"), Neither, "CPUs of the target that the load generator may use, too; absent where it has CPUs of its own. One figure of the trial; it stands in no timeline."),
    signal(names::LOAD_GC_PAUSE, Share, Less, "Share of the second in which a JMeter that sends the load stood still for its garbage collector. Its pauses count in the second in which they ended."),
    signal(names::LOAD_GC_COUNT, Each("pause"), Less, "Pauses of that garbage collector that ended in the second."),
];

#[rustfmt::skip]
const RECORDED: &[Signal] = &[
    signal("throughput_per_s", PerSecond, More, "Samples answered per second of the window, failed ones included."),
    signal("errors.share", Share, Less, "Share of the samples that failed."),
    signal("response_time_ms.mean", Milliseconds, Less, "Mean response time."),
    signal("response_time_ms.p50", Milliseconds, Less, "Median response time."),
    signal("response_time_ms.p90", Milliseconds, Less, "90th percentile of the response time."),
    signal("response_time_ms.p95", Milliseconds, Less, "95th percentile of the response time."),
    signal("response_time_ms.p99", Milliseconds, Less, "99th percentile of the response time."),
    signal("response_time_ms.p99.9", Milliseconds, Less, "99.9th percentile of the response time; its interval stands under `response_time_ms.p999`."),
    signal("response_time_ms.max", Milliseconds, Less, "Longest response time."),
    signal("gc.pause", Seconds, Less, "Mean time of a garbage collection: `gc.time` / `gc.count` of the whole window."),
    signal("users.ceiling", PerSecond, Neither, "Most requests per second that so many users can ask for at the response time of the lightest trial."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_short_dotted_and_lower_case() {
        let names: BTreeSet<&str> = WATCHED.iter().map(|signal| signal.name).collect();
        assert_eq!(names.len(), WATCHED.len());
        for signal in WATCHED {
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
            assert_eq!(figure(&plain), Some(signal));
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
