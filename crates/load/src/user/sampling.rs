//! A sample: what its sampler does, what becomes of it, and the row that tells of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use weir_plan::{HttpRequest, SamplerKind};
use weir_record::{DataType, SampleRow};
use weir_script::{PreviousResponse, SentRequest, Text, Unsendable, write_request};

use crate::clock::Moment;
use crate::counts::Count;
use crate::details::{note_exchange, note_redirect};
use crate::http::outcome::{Failure, Place};
use crate::http::request::{BODY_MAX, Exchange};
use crate::http::response::Kept;
use crate::user::User;
use crate::user::fetch::{Common, Embedding, Hands};
use crate::user::leg::{Way, lacks_location};
use crate::user::rows::{Outcome, body_of_failure, name_all, row_of};
use crate::user::seen::Seen;
use crate::work::{Step, Work};

/// What came of a sampler.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) success: bool,
    /// The sample, if somebody in the plan looks at it. Boxed, because every user's task would
    /// have room for it.
    pub(crate) looked_at: Option<Box<LookedAt>>,
}

impl Sampled {
    /// A sample for somebody to look at.
    pub(crate) fn looked_at(row: SampleRow, count: Option<Count>) -> Self {
        Self {
            success: row.success,
            looked_at: Some(Box::new(LookedAt { row, count })),
        }
    }

    /// Whether it would be counted after those who look at it.
    pub(crate) fn is_counted_later(&self) -> bool {
        let looked_at = self.looked_at.as_ref();
        looked_at.is_some_and(|sample| sample.count.is_some())
    }
}

/// A sample that somebody in the plan looks at: scripts may change it until it is counted.
#[derive(Debug)]
pub(crate) struct LookedAt {
    pub(crate) row: SampleRow,
    /// How it is counted; nothing, if its parts are.
    pub(crate) count: Option<Count>,
}

/// What a sample is counted and shown as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub(crate) class: usize,
    pub(crate) label: &'a Arc<str>,
    pub(crate) url: &'a Arc<str>,
}

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Ready {
    class: usize,
    label: Arc<str>,
    pub(crate) url: Arc<str>,
    /// Place of the server among [`Work::servers`].
    pub(crate) server: usize,
    /// The request, unless it was prepared before the test.
    pub(crate) own: Option<Box<SentRequest>>,
}

/// A request as it was written, and why it cannot be sent, if it cannot.
#[derive(Debug)]
pub(crate) struct Written {
    sent: Box<SentRequest>,
    done: Result<(), Unsendable>,
}

impl Ready {
    pub(crate) fn sent<'a>(&'a self, step: &'a Step) -> &'a SentRequest {
        let prepared = || step.prepared.as_ref().map(|prepared| &prepared.sent);
        let own = self.own.as_deref();
        own.or_else(prepared)
            .expect("a request is its sample's own or prepared")
    }

    pub(crate) fn sample(&self) -> Sample<'_> {
        Sample {
            class: self.class,
            label: &self.label,
            url: &self.url,
        }
    }
}

