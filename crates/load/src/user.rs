//! The one loop that every virtual user runs.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use weir_plan::{
    ControllerKind, FlowAction, FlowControl, OnSampleError, PreProcessor, ResultAction,
    SamplerKind, TimerKind, Variable,
};
use weir_record::SampleRow;
use weir_script::{Ends, Scope, Text, delay_ms};

use crate::audience::Audience;
use crate::auto_stop::Watched;
use crate::clock::Moment;
use crate::control::Stage;
use crate::core::Core;
use crate::http::client::Client;
use crate::iterations::{Data, set_parameters};
use crate::made_up::Made;
use crate::next::Next;
use crate::pacing::Paces;
use crate::sampling::Sampled;
use crate::session::SharedSession;
use crate::walk::{Outside, Walk};
use crate::work::{Group, Step, UserStart, Work};

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
    /// An extractor that cannot work as it is set up has taken the sample away: nobody hears of it,
    /// and nothing follows from it (JMeter).
    pub(crate) sample_is_lost: bool,
}

/// What a user does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct After {
    leaves: Leaves,
    /// The user ends, after it has left what it leaves.
    ends: bool,
}

/// Which controllers are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Nothing,
    GroupIteration,
    LoopIteration,
    Loop,
}

impl After {
    const STEP: Self = Self::leaving(Leaves::Nothing);
    const END: Self = Self {
        leaves: Leaves::Nothing,
        ends: true,
    };

    const fn leaving(leaves: Leaves) -> Self {
        Self {
            leaves,
            ends: false,
        }
    }

