//! A virtual user: what it is and has. What it does is in the files of this folder: its life
//! ([`life`]), one step after the other ([`step`]), what follows from a step ([`after`]), and the
//! samples on the way.

mod after;
mod debug;
mod fetch;
mod follow_link;
mod found_parameters;
mod leg;
mod life;
mod look_into;
mod made_up;
mod managed;
mod pace;
mod parallel;
mod rewrite_url;
mod rows;
mod sampling;
mod script_cookies;
mod scripts;
pub(crate) mod seen;
pub(crate) mod seen_by_scripts;
mod step;
mod telling;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use weir_script::{Ends, Scope};

use crate::audience::Audience;
use crate::clock::Moment;
use crate::core::Core;
use crate::http::client::Client;
use crate::iterations::Data;
use crate::kin::Kin;
use crate::pacing::Paces;
use crate::session::SharedSession;
use crate::walk::Walk;
use crate::work::{Group, UserStart, Work};

/// The variable that says whether the last sample was a success.
const LAST_OK: &str = "JMeterThread.last_sample_ok";

/// A virtual user.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else of the user"
)]
pub(crate) struct User {
    pub(crate) core: Rc<Core>,
    /// Place of the group among [`Work::groups`].
    pub(crate) group: usize,
    pub(crate) scope: Scope,
    pub(crate) walk: Walk,
    pub(crate) data: Box<Data>,
    pub(crate) client: Client,
    /// For several requests at once, as pages ask for.
    pub(crate) more_clients: Vec<Client>,
    /// What it remembers between requests, once it has sent one that has to do with it.
    pub(crate) session: Option<SharedSession>,
    /// In which iteration of the group its connections were opened.
    connected_in: u64,
    ends: Option<Moment>,
    pub(crate) last_ok: bool,
    /// The group runs although the test was stopped.
    outlives_stop: bool,
    /// When the next sample should start, if that was known before.
    pub(crate) intended: Option<Moment>,
    has_begun: bool,
    /// When throughput timers have let samples go; most users have none.
    paces: Option<Box<Paces>>,
    /// Who is in earshot of the sampler that was begun last.
    pub(crate) earshot: Option<Audience>,
    /// An extractor that cannot work as it is set up has taken the sample away: nobody hears of
    /// it, and nothing follows from it (JMeter).
    pub(crate) sample_is_lost: bool,
    /// Whom it runs with, if it runs a child of a Parallel Controller.
    pub(crate) kin: Option<Box<Kin>>,
    /// Where the children of a Parallel Controller have led.
    led: Option<Ends>,
}

impl User {
    /// A user of a test that began at `begin`.
    pub(crate) fn new(core: &Rc<Core>, start: UserStart, begin: Moment) -> Self {
        let group = &core.work.groups[start.group];
        let thread_name = format!("{} {}-{}", group.name, group.number, start.user + 1);
        let mut scope = core.work.scope(start);
        scope.thread_name = thread_name.into();
        Self {
            group: start.group,
            scope,
            walk: Walk::new(&group.tree),
            data: Box::new(Data::new(start.group)),
            last_ok: true,
            earshot: None,
            sample_is_lost: false,
            outlives_stop: group.outlives_stop,
            client: Client::new(Rc::clone(&core.io)),
            more_clients: Vec::new(),
            session: None,
            connected_in: 0,
            ends: start.end.or(group.end).map(|end| begin.after(end)),
            intended: None,
            has_begun: false,
            paces: None,
            kin: None,
            led: None,
            core: Rc::clone(core),
        }
    }

    /// Closes the connections of the user before, when an iteration is another user.
    pub(crate) fn renew_connections(&mut self, work: &Work) {
        let same_user = work.groups[self.group].same_user;
        if same_user || !work.plan.session.renews_connections {
            return;
        }
        let iteration = self.data.group_iterations();
        if self.connected_in != iteration {
            self.connected_in = iteration;
            self.client.forget();
            self.more_clients.clear();
        }
    }

    /// The name of the user.
    pub(crate) fn thread_name(&self) -> Arc<str> {
        Arc::clone(&self.scope.thread_name)
    }

    /// Users alive in the group and in all groups.
    pub(crate) fn alive(&self) -> (u32, u32) {
        let (group, all) = self.core.census.alive(self.group);
        let kin = self.kin.as_ref();
        (kin.map_or(group, |kin| kin.running()), all)
    }

    /// Sleeps, but no longer than the test runs.
    pub(crate) async fn sleep_until(&mut self, until: Moment) {
        let (core, outlives) = (&self.core, self.outlives_stop);
        self.client
            .timer
            .until(until, || !core.runs(outlives))
            .await;
    }

    /// Whether the user may start another sample.
    pub(crate) fn may_go_on(&self) -> bool {
        let now = self.core.now();
        let is_stopped = self.core.work.shared.pacing.has_stopped(self.group);
        self.runs() && !is_stopped && self.ends.is_none_or(|ends| now < ends)
    }

    /// Whether the test has not been stopped, as far as the user's group cares.
    pub(crate) fn runs(&self) -> bool {
        self.core.runs(self.outlives_stop)
    }

    /// Waits for something, but not past a moment.
    pub(crate) async fn within<F: Future>(
        &mut self,
        until: Moment,
        future: F,
    ) -> Option<F::Output> {
        self.client.timer.within(Some(until), future).await
    }

    /// When the user's throughput timers have let samples go.
    pub(crate) fn paces(&mut self) -> &mut Paces {
        self.paces.get_or_insert_default()
    }

    pub(crate) fn publish_last_ok(&mut self, group: &Group) {
        if group.tree.publishes_indices {
            let text = if self.last_ok { "true" } else { "false" };
            self.scope.variables.set(LAST_OK, text);
        }
    }

    /// A wait that the plan asks for is no delay of what comes after it.
    fn intend_later(&mut self, wait: Duration) {
        self.intended = self.intended.map(|intended| intended.after(wait));
    }
}