impl User {
    /// The request of a step that does nothing else: no script has changed it, no manager looks at
    /// it, no link leads somewhere else.
    pub(crate) fn plain_request<'a>(&self, step: &'a Step) -> Option<&'a HttpRequest<Text>> {
        match &step.source.kind {
            SamplerKind::Http(source)
                if !step.is_managed
                    && !step.follows_link
                    && !step.finds_server
                    && !self.has_changed_request() =>
            {
                Some(source)
            }
            _ => None,
        }
    }

    /// Does what the sampler does and counts what became of it; nothing if it gives no sample.
    pub(crate) async fn sample(&mut self, work: &Work, step: &Step) -> Option<Sampled> {
        Some(match &step.source.kind {
            SamplerKind::Http(_) if self.has_changed_request() => {
                let changed = self.changed_request()?;
                return self.send_any(work, step, &changed).await;
            }
            SamplerKind::Http(source) => return self.send_any(work, step, source).await,
            SamplerKind::JavaTest(test) => self.java_test(step, test).await,
            SamplerKind::Debug {
                variables,
                properties,
            } => self.debug(step, *variables, *properties),
            SamplerKind::Dummy(dummy) => self.dummy(step, dummy).await,
            SamplerKind::Script(script) => self.sample_script(step, script).await,
            SamplerKind::Parallel(parallel) => {
                return self.run_parallel(work, step, parallel).await;
            }
            // They give no sample.
            SamplerKind::FlowControl(_) | SamplerKind::SetVariables(_) => Sampled {
                success: true,
                looked_at: None,
            },
        })
    }

    /// Sends a request that managers look at, or that may lead where a link does.
    async fn send_any(
        &mut self,
        work: &Work,
        step: &Step,
        source: &HttpRequest<Text>,
    ) -> Option<Sampled> {
        if step.is_managed {
            return self.send_managed(work, step, source).await;
        }
        let followed = if step.follows_link {
            self.follow_link(work, source)
        } else {
            None
        };
        let source = followed.as_deref().unwrap_or(source);
        Some(self.send(work, step, source).await)
    }

    /// Sends one request, goes on from its response if that asks for more, and counts what became
    /// of it.
    ///
    /// All tasks have room for what is alive while an answer is waited for: what is not ends
    /// before.
    pub(crate) async fn send(
        &mut self,
        work: &Work,
        step: &Step,
        source: &HttpRequest<Text>,
    ) -> Sampled {
        let written = self.write(work, step, source).await;
        let mut ready = match self.make_ready(work, step, written) {
            Ok(ready) => ready,
            Err(sampled) => return sampled,
        };
        let sampled = {
            let rest = {
                let sent = ready.sent(step);
                let request = way(work, step, source).request(sent, ready.server);
                let exchange = self.client.exchange(&work.servers, &request).await;
                if goes_on(&exchange, sent, source) {
                    let way = way(work, step, source);
                    Err(Box::pin(self.go_on(way, step, &ready, exchange)))
                } else {
                    let outcome = Outcome::of(&exchange, work.servers[ready.server].place());
                    Ok(self.finish(exchange, outcome, step, sent, ready.sample()))
                }
            };
            match rest {
                Ok(sampled) => sampled,
                Err(rest) => rest.await,
            }
        };
        if let Some(own) = ready.own.take() {
            self.core.put_request(own);
        }
        sampled
    }

    /// Builds the request of a sample, unless it was prepared before the test, and looks for its
    /// server where that may be another one each time.
    pub(crate) async fn write(
        &mut self,
        work: &Work,
        step: &Step,
        source: &HttpRequest<Text>,
    ) -> Option<Written> {
        self.renew_connections(work);
        self.core.sample_begins();
        if step.prepared.is_some() && step.is_planned(source) {
            return None;
        }
        let mut sent = self.core.take_request();
        let target = work.target.as_ref();
        let done = write_request(source, target, &mut self.scope, &mut sent);
        if done.is_ok() && (step.finds_server || self.has_changed_request()) {
            // Boxed: most requests never do this.
            Box::pin(self.find_server(work, &sent)).await;
        }
        Some(Written { sent, done })
    }

    /// Says where a request goes and what its sample is called, or counts a sample that cannot be
    /// sent.
    pub(crate) fn make_ready(
        &mut self,
        work: &Work,
        step: &Step,
        written: Option<Written>,
    ) -> Result<Ready, Sampled> {
        if let Some(says) = self.scope.beyond.take() {
            self.hinder_for_text(*says);
            return Err(self.fail_begun(step));
        }
        // The name is what JMeter looks at last.
        let (class, label) = self.label(work, step);
        let Some(Written { sent, done }) = written else {
            let prepared = step.prepared.as_ref();
            let prepared = prepared.expect("a request is written or prepared");
            return Ok(Ready {
                class,
                label,
                url: Arc::clone(&prepared.url),
                server: prepared.server,
                own: None,
            });
        };
        let url: Arc<str> = if self.core.wants_rows() || step.is_looked_at || step.is_remembered {
            sent.url.as_str().into()
        } else {
            Arc::default()
        };
        let failure = match (done, work.server(&sent)) {
            (Ok(()), Some(server)) => {
                return Ok(Ready {
                    class,
                    label,
                    url,
                    server,
                    own: Some(sent),
                });
            }
            (Ok(()), None) => self.refusal(),
            (Err(unsendable), _) => Failure::Unsendable(unsendable.into()),
        };
        let outcome = Outcome::failed(&failure, Place::named(&sent));
        let exchange = Exchange::unsent(self.core.clock.now(), failure);
        // JMeter names no sample that has not even a URL.
        let label = if sent.url.is_empty() {
            Arc::default()
        } else {
            label
        };
        let (label, url) = (&label, &url);
        let sample = Sample { class, label, url };
        let sampled = self.finish(exchange, outcome, step, &sent, sample);
        self.core.put_request(sent);
        Err(sampled)
    }

    /// Follows redirects and fetches what pages embed, then counts all of it as one sample.
    pub(crate) async fn go_on(
        &mut self,
        way: Way<'_>,
        step: &Step,
        ready: &Ready,
        exchange: Exchange,
    ) -> Sampled {
        let sample = ready.sample();
        let started = exchange.started;
        let core = Rc::clone(&self.core);
        let embedded = way.source.embedded.as_ref();
        let embedding = embedded.map(|resources| Embedding::of(resources, &mut self.scope));
        let common = Common {
            core: &core,
            way,
            first: ready.sent(step),
            scope: has_fields_to_make(way.source).then(|| RefCell::new(&mut self.scope)),
            label: sample.label,
            embedding,
            keeps_parts: step.looks_into() || step.wanted.details,
        };
        let mut hands = Hands {
            client: &mut self.client,
            more: Some(&mut self.more_clients),
        };
        let redirected = exchange.is_redirected();
        let fetched = common.go_on(&mut hands, exchange, ready.server).await;
        if redirected {
            core.sample_redirected(fetched.ended);
        }
        if let Some(session) = way.session {
            self.set_saved_cookies(session);
        }
        let answered = Answered {
            started,
            ended: fetched.ended,
            kept: fetched.kept,
        };
        let sampled = self.conclude(fetched.row, answered, step, &fetched.sent, sample);
        self.core.put_request(fetched.sent);
        sampled
    }

    /// What a sample is counted and shown as.
    fn label(&mut self, work: &Work, step: &Step) -> (usize, Arc<str>) {
        match (self.label_by_script(), step.label) {
            (Some(label), _) => self.core.class_of(label),
            (None, Some(class)) => (class, Arc::clone(&work.labels[class])),
            (None, None) => {
                let name = self.scope.sampler_name();
                self.core.class_of(&name)
            }
        }
    }

    /// Counts a sample of one exchange.
    pub(crate) fn finish(
        &mut self,
        exchange: Exchange,
        outcome: Outcome,
        step: &Step,
        sent: &SentRequest,
        sample: Sample<'_>,
    ) -> Sampled {
        if exchange.is_redirected() {
            self.core.sample_redirected(exchange.ended);
        }
        if self.core.wants_rows() || step.is_looked_at || step.is_remembered {
            let (label, url) = (sample.label, sample.url);
            let row = row_of(&self.core.clock, &exchange, outcome, label, url);
            let answered = Answered {
                started: exchange.started,
                ended: exchange.ended,
                kept: exchange.kept,
            };
            return self.conclude(row, answered, step, sent, sample);
        }
        let count = self.count_of(exchange.started, exchange.ended, sample.class);
        let bytes = (exchange.received, exchange.sent);
        self.core
            .sample_ended(count, &outcome.code, outcome.success, bytes);
        Sampled {
            success: outcome.success,
            looked_at: None,
        }
    }

    /// Counts a sample with its row, after everybody who looks into it has.
    pub(crate) fn conclude(
        &mut self,
        mut row: SampleRow,
        answered: Answered,
        step: &Step,
        sent: &SentRequest,
        sample: Sample<'_>,
    ) -> Sampled {
        self.sign_all(&mut row);
        let mut rewritten = None;
        let mut as_part = None;
        let is_seen = step.is_remembered || step.looks_into();
        let failed =
            (is_seen && answered.kept.is_none()).then(|| Kept::of_body(body_of_failure(&row)));
        let kept = answered.kept.as_deref().or(failed.as_ref());
        if step.is_remembered {
            self.remember_response(&row, kept);
        }
        if step.looks_into() {
            let empty = Kept::default();
            let mut seen = Seen::http(sent, kept.unwrap_or(&empty));
            self.look_into(step, &mut row, &mut seen);
            as_part = step.is_seen_as_part.then(|| seen.part());
            rewritten = seen.rewritten();
        }
        if step.wanted.details {
            note_exchange(&mut row, sent, answered.kept.as_deref(), step.wanted);
            note_redirect(&mut row);
            if let Some(rewritten) = rewritten {
                rewritten.note(&mut row, step.wanted);
            }
        }
        if let Some(part) = as_part {
            part.note(&mut row);
        }
        if let Some(kept) = answered.kept {
            self.client.give_back(kept);
        }
        let count = self.count_of(answered.started, answered.ended, sample.class);
        if step.is_looked_at {
            return Sampled::looked_at(row, Some(count));
        }
        let success = row.success;
        self.count(count, &row);
        self.tell(row, step.audience);
        Sampled {
            success,
            looked_at: None,
        }
    }

    /// Writes whose it is into a sample and its parts, as JMeter does: parts of parts do not tell
    /// who else is alive.
    fn sign_all(&self, row: &mut SampleRow) {
        self.sign(row);
        for part in &mut row.children {
            self.sign(part);
            for inner in &mut part.children {
                name_all(inner, &row.thread_name);
            }
        }
    }

    /// Keeps a response for those who may look at it later.
    fn remember_response(&mut self, row: &SampleRow, kept: Option<&Kept>) {
        let head = kept.map(Kept::head_text).unwrap_or_default();
        let lines = head.lines().filter(|line| !line.is_empty());
        self.scope.previous = Some(Arc::new(PreviousResponse {
            body: kept.map_or_else(String::new, |kept| {
                String::from_utf8_lossy(&kept.body).into_owned()
            }),
            headers: lines.flat_map(|line| [line, "\n"]).collect(),
            code: row.response_code.to_string(),
            message: row.response_message.to_string(),
            url: row.url.to_string(),
        }));
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

    fn count_of(&mut self, started: Moment, ended: Moment, class: usize) -> Count {
        Count {
            class,
            ended,
            response_us: self.response_us(started, ended),
        }
    }

    /// Counts a sample as those who looked at it have left it.
    pub(crate) fn count(&self, mut count: Count, row: &SampleRow) {
        if !self.core.is_of_class(&row.label, count.class) {
            (count.class, _) = self.core.class_of(&row.label);
        }
        let bytes = (row.received_bytes, row.sent_bytes);
        self.core
            .sample_ended(count, &row.response_code, row.success, bytes);
    }
}

