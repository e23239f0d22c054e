//! The kernel's buffers of trace records: one ring for each CPU, read in the order of time.
//!
//! perf events rather than an instance of tracefs: they end with this process, however it ends, and
//! leave nothing behind; two readers do not disturb each other.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use perf_event::events::Tracepoint;
use perf_event::{Builder, Clock, Counter, SampleFlag, Sampler};
use rustix::ioctl::{IntegerSetter, Opcode, ioctl, opcode};
use rustix::time::{ClockId, clock_gettime};

use super::error::TraceError;
use super::event::{Decoder, Event, Wanted};
use crate::machine;

/// Memory of all rings together at most, and of each.
const RINGS_MAX: usize = 64 << 20;
const RING_MAX: usize = 2 << 20;
/// A ring below this size would overflow within milliseconds.
const RING_MIN: usize = 64 << 10;
/// The youngest records wait for those of other CPUs, which may be written a moment later than
/// their time.
const HELD_BACK_NS: u64 = 1_000_000;

/// `PERF_EVENT_IOC_SET_OUTPUT` and `PERF_EVENT_IOC_SET_FILTER` of `linux/perf_event.h`.
const SET_OUTPUT: Opcode = opcode::none(b'$', 5);
const SET_FILTER: Opcode = opcode::write::<*const core::ffi::c_char>(b'$', 6);

/// `PERF_RECORD_LOST` and `PERF_RECORD_SAMPLE` of `linux/perf_event.h`.
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;

/// The rings of all CPUs.
pub(crate) struct Rings {
    decoder: Decoder,
    of_cpus: Vec<Ring>,
    /// Read, and not told yet.
    waiting: Vec<Event>,
    lost: bool,
}

/// The ring of a CPU.
struct Ring {
    sampler: Sampler,
    /// What is read during a sample only, into the same ring.
    during: Vec<Counter>,
}

impl Rings {
    /// Opens them, with the tracepoint that is read all the time on, the others off.
    pub(crate) fn open(
        decoder: Decoder,
        always: &Wanted,
        during: &[Wanted],
    ) -> Result<Self, TraceError> {
        let cpus = machine::online_cpus()
            .map_err(|error| TraceError::of_reading(machine::ONLINE, error))?;
        let count = cpus.iter().count().max(1);
        let bytes = (RINGS_MAX / count).clamp(RING_MIN, RING_MAX);
        let rings = cpus
            .iter()
            .map(|cpu| Ring::open(cpu, bytes, always, during));
        Ok(Self {
            decoder,
            of_cpus: rings.collect::<Result<_, _>>()?,
            waiting: Vec::new(),
            lost: false,
        })
    }

    /// Switches the tracepoints of a sample on; what was lost before does not count.
    pub(crate) fn begin_sample(&mut self) -> io::Result<()> {
        self.lost = false;
        self.each_during(Counter::enable)
    }

    /// Switches them off.
    pub(crate) fn end_sample(&mut self) -> io::Result<()> {
        self.each_during(Counter::disable)
    }

    fn each_during(&mut self, what: impl Fn(&mut Counter) -> io::Result<()>) -> io::Result<()> {
        let mut counters = self.of_cpus.iter_mut().flat_map(|ring| &mut ring.during);
        counters.try_for_each(what)
    }

    /// Whether records were lost since the sample began, because a ring was full.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost
    }

    /// Tells what has happened, in the order of time; the last millisecond is kept for the next
    /// time unless all is asked for.
    pub(crate) fn drain(&mut self, all: bool, mut tell: impl FnMut(Event)) {
        let until_ns = if all {
            u64::MAX
        } else {
            now_ns().saturating_sub(HELD_BACK_NS)
        };
        for ring in &mut self.of_cpus {
            self.lost |= ring.drain(&self.decoder, &mut self.waiting);
        }
        self.waiting.sort_by_key(|event| event.at_ns);
        let ripe = self
            .waiting
            .partition_point(|event| event.at_ns <= until_ns);
        self.waiting.drain(..ripe).for_each(&mut tell);
    }
}

