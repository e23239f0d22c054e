//! Samples of requests that have a manager of cookies, answers or logins.
//!
//! They take a way of their own, so that samples without one cost nothing more.

use std::cell::RefCell;
use std::rc::Rc;

use weir_plan::HttpRequest;
use weir_script::Text;

use crate::http::request::Exchange;
use crate::session::{Session, SharedSession};
use crate::user::User;
use crate::user::leg::Way;
use crate::user::rows::{Outcome, row_of_known};
use crate::user::sampling::{Answered, Ready, Sampled, goes_on, way};
use crate::work::{Step, Work};

impl User {
    /// Sends one request and counts what became of it; nothing if its answer is known, fresh and no
    /// sample.
    pub(crate) async fn send_managed(
        &mut self,
        work: &Work,
        step: &Step,
        source: &HttpRequest<Text>,
    ) -> Option<Sampled> {
        let written = self.write(work, step, source).await;
        let mut ready = match self.make_ready(work, step, written) {
            Ok(ready) => ready,
            Err(sampled) => return Some(sampled),
        };
        let mut sent = ready.own.take().unwrap_or_else(|| {
            let mut sent = self.core.take_request();
            (*sent).clone_from(ready.sent(step));
            sent
        });
        let way = way(work, step, source);
        let session = self.enter_session(way);
        let way = Way {
            session: Some(&session),
            keep_body: way.keep_body.or(Some(0)),
            ..way
        };
        let exchange = way.exchange(&mut self.client, &mut sent, &mut ready.server);
        let exchange = exchange.await;
        self.set_saved_cookies(&session);
        // An automatic redirect leads to another one.
        ready.url = sent.url.as_str().into();
        ready.own = Some(sent);
        let sampled = match exchange {
            Some(exchange) => Some(self.answered(way, step, &ready, exchange).await),
            None => self.known(way, step, &ready),
        };
        if let Some(own) = ready.own.take() {
            self.core.put_request(own);
        }
        if sampled.is_none() {
            // A user who is never sent anywhere must not keep others from running.
            tokio::task::yield_now().await;
        }
        sampled
    }

    async fn answered(
        &mut self,
        way: Way<'_>,
        step: &Step,
        ready: &Ready,
        exchange: Exchange,
    ) -> Sampled {
        let sent = ready.sent(step);
        if goes_on(&exchange, sent, way.source) {
            return self.go_on(way, step, ready, exchange).await;
        }
        let outcome = Outcome::of(&exchange, way.work.servers[ready.server].place());
        self.finish(exchange, outcome, step, sent, ready.sample())
    }

    /// The sample of a request that was not sent because its answer is known and fresh.
    fn known(&mut self, way: Way<'_>, step: &Step, ready: &Ready) -> Option<Sampled> {
        let Some(says) = &way.work.plan.session.cached_sample else {
            self.core.sample_left_out();
            return None;
        };
        let sample = ready.sample();
        let now = self.core.clock.now();
        let row = row_of_known(&self.core.clock, now, says, sample.label, sample.url);
        let answered = Answered {
            started: now,
            ended: now,
            kept: None,
        };
        Some(self.conclude(row, answered, step, ready.sent(step), sample))
    }

    /// Begins the user's memory, if its plan has a use for one.
    pub(crate) fn open_session(&mut self, work: &Work) {
        let plan = &work.plan;
        let managers =
            plan.cookie_managers.len() + plan.cache_managers.len() + plan.auth_managers.len();
        if managers > 0 && self.session.is_none() {
            let session = Session::of(plan, &mut self.scope);
            self.session = Some(Rc::new(RefCell::new(session)));
        }
    }

    /// The user's memory, ready for a sample of this request.
    fn enter_session(&mut self, way: Way<'_>) -> SharedSession {
        let plan = &way.work.plan;
        let scope = &mut self.scope;
        let session = self
            .session
            .get_or_insert_with(|| Rc::new(RefCell::new(Session::of(plan, scope))));
        let session = Rc::clone(session);
        let mut entered = session.borrow_mut();
        let same_user = way.work.groups[self.group].same_user;
        entered.in_iteration(self.data.group_iterations(), plan, same_user);
        entered.begin_sample(plan, way.source, scope);
        drop(entered);
        session
    }

    /// Makes variables of the cookies that have come, if the properties say so.
    pub(crate) fn set_saved_cookies(&mut self, session: &RefCell<Session>) {
        for (name, value) in session.borrow_mut().take_saved() {
            self.scope.variables.set(&name, &value);
        }
    }
}
