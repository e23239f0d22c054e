//! One exchange of a sample: the way to the network of everything that a sample asks for.
//!
//! "Redirect Automatically" happens here, out of everybody's sight, as it does in JMeter's HTTP
//! library: what is seen is one exchange that began with the first request and has the bytes of the
//! last. It differs from following: requests that may be repeated are (307 and 308 keep method and
//! body), a POST is followed with a GET, and a circle is an error at once.
//!
//! So do answers to servers that ask who the user is. The user's session sees the first request and
//! the last response.

use std::cell::RefCell;

use weir_plan::HttpRequest;
use weir_script::{Carries, SentRequest, Text, automatic_url, write_follow_up};

use crate::http::client::Client;
use crate::http::outcome::Failure;
use crate::http::request::{Exchange, Request};
use crate::http::response::Head;
use crate::session::{Errand, Session};
use crate::work::{Waits, Work};

/// The most redirects in a row: JMeter's default (`httpsampler.max_redirects`).
pub(crate) const REDIRECTS_MAX: usize = 20;

/// How requests of a sample go out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) work: &'a Work,
    /// The sampler.
    pub(crate) source: &'a HttpRequest<Text>,
    pub(crate) waits: Waits,
    /// How much of the body is kept; `None`: nothing of the response.
    pub(crate) keep_body: Option<usize>,
    /// The user's memory, if the request has to do with it; it needs the head of the response.
    pub(crate) session: Option<&'a RefCell<Session>>,
}

impl Way<'_> {
    /// Sends a request and reads its response; `sent` and `server` become those of the last one.
    /// `None`: its answer is known and fresh.
    pub(crate) async fn exchange(
        self,
        client: &mut Client,
        sent: &mut SentRequest,
        server: &mut usize,
    ) -> Option<Exchange> {
        let Some(session) = self.session else {
            let mut errand = Errand::default();
            let exchange = self.once(client, sent, *server, &mut errand).await;
            let exchange = self.hop(client, sent, server, exchange, &mut errand);
            return Some(exchange.await);
        };
        let dressed = session
            .borrow_mut()
            .dress(self.source, sent, client.now_ms());
        let mut errand = dressed?;
        let exchange = self.once(client, sent, *server, &mut errand).await;
        let exchange = self.hop(client, sent, server, exchange, &mut errand).await;
        if let (Ok(head), Some(kept)) = (&exchange.outcome, &exchange.kept) {
            let answer = (head.status.number, kept.head.as_slice());
            let mut session = session.borrow_mut();
            session.answered(&self.work.plan, self.source, sent, answer, client.now_ms());
        }
        Some(exchange)
    }

    /// Follows the redirects of an exchange if they are followed out of sight.
    pub(crate) async fn go_on(
        self,
        client: &mut Client,
        sent: &mut SentRequest,
        server: &mut usize,
        exchange: Exchange,
    ) -> Exchange {
        let mut errand = Errand::default();
        self.hop(client, sent, server, exchange, &mut errand).await
    }

    async fn hop(
        self,
        client: &mut Client,
        sent: &mut SentRequest,
        server: &mut usize,
        exchange: Exchange,
        errand: &mut Errand,
    ) -> Exchange {
        if !self.source.auto_redirects {
            return exchange;
        }
        let first = sent.url.clone();
        let mut exchange = exchange;
        let mut seen = Vec::new();
        let mut next = Box::<SentRequest>::default();
        while let Some((carries, method)) = automatic(&exchange, sent.method()) {
            let led = self.led(sent, &exchange, &mut seen);
            let written = led.and_then(|url| {
                write_follow_up(sent, method, &url, carries, None, &mut next)
                    .map_err(|unsendable| Failure::Unsendable(unsendable.into()))
            });
            let reached = match written {
                Ok(()) => self.work.servers.reach(&next).await,
                Err(failure) => Err(failure),
            };
            let from = *server;
            match reached {
                Ok(place) => *server = place,
                Err(failure) => {
                    exchange.outcome = Err(failure);
                    exchange.sent = 0;
                    break;
                }
            }
            std::mem::swap(sent, &mut *next);
            if let Some(kept) = exchange.kept.take() {
                client.give_back(kept);
            }
            if let Some(session) = self.session {
                let mut session = session.borrow_mut();
                session.dress_hop(self.source, sent, errand, from == *server);
            }
            let last = self.once(client, sent, *server, errand).await;
            exchange = exchange.then(last);
            exchange.redirected = true;
        }
        if exchange.outcome.is_err() {
            sent.url = first;
        }
        exchange
    }

    /// Sends a request, once more when the server asks who the user is.
    async fn once(
        self,
        client: &mut Client,
        sent: &mut SentRequest,
        server: usize,
        errand: &mut Errand,
    ) -> Exchange {
        let request = self.request(sent, server);
        let mut exchange = client.exchange(&self.work.servers, &request).await;
        while self.is_asked_again(&exchange, sent, errand) {
            if let Some(kept) = exchange.kept.take() {
                client.give_back(kept);
            }
            let request = self.request(sent, server);
            let last = client.exchange(&self.work.servers, &request).await;
            exchange = exchange.then(last);
        }
        with_location(exchange, sent)
    }

    fn is_asked_again(
        self,
        exchange: &Exchange,
        sent: &mut SentRequest,
        errand: &mut Errand,
    ) -> bool {
        let (Some(session), Ok(head), Some(kept)) =
            (self.session, &exchange.outcome, &exchange.kept)
        else {
            return false;
        };
        let status = head.status.number;
        session
            .borrow_mut()
            .is_asked_again(sent, errand, status, &kept.head)
    }

    /// What a client needs to send a request.
    pub(crate) fn request(self, sent: &SentRequest, server: usize) -> Request<'_> {
        Request {
            bytes: &sent.bytes,
            uploads: &sent.uploads,
            server,
            is_head: sent.is_head,
            keep_alive: self.source.keep_alive,
            connect_timeout: self.waits.connect,
            response_timeout: self.waits.response,
            keep_body: self.keep_body,
        }
    }

    /// The URL that a redirect leads to; a failure if it does not come to an end.
    fn led(
        self,
        sent: &SentRequest,
        exchange: &Exchange,
        seen: &mut Vec<String>,
    ) -> Result<String, Failure> {
        let location = exchange.outcome.as_ref().ok();
        let location = location.and_then(|head| head.location.as_deref());
        let url = automatic_url(&sent.url, location.unwrap_or_default());
        let url = url.ok_or(Failure::Redirects)?;
        let url = self.work.servers.here(&url).into_owned();
        if seen.len() >= REDIRECTS_MAX || seen.contains(&url) {
            return Err(Failure::Redirects);
        }
        seen.push(url.clone());
        Ok(url)
    }
}

