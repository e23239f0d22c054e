//! What a user does after a step: goes on, leaves controllers, ends, or ends the test.

use std::time::Duration;

use weir_plan::{FailureHandler, FlowAction, FlowControl, OnSampleError, ResultAction};
use weir_script::{Ends, Text};

use crate::user::User;
use crate::work::{Group, Step};

/// What a user does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct After {
    leaves: Leaves,
    /// The user ends, after it has left what it leaves.
    pub(super) ends: bool,
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
    pub(super) const STEP: Self = Self::leaving(Leaves::Nothing);
    pub(super) const END: Self = Self {
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
    pub(super) fn and(self, later: Self) -> Self {
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
    pub(super) async fn flow_control(&mut self, group: &Group, flow: &FlowControl<Text>) -> After {
        match flow.action {
            FlowAction::Pause => {
                let pause = flow.pause_ms.rendered(&mut self.scope);
                let pause = Duration::from_millis(pause.trim().parse().unwrap_or(0));
                self.intend_later(pause);
                let until = self.core.clock.now().after(pause);
                // A timer that would pass the user's end ends it; a pause is cut there (JMeter).
                let ends = self.ends.filter(|_| group.supply.cuts_waits());
                let until = ends.map_or(until, |ends| until.min(ends));
                self.sleep_until(until).await;
                After::STEP
            }
            FlowAction::Stop | FlowAction::StopNow if !flow.whole_test => After::END,
            FlowAction::Stop => {
                self.core.stop_test(self.group);
                After::END
            }
            FlowAction::StopNow => {
                self.core.stop_test_now(self.group);
                After::END
            }
            FlowAction::StartNextGroupLoop => After::leaving(Leaves::GroupIteration),
            FlowAction::StartNextLoop => After::leaving(Leaves::LoopIteration),
            FlowAction::BreakLoop => After::leaving(Leaves::Loop),
        }
    }

    pub(super) fn end_for_script(&self, ends: Ends) -> After {
        match ends {
            Ends::Loop => return After::leaving(Leaves::Loop),
            Ends::LoopIteration => return After::leaving(Leaves::LoopIteration),
            Ends::GroupIteration => return After::leaving(Leaves::GroupIteration),
            Ends::User => {}
            Ends::Test => self.core.stop_test(self.group),
            Ends::TestNow => self.core.stop_test_now(self.group),
        }
        After::END
    }

    /// What the handlers of a sample that failed say, one after the other.
    pub(super) fn after_handlers(&self, handlers: &[FailureHandler]) -> After {
        let handlers = handlers
            .iter()
            .map(|handler| self.after_handler(handler.action));
        handlers.fold(After::STEP, After::and)
    }

    pub(super) fn after_handler(&self, action: ResultAction) -> After {
        match action {
            ResultAction::As(on_error) => self.after_failure(on_error),
            ResultAction::StartNextLoop => After::leaving(Leaves::LoopIteration),
            ResultAction::BreakLoop => After::leaving(Leaves::Loop),
        }
    }

    /// What the group does after a sample that was a failure before listeners that are scripts
    /// heard of it, or is one after them: only to the next iteration it goes by the former, as
    /// JMeter's `JMeterThread.last_sample_ok` does.
    pub(super) fn after_error(&self, on_error: OnSampleError, was_ok: bool, is_ok: bool) -> After {
        let counts = match on_error {
            OnSampleError::StartNextLoop => was_ok,
            _ => is_ok,
        };
        if counts {
            return After::STEP;
        }
        self.after_failure(on_error)
    }

    fn after_failure(&self, on_error: OnSampleError) -> After {
        match on_error {
            OnSampleError::Continue => After::STEP,
            OnSampleError::StartNextLoop => After::leaving(Leaves::GroupIteration),
            OnSampleError::StopThread => After::END,
            OnSampleError::StopTest => {
                self.core.stop_test(self.group);
                After::END
            }
            OnSampleError::StopTestNow => {
                self.core.stop_test_now(self.group);
                After::END
            }
        }
    }

    /// Goes where the step sends the user; `transaction` is the outermost one around it.
    pub(super) fn turn(
        &mut self,
        group: &Group,
        step: &Step,
        after: After,
        transaction: Option<u32>,
    ) -> After {
        let from = step.parent;
        if let Some(kin) = &self.kin {
            kin.leads(after.ends, after.leaves == Leaves::GroupIteration);
        }
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
}
