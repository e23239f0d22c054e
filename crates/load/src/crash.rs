//! A panic in the load is a bug of Weir, and nobody may wait for what it has ended.
//!
//! An event loop drops a task that has panicked and goes on: its user would count as alive for
//! ever, and a run without a planned end would never come to one. So every task and every thread
//! of the engine is watched. The first panic cuts off the load everywhere; what was measured until
//! then is reported as ever, with the panic as its problem.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::control::Stage;
use crate::core::Core;

/// What a panic said, as the problem of a run.
pub(crate) fn problem(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "the load was cut off by a bug in Weir, please report it: {}",
        text.unwrap_or("a thread of it has panicked")
    )
}

/// Runs something whose state is given up when it panics.
pub(crate) fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| problem(&*panic))
}

/// A task of a runtime, which ends the load when it panics.
///
/// Boxed, because it is polled where it is pinned; whoever starts a task allocates anyway.
pub(crate) struct Watched {
    core: Rc<Core>,
    task: Pin<Box<dyn Future<Output = ()>>>,
}

impl Watched {
    pub(crate) fn new(core: &Rc<Core>, task: impl Future<Output = ()> + 'static) -> Self {
        Self {
            core: Rc::clone(core),
            task: Box::pin(task),
        }
    }
}

impl Future for Watched {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match caught(|| self.task.as_mut().poll(context)) {
            Ok(polled) => polled,
            Err(problem) => {
                self.core.crashed(problem);
                Poll::Ready(())
            }
        }
    }
}

impl Core {
    /// A task has panicked: nothing goes on anywhere.
    fn crashed(&self, problem: String) {
        self.tally(|tally| {
            tally.crash.get_or_insert(problem);
        });
        self.order(Stage::Aborting);
        self.wake();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![expect(clippy::unwrap_used, reason = "tests state what must hold")]

    use std::sync::mpsc::RecvTimeoutError;
    use std::time::{Duration, Instant, SystemTime};

    use weir_plan::{
        Iterations, LoadPlan, Sampler, SamplerKind, Template, ThreadGroup, Timer, TimerKind,
    };
    use weir_script::{Origin, Properties, resolve};

    use crate::{Length, LoadSettings, LoadSummary, SampleSink, start};

    /// The label of a sampler that panics.
    pub(crate) const PANICS: &str = "panics on purpose";

    /// A user that samples for ever, and one that panics after 50 ms if it is wanted to.
    fn settings(is_broken: bool) -> LoadSettings {
        let text = |text: &str| Template::literal(text.to_owned());
        let group = |label: &str, delay_ms: &str| {
            let kind = SamplerKind::Debug {
                variables: false,
                properties: false,
            };
            let mut sampler = Sampler::http(text(label), weir_plan::HttpRequest::default());
            sampler.kind = kind;
            sampler.timers.push(Timer {
                id: weir_plan::ElementId::default(),
                kind: TimerKind::Constant {
                    delay_ms: text(delay_ms),
                },
            });
            ThreadGroup {
                name: text("G"),
                users: text("1"),
                ramp_up_s: text("0"),
                iterations: Iterations::Forever,
                nodes: vec![sampler.into()],
                ..ThreadGroup::default()
            }
        };
        let mut groups = vec![group("goes on", "5")];
        if is_broken {
            groups.push(group(PANICS, "50"));
        }
        let plan = LoadPlan {
            name: "plan".to_owned(),
            groups,
            ..LoadPlan::default()
        };
        LoadSettings {
            plan: resolve(&plan, &Properties::new(), Origin::default()).unwrap(),
            target: None,
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

    /// Runs to the end that nobody orders.
    fn run(settings: LoadSettings) -> (usize, LoadSummary) {
        let load = start(settings).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let mut seconds = 0;
        loop {
            match load.seconds().recv_timeout(Duration::from_millis(100)) {
                Ok(_) => seconds += 1,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            assert!(Instant::now() < until, "the load goes on for ever");
        }
        (seconds, load.join(Duration::from_secs(1)))
    }

    #[test]
    fn a_user_that_panics_ends_the_load_which_tells() {
        let (seconds, summary) = run(settings(true));
        let problem = summary.problem.unwrap();
        assert!(problem.contains("a bug in Weir"), "{problem}");
        assert!(problem.contains(PANICS), "{problem}");
        assert!(seconds > 0 && summary.samples > 0, "nothing is saved");
    }

    #[test]
    fn a_writer_that_panics_ends_the_load_which_tells() {
        let mut settings = settings(false);
        let sink = SampleSink::default().observed(Box::new(|_, _| panic!("{PANICS}")));
        settings.samples = Some(sink);
        let (seconds, summary) = run(settings);
        let problem = summary.problem.unwrap();
        assert!(problem.contains("a bug in Weir"), "{problem}");
        assert!(seconds > 0 && summary.samples > 0, "nothing is saved");
    }
}
