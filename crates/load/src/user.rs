//! The one loop that every virtual user runs.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use weir_plan::{
    ControllerKind, FlowAction, FlowControl, HttpRequest, OnSampleError, PreProcessor,
    ResultAction, SamplerKind,
};
use weir_record::{DataType, SampleRow};
use weir_script::{Ends, Scope, SentRequest, Text, Unsendable, delay_ms, write_request};

use crate::auto_stop::Watched;
use crate::clock::Moment;
use crate::control::Stage;
use crate::core::Core;
use crate::exchange::{BODY_MAX, Client, Exchange, Request};
use crate::iterations::{Data, set_parameters};
use crate::look_into::Seen;
use crate::made_up::Made;
use crate::outcome::{Failure, Place};
use crate::pacing::Paces;
use crate::response::Kept;
use crate::transaction::{Closed, Whole};
use crate::walk::{Next, Outside, Walk};
use crate::work::{Group, Step, UserStart, Work};

/// A virtual user.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) core: Rc<Core>,
    /// Place of the group among [`Work::groups`].
    pub(crate) group: usize,
    pub(crate) scope: Scope,
    walk: Walk,
    pub(crate) data: Box<Data>,
    client: Client,
    ends: Option<Moment>,
    last_ok: bool,
    /// The group runs although the test was stopped.
    outlives_stop: bool,
    /// When the next sample should start, if that was known before.
    pub(crate) intended: Option<Moment>,
    has_begun: bool,
    /// When throughput timers have let samples go; most users have none.
    paces: Option<Box<Paces>>,
}

/// What a user does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Step,
    GroupIteration,
    LoopIteration,
    Break,
    End,
}

/// What came of a sampler.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) success: bool,
    /// The sample, if somebody in the plan looks at it. Boxed, because every user's task would have
    /// room for it.
    pub(crate) row: Option<Box<SampleRow>>,
}

/// What a sample is counted and shown as.
#[derive(Debug, Clone, Copy)]
struct Sample<'a> {
    class: usize,
    label: &'a Arc<str>,
    url: &'a Arc<str>,
}