/// What Apache `HttpClient` with its lax strategy does with a response: how much of the request
/// goes along to where it leads, and with which method; `None` if it leads nowhere.
fn automatic(exchange: &Exchange, method: &str) -> Option<(Carries, &'static str)> {
    let head = exchange.outcome.as_ref().ok()?;
    head.location.as_ref()?;
    let known = ["GET", "HEAD", "POST", "DELETE"];
    let known = known.into_iter().find(|known| *known == method);
    let same = |carries| known.map(|method| (carries, method));
    match (head.status.number, method) {
        (301 | 302, "GET" | "HEAD") | (303, "HEAD") => same(Carries::Nothing),
        (301 | 302, _) => known.map(|_| (Carries::Nothing, "GET")),
        (303, _) => Some((Carries::Nothing, "GET")),
        (307 | 308, _) => same(Carries::Body),
        _ => None,
    }
}

/// A redirect that does not say where it leads is a failure, followed or not.
pub(crate) fn with_location(exchange: Exchange, sent: &SentRequest) -> Exchange {
    if !lacks_location(&exchange, sent) {
        return exchange;
    }
    let line = format!("{} {} HTTP/1.1", sent.method(), sent.url);
    Exchange {
        sent: 0,
        outcome: Err(Failure::NoLocation(line)),
        kept: None,
        ..exchange
    }
}

/// Whether it is a redirect that does not say where it leads.
pub(crate) fn lacks_location(exchange: &Exchange, sent: &SentRequest) -> bool {
    let is_redirect = |head: &Head| {
        let leads = head.status.number / 100 == 3;
        leads && head.location.is_none() && head.is_redirect(sent.method())
    };
    exchange.outcome.as_ref().is_ok_and(is_redirect)
}