    /// Both: what is asked for later leaves what it says.
    fn and(self, later: Self) -> Self {
        let leaves = match later.leaves {
            Leaves::Nothing => self.leaves,
            leaves => leaves,
        };
        Self {
            leaves,
            ends: self.ends | later.ends,
        }
    }
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
            data: Box::new(Data::new(Arc::clone(&core.work.directory), start.group)),
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
            core: Rc::clone(core),
        }
    }

    /// Lives from its start, which was meant to be at `meant` if it has a schedule, to its end.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async function would have room for the user twice"
    )]
    pub(crate) fn live(mut self, meant: Option<Moment>) -> impl Future<Output = ()> {
        async move {
            if let Some(meant) = meant {
                self.core.woke(meant);
            }
            self.iterate().await;
            self.core.user_ended(self.group);
        }
    }

    async fn iterate(&mut self) {
        let work = Arc::clone(&self.core.work);
        let group = &work.groups[self.group];
        self.publish_last_ok(group);
        self.look(group, super::walk::Walk::begin);
        while !self.walk.is_done() {
            if !self.may_go_on() {
                self.ask_in_vain(group);
                return;
            }
            if !self.advance(&work, group).await {
                return;
            }
        }
    }

    /// Asks what would come next and does nothing of it: so does JMeter after a user's last sample, and
    /// transactions come to their end on the way.
    fn ask_in_vain(&mut self, group: &Group) {
        self.look(group, |walk, outside| {
            walk.next(outside);
        });
    }

    /// Goes once through the plan, in groups that say when; false when the user ends.
    pub(crate) async fn iteration(&mut self) -> bool {
        let work = Arc::clone(&self.core.work);
        let group = &work.groups[self.group];
        if !self.has_begun {
            self.has_begun = true;
            self.publish_last_ok(group);
            self.look(group, super::walk::Walk::begin);
        }
        loop {
            if !self.advance(&work, group).await {
                return false;
            }
            if self.walk.is_between_iterations() {
                return !self.walk.is_done();
            }
            if !self.may_go_on() {
                return false;
            }
        }
    }

    /// Asks what comes next and does it; false when the user ends.
    async fn advance(&mut self, work: &Work, group: &Group) -> bool {
        let (next, is_over) = self.look(group, |walk, outside| {
            let next = walk.next(outside);
            (next, outside.is_over)
        });
        if is_over || self.scope.fault.take().is_some() {
            return false;
        }
        let after = match next {
            None if group.tree.stops_between_iterations && self.walk.is_between_iterations() => {
                return true;
            }
            // An iteration without samples must not keep others from running.
            None | Some(Next::Pause) => {
                tokio::task::yield_now().await;
                return true;
            }
            Some(Next::Lock(at)) => {
                Box::pin(self.take_lock(group, at)).await;
                return true;
            }
            Some(Next::Sampler(place)) => {
                let step = &group.steps[place as usize];
                let after = self.step(work, group, step, None).await;
                self.turn(group, step, after, None)
            }
            // Boxed: most users never do this, and their tasks should not have room for it.
            Some(Next::Transaction(at)) => Box::pin(self.transaction(work, group, at)).await,
        };
        !after.ends
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
        self.core.census.alive(self.group)
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

    /// Walks, then tells of the transactions that have come to their end on the way.
    fn look<R>(&mut self, group: &Group, walk: impl FnOnce(&mut Walk, &mut Outside<'_>) -> R) -> R {
        let mut closed = Vec::new();
        let mut outside = Outside {
            tree: &group.tree,
            scope: &mut self.scope,
            shared: &self.core.work.shared,
            data: &mut self.data,
            clock: self.core.clock,
            last_ok: self.last_ok,
            closed: &mut closed,
            shown_variables: &self.core.work.shown_variables,
            given_up: None,
            is_over: false,
            depth: 0,
        };
        let answer = walk(&mut self.walk, &mut outside);
        let given_up = outside.given_up.take();
        for transaction in closed {
            self.tell_of_closed(transaction);
        }
        if let Some(told) = given_up {
            self.tell_of_whole(group, told);
        }
        answer
    }

    async fn take_lock(&mut self, group: &Group, at: u32) {
        let controller = &group.tree.controllers[at as usize];
        let ControllerKind::CriticalSection { lock } = &controller.kind else {
            return;
        };
        let name = lock.rendered(&mut self.scope);
        if self.walk.holds_lock(&name) {
            self.walk.enter(at, &name, None);
            return;
        }
        let lock = self.core.work.shared.lock(&name);
        // A stop is looked for from time to time, because only timers hear of it.
        while self.core.runs(self.outlives_stop) {
            let until = self.core.clock.now().after(Duration::from_millis(50));
            let waiting = Arc::clone(&lock).acquire_owned();
            if let Some(Ok(permit)) = self.client.timer.within(Some(until), waiting).await {
                self.walk.enter(at, &name, Some(permit));
                return;
            }
        }
    }

    /// Does what comes next in a transaction that is a sample of its own.
    async fn transaction(&mut self, work: &Work, group: &Group, outermost: u32) -> After {
        let mut chain = vec![outermost];
        loop {
            let inner = chain[chain.len() - 1];
            let current = self.walk.whole(inner).and_then(|whole| whole.current);
            match current {
                Some(Next::Transaction(at)) => chain.push(at),
                Some(Next::Sampler(place)) => {
                    let step = &group.steps[place as usize];
                    let after = self.step(work, group, step, Some(inner)).await;
                    if after.ends || !self.may_go_on() {
                        self.cut_transactions(group, &chain);
                        return self.turn(group, step, after.and(After::END), None);
                    }
                    return self.turn(group, step, after, Some(outermost));
                }
                _ => {
                    self.end_transaction(group, &chain);
                    return After::STEP;
                }
            }
        }
    }

    /// One sampler with everything before and after it.
    async fn step(
        &mut self,
        work: &Work,
        group: &Group,
        step: &Step,
        transaction: Option<u32>,
    ) -> After {
        self.forget_step();
        for processor in &step.source.before {
            match processor {
                PreProcessor::UserParameters(parameters) => {
                    set_parameters(parameters, &mut self.scope);
                }
                PreProcessor::Script(script) => self.run_before(step, script),
                // The request itself follows it.
                PreProcessor::Link => {}
            }
        }
        self.earshot = Some(step.audience);
        self.set_script_earshot(step);
        if let Some(class) = step.label {
            self.scope.sampler = Arc::clone(&work.labels[class]);
        }
        if self.data.scripts.is_some() {
            Box::pin(self.sleep_for_scripts()).await;
        }
        if !self.think(work, group, step).await {
            return After::END;
        }
        if let Some(ends) = self.ends_before_sample() {
            return self.end_for_script(ends);
        }
        if step.shows_request {
            self.show_request(step);
        }
        if let SamplerKind::FlowControl(flow) = &step.source.kind {
            return Box::pin(self.flow_control(flow)).await;
        }
        if let SamplerKind::SetVariables(variables) = &step.source.kind {
            self.set_variables(variables);
            return After::STEP;
        }
        if !work.budget.take() {
            return After::END;
        }
        let sampled = if self.is_hindered() {
            Some(self.fail_step(step))
        } else if let Some(request) = self.plain_request(step) {
            Some(self.send(work, step, request).await)
        } else {
            // Boxed: most users never do this, and their tasks should not have room for it.
            Box::pin(self.sample(work, step)).await
        };
        if self.data.scripts.is_some() {
            Box::pin(self.sleep_for_scripts()).await;
        }
        let Some(sampled) = sampled else {
            return After::STEP;
        };
        if std::mem::take(&mut self.sample_is_lost) {
            tokio::task::yield_now().await;
            let ends = self.ends_for_script();
            return ends.map_or(After::STEP, |ends| self.end_for_script(ends));
        }
        self.last_ok = sampled.success;
        self.publish_last_ok(group);
        let is_ignored = self.ignores_sample();
        if let Some(mut row) = sampled.row.filter(|_| !is_ignored) {
            if !step.script_listeners.is_empty() {
                self.tell_scripts(&step.script_listeners, &mut row);
            }
            self.watch(work, step, &row);
            self.walk
                .sample_occurred(&group.tree, step.parent, transaction, &row);
            self.tell_of(step, *row, transaction);
        }
        if let Some(ends) = self.ends_for_script() {
            return self.end_for_script(ends);
        }
        if sampled.success {
            return After::STEP;
        }
        // A sample that fails before it waits for anything must not keep others from running.
        tokio::task::yield_now().await;
        self.after_failure(step, group.on_error)
    }

    /// Tells those who may stop the test of a sample.
    fn watch(&mut self, work: &Work, step: &Step, row: &SampleRow) {
        for place in &step.source.auto_stops {
            let sample = Watched {
                second: row.timestamp_ms.saturating_add(row.elapsed_ms) / 1_000,
                elapsed_ms: row.elapsed_ms,
                latency_ms: row.latency_ms,
                success: row.success,
            };
            if work.watchers[*place].stops(sample, &mut self.scope) {
                self.core.order(Stage::Aborting);
            }
        }
    }

    /// The step is not done, because a script before it cannot be run.
    fn fail_step(&mut self, step: &Step) -> Sampled {
        let started = self.core.clock.now();
        self.core.sample_begins();
        let label = step.source.label.rendered(&mut self.scope);
        let says = self.hindrance().unwrap_or_default();
        self.finish_made(step, started, Made::failed(label, says))
    }

    fn end_for_script(&self, ends: Ends) -> After {
        match ends {
            Ends::Loop => return After::leaving(Leaves::Loop),
            Ends::LoopIteration => return After::leaving(Leaves::LoopIteration),
            Ends::GroupIteration => return After::leaving(Leaves::GroupIteration),
            Ends::User => {}
            Ends::Test => self.core.order(Stage::Stopping),
            Ends::TestNow => self.core.order(Stage::Aborting),
        }
        After::END
    }

    pub(crate) fn publish_last_ok(&mut self, group: &Group) {
        if group.tree.publishes_indices {
            let text = if self.last_ok { "true" } else { "false" };
            self.scope
                .variables
                .set("JMeterThread.last_sample_ok", text);
        }
    }

    /// Takes all values, then sets the variables; of one name the first counts.
    fn set_variables(&mut self, variables: &[Variable<Text>]) {
        let scope = &mut self.scope;
        let mut taken: Vec<(String, String)> = Vec::with_capacity(variables.len());
        for variable in variables {
            let (name, value) = (
                variable.name.rendered(scope),
                variable.value.rendered(scope),
            );
            if !taken.iter().any(|(known, _)| *known == name) {
                taken.push((name, value));
            }
        }
        for (name, value) in &taken {
            scope.variables.set(name, value);
        }
    }

    async fn flow_control(&mut self, flow: &FlowControl<Text>) -> After {
        match flow.action {
            FlowAction::Pause => {
                let pause = flow.pause_ms.rendered(&mut self.scope);
                let pause = Duration::from_millis(pause.trim().parse().unwrap_or(0));
                self.intend_later(pause);
                let until = self.core.clock.now().after(pause);
                self.sleep_until(until).await;
                After::STEP
            }
            FlowAction::Stop | FlowAction::StopNow if !flow.whole_test => After::END,
            FlowAction::Stop => {
                self.core.order(Stage::Stopping);
                After::END
            }
            FlowAction::StopNow => {
                self.core.order(Stage::Aborting);
                After::END
            }
            FlowAction::StartNextGroupLoop => After::leaving(Leaves::GroupIteration),
            FlowAction::StartNextLoop => After::leaving(Leaves::LoopIteration),
            FlowAction::BreakLoop => After::leaving(Leaves::Loop),
        }
    }

    /// What a failed sample leads to: what the handlers say one after the other, then the group.
    fn after_failure(&self, step: &Step, on_error: OnSampleError) -> After {
        let handlers = step.source.on_failure.iter().map(|action| match action {
            ResultAction::As(on_error) => self.after_error(*on_error),
            ResultAction::StartNextLoop => After::leaving(Leaves::LoopIteration),
            ResultAction::BreakLoop => After::leaving(Leaves::Loop),
        });
        let of_handlers = handlers.fold(After::STEP, After::and);
        of_handlers.and(self.after_error(on_error))
    }

    fn after_error(&self, on_error: OnSampleError) -> After {
        match on_error {
            OnSampleError::Continue => After::STEP,
            OnSampleError::StartNextLoop => After::leaving(Leaves::GroupIteration),
            OnSampleError::StopThread => After::END,
            OnSampleError::StopTest => {
                self.core.order(Stage::Stopping);
                After::END
            }
            OnSampleError::StopTestNow => {
                self.core.order(Stage::Aborting);
                After::END
            }
        }
    }

    /// Goes where the step sends the user; `transaction` is the outermost one around it.
    fn turn(
        &mut self,
        group: &Group,
        step: &Step,
        after: After,
        transaction: Option<u32>,
    ) -> After {
        let from = step.parent;
        match after.leaves {
            Leaves::Nothing => {
                if after.ends {
                    self.ask_in_vain(group);
                }
                return after;
            }
            Leaves::GroupIteration => {
                self.look(group, |walk, outside| {
                    walk.start_next_iteration(from, outside);
                });
            }
            Leaves::LoopIteration => {
                self.look(group, |walk, outside| walk.start_next_pass(from, outside));
            }
            Leaves::Loop => self.look(group, |walk, outside| walk.break_loop(from, outside)),
        }
        if let Some(at) = transaction {
            self.tell_early(group, at);
        }
        self.last_ok = true;
        self.publish_last_ok(group);
        after
    }

    /// Waits for the sum of the step's timers; false if the user ends instead of sampling.
    async fn think(&mut self, work: &Work, group: &Group, step: &Step) -> bool {
        let mut pace = Duration::ZERO;
        if step.is_paced {
            let before = self.core.clock.now();
            let paced = Box::pin(self.keep_pace(group, step)).await;
            let Some(paced) = paced else {
                return false;
            };
            let waited = self.core.clock.now().nanos_since(before);
            self.intend_later(Duration::from_nanos(waited));
            pace = paced;
        }
        let (core, outlives) = (&self.core, self.outlives_stop);
        // A user who did nothing since was asked a moment ago whether it may go on.
        let is_at_once =
            !step.is_paced && step.source.timers.is_empty() && step.source.before.is_empty();
        let now = if is_at_once {
            core.latest()
        } else {
            core.now()
        };
        self.scope.epoch_ms = core.clock.epoch_ms(now).cast_signed();
        let mut sum_ms = 0_i64;
        for timer in &step.source.timers {
            let delay_ms = match &timer.kind {
                TimerKind::Script(script) => Some(self.script_delay_ms(step, script)),
                kind => delay_ms(kind, work.plan.timer_factor, &mut self.scope),
            };
            sum_ms = sum_ms.saturating_add(delay_ms.unwrap_or(0));
        }
        let delay_ms = u64::try_from(sum_ms).unwrap_or(0);
        let core = &self.core;
        let meant = now.after(Duration::from_millis(delay_ms).saturating_add(pace));
        // A user whose wait would pass its end leaves at once, without waiting (JMeter).
        let ends = self.ends.filter(|_| group.supply.cuts_waits());
        if !core.runs(outlives) || ends.is_some_and(|ends| now >= ends || meant > ends) {
            return false;
        }
        if meant > now {
            self.intend_later(Duration::from_nanos(meant.nanos_since(now)));
            let (core, timer) = (&self.core, &mut self.client.timer);
            timer.until(meant, || !core.runs(outlives)).await;
            if !core.runs(outlives) {
                return false;
            }
            core.woke(meant);
        }
        true
    }

    /// A wait that the plan asks for is no delay of what comes after it.
    fn intend_later(&mut self, wait: Duration) {
        self.intended = self.intended.map(|intended| intended.after(wait));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<F: Future>(_: impl Fn(User, Option<Moment>) -> F) -> usize {
        size_of::<F>()
    }

    /// What a user costs while it waits, beside its socket: the prototype's 5,000 connections took
    /// 7 MB in all.
    #[test]
    fn a_user_is_small() {
        let bytes = size(User::live);
        assert!(bytes <= 1_400, "{bytes} bytes");
    }
}
