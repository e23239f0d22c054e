//! Listeners that are scripts, and how any script of a user runs.

use weir_plan::Script;
use weir_record::{AssertionResult, SampleRow};
use weir_script::{
    Ends, Scope, ScriptFailure, ScriptPlace, ScriptRun, ScriptSample, ScriptValue, Text,
};

use crate::clock::Clock;
use crate::details::note_variables;
use crate::iterations::Data;
use crate::transaction::last_part;
use crate::user::seen::Seen;
use crate::user::seen_by_scripts::{apply_to_row, sample_of};
use crate::work::Work;

/// What a script that listens reaches of its user.
pub(crate) struct Listening<'a> {
    pub(crate) work: &'a Work,
    pub(crate) clock: Clock,
    pub(crate) scope: &'a mut Scope,
    pub(crate) data: &'a mut Data,
}

impl Listening<'_> {
    /// Tells listeners, by their places in the plan, of a sample, which they may change for those
    /// who hear of it later. `last` is the last sample that became a part of a transaction which
    /// goes on.
    pub(crate) fn tell(
        &mut self,
        listeners: &[usize],
        row: &mut SampleRow,
        mut last: Option<&mut SampleRow>,
    ) {
        if listeners.is_empty() {
            return;
        }
        note_variables(row, &self.work.shown_variables, self.scope);
        for place in listeners {
            self.tell_one(
                &self.work.plan.script_listeners[*place],
                row,
                last.as_deref_mut(),
            );
        }
    }

    fn tell_one(
        &mut self,
        script: &Script<Text>,
        row: &mut SampleRow,
        last: Option<&mut SampleRow>,
    ) {
        let mut run = script_run(ScriptPlace::Listener, self.scope);
        // Of a transaction the sample before is its last one.
        let is_whole = row.is_transaction;
        if is_whole {
            run.bindings.own = Some(sample_of(row, &Seen::default(), &[]));
        }
        let done = run_script(script, &mut run, self.clock, self.scope, self.data);
        let heard = if is_whole {
            change_last_part(self.scope, row, run.bindings.previous, last);
            run.bindings.own
        } else {
            run.bindings.previous
        };
        if let Some(heard) = heard.filter(ScriptSample::is_changed) {
            apply_to_row(&heard, row);
            if !is_whole {
                self.scope.remember(heard);
            }
        }
        let name = run.bindings.label;
        match done {
            Ok(_) => {}
            Err(ScriptFailure::Thrown(says) | ScriptFailure::Fatal(says)) => {
                log_failure(self.scope, &name, &says);
            }
            Err(ScriptFailure::Beyond(says)) => {
                row.success = false;
                row.failure_message = format!("{name}: {says}").into();
                let details = row.details.get_or_insert_default();
                details.assertions.push(AssertionResult {
                    name,
                    failure: false,
                    error: true,
                    message: Some(says),
                });
            }
        }
    }
}

/// A script of a user, before it runs.
pub(crate) fn script_run(place: ScriptPlace, scope: &Scope) -> ScriptRun {
    let mut run = ScriptRun::new(place, &scope.thread_name);
    run.bindings.previous = scope.sample_before().cloned();
    run
}

/// Runs a script at the time it is.
pub(crate) fn run_script(
    script: &Script<Text>,
    run: &mut ScriptRun,
    clock: Clock,
    scope: &mut Scope,
    data: &mut Data,
) -> Result<ScriptValue, ScriptFailure> {
    set_time(scope, clock);
    let done = run.run(script, scope);
    let left = data.scripts.get_or_insert_default();
    left.sleep_ms = left.sleep_ms.saturating_add(run.bindings.sleep_ms);
    left.ends = left.ends.max(run.bindings.ends);
    // Errors in assertions are what JMeter takes assertions for.
    if let Err(ScriptFailure::Fatal(_)) = &done
        && run.bindings.place != ScriptPlace::Assertion
    {
        left.ends = left.ends.max(Some(Ends::User));
    }
    done
}

pub(crate) fn set_time(scope: &mut Scope, clock: Clock) {
    scope.epoch_ms = clock.epoch_ms(clock.now()).cast_signed();
}

/// Says in the log what became of a script that failed as it may in JMeter.
pub(crate) fn log_failure(scope: &Scope, name: &str, says: &str) {
    let says = format!("Problem in the script of {name}: {says}");
    scope.variables.globals().log("ERROR", &says);
}

/// Takes over what a script that looks at a transaction has made of the sample before, which is
/// the last one inside, or `last`, inside the transaction around it.
pub(crate) fn change_last_part(
    scope: &mut Scope,
    row: &mut SampleRow,
    previous: Option<ScriptSample>,
    last: Option<&mut SampleRow>,
) {
    let Some(previous) = previous.filter(ScriptSample::is_changed) else {
        return;
    };
    let part = last_part(row).or(last);
    if let Some(part) = part.filter(|part| part.timestamp_ms == previous.start_ms) {
        apply_to_row(&previous, part);
    }
    scope.remember(previous);
}
