//! Real processes, real CPUs; how busy they are is known from their own clocks.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::float_cmp, reason = "a share that was cut is exactly 1")]

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::time::ClockId;

use super::*;
use crate::own::cpu_time;
use crate::target::affinity;

/// A process that computes until the test ends.
struct Spinning(Child);

impl Spinning {
    fn start() -> Self {
        Self(
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
                .unwrap(),
        )
    }

    /// CPU seconds that it has used, to the kernel's tick.
    fn used_s(&self) -> f64 {
        let stat = std::fs::read(format!("/proc/{}/stat", self.0.id())).unwrap();
        let stat = crate::target::process::ProcessStat::parse(&stat).unwrap();
        (stat.user + stat.system) as f64 / rustix::param::clock_ticks_per_second() as f64
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_is_as_busy_as_its_own_clock_says() {
    let spinning = Spinning::start();
    let mut reader = BusyReader::new(BusyOf::Processes(vec![spinning.0.id()]));
    let outside = spinning.used_s();
    let start = Instant::now();
    assert_eq!(reader.read(start).unwrap(), None);
    let inside = spinning.used_s();
    while spinning.used_s() < inside + 0.3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let end = Instant::now();
    let share = reader.read(end).unwrap().unwrap();
    let most_s = spinning.used_s() - outside;
    let cpus = reader.cpus().unwrap();
    let allowed = affinity(spinning.0.id()).unwrap().count() as f64;
    assert!(cpus > 0.0 && cpus <= allowed, "{cpus} of {allowed}");
    // Where CPU time is stolen, the process may have had more than what was there by the kernel's
    // coarser count.
    let seen_s = share * cpus * (end - start).as_secs_f64();
    assert!(share == 1.0 || seen_s > 0.29, "{seen_s}");
    assert!(seen_s < most_s + 0.01, "{seen_s} of {most_s}");
}

#[test]
fn a_process_that_has_ended_is_no_idle_one() {
    let mut spinning = Spinning::start();
    let pid = spinning.0.id();
    let mut reader = BusyReader::new(BusyOf::Processes(vec![pid]));
    reader.read(Instant::now()).unwrap();
    spinning.0.kill().unwrap();
    spinning.0.wait().unwrap();
    let gone = reader.read(Instant::now() + Duration::from_secs(1));
    assert!(
        matches!(gone, Err(BusyError::Gone(ref pids)) if *pids == [pid]),
        "{gone:?}"
    );
    assert!(gone.unwrap_err().to_string().contains(&pid.to_string()));
}

#[test]
fn a_process_that_stands_still_is_idle() {
    let spinning = Spinning::start();
    kill_process(Pid::from_child(&spinning.0), Signal::STOP).unwrap();
    let stopped = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", spinning.0.id())).unwrap();
        status.contains("T (stopped)")
    };
    while !stopped() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut reader = BusyReader::new(BusyOf::Processes(vec![spinning.0.id()]));
    let start = Instant::now();
    reader.read(start).unwrap();
    let share = reader.read(start + Duration::from_secs(1)).unwrap();
    assert_eq!(share, Some(0.0));
}

#[test]
fn cpus_count_everything_that_runs_on_them() {
    let here = affinity(std::process::id()).unwrap();
    let mut reader = BusyReader::new(BusyOf::Cpus(here.clone()));
    assert_eq!(reader.read(Instant::now()).unwrap(), None);
    let until = cpu_time(ClockId::ThreadCPUTime) + Duration::from_millis(300);
    while cpu_time(ClockId::ThreadCPUTime) < until {
        std::hint::black_box(0);
    }
    let share = reader.read(Instant::now()).unwrap().unwrap();
    assert!(share > 0.0, "this thread alone has used 300 ms");
    assert!(reader.cpus().unwrap() <= here.count() as f64);
    let none = BusyReader::new(BusyOf::Cpus("8000".parse().unwrap())).read(Instant::now());
    assert!(matches!(none, Err(BusyError::NoCpus(_))), "{none:?}");
}

#[test]
fn what_is_read_has_a_name() {
    let url: MetricsUrl = "http://127.0.0.1:9100/metrics".parse().unwrap();
    for (of, name) in [
        (BusyOf::Cpus("0-1".parse().unwrap()), "CPUs 0-1"),
        (BusyOf::Processes(vec![7, 9]), "process 7, 9"),
        (
            BusyOf::ControlGroup("app.slice".into()),
            "control group app.slice",
        ),
        (
            BusyOf::Page { url, cpus: None },
            "http://127.0.0.1:9100/metrics",
        ),
    ] {
        assert_eq!(of.to_string(), name);
    }
}

#[test]
fn a_page_that_does_not_come_is_an_error_each_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}/metrics").parse().unwrap();
    let mut reader = BusyReader::new(BusyOf::Page { url, cpus: None });
    for _ in 0..2 {
        let none = reader.read(Instant::now());
        assert!(matches!(none, Err(BusyError::Page { .. })), "{none:?}");
    }
}
