//! The scripts of a plan: samplers, and what runs before, after and as assertions.
//!
//! A script that fails as it would in JMeter does what it does there: before and after a sampler
//! it is a line in the log. One that needs what Weir does not know fails its sample.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use weir_plan::{HttpRequest, SamplerKind, Script};
use weir_record::SampleRow;
use weir_response::{AssertionOutcome, Verdict};
use weir_script::{
    ArgumentView, Ends, SamplerName, SamplerView, ScriptFailure, ScriptPlace, ScriptRun,
    ScriptSample, ScriptValue, SentRequest, Text,
};

use crate::http::outcome::Failure;
use crate::listening::{
    Listening, change_last_part, log_failure, run_script, script_run, set_time,
};
use crate::user::User;
use crate::user::made_up::Made;
use crate::user::sampling::Sampled;
use crate::user::seen::Seen;
use crate::user::seen_by_scripts::{Looks, apply_to_row, changed, sample_of};
use crate::work::{SAMPLER, Step, Work, sees_sampler};

/// Whether the script is of a `BeanShell` element, which has more names.
fn is_beanshell(script: &Script<Text>) -> bool {
    script.language == "beanshell"
}

impl User {
    fn script_run(&self, place: ScriptPlace) -> ScriptRun {
        script_run(place, &self.scope)
    }

    fn run_script(
        &mut self,
        script: &Script<Text>,
        run: &mut ScriptRun,
    ) -> Result<ScriptValue, ScriptFailure> {
        run_script(
            script,
            run,
            self.core.clock,
            &mut self.scope,
            &mut self.data,
        )
    }

    fn set_time(&mut self) {
        set_time(&mut self.scope, self.core.clock);
    }

    /// Runs a script that stands before a sampler, or is its delay. JMeter fills in the script's
    /// text first, and what the script looks at of the sampler when it does so: the sampler is only
    /// shown to a script whose text asks for it. The answer is the sampler as it was shown, too.
    fn run_script_before(
        &mut self,
        step: &Step,
        script: &Script<Text>,
        run: &mut ScriptRun,
    ) -> (Option<SamplerView>, Result<ScriptValue, ScriptFailure>) {
        self.set_time();
        if let Err(failure) = run.prepare(script, &mut self.scope) {
            return (None, Err(failure));
        }
        let shown = self.view_for(step, run);
        run.bindings.sampler.clone_from(&shown);
        self.show_cookies(step, run);
        let done = self.run_script(script, run);
        self.keep_cookies(step, run);
        (shown, done)
    }

    fn log_failure(&self, name: &str, says: &str) {
        log_failure(&self.scope, name, says);
    }

    /// Keeps the step from being done, because Weir cannot run one of its scripts.
    fn hinder(&mut self, name: &str, says: &str) {
        self.hinder_for_text(format!("{name}: {says}"));
    }

    /// Keeps the step from being done, because Weir cannot make one of the texts that it needs.
    pub(crate) fn hinder_for_text(&mut self, says: String) {
        let left = self.data.scripts.get_or_insert_default();
        left.hindrance.get_or_insert(says);
    }

    /// Runs what stands before a sampler.
    pub(crate) fn run_before(&mut self, step: &Step, script: &Script<Text>) {
        let mut run = self.script_run(ScriptPlace::Before);
        let (shown, done) = self.run_script_before(step, script, &mut run);
        if let (Some(shown), Some(view)) = (shown, run.bindings.sampler.take()) {
            self.take_over(step, &shown, &view);
        }
        self.keep_previous(run.bindings.previous);
        let name = &run.bindings.label;
        match done {
            Ok(_) => {}
            Err(ScriptFailure::Thrown(says) | ScriptFailure::Fatal(says)) => {
                self.log_failure(name, &says);
            }
            Err(ScriptFailure::Beyond(says)) => self.hinder(name, &says),
        }
    }

    /// The value of a script as a delay: JMeter takes what fails, or is no number, for none.
    pub(crate) fn script_delay_ms(&mut self, step: &Step, script: &Script<Text>) -> i64 {
        let mut run = self.script_run(ScriptPlace::Timer);
        let (_, done) = self.run_script_before(step, script, &mut run);
        let name = &run.bindings.label;
        match done {
            Ok(value) => return value.to_text().trim().parse().unwrap_or(0),
            Err(ScriptFailure::Thrown(says) | ScriptFailure::Fatal(says)) => {
                self.log_failure(name, &says);
            }
            Err(ScriptFailure::Beyond(says)) => self.hinder(name, &says),
        }
        0
    }

