//! Names under which the load's own figures, and those that code asks for, stand in a timeline.

/// Samples answered per second, failed ones included.
pub const THROUGHPUT: &str = "throughput";
/// Samples answered per second behind the slow beginning of a load of a fixed number of requests.
pub const THROUGHPUT_STEADY: &str = "throughput.steady";
/// Mean response time of the samples that ended in the second, in seconds.
pub const RESPONSE_MEAN: &str = "response.mean";
/// Median response time of the samples that ended in the second, in seconds.
pub const RESPONSE_P50: &str = "response.p50";
/// 99th percentile of the response time of the samples that ended in the second, in seconds.
pub const RESPONSE_P99: &str = "response.p99";
/// Failed samples per second.
pub const ERRORS: &str = "errors";
/// Users running at the end of the second.
pub const USERS: &str = "users";
/// Samples in flight at the end of the second.
pub const IN_FLIGHT: &str = "in-flight";
/// Connections of the users that are open at the end of the second.
pub const CONNECTIONS: &str = "load.connections";
/// Mean time from the actual start of a sample to its end, in seconds; open workloads only.
pub const SERVICE_MEAN: &str = "service.mean";
/// 99th percentile of the same.
pub const SERVICE_P99: &str = "service.p99";
/// Median time from the intended to the actual start of a sample, in seconds; open workloads
/// only.
pub const START_DELAY_P50: &str = "load.start-delay.p50";
/// 99th percentile of the same.
pub const START_DELAY_P99: &str = "load.start-delay.p99";
/// Median lateness of the users' wake-ups, in seconds.
pub const LATENESS_P50: &str = "load.lateness.p50";
/// 99th percentile of the lateness of the users' wake-ups, in seconds.
pub const LATENESS_P99: &str = "load.lateness.p99";
/// Samples per second that were answered with a redirect, or by way of one.
pub const REDIRECTS: &str = "redirects";
/// Requests that Weir's own engine sent on a second connection.
pub const RESENDS: &str = "resends";
/// Connections that the load made per second.
pub const CONNECTED: &str = "load.connected";
/// Users that had a connection made, on average: the seconds that it took, per second.
pub const CONNECTING: &str = "load.connecting";
/// Share of the users' wake-ups that were more than 10 ms late.
pub const LATE_SHARE: &str = "load.late-share";
/// Share of the arrivals of an open workload that were due and not answered; one figure of the
/// trial.
pub const MISSED: &str = "load.missed";
/// Bytes that the load received a second, heads and bodies; one figure of the run.
pub const RECEIVED: &str = "load.received";
/// Bytes that it sent a second; one figure of the run.
pub const SENT: &str = "load.sent";
/// Cores that the load generator used.
pub const LOAD_CPU: &str = "load.cpu";
/// CPUs that the load generator may use; one figure of the trial.
pub const LOAD_CPUS: &str = "load.cpus";
/// CPUs of the target that the load generator may use, too; one figure of the trial.
pub const LOAD_SHARED_CPUS: &str = "load.shared-cpus";
/// Threads that send the load and wait for a CPU, on average.
pub const LOAD_WAIT: &str = "load.run-queue-wait";
/// How often they were put on a CPU, per second.
pub const LOAD_SLICES: &str = "load.time-slices";
/// CPUs that the target may use.
pub const TARGET_CPUS: &str = "target.cpus";
/// Share of the second in which a JMeter that sends the load stood still for its garbage collector.
pub const LOAD_GC_PAUSE: &str = "load.gc.pause";
/// Pauses of that garbage collector that ended in the second.
pub const LOAD_GC_COUNT: &str = "load.gc.count";
/// Mean time from the arrival of a request on its connection until a thread of the server read it,
/// in seconds.
pub const ARRIVAL_TO_READ: &str = "target.arrival.to-read";
/// Median of the same.
pub const ARRIVAL_TO_READ_P50: &str = "target.arrival.to-read.p50";
/// 99th percentile of the same.
pub const ARRIVAL_TO_READ_P99: &str = "target.arrival.to-read.p99";
/// Longest of the same.
pub const ARRIVAL_TO_READ_MAX: &str = "target.arrival.to-read.max";
/// Mean part of that time in which the thread for the request was ready and waited for a CPU, in
/// seconds.
pub const ARRIVAL_CPU_WAIT: &str = "target.arrival.cpu-wait";
/// Requests that these figures are of.
pub const ARRIVAL_SAMPLED: &str = "target.arrival.sampled";
/// Requests that were not read for a second, and are in none of these figures.
pub const ARRIVAL_UNREAD: &str = "target.arrival.unread";
/// Busy share of the CPUs that the target may use.
pub const CPU: &str = "cpu";
