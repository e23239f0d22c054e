//! As many requests as connections can carry, to compare the engine with other tools.
//!
//! `blast URL CONNECTIONS SECONDS [CPUS]` prints requests per second, and requests per second of
//! this process's CPU time. Only for servers on this machine.

#![expect(clippy::print_stdout, reason = "an example prints its answer")]

use std::error::Error;
use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use weir_load::{Length, LoadSettings, start};
use weir_plan::{HttpRequest, LoadPlan, Sampler, Template, ThreadGroup};
use weir_script::{Origin, Properties, resolve};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, connections, seconds, cpus @ ..] = arguments.as_slice() else {
        return Err("blast URL CONNECTIONS SECONDS [CPUS]".into());
    };
    let plan = resolve(
        &plan(url, connections),
        &Properties::new(),
        Origin::default(),
    )?;
    for host in plan.hosts(None)? {
        if !matches!(host.server.host.as_str(), "127.0.0.1" | "localhost" | "::1") {
            return Err(format!("{} is not this machine", host.server).into());
        }
    }
    let load = start(LoadSettings {
        plan,
        target: None,
        allowed_hosts: Vec::new(),
        cpus: cpus.first().map(|cpus| cpus.parse()).transpose()?,
        seed: 1,
        length: Length::UntilStopped,
        backs_off: false,
        samples_max: None,
        samples: None,
        origin: Instant::now(),
        started: SystemTime::now(),
    })?;
    let mut response_us = weir_record::response_histogram();
    let (cpu, from) = (cpu_s(), Instant::now());
    while from.elapsed() < Duration::from_secs(seconds.parse()?) {
        for class in load.seconds().recv()?.classes {
            response_us.add(class.response_us)?;
        }
    }
    load.stop();
    let summary = load.join(Duration::from_secs(10));
    let (wall, cpu) = (from.elapsed().as_secs_f64(), cpu_s() - cpu);
    let samples = summary.samples as f64;
    println!("{samples} requests, {} failed", summary.failed);
    println!("{:.0} requests/s", samples / wall);
    println!("{:.0} requests/CPU-s ({cpu:.2} CPU-s)", samples / cpu);
    println!(
        "response time: p50 {} us, p99 {} us",
        response_us.value_at_quantile(0.5),
        response_us.value_at_quantile(0.99)
    );
    Ok(())
}

fn plan(url: &str, connections: &str) -> LoadPlan {
    let request = HttpRequest {
        path: Template::literal(url),
        method: Template::literal("GET"),
        keep_alive: true,
        ..HttpRequest::default()
    };
    let sampler = Sampler::http(Template::literal("blast"), request);
    LoadPlan {
        name: "blast".to_owned(),
        groups: vec![ThreadGroup {
            name: Template::literal("blast"),
            users: Template::literal(connections),
            ramp_up_s: Template::literal("0"),
            nodes: vec![sampler.into()],
            ..ThreadGroup::default()
        }],
        ..LoadPlan::default()
    }
}

fn cpu_s() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}
