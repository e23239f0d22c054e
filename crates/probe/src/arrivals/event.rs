//! The tracepoints that are read, and their records in the words of requests and threads.

use super::error::TraceError;
use super::format::{EventFormat, Field};
use super::tracefs::Tracefs;

/// The bits of a record's flags that say that it was written by an interrupt, or by the work that
/// one left (packets are taken in there), whatever thread was running: `TRACE_FLAG_HARDIRQ`,
/// `TRACE_FLAG_SOFTIRQ`, `TRACE_FLAG_NMI`.
const FLAGS_INTERRUPT: u64 = 0x08 | 0x10 | 0x40;
/// The states of a thread that sleeps, as `sched_switch` tells them; any other may go on running.
const STATES_ASLEEP: u64 = 0xff;

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Data came in on a connection of the server's port.
    Arrival {
        /// Address of the connection in the kernel.
        socket: u64,
        /// What tells connections apart that had the same address one after the other.
        cookie: u64,
        /// How far the server has sent on it.
        sent: u64,
    },
    /// A thread took data from a connection.
    Read {
        /// Address of the connection in the kernel.
        socket: u64,
        /// The process of the thread.
        process: u32,
        /// The thread.
        thread: u32,
    },
    /// A thread is made ready to run.
    Waking {
        /// That thread.
        thread: u32,
        /// The thread that does it; `None`: an interrupt.
        by: Option<u32>,
    },
    /// A CPU goes from one thread to another.
    Switch {
        /// The one that ran.
        from: u32,
        /// Whether it could have gone on.
        is_ready: bool,
        /// The one that runs now.
        to: u32,
    },
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// When, in nanoseconds of the monotonic clock.
    pub(crate) at_ns: u64,
    /// What.
    pub(crate) what: What,
}

/// A tracepoint to be read: its number and which of its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Its name, for messages.
    pub(crate) event: String,
    /// Its number.
    pub(crate) id: u16,
    /// Which of its records the kernel writes, in its language of filters; without one, all.
    pub(crate) filter: Option<String>,
}

/// Where the fields stand that are read.
#[derive(Debug)]
pub(crate) struct Decoder {
    arrival: (u16, [Field; 3]),
    read: (u16, Field),
    waking: (u16, [Field; 3]),
    switch: (u16, [Field; 3]),
}

impl Decoder {
    /// Finds the tracepoints: that of arrivals first, which is read all the time, then those read
    /// during a sample.
    pub(crate) fn find(
        tracefs: &Tracefs,
        ports: &[u16],
    ) -> Result<(Self, Wanted, Vec<Wanted>), TraceError> {
        let arrival = tracefs.event("tcp", "tcp_probe")?;
        let read = tracefs.event("sock", "sock_recv_length")?;
        let waking = tracefs.event("sched", "sched_waking")?;
        let switch = tracefs.event("sched", "sched_switch")?;
        let decoder = Self {
            arrival: (
                arrival.id(),
                [
                    arrival.field("skaddr")?,
                    arrival.field("sock_cookie")?,
                    arrival.field("snd_nxt")?,
                ],
            ),
            read: (read.id(), read.field("sk")?),
            waking: (
                waking.id(),
                [
                    waking.field("pid")?,
                    waking.field("common_pid")?,
                    waking.field("common_flags")?,
                ],
            ),
            switch: (
                switch.id(),
                [
                    switch.field("prev_pid")?,
                    switch.field("prev_state")?,
                    switch.field("next_pid")?,
                ],
            ),
        };
        let of_ports: Vec<String> = ports
            .iter()
            .map(|port| format!("sport == {port}"))
            .collect();
        let of_ports = format!("data_len > 0 && ({})", of_ports.join(" || "));
        let during = vec![
            Wanted::of(&read, Some("protocol == 6 && ret > 0")),
            Wanted::of(&waking, None),
            Wanted::of(&switch, None),
        ];
        Ok((decoder, Wanted::of(&arrival, Some(&of_ports)), during))
    }

    /// What a record says, written while a thread of a process was running; `None` for one of no
    /// use.
    pub(crate) fn decode(
        &self,
        at_ns: u64,
        (process, thread): (u32, u32),
        record: &[u8],
    ) -> Option<Event> {
        let id = u16::from_ne_bytes(record.get(..2)?.try_into().ok()?);
        let what = if id == self.switch.0 {
            let [from, state, to] = self.switch.1;
            What::Switch {
                from: from.value(record)? as u32,
                is_ready: state.value(record)? & STATES_ASLEEP == 0,
                to: to.value(record)? as u32,
            }
        } else if id == self.waking.0 {
            let [woken, running, flags] = self.waking.1;
            let by = running.value(record)? as u32;
            let is_by_thread = flags.value(record)? & FLAGS_INTERRUPT == 0;
            What::Waking {
                thread: woken.value(record)? as u32,
                by: is_by_thread.then_some(by),
            }
        } else if id == self.arrival.0 {
            let [socket, cookie, sent] = self.arrival.1;
            What::Arrival {
                socket: socket.value(record)?,
                cookie: cookie.value(record)?,
                sent: sent.value(record)?,
            }
        } else if id == self.read.0 {
            What::Read {
                socket: self.read.1.value(record)?,
                process,
                thread,
            }
        } else {
            return None;
        };
        Some(Event { at_ns, what })
    }
}

impl Wanted {
    fn of(format: &EventFormat, filter: Option<&str>) -> Self {
        Self {
            event: format.event().to_owned(),
            id: format.id(),
            filter: filter.map(str::to_owned),
        }
    }
}
