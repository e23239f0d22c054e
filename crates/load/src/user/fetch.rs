//! A request with all that follows from it: redirects, and what a page embeds.
//!
//! JMeter makes one result of all of it. [`Fetched`] is that result while it is made, and the two
//! files below are its two ways to grow. What the result says where, and what it counts twice, is
//! JMeter 5.6.3's, measured.

mod embed;
mod follow;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use weir_record::{DataType, SampleRow};
use weir_script::{Carries, Scope, SentRequest, write_follow_up};

use crate::clock::Moment;
use crate::core::Core;
use crate::http::client::Client;
use crate::http::outcome::{Failure, Place};
use crate::http::request::Exchange;
use crate::http::response::Kept;
use crate::user::leg::{Way, with_location};
use crate::user::rows::{Outcome, row_of, row_of_known};
use crate::user::seen::part_details;

pub(crate) use embed::{Embedding, all};

/// Frames in frames that are looked into: JMeter's default (`httpsampler.max_frame_depth`).
const FRAMES_MAX: u32 = 5;

/// What all requests of a sample have in common.
#[derive(Debug)]
pub(crate) struct Common<'a> {
    pub(crate) core: &'a Rc<Core>,
    pub(crate) way: Way<'a>,
    /// The sampler's own request.
    pub(crate) first: &'a SentRequest,
    /// What the header fields of each request are made of anew; `None`: they are always the same.
    pub(crate) scope: Option<RefCell<&'a mut Scope>>,
    /// The sampler's label.
    pub(crate) label: &'a Arc<str>,
    pub(crate) embedding: Option<Embedding>,
    /// Somebody looks into the parts of the sample.
    pub(crate) keeps_parts: bool,
}

/// A user's hands: the connection it always has, and those for several requests at once.
#[derive(Debug)]
pub(crate) struct Hands<'a> {
    pub(crate) client: &'a mut Client,
    /// `None`: one request after the other.
    pub(crate) more: Option<&'a mut Vec<Client>>,
}

/// A request, its response, and what has followed from it so far.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) row: SampleRow,
    /// The last request.
    pub(crate) sent: Box<SentRequest>,
    /// What was kept of the last response.
    pub(crate) kept: Option<Box<Kept>>,
    /// Where the last response leads, if it is a redirect.
    location: Option<Box<str>>,
    /// When the last of all responses ended.
    pub(crate) ended: Moment,
}

/// What to ask for.
#[derive(Debug)]
struct Asked<'a> {
    url: &'a str,
    method: &'static str,
    carries: Carries,
    /// It is the target of a redirect, which whoever follows goes on from.
    is_target: bool,
    depth: u32,
}