    /// Keeps what a script made of the request that it was shown.
    fn take_over(&mut self, step: &Step, shown: &SamplerView, view: &SamplerView) {
        let left = self.data.scripts.get_or_insert_default();
        if shown.name != view.name {
            left.label = Some(view.name.clone());
            self.scope.sampler = SamplerName::Known(view.name.as_str().into());
        }
        if let SamplerKind::Http(request) = &step.source.kind {
            let request = left.request.as_deref().unwrap_or(request);
            if let Some(request) = changed(request, shown, view) {
                left.request = Some(Rc::new(request));
            }
        }
    }

    /// Later scripts see what was done to the sample before.
    fn keep_previous(&mut self, previous: Option<ScriptSample>) {
        if let Some(previous) = previous.filter(ScriptSample::is_changed) {
            self.scope.remember(previous);
        }
    }

    /// Forgets what scripts know of the step before.
    pub(crate) fn forget_step(&mut self) {
        if let Some(left) = self.data.scripts.as_deref_mut() {
            left.request = None;
            left.label = None;
            left.refusal = None;
        }
    }

    /// Looks for the server of a request that is known only now.
    pub(crate) async fn find_server(&mut self, work: &Work, sent: &SentRequest) {
        if let Err(refusal) = work.servers.reach(sent).await {
            self.data.scripts.get_or_insert_default().refusal = Some(refusal);
        }
    }

    /// Why the server of a request is not among those that are known.
    pub(crate) fn refusal(&mut self) -> Failure {
        let left = self.data.scripts.as_mut();
        let refusal = left.and_then(|left| left.refusal.take());
        refusal.unwrap_or(Failure::UnknownHost)
    }

    /// The sampler's name, if scripts gave it another one.
    pub(crate) fn label_by_script(&self) -> Option<&str> {
        self.data.scripts.as_deref()?.label.as_deref()
    }

    /// What scripts before a sampler want to end at once.
    pub(crate) fn ends_before_sample(&mut self) -> Option<Ends> {
        let left = self.data.scripts.as_mut()?;
        left.ends.take_if(|ends| *ends >= Ends::User)
    }

    /// Whether a script forbids the step.
    pub(crate) fn is_hindered(&self) -> bool {
        let left = self.data.scripts.as_ref();
        left.is_some_and(|left| left.hindrance.is_some())
    }

    /// Whether scripts made another request of the step's.
    pub(crate) fn has_changed_request(&self) -> bool {
        let left = self.data.scripts.as_ref();
        left.is_some_and(|left| left.request.is_some())
    }

    /// Why the step cannot be done.
    pub(crate) fn hindrance(&mut self) -> Option<String> {
        self.data.scripts.as_mut()?.hindrance.take()
    }

    /// The request as scripts made it.
    pub(crate) fn changed_request(&self) -> Option<Rc<HttpRequest<Text>>> {
        self.data.scripts.as_ref()?.request.clone()
    }

    /// What scripts want to end.
    pub(crate) fn ends_for_script(&mut self) -> Option<Ends> {
        self.data.scripts.as_mut()?.ends.take()
    }

    /// Whether nobody is told of the sample.
    pub(crate) fn ignores_sample(&mut self) -> bool {
        let left = self.data.scripts.as_mut();
        left.is_some_and(|left| std::mem::take(&mut left.ignores))
    }