/// A sample's outcome in the words of its row.
#[derive(Debug)]
struct Outcome {
    success: bool,
    code: Arc<str>,
    message: Arc<str>,
    data_type: DataType,
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
            outlives_stop: group.outlives_stop,
            client: Client::new(Rc::clone(core)),
            ends: start.end.or(group.end).map(|end| begin.after(end)),
            intended: None,
            has_begun: false,
            paces: None,
            core: Rc::clone(core),
        }
    }

    /// Lives from its start, which was meant to be at `meant`, to its end.
    pub(crate) async fn live(mut self, meant: Moment) {
        self.core.woke(meant);
        self.iterate().await;
        self.core.user_ended(self.group);
    }

    async fn iterate(&mut self) {
        let work = Arc::clone(&self.core.work);
        let group = &work.groups[self.group];
        self.look(group, super::walk::Walk::begin);
        while !self.walk.is_done() && self.may_go_on() && self.advance(&work, group).await {}
    }

    /// Goes once through the plan, in groups that say when; false when the user ends.
    pub(crate) async fn iteration(&mut self) -> bool {
        let work = Arc::clone(&self.core.work);
        let group = &work.groups[self.group];
        if !self.has_begun {
            self.has_begun = true;
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
                self.turn(group, step.parent, after, None)
            }
            // Boxed: most users never do this, and their tasks should not have room for it.
            Some(Next::Transaction(at)) => Box::pin(self.transaction(work, group, at)).await,
        };
        after != After::End
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
        let now = self.core.clock.now();
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
            is_over: false,
            depth: 0,
        };
        let answer = walk(&mut self.walk, &mut outside);
        for transaction in closed {
            self.deliver(transaction);
        }
        answer
    }

    fn deliver(&self, mut closed: Closed) {
        if closed.is_whole {
            self.sign(&mut closed.row);
        }
        self.core.row(closed.row);
    }

    /// Writes into a transaction's row whose it is, and who else is alive.
    fn sign(&self, row: &mut SampleRow) {
        row.thread_name = self.thread_name();
        (row.group_threads, row.all_threads) = self.alive();
    }

    async fn take_lock(&mut self, group: &Group, at: u32) {
        let controller = &group.tree.controllers[at as usize];
        let ControllerKind::CriticalSection { lock } = &controller.kind else {
            return;
        };
        let name = lock.rendered(&mut self.scope);
        let lock = self.core.work.shared.lock(&name);
        // A stop is looked for from time to time, because only timers hear of it.
        while self.core.runs(self.outlives_stop) {
            let until = self.core.clock.now().after(Duration::from_millis(50));
            let waiting = Arc::clone(&lock).acquire_owned();
            if let Some(Ok(permit)) = self.client.timer.within(Some(until), waiting).await {
                self.walk.enter(at, permit);
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
                    return self.turn(group, step.parent, after, Some(outermost));
                }
                _ => {
                    self.end_transaction(group, &chain);
                    return After::Step;
                }
            }
        }
    }

    /// The innermost transaction of a chain has ended: it becomes a part of the next, or a sample.
    fn end_transaction(&mut self, group: &Group, chain: &[u32]) {
        let Some((inner, outer)) = chain.split_last() else {
            return;
        };
        let Some(mut row) = self.walk.whole(*inner).map(Whole::take_row) else {
            return;
        };
        self.sign(&mut row);
        if let ControllerKind::Transaction(kind) = &group.tree.controllers[*inner as usize].kind {
            self.judge_transaction(&kind.assertions, &mut row);
        }
        self.last_ok = row.success;
        self.publish_last_ok(group);
        if let Some(outer) = outer.last() {
            if let Some(whole) = self.walk.whole(*outer) {
                whole.add(row);
            }
        } else {
            let parent = group.tree.controllers[*inner as usize].parent;
            self.walk.sample_occurred(&group.tree, parent, None, &row);
            self.core.row(row);
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
        for processor in &step.source.before {
            match processor {
                PreProcessor::UserParameters(parameters) => {
                    set_parameters(parameters, &mut self.scope);
                }
                PreProcessor::Script(script) => self.run_before(step, script),
            }
        }
        if self.data.scripts.is_some() {
            Box::pin(self.sleep_for_scripts()).await;
        }
        if !self.think(work, group, step).await {
            return After::End;
        }
        if let SamplerKind::FlowControl(flow) = &step.source.kind {
            return Box::pin(self.flow_control(flow)).await;
        }
        if !work.budget.take() {
            return After::End;
        }
        let sampled = if self.is_hindered() {
            self.fail_step(step)
        } else {
            self.sample(work, step).await
        };
        if self.data.scripts.is_some() {
            Box::pin(self.sleep_for_scripts()).await;
        }
        self.last_ok = sampled.success;
        self.publish_last_ok(group);
        let is_ignored = self.ignores_sample();
        if let Some(row) = sampled.row.filter(|_| !is_ignored) {
            self.watch(work, step, &row);
            self.walk
                .sample_occurred(&group.tree, step.parent, transaction, &row);
            match transaction.and_then(|at| self.walk.whole(at)) {
                Some(whole) => whole.add(*row),
                None => self.core.row(*row),
            }
        }
        if let Some(ends) = self.ends_for_script() {
            return self.end_for_script(ends);
        }
        if sampled.success {
            return After::Step;
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
            Ends::GroupIteration => return After::GroupIteration,
            Ends::User => {}
            Ends::Test => self.core.order(Stage::Stopping),
            Ends::TestNow => self.core.order(Stage::Aborting),
        }
        After::End
    }

    fn publish_last_ok(&mut self, group: &Group) {
        if group.tree.publishes_indices {
            let text = if self.last_ok { "true" } else { "false" };
            self.scope
                .variables
                .set("JMeterThread.last_sample_ok", text);
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
                After::Step
            }
            FlowAction::Stop | FlowAction::StopNow if !flow.whole_test => After::End,
            FlowAction::Stop => {
                self.core.order(Stage::Stopping);
                After::End
            }
            FlowAction::StopNow => {
                self.core.order(Stage::Aborting);
                After::End
            }
            FlowAction::StartNextGroupLoop => After::GroupIteration,
            FlowAction::StartNextLoop => After::LoopIteration,
            FlowAction::BreakLoop => After::Break,
        }
    }

    fn after_failure(&self, step: &Step, on_error: OnSampleError) -> After {
        let mut after = self.after_error(on_error);
        for action in &step.source.on_failure {
            let asked = match action {
                ResultAction::As(on_error) => self.after_error(*on_error),
                ResultAction::StartNextLoop => After::LoopIteration,
                ResultAction::BreakLoop => After::Break,
            };
            if after == After::Step || asked == After::End {
                after = asked;
            }
        }
        after
    }

    fn after_error(&self, on_error: OnSampleError) -> After {
        match on_error {
            OnSampleError::Continue => After::Step,
            OnSampleError::StartNextLoop => After::GroupIteration,
            OnSampleError::StopThread => After::End,
            OnSampleError::StopTest => {
                self.core.order(Stage::Stopping);
                After::End
            }
            OnSampleError::StopTestNow => {
                self.core.order(Stage::Aborting);
                After::End
            }
        }
    }

    /// Goes where the step sends the user; `transaction` is the outermost one around it.
    fn turn(&mut self, group: &Group, from: u32, after: After, transaction: Option<u32>) -> After {
        match after {
            After::Step | After::End => return after,
            After::GroupIteration => {
                self.look(group, |walk, outside| {
                    walk.start_next_iteration(from, outside);
                });
            }
            After::LoopIteration => {
                self.look(group, |walk, outside| walk.start_next_pass(from, outside));
            }
            After::Break => self.look(group, |walk, outside| walk.break_loop(from, outside)),
        }
        // A transaction around the loop is reported too, as JMeter does.
        if let Some(at) = transaction
            && self.walk.whole(at).is_some_and(|whole| !whole.is_done)
        {
            self.look(group, |walk, outside| walk.close_whole(at, outside));
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
        let now = core.clock.now();
        self.scope.epoch_ms = core.clock.epoch_ms(now).cast_signed();
        let scope = &mut self.scope;
        let delays = step.source.timers.iter();
        let delays =
            delays.filter_map(|timer| delay_ms(&timer.kind, work.plan.timer_factor, scope));
        let delay_ms = delays.fold(0_i64, i64::saturating_add);
        let delay_ms = u64::try_from(delay_ms).unwrap_or(0);
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

    /// Does what the sampler does and counts what became of it.
    async fn sample(&mut self, work: &Work, step: &Step) -> Sampled {
        match &step.source.kind {
            SamplerKind::Http(_) if self.has_changed_request() => {
                Box::pin(self.send_changed(work, step)).await
            }
            SamplerKind::Http(source) => self.send(work, step, source).await,
            SamplerKind::JavaTest(test) => Box::pin(self.java_test(step, test)).await,
            SamplerKind::Debug {
                variables,
                properties,
            } => self.debug(step, *variables, *properties),
            SamplerKind::Dummy(dummy) => Box::pin(self.dummy(step, dummy)).await,
            SamplerKind::Script(script) => Box::pin(self.sample_script(step, script)).await,
            // Flow control gives no sample.
            SamplerKind::FlowControl(_) => Sampled {
                success: true,
                row: None,
            },
        }
    }

    /// Sends the request that scripts have made of the step's.
    async fn send_changed(&mut self, work: &Work, step: &Step) -> Sampled {
        match self.changed_request() {
            Some(changed) => self.send(work, step, &changed).await,
            None => Sampled {
                success: true,
                row: None,
            },
        }
    }

    /// Sends one request and counts what became of it.
    async fn send(&mut self, work: &Work, step: &Step, source: &HttpRequest<Text>) -> Sampled {
        let rendered;
        let (class, label) = if let Some(class) = step.label {
            (class, &work.labels[class])
        } else {
            rendered = self.render_label(step);
            (rendered.0, &rendered.1)
        };
        self.core.sample_begins();
        if let Some(prepared) = &step.prepared
            && step.is_planned(source)
        {
            let request = request(source, step, &prepared.sent, prepared.server);
            let exchange = self.client.exchange(work, &request).await;
            let url = &prepared.url;
            let sample = Sample { class, label, url };
            return self.record(
                work,
                prepared.server,
                exchange,
                step,
                &prepared.sent,
                sample,
            );
        }
        let mut sent = self.core.take_request();
        let target = work.target.as_ref();
        let written = write_request(source, target, &mut self.scope, &mut sent);
        let url = if self.core.wants_rows() || step.is_looked_at {
            sent.url.as_str()
        } else {
            ""
        };
        let url = &url.into();
        let sample = Sample { class, label, url };
        let sampled = match (written, work.server(&sent)) {
            (Ok(()), Some(server)) => {
                let request = request(source, step, &sent, server);
                let exchange = self.client.exchange(work, &request).await;
                self.record(work, server, exchange, step, &sent, sample)
            }
            (Ok(()), None) => {
                let outcome = Outcome::failed(&Failure::UnknownHost, Place::named(&sent));
                self.record_unsent(outcome, step, &sent, sample)
            }
            (Err(unsendable), _) => {
                self.record_unsent(Outcome::unsendable(&unsendable), step, &sent, sample)
            }
        };
        self.core.put_request(sent);
        sampled
    }

    fn render_label(&mut self, step: &Step) -> (usize, Arc<str>) {
        let label = step.source.label.rendered(&mut self.scope);
        self.core.class_of(&label)
    }

    fn record(
        &mut self,
        work: &Work,
        server: usize,
        exchange: Exchange,
        step: &Step,
        sent: &SentRequest,
        sample: Sample<'_>,
    ) -> Sampled {
        let outcome = Outcome::of(&exchange, work.servers[server].place());
        self.finish(exchange, outcome, step, sent, sample)
    }

    /// A sample that failed before anything was sent.
    fn record_unsent(
        &mut self,
        outcome: Outcome,
        step: &Step,
        sent: &SentRequest,
        sample: Sample<'_>,
    ) -> Sampled {
        let now = self.core.clock.now();
        let exchange = Exchange {
            started: now,
            connected: None,
            first_body: None,
            ended: now,
            received: 0,
            sent: 0,
            outcome: Err(Failure::UnknownHost),
            kept: None,
        };
        self.finish(exchange, outcome, step, sent, sample)
    }

    /// Counts a sample, after everybody who looks into it has.
    fn finish(
        &mut self,
        mut exchange: Exchange,
        outcome: Outcome,
        step: &Step,
        sent: &SentRequest,
        sample: Sample<'_>,
    ) -> Sampled {
        let mut success = outcome.success;
        let code = Arc::clone(&outcome.code);
        let mut row = None;
        if self.core.wants_rows() || step.is_looked_at {
            let mut made = self.row(&exchange, outcome, sample);
            let kept = exchange.kept.take();
            if step.looks_into() {
                let empty = Kept::default();
                let mut seen = Seen::http(sent, kept.as_deref().unwrap_or(&empty));
                self.look_into(step, &mut made, &mut seen);
                success = made.success;
            }
            if let Some(kept) = kept {
                self.client.give_back(kept);
            }
            if step.is_looked_at {
                row = Some(Box::new(made));
            } else {
                self.core.row(made);
            }
        }
        self.count(&exchange, success, &code, sample.class);
        Sampled { success, row }
    }

    fn count(&mut self, exchange: &Exchange, success: bool, code: &Arc<str>, class: usize) {
        let response_us = self.response_us(exchange.started, exchange.ended);
        let failed_with = (!success).then_some(code);
        self.core
            .sample_ended(class, exchange.ended, response_us, failed_with);
        self.core.tally(|tally| {
            tally.samples += 1;
            tally.failed += u64::from(!success);
            tally.received_bytes += exchange.received;
            tally.sent_bytes += exchange.sent;
        });
    }

    /// The response time of a sample: from when it should have started, if that was known before.
    pub(crate) fn response_us(&mut self, started: Moment, ended: Moment) -> u64 {
        let service_us = ended.micros_since(started);
        let Some(intended) = self.intended.take() else {
            return service_us;
        };
        let start_delay_us = started.micros_since(intended);
        self.core.open_sample(ended, service_us, start_delay_us);
        ended.micros_since(intended)
    }

    fn row(&self, exchange: &Exchange, outcome: Outcome, sample: Sample<'_>) -> SampleRow {
        let clock = &self.core.clock;
        let since_start = |moment: Option<Moment>| {
            moment.map_or(0, |moment| clock.elapsed_ms(exchange.started, moment))
        };
        let (group_threads, all_threads) = self.alive();
        SampleRow {
            timestamp_ms: clock.epoch_ms(exchange.started),
            elapsed_ms: since_start(Some(exchange.ended)),
            label: Arc::clone(sample.label),
            response_code: outcome.code,
            response_message: outcome.message,
            thread_name: self.thread_name(),
            data_type: outcome.data_type,
            success: outcome.success,
            failure_message: Arc::default(),
            received_bytes: exchange.received,
            sent_bytes: exchange.sent,
            group_threads,
            all_threads,
            url: Arc::clone(sample.url),
            latency_ms: since_start(exchange.first_body),
            idle_ms: 0,
            connect_ms: since_start(exchange.connected),
            is_http: true,
            ..SampleRow::default()
        }
    }
}

impl Outcome {
    fn of(exchange: &Exchange, place: Place<'_>) -> Self {
        let head = match &exchange.outcome {
            Ok(head) => head,
            Err(failure) => return Self::failed(failure, place),
        };
        Self {
            success: (200..400).contains(&head.status.number),
            code: Arc::clone(&head.status.code),
            message: Arc::clone(&head.status.reason),
            data_type: head.data_type,
        }
    }

    fn failed(failure: &Failure, place: Place<'_>) -> Self {
        Self {
            success: false,
            code: format!("Non HTTP response code: {}", failure.class()).into(),
            message: format!("Non HTTP response message: {}", failure.message(place)).into(),
            data_type: DataType::Text,
        }
    }

    fn unsendable(unsendable: &Unsendable) -> Self {
        Self {
            success: false,
            code: unsendable.response_code().into(),
            message: unsendable.response_message().into(),
            data_type: DataType::Text,
        }
    }
}

fn request<'a>(
    source: &HttpRequest<Text>,
    step: &Step,
    sent: &'a SentRequest,
    server: usize,
) -> Request<'a> {
    Request {
        bytes: &sent.bytes,
        server,
        is_head: sent.is_head,
        keep_alive: source.keep_alive,
        connect_timeout: step.waits.connect,
        response_timeout: step.waits.response,
        keep_body: step.looks_into().then_some(BODY_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<F: Future>(_: impl Fn(User, Moment) -> F) -> usize {
        size_of::<F>()
    }

    /// What a user costs while it waits, beside its socket: the prototype's 5,000 connections took
    /// 7 MB in all.
    #[test]
    fn a_user_is_small() {
        let bytes = size(User::live);
        assert!(bytes <= 2_200, "{bytes} bytes");
    }
}