/// A sample of one or more exchanges, beside its row.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) started: Moment,
    pub(crate) ended: Moment,
    /// Of the last response.
    pub(crate) kept: Option<Box<Kept>>,
}

/// How the requests of a step go out.
pub(crate) fn way<'a>(work: &'a Work, step: &Step, source: &'a HttpRequest<Text>) -> Way<'a> {
    let keeps = step.keeps();
    Way {
        work,
        source,
        waits: step.waits,
        keep_body: source.embedded.as_ref().map_or(keeps, |_| Some(BODY_MAX)),
        session: None,
    }
}

/// Whether a response asks for more, or lacks what it must say.
pub(crate) fn goes_on(exchange: &Exchange, sent: &SentRequest, source: &HttpRequest<Text>) -> bool {
    let Ok(head) = &exchange.outcome else {
        return false;
    };
    let is_page = source.embedded.is_some()
        && head.data_type == DataType::Text
        && (200..400).contains(&head.status.number);
    let leads = head.status.number / 100 == 3
        && (source.auto_redirects || source.follow_redirects && head.is_redirect(sent.method()));
    is_page || leads || lacks_location(exchange, sent)
}

/// Whether header fields of a request may be others at the next request of its sample.
fn has_fields_to_make(request: &HttpRequest<Text>) -> bool {
    let mut fields = request.headers.iter();
    fields.any(|(name, value)| name.constant().is_none() || value.constant().is_none())
}