    /// The step's request as scripts see it, as far as somebody looks at it: the rest is empty.
    fn view_of(&mut self, step: &Step, looks: Looks) -> SamplerView {
        let name = match self.label_by_script() {
            Some(label) => label.to_owned(),
            None if looks.name => self.scope.sampler_name().to_string(),
            None => String::new(),
        };
        let SamplerKind::Http(request) = &step.source.kind else {
            return SamplerView {
                class: class_of(&step.source.kind),
                name,
                ..SamplerView::default()
            };
        };
        let left = self.data.scripts.as_deref();
        let made = left.and_then(|left| left.request.as_deref());
        let request = made.unwrap_or(request);
        let scope = &mut self.scope;
        let mut text = |text: &Text, is_looked_at: bool| {
            if is_looked_at {
                text.rendered(scope)
            } else {
                String::new()
            }
        };
        SamplerView {
            class: class_of(&step.source.kind),
            name,
            domain: text(&request.host, looks.host),
            port: text(&request.port, looks.port),
            protocol: match text(&request.protocol, looks.protocol) {
                protocol if protocol.is_empty() => "http".to_owned(),
                protocol => protocol,
            },
            path: text(&request.path, looks.path),
            method: text(&request.method, looks.method),
            arguments: request
                .arguments
                .iter()
                .enumerate()
                .map(|(at, argument)| ArgumentView {
                    name: text(&argument.name, looks.arguments),
                    value: text(&argument.value, looks.argument_values),
                    encode: argument.always_encode,
                    equals: argument.use_equals,
                    known: Some(at),
                })
                .collect(),
            headers: request
                .headers
                .iter()
                .map(|(name, value)| (text(name, looks.headers), text(value, looks.headers)))
                .collect(),
            raw_body: request.raw_body,
            follow_redirects: request.follow_redirects,
            auto_redirects: request.auto_redirects,
        }
    }

    /// Waits as long as scripts want to sleep.
    pub(crate) async fn sleep_for_scripts(&mut self) {
        let left = self.data.scripts.as_mut();
        let ms = left.map_or(0, |left| std::mem::take(&mut left.sleep_ms));
        if ms > 0 {
            let until = self.core.clock.now().after(Duration::from_millis(ms));
            self.client.timer.until(until, || false).await;
        }
    }

    /// Shows the sampler to a script that may look at it.
    fn show_sampler(&mut self, step: &Step, script: &Script<Text>, run: &mut ScriptRun) {
        if !sees_sampler(script) {
            return;
        }
        self.set_time();
        // One that cannot be prepared says so when it runs.
        if run.prepare(script, &mut self.scope).is_ok() {
            run.bindings.sampler = self.view_for(step, run);
            self.show_cookies(step, run);
        }
    }

    /// The sampler for a script that is prepared, if its text asks for it.
    fn view_for(&mut self, step: &Step, run: &ScriptRun) -> Option<SamplerView> {
        let is_asked_for = run.says(&[SAMPLER]);
        is_asked_for.then(|| self.view_of(step, Looks::of(|words| run.says(words))))
    }

    /// Runs what stands after a sampler.
    pub(crate) fn run_after(
        &mut self,
        step: &Step,
        script: &Script<Text>,
        row: &mut SampleRow,
        seen: &mut Seen<'_>,
        outcomes: &mut Vec<AssertionOutcome>,
    ) {
        let mut run = self.script_run(ScriptPlace::After);
        run.bindings.previous = Some(sample_of(row, seen, &[]));
        self.show_sampler(step, script, &mut run);
        if is_beanshell(script) {
            let body = seen.view(row).text().to_owned();
            run.names.set("data", ScriptValue::text(body));
        }
        let done = self.run_script(script, &mut run);
        self.keep_cookies(step, &mut run);
        if let Some(sample) = run.bindings.previous.take() {
            self.apply(&sample, row, seen);
        }
        let name = run.bindings.label;
        match done {
            Ok(_) => {}
            Err(ScriptFailure::Thrown(says)) => self.log_failure(&name, &says),
            Err(ScriptFailure::Fatal(says)) => {
                self.log_failure(&name, &says);
                self.lose_sample(&format!("script \"{name}\": {says}"));
            }
            Err(ScriptFailure::Beyond(says)) => {
                row.success = false;
                outcomes.push(AssertionOutcome {
                    name,
                    failure: false,
                    error: true,
                    message: Some(says),
                });
            }
        }
    }

    /// What a script says as an assertion; changes the sample as the script did.
    pub(crate) fn judge_by_script(
        &mut self,
        step: Option<&Step>,
        script: &Script<Text>,
        row: &mut SampleRow,
        seen: &mut Seen<'_>,
        verdict: &mut Verdict,
    ) {
        let mut run = self.script_run(ScriptPlace::Assertion);
        let mut sample = sample_of(row, seen, &verdict.outcomes);
        sample.success = verdict.successful;
        if let Some(step) = step {
            self.show_sampler(step, script, &mut run);
        }
        if is_beanshell(script) {
            bind_sample(&mut run, &sample);
        }
        // Of a transaction the sample before is its last one.
        let is_whole = row.is_transaction;
        let judged = if is_whole {
            &mut run.bindings.own
        } else {
            &mut run.bindings.previous
        };
        *judged = Some(sample);
        let done = self.run_script(script, &mut run);
        if let Some(step) = step {
            self.keep_cookies(step, &mut run);
        }
        let outcome = judgement(&mut run, done, is_beanshell(script));
        let judged = if is_whole {
            self.change_last_part(row, run.bindings.previous);
            run.bindings.own
        } else {
            run.bindings.previous
        };
        if let Some(sample) = judged.filter(ScriptSample::is_changed) {
            self.apply(&sample, row, seen);
            verdict.successful = sample.success;
        }
        verdict.add(outcome);
    }

