//! From which figure on a test speaks for its hypothesis, and why from there.

/// Share of the requests' time from which on something can be the answer.
pub(crate) const MATTERS: f64 = 0.10;
pub(crate) const MATTERS_BECAUSE: &str = "what takes less than a tenth of the time cannot make a request more than a tenth faster (Amdahl)";

/// Waiting that counts where the requests in flight are not known: half a thread on average.
pub(crate) const WAITING_MIN: f64 = 0.5;
pub(crate) const WAITING_MIN_BECAUSE: &str = "below half a thread on average it is the odd moment; how many requests were in flight is not known";

/// Busy share of CPUs from which on they are full.
pub(crate) const SATURATED: f64 = weir_record::CPU_FULL;
pub(crate) const SATURATED_BECAUSE: &str = "a queue in front of a CPU that is 90 % busy is nine times as long as the work itself (M/M/1: U / (1 - U))";

/// Share of the busy CPU time from which on it is the server's own doing.
pub(crate) const OWN: f64 = 0.5;
pub(crate) const OWN_BECAUSE: &str = "less than half of what ran was the server's own work";

/// Share of the CPUs that others may use.
pub(crate) const FOREIGN: f64 = weir_record::FOREIGN_MAX;
pub(crate) const FOREIGN_BECAUSE: &str = "the kernel's work for network and disk, which belongs to no process, stays below 8 % (the same bound makes a trial \
     `disturbed`)";

/// Retransmitted segments per request from which on the 99th percentile has one in it.
pub(crate) const IN_P99: f64 = 0.01;
pub(crate) const IN_P99_BECAUSE: &str = "one request in a hundred then waits for a retransmission timer, and the 99th percentile is one of them";

/// The shortest wait for a lost segment, in seconds.
pub(crate) const RETRANSMISSION_S: f64 = 0.2;
/// The wait for a lost SYN, in seconds.
pub(crate) const SYN_S: f64 = 1.0;
pub(crate) const P99_HAS_TIMER_BECAUSE: &str = "a lost segment of a short exchange is sent again after 200 ms at the earliest (TCP_RTO_MIN of Linux)";

/// Share of failed samples that could not connect or lost their connection.
pub(crate) const FAILURES: f64 = 0.01;
pub(crate) const FAILURES_BECAUSE: &str = "one connection in a hundred that fails is no accident";

/// Share of the requests that meet a pause from which on the 99th percentile sees them.
pub(crate) const PAUSES_SEEN: f64 = 0.01;
/// A mean pause of this share of the 99th percentile is most of it.
pub(crate) const PAUSE_OF_P99: f64 = 0.5;
pub(crate) const PAUSE_OF_P99_BECAUSE: &str = "requests that meet a pause then have the 99th percentile's time. It counts when one request in a hundred meets one: those in flight \
     when it begins, and those that come while it lasts";

/// A stage is full when this share of its places is taken on average.
pub(crate) const FULL: f64 = weir_record::STAGE_FULL;
pub(crate) const FULL_BECAUSE: &str =
    "a limit acts when its stage is full; 5 % are lost when a place changes hands";

pub(crate) const RESENT_BECAUSE: &str = "one request in a hundred that meets a closed connection is no accident: connections are closed while the load still uses them";
pub(crate) const REFUSED_BECAUSE: &str = "one request in a hundred that is refused is no accident: a stage refuses only what finds it full";

/// Share of the time in which tasks wait for storage.
pub(crate) const IO_STALL_BECAUSE: &str = "below a tenth of the seconds storage held up too little to be a tenth of the response time. It counts for the whole \
     machine, so the server itself must read or write";

/// Share of its periods in which a control group is stopped.
pub(crate) const THROTTLED: f64 = weir_record::THROTTLED_MIN;
pub(crate) const THROTTLED_BECAUSE: &str = "a period lasts 100 ms mostly, so that a request meets the end of one and waits for the next; stopped in less than one of ten, at most \
     a tenth of the requests wait for that";

/// Steal from which on a trial is disturbed.
pub(crate) const STEAL_BECAUSE: &str =
    "from 5 % on a trial counts as disturbed by other virtual machines";

/// Share of the nominal frequency below which CPUs are slow.
pub(crate) const SLOW_CLOCK: f64 = 0.9;
pub(crate) const SLOW_CLOCK_BECAUSE: &str =
    "below 90 % of the nominal frequency all CPU work takes more than a tenth longer";
/// Busy share from which on a low frequency is no mere saving of power.
pub(crate) const BUSY: f64 = 0.5;

/// Share of its CPUs that a load generator may use.
pub(crate) const LOAD_CPU: f64 = weir_record::LOAD_CPU_MAX;
pub(crate) const LOAD_CPU_BECAUSE: &str = "above 80 % the queue in front of the load generator's own CPU is measured; the trial is invalid";
pub(crate) const LOAD_WAIT_BECAUSE: &str = "an answer counts when its thread has read it: from a tenth on what was measured is the load generator's own wait as well";
/// Share of late wake-ups.
pub(crate) const LATE: f64 = weir_record::LATE_SHARE_MAX;
pub(crate) const LATE_BECAUSE: &str =
    "one start in a hundred that is more than 10 ms late; the trial is invalid";

/// Threads that run in a second, over the requests that it answers.
pub(crate) const RAN_PER_REQUEST: f64 = weir_record::RAN_PER_REQUEST_MIN;
pub(crate) const RAN_BECAUSE: &str = "a request is handed from thread to thread a few times, and a few threads of the server itself wake up every second; ten \
     and more a request have other reasons";
/// Threads that run without a request, from which on they are many.
pub(crate) const IDLE_MIN: f64 = weir_record::RAN_WITHOUT_MIN;
pub(crate) const IDLE_BECAUSE: &str =
    "the parts of a virtual machine have some twenty threads that wake up now and then";
/// The kernel's part of the server's CPU time from which on waking threads up is much of it.
pub(crate) const KERNEL_OF_OWN: f64 = weir_record::KERNEL_OF_OWN_MIN;
pub(crate) const KERNEL_OF_OWN_BECAUSE: &str = "putting a thread on a CPU is the kernel's work; a server that works on requests spends a tenth to a fifth there";

/// Page faults of the server a request that had to fetch something.
pub(crate) const FAULTS: f64 = 0.01;
pub(crate) const FAULTS_BECAUSE: &str =
    "one request in a hundred then waits for a page, and the 99th percentile is one of them";
pub(crate) const MEMORY_STALL_BECAUSE: &str = "below a tenth of the seconds the want of memory held up too little to be a tenth of the response time. It counts for the whole \
     machine, so the server itself must fetch pages";

/// Share of a pool's places that are taken while somebody waits for one.
pub(crate) const FULL_POOL: f64 = 0.75;
pub(crate) const FULL_POOL_BECAUSE: &str = "who waits for a connection finds all of them taken, but for the moments in which one changes \
     hands; a pool that is slow to fill has few taken while they wait";
