//! The one loop that every virtual user runs.

use std::sync::Arc;
use std::time::Duration;

use weir_plan::{ControllerKind, OnSampleError};

use crate::clock::Moment;
use crate::next::Next;
use crate::user::User;
use crate::user::after::After;
use crate::walk::{Outside, Walk};
use crate::work::{Group, Work};

impl User {
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

    pub(super) async fn iterate(&mut self) {
        let work = Arc::clone(&self.core.work);
        let group = &work.groups[self.group];
        self.publish_last_ok(group);
        self.look(group, crate::walk::Walk::begin);
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

    /// Asks what would come next and does nothing of it: so does JMeter after a user's last sample,
    /// and transactions come to their end on the way.
    pub(super) fn ask_in_vain(&mut self, group: &Group) {
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
            self.look(group, crate::walk::Walk::begin);
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
        self.meet();
        let (next, is_over) = self.look(group, |walk, outside| {
            let next = walk.next(outside);
            (next, outside.is_over)
        });
        if let Some(fault) = self.scope.fault.take() {
            self.log_end(&fault.says);
            return false;
        }
        if is_over {
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

    fn log_end(&self, why: &str) {
        let says = format!("{} ends: {why}", self.thread_name());
        self.scope.variables.globals().log("ERROR", &says);
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
                    if group.on_error == OnSampleError::StartNextLoop && !self.last_ok {
                        // JMeter 5.6.3, measured: it looks for the sampler to leave, and there is
                        // none.
                        self.log_end("its group starts the next iteration after a failure, and a transaction failed as a whole");
                        return After::END;
                    }
                    return After::STEP;
                }
            }
        }
    }

    /// Walks, then tells of the transactions that have come to their end on the way.
    pub(super) fn look<R>(
        &mut self,
        group: &Group,
        walk: impl FnOnce(&mut Walk, &mut Outside<'_>) -> R,
    ) -> R {
        let mut closed = Vec::new();
        let mut outside = Outside {
            tree: &group.tree,
            scope: &mut self.scope,
            shared: &self.core.work.shared,
            data: &mut self.data,
            clock: self.core.clock,
            last_ok: self.last_ok,
            closed: &mut closed,
            work: &self.core.work,
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