    /// The scripts that hear of samples from now on.
    pub(crate) fn set_script_earshot(&mut self, step: &Step) {
        if self.data.scripts.is_some() || !step.scripts_in_earshot.is_empty() {
            let left = self.data.scripts.get_or_insert_default();
            left.earshot = Arc::clone(&step.scripts_in_earshot);
        }
    }

    /// Tells listeners that are scripts of a sample, which they may change for those who hear of it
    /// later.
    pub(crate) fn tell_scripts(&mut self, listeners: &[usize], row: &mut SampleRow) {
        if listeners.is_empty() {
            return;
        }
        let work = Arc::clone(&self.core.work);
        let last = row.is_transaction.then(|| self.walk.last_part()).flatten();
        let mut listening = Listening {
            work: &work,
            clock: self.core.clock,
            scope: &mut self.scope,
            data: &mut self.data,
        };
        listening.tell(listeners, row, last);
    }

    fn change_last_part(&mut self, row: &mut SampleRow, previous: Option<ScriptSample>) {
        change_last_part(&mut self.scope, row, previous, self.walk.last_part());
    }

    /// A sampler that is a script: its value is the response.
    pub(crate) async fn sample_script(&mut self, step: &Step, script: &Script<Text>) -> Sampled {
        let started = self.core.clock.now();
        self.core.sample_begins();
        let mut run = self.script_run(ScriptPlace::Sampler);
        let view = self.view_of(step, Looks::ALL);
        run.bindings.own = Some(ScriptSample {
            label: view.name.as_str().into(),
            code: "200".into(),
            message: "OK".into(),
            success: true,
            data_type: "text".into(),
            start_ms: self.core.clock.epoch_ms(started),
            ..ScriptSample::default()
        });
        run.bindings.sampler = Some(view);
        let has_names = is_beanshell(script);
        if has_names {
            run.names.set("ResponseCode", ScriptValue::text("200"));
            run.names.set("ResponseMessage", ScriptValue::text("OK"));
            run.names.set("IsSuccess", ScriptValue::Bool(true));
        }
        let done = self.run_script(script, &mut run);
        if let Err(ScriptFailure::Fatal(says)) = &done {
            let label = &run.bindings.label;
            self.lose_sample(&format!("script \"{label}\": {says}"));
        }
        self.keep_previous(run.bindings.previous.take());
        let mut made = run.bindings.own.take().unwrap_or_default();
        if made.ignored {
            self.data.scripts.get_or_insert_default().ignores = true;
        }
        if made.request_data.is_empty() {
            made.request_data = asked(script, &run);
        }
        let done = done.map_err(|failure| failure.to_string());
        let done = done.and_then(|value| answered(&mut made, &value, has_names, &run));
        if let Err(says) = done {
            self.log_failure(&run.bindings.label, &says);
            made.success = false;
            made.code = "500".into();
            made.message = says.into();
        }
        self.sleep_for_scripts().await;
        let made = Made::of_script(&made);
        self.finish_made(step, started, made)
    }

    /// Takes over what a script changed.
    fn apply(&mut self, sample: &ScriptSample, row: &mut SampleRow, seen: &mut Seen<'_>) {
        if !sample.is_changed() {
            return;
        }
        if sample.ignored {
            self.data.scripts.get_or_insert_default().ignores = true;
        }
        apply_to_row(sample, row);
        seen.change(sample);
    }
}

