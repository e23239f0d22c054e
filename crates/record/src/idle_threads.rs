//! What shows that threads without a request wake up and take the CPU that requests wait for.

/// Threads that run in a second, over the requests that are answered in it, from which on they
/// have other reasons than requests: one is handed from thread to thread a few times, and a few
/// threads of the server itself wake up every second.
pub const RAN_PER_REQUEST_MIN: f64 = 10.0;
/// Threads that run in a second without a request, from which on they are many: the parts of a
/// virtual machine have some twenty that wake up now and then.
pub const RAN_WITHOUT_MIN: f64 = 100.0;
/// The kernel's part of the server's CPU time from which on putting threads on a CPU is much of
/// it: a server that works on requests spends a tenth to a fifth there.
pub const KERNEL_OF_OWN_MIN: f64 = 0.25;

/// What one trial tells of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdleThreads {
    /// Threads that ran in a second.
    pub ran: f64,
    /// Requests in flight on average: threads that can have one.
    pub in_flight: f64,
    /// Requests answered per second.
    pub throughput_per_s: f64,
    /// The kernel's part of the server's CPU time.
    pub kernel: f64,
}

impl IdleThreads {
    /// Threads that ran in a second, for each request answered in it.
    pub fn per_request(&self) -> f64 {
        self.ran / self.throughput_per_s
    }

    /// Those of them that can have had no request.
    pub fn without(&self) -> f64 {
        (self.ran - self.in_flight).max(0.0)
    }

    /// Whether they take much of the CPU; whether it is full is another question.
    pub fn wake(&self) -> bool {
        self.per_request() >= RAN_PER_REQUEST_MIN
            && self.without() >= RAN_WITHOUT_MIN
            && self.kernel >= KERNEL_OF_OWN_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_that_run_for_few_requests_have_none() {
        let left_over = IdleThreads {
            ran: 10_029.0,
            in_flight: 9.7,
            throughput_per_s: 332.0,
            kernel: 0.42,
        };
        assert!(left_over.wake());
        let busy = IdleThreads {
            throughput_per_s: 5_000.0,
            ..left_over
        };
        assert!(!busy.wake(), "two for each request");
        let few = IdleThreads {
            ran: 40.0,
            throughput_per_s: 1.0,
            ..left_over
        };
        assert!(!few.wake());
    }
}