impl Common<'_> {
    /// Goes on from the sampler's own exchange with a server.
    pub(crate) async fn go_on(
        &self,
        hands: &mut Hands<'_>,
        exchange: Exchange,
        server: usize,
    ) -> Fetched {
        let mut server = server;
        let mut sent = self.core.take_request();
        (*sent).clone_from(self.first);
        let exchange = with_location(exchange, &sent);
        let way = self.way;
        let exchange = way.go_on(hands.client, &mut sent, &mut server, exchange);
        let exchange = exchange.await;
        let fetched = self.fetched(sent, exchange, Some(server));
        let mut whole = self.process(hands, fetched, false, 0).await;
        // Whoever looks at the whole has the last response itself.
        whole.row.details = None;
        whole
    }

    /// Asks for a URL, and goes on from there; nothing if its answer is known, fresh and no sample.
    async fn fetch(&self, hands: &mut Hands<'_>, asked: Asked<'_>) -> Option<Fetched> {
        let mut sent = self.core.take_request();
        let Asked {
            url,
            method,
            carries,
            ..
        } = asked;
        let mut scope = self.scope.as_ref().map(RefCell::borrow_mut);
        let fields = scope
            .as_deref_mut()
            .map(|scope| (self.way.source, &mut **scope));
        let written = write_follow_up(self.first, method, url, carries, fields, &mut sent);
        drop(scope);
        let reached = match written {
            Ok(()) => self.way.work.servers.reach(&sent).await,
            Err(unsendable) => Err(Failure::Unsendable(unsendable.into())),
        };
        let (exchange, server) = match reached {
            Ok(mut server) => {
                let exchange = self.way.exchange(hands.client, &mut sent, &mut server);
                let Some(exchange) = exchange.await else {
                    return self.known(sent);
                };
                (exchange, Some(server))
            }
            Err(failure) => (Exchange::unsent(self.core.clock.now(), failure), None),
        };
        let fetched = self.fetched(sent, exchange, server);
        let (is_target, depth) = (asked.is_target, asked.depth);
        // Boxed: a page may embed a page.
        Some(Box::pin(self.process(hands, fetched, is_target, depth)).await)
    }

    /// A request that was not sent, because its answer is known and fresh.
    fn known(&self, sent: Box<SentRequest>) -> Option<Fetched> {
        let Some(sample) = &self.way.work.plan.session.cached_sample else {
            self.core.put_request(sent);
            return None;
        };
        let now = self.core.clock.now();
        let url = sent.url.as_str().into();
        Some(Fetched {
            row: row_of_known(&self.core.clock, now, sample, self.label, &url),
            location: None,
            kept: None,
            ended: now,
            sent,
        })
    }

    fn fetched(
        &self,
        sent: Box<SentRequest>,
        exchange: Exchange,
        server: Option<usize>,
    ) -> Fetched {
        let place = match server {
            Some(server) => self.way.work.servers[server].place(),
            None => Place::named(&sent),
        };
        let outcome = Outcome::of(&exchange, place);
        let url = sent.url.as_str().into();
        let mut row = row_of(&self.core.clock, &exchange, outcome, self.label, &url);
        if self.keeps_parts {
            let details = part_details(&sent, exchange.kept.as_deref());
            row.details = Some(Box::new(details));
        }
        let head = exchange.outcome.ok();
        let redirect = head.filter(|head| head.is_redirect(sent.method()));
        Fetched {
            row,
            location: redirect.and_then(|head| head.location),
            kept: exchange.kept,
            ended: exchange.ended,
            sent,
        }
    }

    /// Does what a response asks for.
    async fn process(
        &self,
        hands: &mut Hands<'_>,
        fetched: Fetched,
        is_target: bool,
        depth: u32,
    ) -> Fetched {
        let mut fetched = fetched;
        let follows = self.way.source.follow_redirects;
        let goes_on = follows && !is_target && fetched.location.is_some();
        if goes_on {
            fetched = self.follow(hands, fetched, depth).await;
        }
        let row = &mut fetched.row;
        let Some(embedding) = &self.embedding else {
            return fetched;
        };
        if !row.success || row.data_type != DataType::Text {
            return fetched;
        }
        if depth > FRAMES_MAX {
            let says = "Maximum frame/iframe nesting depth exceeded.";
            let part = failed(row, "java.lang.Exception", says);
            add(row, part);
            return fetched;
        }
        // What the target of a redirect embeds has been fetched with it.
        if goes_on {
            return fetched;
        }
        self.embed(hands, fetched, embedding, depth).await
    }

    /// Takes the buffers of a part back whose row alone is still needed.
    fn part(&self, fetched: Fetched) -> SampleRow {
        if let Some(kept) = fetched.kept {
            self.core.io.kept.borrow_mut().put(kept);
        }
        self.core.put_request(fetched.sent);
        fetched.row
    }
}

/// Puts a part into a whole, which lasts at least as long and has its bytes too.
fn add(whole: &mut SampleRow, part: SampleRow) {
    let end = |row: &SampleRow| row.timestamp_ms + row.elapsed_ms;
    let lasts = end(whole).max(end(&part)) - whole.timestamp_ms;
    whole.elapsed_ms = lasts;
    whole.received_bytes += part.received_bytes;
    whole.sent_bytes += part.sent_bytes;
    put(whole, part);
}

/// Puts a part into a whole that has its time and bytes already.
fn put(whole: &mut SampleRow, mut part: SampleRow) {
    part.label = format!("{}-{}", whole.label, whole.children.len()).into();
    whole.children.push(part);
}

/// A copy of a sample without its parts, as a whole that they go into.
fn whole_of(row: &mut SampleRow) -> SampleRow {
    let (children, details) = (std::mem::take(&mut row.children), row.details.take());
    let whole = row.clone();
    (row.children, row.details) = (children, details);
    whole
}

/// A copy of a sample as a failure of JMeter's own.
fn failed(row: &mut SampleRow, class: &str, says: &str) -> SampleRow {
    let mut failed = whole_of(row);
    fail(&mut failed, class, says);
    failed
}

/// Makes a sample a failure of JMeter's own.
fn fail(row: &mut SampleRow, class: &str, says: &str) {
    row.success = false;
    row.response_code = format!("Non HTTP response code: {class}").into();
    row.response_message = format!("Non HTTP response message: {says}").into();
    row.data_type = DataType::Text;
}
