//! Plans in a line, and running them to their end.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use weir_load::{Length, LoadError, LoadSettings, LoadSummary, RunningLoad, SampleSink, start};
use weir_plan::{
    ElementId, HttpRequest, Iterations, LoadPlan, Position, Sampler, SamplerKind, Schedule,
    Template, ThreadGroup, Timer, TimerKind,
};
use weir_reach::Reach;
use weir_record::{JtlReader, LoadSecond, SampleRow};
use weir_script::{Origin, Properties, ResolvedPlan, Target, resolve};

use crate::server::Server;

/// Longer than any test may take, shorter than anyone waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

#[expect(
    clippy::needless_pass_by_value,
    reason = "numbers and texts, both at hand"
)]
pub(crate) fn text(text: impl ToString) -> Template {
    Template::literal(text.to_string())
}

/// A kept-alive GET of this path.
pub(crate) fn get(path: &str) -> Sampler {
    let request = HttpRequest {
        host: text("192.0.2.1"),
        path: text(path),
        method: text("GET"),
        keep_alive: true,
        at: Position { line: 7, column: 3 },
        ..HttpRequest::default()
    };
    Sampler::http(text(path), request)
}

/// The request of a sampler that sends one.
pub(crate) fn request_of(sampler: &mut Sampler) -> &mut HttpRequest {
    match &mut sampler.kind {
        SamplerKind::Http(request) => request,
        other => panic!("{other:?} is no request"),
    }
}

/// The step after a constant wait.
pub(crate) fn after_ms(delay_ms: u64, mut step: Sampler) -> Sampler {
    step.timers.push(Timer {
        id: ElementId::default(),
        kind: TimerKind::Constant {
            delay_ms: text(delay_ms),
        },
    });
    step
}

/// Users that all start at once and go through the steps once.
pub(crate) fn group(users: u32, steps: Vec<Sampler>) -> ThreadGroup {
    ThreadGroup {
        name: text("G"),
        users: text(users),
        ramp_up_s: text(0),
        iterations: times(1),
        nodes: steps.into_iter().map(Into::into).collect(),
        ..ThreadGroup::default()
    }
}

pub(crate) fn times(count: u64) -> Iterations {
    Iterations::Count(text(count))
}

pub(crate) fn schedule(delay_s: u64, duration_s: u64) -> Schedule {
    Schedule {
        duration_s: text(duration_s),
        delay_s: text(delay_s),
    }
}

pub(crate) fn plan(groups: Vec<ThreadGroup>) -> ResolvedPlan {
    let plan = LoadPlan {
        name: "plan".to_owned(),
        groups,
        // Files that are sent lie in folders of their own.
        reach: Some(Reach::default().allow(&std::env::temp_dir())),
        ..LoadPlan::default()
    };
    resolve(&plan, &Properties::new(), Origin::default()).unwrap()
}

/// As planned, from now, everything to this server.
pub(crate) fn settings(server: &Server, groups: Vec<ThreadGroup>) -> LoadSettings {
    LoadSettings {
        plan: plan(groups),
        target: Some(Target::from(server.address)),
        allowed_hosts: Vec::new(),
        cpus: None,
        seed: 1,
        length: Length::AsPlanned,
        backs_off: false,
        samples_max: None,
        samples: None,
        origin: Instant::now(),
        started: SystemTime::now(),
    }
}

/// A load that is over.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) seconds: Vec<LoadSecond>,
    pub(crate) summary: LoadSummary,
    pub(crate) rows: Vec<SampleRow>,
}

/// Runs a load whose plan has an end, to its end.
pub(crate) fn run(mut settings: LoadSettings) -> Done {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("samples.jtl");
    settings.samples = Some(SampleSink::new(&path));
    let load = start(settings).unwrap();
    finish(load, Some(&path))
}

/// Takes what is left of a load that has been told to end or ends by itself.
pub(crate) fn finish(load: RunningLoad, samples: Option<&Path>) -> Done {
    let mut seconds = Vec::new();
    let until = Instant::now() + PATIENCE;
    loop {
        let patience = until.saturating_duration_since(Instant::now());
        match load.seconds().recv_timeout(patience) {
            Ok(second) => seconds.push(second),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("the load does not end"),
        }
    }
    let summary = load.join(PATIENCE);
    let rows = samples.map(read_rows).unwrap_or_default();
    Done {
        seconds,
        summary,
        rows,
    }
}

pub(crate) fn read_rows(path: &Path) -> Vec<SampleRow> {
    let file = std::fs::File::open(path).unwrap();
    JtlReader::new(file).unwrap().samples().unwrap()
}

/// The only sample of a plan with one user and one step.
pub(crate) fn sample(server: &Server, step: Sampler) -> SampleRow {
    let done = run(settings(server, vec![group(1, vec![step])]));
    assert_eq!(done.rows.len(), 1, "{done:?}");
    done.rows[0].clone()
}

pub(crate) fn start_error(settings: LoadSettings) -> LoadError {
    start(settings).expect_err("this cannot be started")
}

/// Waits until something holds that will hold.
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