impl Ring {
    fn open(
        cpu: usize,
        bytes: usize,
        always: &Wanted,
        during: &[Wanted],
    ) -> Result<Self, TraceError> {
        let failed = |wanted: &Wanted| {
            let what = format!("the tracepoint {} on CPU {cpu}", wanted.event);
            move |error| TraceError::of_reading(&what, error)
        };
        let first = counter(cpu, always).map_err(failed(always))?;
        let mut others = Vec::with_capacity(during.len());
        for wanted in during {
            others.push(counter(cpu, wanted).map_err(failed(wanted))?);
        }
        let mut sampler = first.sampled(bytes).map_err(failed(always))?;
        for (counter, wanted) in others.iter().zip(during) {
            write_into(counter, sampler.as_raw_fd()).map_err(failed(wanted))?;
        }
        sampler.enable().map_err(failed(always))?;
        Ok(Self {
            sampler,
            during: others,
        })
    }

    /// Takes everything that is there; whether something was lost.
    fn drain(&mut self, decoder: &Decoder, events: &mut Vec<Event>) -> bool {
        let mut lost = false;
        while let Some(record) = self.sampler.next_record() {
            match record.ty() {
                RECORD_SAMPLE => events.extend(sample(decoder, &record.to_contiguous())),
                RECORD_LOST => lost = true,
                _ => {}
            }
        }
        lost
    }
}

/// Now, on the clock of the records.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A tracepoint on a CPU, off; every time that it is passed makes a record with process, thread,
/// time and its fields.
fn counter(cpu: usize, wanted: &Wanted) -> io::Result<Counter> {
    let mut builder = Builder::new(Tracepoint::with_id(u64::from(wanted.id)));
    builder
        .any_pid()
        .one_cpu(cpu)
        .include_kernel()
        .include_hv()
        .sample_period(1)
        .sample(SampleFlag::TID | SampleFlag::TIME | SampleFlag::RAW)
        .clockid(Clock::MONOTONIC);
    let counter = builder.build()?;
    if let Some(filter) = &wanted.filter {
        let filter = CString::new(filter.as_str()).map_err(io::Error::other)?;
        let pointer = filter.as_ptr().cast_mut().cast();
        // SAFETY: the kernel copies the text, which lives until after the call.
        let setter = unsafe { IntegerSetter::<SET_FILTER>::new_pointer(pointer) };
        control(&counter, setter)?;
    }
    Ok(counter)
}

/// Lets a tracepoint's records go into another one's ring of the same CPU.
fn write_into(counter: &Counter, ring: RawFd) -> io::Result<()> {
    // SAFETY: the argument of this request is a descriptor by its number.
    let setter = unsafe { IntegerSetter::<SET_OUTPUT>::new_usize(ring as usize) };
    control(counter, setter)
}

fn control<const REQUEST: Opcode>(
    counter: &Counter,
    setter: IntegerSetter<REQUEST>,
) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as the counter is there.
    let descriptor = unsafe { BorrowedFd::borrow_raw(counter.as_raw_fd()) };
    // SAFETY: both requests take the argument that their setters were made with.
    unsafe { ioctl(descriptor, setter)? };
    Ok(())
}

/// A record with process, thread, time and raw fields, in the order of `perf_event_open(2)`.
fn sample(decoder: &Decoder, record: &[u8]) -> Option<Event> {
    let number = |at: usize| Some(u32::from_ne_bytes(record.get(at..at + 4)?.try_into().ok()?));
    let (process, thread) = (number(0)?, number(4)?);
    let at_ns = u64::from_ne_bytes(record.get(8..16)?.try_into().ok()?);
    let size = number(16)? as usize;
    let fields = record.get(20..20 + size)?;
    decoder.decode(at_ns, (process, thread), fields)
}