/// The class of a sampler's element.
fn class_of(kind: &SamplerKind<Text>) -> &'static str {
    match kind {
        SamplerKind::Http(_) => "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy",
        SamplerKind::JavaTest(_) => "org.apache.jmeter.protocol.java.sampler.JavaSampler",
        SamplerKind::Debug { .. } => "org.apache.jmeter.sampler.DebugSampler",
        SamplerKind::Dummy(_) => "kg.apc.jmeter.samplers.DummySampler",
        SamplerKind::FlowControl(_) => "org.apache.jmeter.sampler.TestAction",
        SamplerKind::Script(script) if is_beanshell(script) => {
            "org.apache.jmeter.protocol.java.sampler.BeanShellSampler"
        }
        SamplerKind::SetVariables(_) => "kg.apc.jmeter.control.sampler.SetVariablesAction",
        SamplerKind::Parallel(_) => "com.blazemeter.jmeter.controller.ParallelSampler",
        SamplerKind::Script(_) => "org.apache.jmeter.protocol.java.sampler.JSR223Sampler",
    }
}

/// What a `BeanShell` assertion may say of a sample, and what it says itself.
fn bind_sample(run: &mut ScriptRun, sample: &ScriptSample) {
    let text = |text: &Arc<str>| ScriptValue::Text(Arc::clone(text));
    let names = &mut run.names;
    names.set("ResponseData", text(&sample.body));
    names.set("ResponseCode", text(&sample.code));
    names.set("ResponseMessage", text(&sample.message));
    names.set("ResponseHeaders", text(&sample.response_headers));
    names.set("RequestHeaders", text(&sample.request_headers));
    names.set("SampleLabel", text(&sample.label));
    names.set("SamplerData", text(&sample.request_data));
    names.set("Successful", ScriptValue::Bool(sample.success));
    names.set("Failure", ScriptValue::Bool(false));
    names.set("FailureMessage", ScriptValue::text(""));
}

/// What JMeter says when a name that it asks for has no value.
const NO_VALUE: &str = "java.lang.NullPointerException: Cannot invoke \"Object.toString()\" because \
                        the return value of \"org.apache.jmeter.util.BeanShellInterpreter.get(\
                        String)\" is null";

/// The value of one of `BeanShell`'s names as text.
fn text_of_name(run: &ScriptRun, name: &str) -> Result<String, String> {
    let value = run.names.get(name).filter(|value| !value.is_null());
    value
        .map(ScriptValue::to_text)
        .ok_or_else(|| NO_VALUE.to_owned())
}

/// What a script as an assertion said.
fn judgement(
    run: &mut ScriptRun,
    done: Result<ScriptValue, ScriptFailure>,
    is_beanshell: bool,
) -> AssertionOutcome {
    let said = std::mem::take(&mut run.bindings.judgement);
    let mut outcome = AssertionOutcome {
        name: std::mem::take(&mut run.bindings.label),
        failure: said.failure,
        error: false,
        message: said.message,
    };
    let failed = match done {
        Ok(_) if is_beanshell => {
            outcome.message = text_of_name(run, "FailureMessage").ok();
            let failure = text_of_name(run, "Failure");
            outcome.failure = failure.as_deref() == Ok("true");
            failure.err()
        }
        Ok(_) => None,
        Err(ScriptFailure::Fatal(says)) => {
            // JMeter takes the error for an assertion of Java's.
            "Assertion failed! See log file (debug level, only).".clone_into(&mut outcome.name);
            outcome.failure = true;
            outcome.message = Some(says);
            None
        }
        Err(failure) => Some(failure.to_string()),
    };
    if let Some(says) = failed {
        outcome.error = true;
        outcome.message = Some(says);
    }
    outcome
}

/// What a sampler shows as its request: its script, or where that is.
fn asked(script: &Script<Text>, run: &ScriptRun) -> Arc<str> {
    match run.bindings.file_name.as_str() {
        "" => Arc::clone(&run.shown),
        file if is_beanshell(script) => file.into(),
        file => format!("File: {file}").into(),
    }
}

/// What a sampler answers; the error is what it says instead.
fn answered(
    made: &mut ScriptSample,
    value: &ScriptValue,
    has_names: bool,
    run: &ScriptRun,
) -> Result<(), String> {
    if !value.is_null() && (made.body.is_empty() || has_names) {
        made.body = value.to_text().into();
        made.data = None;
        made.encoding = "UTF-8".into();
    }
    if has_names {
        made.code = text_of_name(run, "ResponseCode")?.into();
        made.message = text_of_name(run, "ResponseMessage")?.into();
        made.success = text_of_name(run, "IsSuccess")? == "true";
    }
    Ok(())
}
