//! Which column of which monitor is which signal.
//!
//! Memory is not among them: what counts as used differs between these tools and between their
//! versions.

use super::cpu::CpuTime;

/// What a column means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    /// A share of CPU time.
    Cpu(CpuTime),
    /// A signal, of which the column's value is this many times less.
    Signal(&'static str, f64),
    /// A signal, added up over the row's items (network interfaces).
    Sum(&'static str, f64),
}

use Meaning::{Cpu, Signal, Sum};

const KIB: f64 = 1024.0;

/// Tasks that run or wait for a CPU, one reading.
const RUN_QUEUE: &str = "machine.run-queue";
const BLOCKED: &str = "machine.blocked";
const LOAD_1M: &str = "machine.load-1m";
const CONTEXT_SWITCHES: &str = "machine.context-switches";
const RECEIVED: &str = "machine.network.received";
const SENT: &str = "machine.network.sent";

/// Signals that are one reading at the end of the interval, not a mean over it.
pub(crate) fn is_reading(signal: &str) -> bool {
    matches!(
        signal,
        RUN_QUEUE | BLOCKED | LOAD_1M | "tcp.time-wait" | "tcp.sockets"
    )
}

/// Columns of sar and sadf.
pub(super) fn of_sar(column: &str) -> Option<Meaning> {
    Some(match column {
        "%user" | "%usr" | "%nice" | "%guest" | "%gnice" => Cpu(CpuTime::User),
        "%system" | "%sys" | "%irq" | "%soft" => Cpu(CpuTime::System),
        "%iowait" => Cpu(CpuTime::Iowait),
        "%steal" => Cpu(CpuTime::Steal),
        "%idle" => Cpu(CpuTime::Idle),
        "runq-sz" => Signal(RUN_QUEUE, 1.0),
        "blocked" => Signal(BLOCKED, 1.0),
        "ldavg-1" => Signal(LOAD_1M, 1.0),
        "cswch/s" => Signal(CONTEXT_SWITCHES, 1.0),
        "active/s" => Signal("tcp.opened", 1.0),
        "passive/s" => Signal("tcp.accepted", 1.0),
        "retrans/s" => Signal("tcp.retransmissions", 1.0),
        "orsts/s" => Signal("tcp.resets", 1.0),
        "tcpsck" => Signal("tcp.sockets", 1.0),
        "tcp-tw" => Signal("tcp.time-wait", 1.0),
        "rxkB/s" => Sum(RECEIVED, KIB),
        "txkB/s" => Sum(SENT, KIB),
        _ => return None,
    })
}

/// Columns of nmon, by section.
pub(super) fn of_nmon(section: &str, column: &str) -> Option<Meaning> {
    Some(match (section, column) {
        ("CPU_ALL", "User%") => Cpu(CpuTime::User),
        ("CPU_ALL", "Sys%") => Cpu(CpuTime::System),
        ("CPU_ALL", "Wait%") => Cpu(CpuTime::Iowait),
        ("CPU_ALL", "Steal%") => Cpu(CpuTime::Steal),
        ("CPU_ALL", "Idle%") => Cpu(CpuTime::Idle),
        ("PROC", "Runnable") => Signal(RUN_QUEUE, 1.0),
        ("PROC", "Blocked") => Signal(BLOCKED, 1.0),
        ("PROC", "pswitch") => Signal(CONTEXT_SWITCHES, 1.0),
        ("NET", _) if column.starts_with("lo-") => return None,
        ("NET", _) if column.ends_with("-read-KB/s") => Sum(RECEIVED, KIB),
        ("NET", _) if column.ends_with("-write-KB/s") => Sum(SENT, KIB),
        _ => return None,
    })
}

/// Columns of dstat, by group.
pub(super) fn of_dstat(group: &str, column: &str) -> Option<Meaning> {
    Some(match (group, column) {
        ("total cpu usage" | "total usage", column) => Cpu(match column {
            "usr" => CpuTime::User,
            "sys" | "hiq" | "siq" => CpuTime::System,
            "wai" => CpuTime::Iowait,
            "stl" => CpuTime::Steal,
            "idl" => CpuTime::Idle,
            _ => return None,
        }),
        ("procs", "run") => Signal(RUN_QUEUE, 1.0),
        ("procs", "blk") => Signal(BLOCKED, 1.0),
        ("load avg", "1m") => Signal(LOAD_1M, 1.0),
        ("system", "csw") => Signal(CONTEXT_SWITCHES, 1.0),
        ("net/total", "recv") => Signal(RECEIVED, 1.0),
        ("net/total", "send") => Signal(SENT, 1.0),
        ("tcp sockets", "tim") => Signal("tcp.time-wait", 1.0),
        _ => return None,
    })
}
