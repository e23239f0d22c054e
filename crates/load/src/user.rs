//! The one loop that every virtual user runs.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use weir_plan::{HttpRequest, OnSampleError, SamplerKind};
use weir_record::{DataType, SampleRow};
use weir_script::{Scope, SentRequest, Text, Unsendable, delay_ms, write_request};

use crate::clock::Moment;
use crate::control::Stage;
use crate::core::Core;
use crate::exchange::{Client, Exchange, Request};
use crate::outcome::{Failure, Place};
use crate::walk::Walk;
use crate::work::{Step, UserStart, Waits, Work};

/// A virtual user.
#[derive(Debug)]
pub(crate) struct User {
    core: Rc<Core>,
    /// Place of the group among [`Work::groups`].
    group: usize,
    thread_name: Arc<str>,
    scope: Scope,
    walk: Walk,
    client: Client,
    ends: Option<Moment>,
}

/// What a user does after a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Step,
    Iteration,
    End,
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
        Self {
            group: start.group,
            thread_name: thread_name.into(),
            scope: core.work.scope(start),
            walk: Walk::new(&group.tree),
            client: Client::new(Rc::clone(core)),
            ends: group.end.map(|end| begin.after(end)),
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
        let tree = &group.tree;
        while !self.walk.is_done() {
            let Some(place) = self.walk.next(tree, &mut self.scope) else {
                continue;
            };
            let step = &group.steps[place as usize];
            if !self.think(&work, step).await || !work.budget.take() {
                return;
            }
            let success = self.sample(&work, step).await;
            match self.after_sample(success, group.on_error).await {
                Next::Step => {}
                Next::Iteration => self.walk.start_next_iteration(tree, place),
                Next::End => return,
            }
        }
    }

    /// Waits for the sum of the step's timers; false if the user ends instead of sampling.
    async fn think(&mut self, work: &Work, step: &Step) -> bool {
        let core = &self.core;
        let now = core.clock.now();
        self.scope.epoch_ms = core.clock.epoch_ms(now).cast_signed();
        let scope = &mut self.scope;
        let delays = step.source.timers.iter();
        let delays =
            delays.filter_map(|timer| delay_ms(&timer.kind, work.plan.timer_factor, scope));
        let delay_ms = delays.fold(0_i64, i64::saturating_add);
        let delay_ms = u64::try_from(delay_ms).unwrap_or(0);
        let meant = now.after(Duration::from_millis(delay_ms));
        // A user whose wait would pass its end leaves at once, without waiting (JMeter).
        if !core.is_running() || self.ends.is_some_and(|ends| now >= ends || meant > ends) {
            return false;
        }
        if delay_ms > 0 {
            let timer = &mut self.client.timer;
            timer.until(meant, || !core.is_running()).await;
            if !core.is_running() {
                return false;
            }
            core.woke(meant);
        }
        true
    }

    async fn after_sample(&self, success: bool, on_error: OnSampleError) -> Next {
        if success {
            return Next::Step;
        }
        // A sample that fails before it waits for anything must not keep others from running.
        tokio::task::yield_now().await;
        match on_error {
            OnSampleError::Continue => Next::Step,
            OnSampleError::StartNextLoop => Next::Iteration,
            OnSampleError::StopThread => Next::End,
            OnSampleError::StopTest => {
                self.core.order(Stage::Stopping);
                Next::End
            }
            OnSampleError::StopTestNow => {
                self.core.order(Stage::Aborting);
                Next::End
            }
        }
    }

    /// Sends one request and counts what became of it; says whether it succeeded.
    async fn sample(&mut self, work: &Work, step: &Step) -> bool {
        let SamplerKind::Http(source) = &step.source.kind else {
            return true;
        };
        let rendered;
        let (class, label) = if let Some(class) = step.label {
            (class, &work.labels[class])
        } else {
            rendered = self.render_label(step);
            (rendered.0, &rendered.1)
        };
        self.core.sample_begins();
        if let Some(prepared) = &step.prepared {
            let request = request(source, step.waits, &prepared.sent, prepared.server);
            let exchange = self.client.exchange(work, &request).await;
            let url = &prepared.url;
            return self.record(
                work,
                prepared.server,
                &exchange,
                Sample { class, label, url },
            );
        }
        let mut sent = self.core.take_request();
        let target = work.target.as_ref();
        let written = write_request(source, target, &mut self.scope, &mut sent);
        let url = if self.core.wants_rows() {
            sent.url.as_str()
        } else {
            ""
        };
        let url = &url.into();
        let sample = Sample { class, label, url };
        let success = match (written, work.server(&sent)) {
            (Ok(()), Some(server)) => {
                let request = request(source, step.waits, &sent, server);
                let exchange = self.client.exchange(work, &request).await;
                self.record(work, server, &exchange, sample)
            }
            (Ok(()), None) => {
                let outcome = Outcome::failed(&Failure::UnknownHost, Place::named(&sent));
                self.record_unsent(outcome, sample)
            }
            (Err(unsendable), _) => self.record_unsent(Outcome::unsendable(&unsendable), sample),
        };
        self.core.put_request(sent);
        success
    }

    fn render_label(&mut self, step: &Step) -> (usize, Arc<str>) {
        let label = step.source.label.rendered(&mut self.scope);
        self.core.class_of(&label)
    }

    fn record(&self, work: &Work, server: usize, exchange: &Exchange, sample: Sample<'_>) -> bool {
        let server = &work.servers[server];
        let place = Place {
            host: &server.host,
            port: server.port,
            addresses: &server.addresses,
        };
        let outcome = Outcome::of(exchange, place);
        self.count(exchange, &outcome, sample.class);
        let success = outcome.success;
        if self.core.wants_rows() {
            self.core.row(self.row(exchange, outcome, sample));
        }
        success
    }

    /// A sample that failed before anything was sent.
    fn record_unsent(&self, outcome: Outcome, sample: Sample<'_>) -> bool {
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
        self.count(&exchange, &outcome, sample.class);
        if self.core.wants_rows() {
            self.core.row(self.row(&exchange, outcome, sample));
        }
        false
    }

    fn count(&self, exchange: &Exchange, outcome: &Outcome, class: usize) {
        let response_us = exchange.ended.micros_since(exchange.started);
        let failed_with = (!outcome.success).then_some(&outcome.code);
        self.core
            .sample_ended(class, exchange.ended, response_us, failed_with);
        self.core.tally(|tally| {
            tally.samples += 1;
            tally.failed += u64::from(!outcome.success);
            tally.received_bytes += exchange.received;
            tally.sent_bytes += exchange.sent;
        });
    }

    fn row(&self, exchange: &Exchange, outcome: Outcome, sample: Sample<'_>) -> SampleRow {
        let clock = &self.core.clock;
        let since_start = |moment: Option<Moment>| {
            moment.map_or(0, |moment| clock.elapsed_ms(exchange.started, moment))
        };
        let (group_threads, all_threads) = self.core.census.alive(self.group);
        SampleRow {
            timestamp_ms: clock.epoch_ms(exchange.started),
            elapsed_ms: since_start(Some(exchange.ended)),
            label: Arc::clone(sample.label),
            response_code: outcome.code,
            response_message: outcome.message,
            thread_name: Arc::clone(&self.thread_name),
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
    waits: Waits,
    sent: &'a SentRequest,
    server: usize,
) -> Request<'a> {
    Request {
        bytes: &sent.bytes,
        server,
        is_head: sent.is_head,
        keep_alive: source.keep_alive,
        connect_timeout: waits.connect,
        response_timeout: waits.response,
        keep_body: None,
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
        assert!(bytes <= 2_000, "{bytes} bytes");
    }
}
