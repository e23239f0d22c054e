//! One sampler with everything before and after it.

use std::time::Duration;

use weir_plan::{PreProcessor, SamplerKind, TimerKind};
use weir_record::SampleRow;
use weir_script::delay_ms;

use crate::auto_stop::Watched;
use crate::iterations::set_parameters;
use crate::set_variables::set_variables;
use crate::user::User;
use crate::user::after::After;
use crate::user::made_up::Made;
use crate::user::sampling::{LookedAt, Sampled};
use crate::work::{Group, Step, Work};

impl User {
    /// One sampler with everything before and after it.
    pub(super) async fn step(
        &mut self,
        work: &Work,
        group: &Group,
        step: &Step,
        transaction: Option<u32>,
    ) -> After {
        #[cfg(test)]
        self.panic_on_purpose();
        if !step.sends() {
            // It waits for nothing: others must have their turn, and hear of the end.
            tokio::task::yield_now().await;
        }
        self.forget_step();
        self.scope.sampler = step.name.clone();
        self.prepare(step);
        if self.sample_is_lost {
            self.core.sample_begins();
            self.core.sample_goes_unheard(true);
            return self.give_up().await;
        }
        self.earshot = Some(step.audience);
        self.set_script_earshot(step);
        if self.data.scripts.is_some() {
            Box::pin(self.sleep_for_scripts()).await;
        }
        self.meet();
        if !self.think(work, group, step).await {
            return After::END;
        }
        self.meet();
        if let Some(ends) = self.ends_before_sample() {
            return self.end_for_script(ends);
        }
        if let SamplerKind::FlowControl(flow) = &step.source.kind {
            return Box::pin(self.flow_control(group, flow)).await;
        }
        if let SamplerKind::SetVariables(variables) = &step.source.kind {
            set_variables(&mut self.scope, variables);
            return After::STEP;
        }
        if !step.is_parallel() && !work.budget.take() {
            return After::END;
        }
        if let Some(says) = self.scope.beyond.take() {
            self.hinder_for_text(*says);
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
        self.meet();
        let Some(sampled) = sampled else {
            let ends = self.led.take();
            return ends.map_or(After::STEP, |ends| self.end_for_script(ends));
        };
        let is_ignored = self.ignores_sample();
        if (self.sample_is_lost || is_ignored) && sampled.is_counted_later() {
            self.core.sample_goes_unheard(self.sample_is_lost);
        }
        if self.sample_is_lost {
            return self.give_up().await;
        }
        self.last_ok = sampled.success;
        self.publish_last_ok(group);
        let mut success = sampled.success;
        let mut after = After::STEP;
        match sampled.looked_at {
            Some(_) if is_ignored => {}
            Some(sample) => {
                let LookedAt { mut row, count } = *sample;
                after = self.tell_those_who_act(group, step, &mut row, transaction);
                success = row.success;
                if let Some(count) = count {
                    self.count(count, &row);
                }
                self.watch(work, step, &row);
                self.tell_of(step, row, transaction);
            }
            None if success => {}
            None => after = self.after_handlers(&step.source.on_failure),
        }
        self.meet();
        if let Some(ends) = self.led.take().or_else(|| self.ends_for_script()) {
            return self.end_for_script(ends);
        }
        if success && sampled.success {
            return after;
        }
        // A sample that fails before it waits for anything must not keep others from running.
        tokio::task::yield_now().await;
        if work.backs_off {
            Box::pin(self.back_off()).await;
        }
        after.and(self.after_error(group.on_error, sampled.success, success))
    }

    /// What stands before the sampler.
    fn prepare(&mut self, step: &Step) {
        for processor in &step.source.before {
            match processor {
                PreProcessor::UserParameters(parameters) => {
                    set_parameters(parameters, &mut self.scope);
                }
                PreProcessor::FoundParameters(found) => self.give_parameters(step, found),
                PreProcessor::UrlRewriting(rewriting) => self.rewrite_url(step, rewriting),
                PreProcessor::Script(script) => self.run_before(step, script),
                // The request itself follows it.
                PreProcessor::Link => {}
            }
            if self.sample_is_lost {
                return;
            }
        }
    }

    /// Waits where nobody has answered for some time.
    async fn back_off(&mut self) {
        let Some(wait) = self.client.back_off() else {
            return;
        };
        let (core, outlives) = (&self.core, self.outlives_stop);
        let until = core.clock.now().after(wait);
        let until = self.ends.map_or(until, |ends| until.min(ends));
        self.client
            .timer
            .until(until, || !core.runs(outlives))
            .await;
    }

    /// Goes on after a sample that JMeter gives up.
    async fn give_up(&mut self) -> After {
        self.sample_is_lost = false;
        tokio::task::yield_now().await;
        let ends = self.ends_for_script();
        ends.map_or(After::STEP, |ends| self.end_for_script(ends))
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
                self.core.stop_test_now(self.group);
            }
        }
    }

    /// The step is not done, because a script before it cannot be run.
    fn fail_step(&mut self, step: &Step) -> Sampled {
        self.core.sample_begins();
        self.fail_begun(step)
    }

    /// A sample that has begun is not taken, because Weir cannot make what it needs.
    pub(crate) fn fail_begun(&mut self, step: &Step) -> Sampled {
        let started = self.core.clock.now();
        let label = self.scope.sampler_name().to_string();
        let says = self.hindrance().unwrap_or_default();
        self.finish_made(step, started, Made::failed(label, says))
    }

    #[cfg(test)]
    fn panic_on_purpose(&mut self) {
        use crate::crash::tests::PANICS;
        let label = self.scope.sampler_name();
        assert_ne!(&*label, PANICS, "{PANICS}");
    }
}
