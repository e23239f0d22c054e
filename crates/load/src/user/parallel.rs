//! The Parallel Controller of the bzm plugins: steps of a user that run at once.
//!
//! To JMeter 5.6.3 it is a sampler that runs each of its children in a thread of its own and waits
//! for all. Here each child is a user of its own for as long, and all of them run in the task of
//! the one that has them. They share its variables, its cookies, answers and logins, but not its
//! connections; what they do about failures leads nowhere beyond them, and what a plan makes them
//! do with the user or its iteration is done by the user when all have ended.
//!
//! Variables are exchanged whenever one of them may have waited, so each sees what the others have
//! set until then.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use weir_plan::Parallel;
use weir_record::SampleRow;
use weir_script::Text;

use crate::kin::{Family, Kin};
use crate::user::fetch::all;
use crate::user::made_up::Made;
use crate::user::sampling::Sampled;
use crate::user::{LAST_OK, User};
use crate::work::{Step, UserStart, Work};

/// How many at once, where the plan wants a number and gives none: the plugin's default.
const AT_ONCE: usize = 6;

impl User {
    /// Exchanges variables with those who run at the same time.
    pub(crate) fn meet(&mut self) {
        let Some(kin) = &mut self.kin else { return };
        let mut shared = kin.family.variables.borrow_mut();
        shared.take_changes(&kin.met, &self.scope.variables);
        kin.met.clone_from(&shared);
        self.scope.variables.clone_from(&shared);
    }

    /// Gives a sample to the whole that it is a part of; the answer is one that others are told of.
    pub(crate) fn hand_to_kin(&self, row: SampleRow) -> Option<SampleRow> {
        let Some(kin) = &self.kin else {
            return Some(row);
        };
        if kin.family.is_whole {
            kin.family.samples.borrow_mut().push(row);
            return None;
        }
        if kin.family.is_heard {
            kin.family.samples.borrow_mut().push(row.clone());
        }
        Some(row)
    }

    /// Runs the children of a controller; a sample only if it is to be one.
    pub(crate) async fn run_parallel(
        &mut self,
        work: &Work,
        step: &Step,
        parallel: &Parallel<Text>,
    ) -> Option<Sampled> {
        let started = self.core.clock.now();
        let label = self.scope.sampler_name().to_string();
        let mut items = "Parallel items:\n".to_owned();
        for item in &parallel.items {
            items.push_str(&item.rendered(&mut self.scope));
            items.push('\n');
        }
        let at_once = match &parallel.at_once {
            Some(most) => most.rendered(&mut self.scope).trim().parse(),
            None => Ok(usize::MAX),
        };
        let at_once = at_once
            .unwrap_or(AT_ONCE)
            .clamp(1, step.branches.len().max(1));
        self.open_session(work);
        let family = Rc::new(Family {
            variables: RefCell::new(self.scope.variables.clone()),
            running: Cell::new(0),
            is_whole: parallel.is_parent,
            is_heard: step.is_looked_at,
            samples: RefCell::default(),
            led: Cell::new(None),
            last_ok: Cell::new(self.last_ok),
        });
        let name: Arc<str> = format!("parallel {label}").into();
        let children = step.branches.iter();
        let children: Vec<User> = children.map(|at| self.child(*at, &family, &name)).collect();
        run(children, at_once).await;
        self.scope.variables.clone_from(&family.variables.borrow());
        // JMeter 5.6.3, measured: a user that has waited for others connects anew.
        self.client.forget();
        self.led = family.led.get();
        let samples = family.samples.take();
        if parallel.is_parent {
            let whole = Made::whole(label, items, samples);
            return Some(self.finish_made(step, started, whole));
        }
        self.last_ok = family.last_ok.get();
        let tree = &work.groups[self.group].tree;
        for row in &samples {
            self.walk.sample_occurred(tree, step.parent, None, row);
        }
        None
    }

    /// A user that runs a child in place of this one.
    fn child(&mut self, at: usize, family: &Rc<Family>, name: &Arc<str>) -> Self {
        let start = UserStart {
            phase: 0,
            at: Duration::ZERO,
            group: at,
            user: 0,
            end: None,
        };
        let mut child = Self::new(&self.core, start, self.core.clock.now());
        child.scope = self.scope.clone();
        child.scope.thread_name = Arc::clone(name);
        child.scope.group = "".into();
        child.scope.previous = None;
        let seed = self.scope.random.next_u64();
        child.scope.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        child.session.clone_from(&self.session);
        child.data.goes_on_in(self.data.group_iterations());
        child.ends = self.ends;
        child.kin = Some(Box::new(Kin {
            family: Rc::clone(family),
            met: self.scope.variables.clone(),
        }));
        child
    }
}

/// Runs all, so many at a time, in their order.
async fn run(children: Vec<User>, at_once: usize) {
    let waiting = RefCell::new(children.into_iter());
    let waiting = &waiting;
    let lanes = (0..at_once).map(|_| {
        let lane = async move {
            loop {
                let next = waiting.borrow_mut().next();
                let Some(child) = next else { break };
                live(child).await;
            }
        };
        Box::pin(lane) as Pin<Box<dyn Future<Output = ()> + '_>>
    });
    all(lanes.collect()).await;
}

/// The life of one; boxed, because it is a part of a user's life.
fn live(mut child: User) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        let Some(family) = child.kin.as_ref().map(|kin| Rc::clone(&kin.family)) else {
            return;
        };
        family.running.update(|running| running + 1);
        // JMeter: a thread begins as one whose last sample was a success, and all see that.
        if child.core.work.groups[child.group].tree.publishes_indices {
            family.variables.borrow_mut().set(LAST_OK, "true");
        }
        child.iterate().await;
        child.meet();
        family.last_ok.set(child.last_ok);
        family.running.update(|running| running - 1);
    })
}
