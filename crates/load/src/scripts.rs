//! The scripts of a plan: samplers, and what runs before, after and as assertions.
//!
//! A script that fails as it would in JMeter does what it does there: before and after a sampler
//! it is a line in the log. One that needs what Weir does not know fails its sample.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use weir_plan::{Argument, HttpRequest, SamplerKind, Script};
use weir_record::{DataType, SampleRow};
use weir_response::AssertionOutcome;
use weir_script::{
    ArgumentView, Ends, SamplerView, ScriptFailure, ScriptPlace, ScriptRun, ScriptSample,
    ScriptValue, Text,
};

use crate::look_into::Seen;
use crate::made_up::Made;
use crate::sampling::Sampled;
use crate::user::User;
use crate::work::Step;

/// What scripts left for the user.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The sample before.
    pub(crate) previous: Option<ScriptSample>,
    /// The request as scripts before it made it.
    request: Option<Box<HttpRequest<Text>>>,
    /// Why the step cannot be done.
    hindrance: Option<String>,
    ends: Option<Ends>,
    sleep_ms: u64,
    /// Nobody is told of the sample.
    ignores: bool,
}

/// Whether the script is of a `BeanShell` element, which has more names.
fn is_beanshell(script: &Script<Text>) -> bool {
    script.language == "beanshell"
}

impl User {
    fn script_run(&self, place: ScriptPlace) -> ScriptRun {
        let mut run = ScriptRun::new(place, &self.thread_name());
        let left = self.data.scripts.as_deref();
        run.bindings.previous = left.and_then(|left| left.previous.clone());
        run
    }

    /// Runs a script at the time it is.
    fn run_script(
        &mut self,
        script: &Script<Text>,
        run: &mut ScriptRun,
    ) -> Result<ScriptValue, ScriptFailure> {
        let now = self.core.clock.now();
        self.scope.epoch_ms = self.core.clock.epoch_ms(now).cast_signed();
        let done = run.run(script, &mut self.scope);
        let samples = [&run.bindings.previous, &run.bindings.own];
        let ignores = samples.into_iter().flatten().any(|sample| sample.ignored);
        let left = self.data.scripts.get_or_insert_default();
        left.sleep_ms = left.sleep_ms.saturating_add(run.bindings.sleep_ms);
        left.ends = left.ends.max(run.bindings.ends);
        left.ignores |= ignores;
        done
    }

    fn log_script(&self, level: &str, text: &str) {
        self.scope.variables.globals().log(level, text);
    }

    /// Runs what stands before a sampler.
    pub(crate) fn run_before(&mut self, step: &Step, script: &Script<Text>) {
        let mut run = self.script_run(ScriptPlace::Before);
        if ScriptRun::mentions(script, "ampler") {
            let view = self.view_of(step);
            run.bindings.sampler = Some(view);
        }
        let done = self.run_script(script, &mut run);
        if let (Some(view), SamplerKind::Http(request)) =
            (run.bindings.sampler.take(), &step.source.kind)
        {
            // What was looked at is what is sent: a function gives another text each time.
            let left = self.data.scripts.get_or_insert_default();
            let request = left.request.as_deref().unwrap_or(request);
            left.request = Some(Box::new(changed(request, &view)));
        }
        match done {
            Ok(_) => {}
            Err(ScriptFailure::Thrown(says)) => {
                let name = &run.bindings.label;
                let says = format!("Problem in the script of {name}: {says}");
                self.log_script("ERROR", &says);
            }
            Err(ScriptFailure::Beyond(says)) => {
                let says = format!("{}: {says}", run.bindings.label);
                let left = self.data.scripts.get_or_insert_default();
                left.hindrance.get_or_insert(says);
            }
        }
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
    pub(crate) fn changed_request(&mut self) -> Option<Box<HttpRequest<Text>>> {
        self.data.scripts.as_mut()?.request.take()
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

    /// Keeps a sample for scripts before the next.
    pub(crate) fn remember(&mut self, sample: ScriptSample) {
        self.data.scripts.get_or_insert_default().previous = Some(sample);
    }

    /// The step's request as scripts see it.
    fn view_of(&mut self, step: &Step) -> SamplerView {
        let name = step.source.label.rendered(&mut self.scope);
        let SamplerKind::Http(request) = &step.source.kind else {
            return SamplerView {
                name,
                ..SamplerView::default()
            };
        };
        let left = self.data.scripts.as_deref();
        let changed = left.and_then(|left| left.request.as_deref());
        let request = changed.unwrap_or(request);
        let scope = &mut self.scope;
        SamplerView {
            name,
            domain: request.host.rendered(scope),
            port: request.port.rendered(scope),
            protocol: request.protocol.rendered(scope),
            path: request.path.rendered(scope),
            method: request.method.rendered(scope),
            arguments: request
                .arguments
                .iter()
                .map(|argument| ArgumentView {
                    name: argument.name.rendered(scope),
                    value: argument.value.rendered(scope),
                    encode: argument.always_encode,
                })
                .collect(),
            headers: request
                .headers
                .iter()
                .map(|(name, value)| (name.rendered(scope), value.rendered(scope)))
                .collect(),
            raw_body: request.raw_body,
            changed: false,
        }
    }

    /// Waits as long as scripts want to sleep.
    pub(crate) async fn sleep_for_scripts(&mut self) {
        let left = self.data.scripts.as_mut();
        let ms = left.map_or(0, |left| std::mem::take(&mut left.sleep_ms));
        if ms > 0 {
            let until = self.core.clock.now().after(Duration::from_millis(ms));
            self.sleep_until(until).await;
        }
    }

    /// Runs what stands after a sampler.
    pub(crate) fn run_after(
        &mut self,
        script: &Script<Text>,
        row: &mut SampleRow,
        seen: &mut Seen<'_>,
        outcomes: &mut Vec<AssertionOutcome>,
    ) {
        let mut run = self.script_run(ScriptPlace::After);
        run.bindings.previous = Some(sample_of(row, seen));
        if is_beanshell(script) {
            let body = seen.view(row).text().to_owned();
            run.names.set("data", ScriptValue::text(body));
        }
        let done = self.run_script(script, &mut run);
        if let Some(sample) = run.bindings.previous.take() {
            apply(&sample, row, seen);
        }
        match done {
            Ok(_) => {}
            Err(ScriptFailure::Thrown(says)) => {
                let name = &run.bindings.label;
                let says = format!("Problem in the script of {name}: {says}");
                self.log_script("ERROR", &says);
            }
            Err(ScriptFailure::Beyond(says)) => {
                row.success = false;
                outcomes.push(AssertionOutcome {
                    name: run.bindings.label,
                    failure: false,
                    error: true,
                    message: Some(says),
                });
            }
        }
    }

    /// What a script says as an assertion, and the sample as it left it.
    pub(crate) fn judge_by_script(
        &mut self,
        script: &Script<Text>,
        sample: ScriptSample,
    ) -> (AssertionOutcome, Option<ScriptSample>) {
        let mut run = self.script_run(ScriptPlace::Assertion);
        if is_beanshell(script) {
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
        run.bindings.previous = Some(sample);
        let done = self.run_script(script, &mut run);
        let mut judgement = std::mem::take(&mut run.bindings.judgement);
        if is_beanshell(script) && done.is_ok() {
            let text = |name: &str| run.names.get(name).map(ScriptValue::to_text);
            judgement.failure = text("Failure").as_deref() == Some("true");
            judgement.message = text("FailureMessage");
        }
        if let Err(failure) = done {
            judgement.error = true;
            judgement.message = Some(failure.to_string());
        }
        let outcome = AssertionOutcome {
            name: std::mem::take(&mut run.bindings.label),
            failure: judgement.failure,
            error: judgement.error,
            message: judgement.message,
        };
        let sample = run.bindings.previous.take();
        (outcome, sample.filter(|sample| sample.changed))
    }

    /// A sampler that is a script: its value is the response.
    pub(crate) async fn sample_script(&mut self, step: &Step, script: &Script<Text>) -> Sampled {
        let started = self.core.clock.now();
        self.core.sample_begins();
        let mut run = self.script_run(ScriptPlace::Sampler);
        run.bindings.own = Some(ScriptSample {
            label: step.source.label.rendered(&mut self.scope).into(),
            code: "200".into(),
            message: "OK".into(),
            success: true,
            data_type: "text".into(),
            thread_name: self.thread_name(),
            start_ms: self.core.clock.epoch_ms(started),
            ..ScriptSample::default()
        });
        let has_names = is_beanshell(script);
        if has_names {
            run.names.set("ResponseCode", ScriptValue::text("200"));
            run.names.set("ResponseMessage", ScriptValue::text("OK"));
            run.names.set("IsSuccess", ScriptValue::Bool(true));
        }
        let done = self.run_script(script, &mut run);
        let mut made = run.bindings.own.take().unwrap_or_default();
        if made.request_data.is_empty() {
            made.request_data = Arc::clone(&run.text);
        }
        match done {
            Ok(value) => {
                if !value.is_null() && (made.body.is_empty() || has_names) {
                    made.body = value.to_text().into();
                }
                if has_names {
                    let text = |name: &str| run.names.get(name).map(ScriptValue::to_text);
                    made.code = text("ResponseCode").unwrap_or_default().into();
                    made.message = text("ResponseMessage").unwrap_or_default().into();
                    made.success = text("IsSuccess").as_deref() == Some("true");
                }
            }
            Err(failure) => {
                let says = failure.to_string();
                self.log_script("ERROR", &format!("Problem in a script: {says}"));
                made.success = false;
                made.code = "500".into();
                made.message = says.into();
            }
        }
        self.sleep_for_scripts().await;
        let made = Made::of_script(&made);
        self.finish_made(step, started, made)
    }
}

/// The request with what a script made of it.
fn changed(request: &HttpRequest<Text>, view: &SamplerView) -> HttpRequest<Text> {
    let arguments = view.arguments.iter().enumerate();
    let arguments = arguments.map(|(at, argument)| {
        let known = request.arguments.get(at);
        Argument {
            name: Text::literal(&argument.name),
            value: Text::literal(&argument.value),
            always_encode: argument.encode,
            use_equals: known.is_none_or(|known| known.use_equals),
            content_type: known
                .map(|known| known.content_type.clone())
                .unwrap_or_default(),
        }
    });
    let headers = view.headers.iter();
    HttpRequest {
        host: Text::literal(&view.domain),
        port: Text::literal(&view.port),
        protocol: Text::literal(&view.protocol),
        path: Text::literal(&view.path),
        method: Text::literal(&view.method),
        arguments: arguments.collect(),
        headers: headers
            .map(|(name, value)| (Text::literal(name), Text::literal(value)))
            .collect(),
        raw_body: view.raw_body,
        ..request.clone()
    }
}

/// A row as scripts see it.
pub(crate) fn sample_of(row: &SampleRow, seen: &Seen<'_>) -> ScriptSample {
    let view = seen.view(row);
    ScriptSample {
        label: Arc::clone(&row.label),
        code: Arc::clone(&row.response_code),
        message: Arc::clone(&row.response_message),
        success: row.success,
        body: view.text().into(),
        response_headers: seen.response_headers.as_str().into(),
        request_headers: seen.request_headers.as_str().into(),
        request_data: seen.request_data.as_str().into(),
        url: Arc::clone(&row.url),
        thread_name: Arc::clone(&row.thread_name),
        content_type: view.content_type.into(),
        data_type: match row.data_type {
            DataType::Text => "text".into(),
            DataType::Binary => "bin".into(),
            DataType::Empty => "".into(),
        },
        start_ms: row.timestamp_ms,
        elapsed_ms: row.elapsed_ms,
        latency_ms: row.latency_ms,
        connect_ms: row.connect_ms,
        idle_ms: row.idle_ms,
        received_bytes: row.received_bytes,
        sent_bytes: row.sent_bytes,
        group_threads: row.group_threads,
        all_threads: row.all_threads,
        ..ScriptSample::default()
    }
}

/// Takes over what a script changed.
pub(crate) fn apply(sample: &ScriptSample, row: &mut SampleRow, seen: &mut Seen<'_>) {
    if !sample.changed {
        return;
    }
    apply_to_row(sample, row);
    if *seen.view(row).text() != *sample.body {
        seen.body = Cow::Owned(sample.body.as_bytes().to_vec());
    }
    (*sample.response_headers).clone_into(&mut seen.response_headers);
    (*sample.request_headers).clone_into(&mut seen.request_headers);
    (*sample.request_data).clone_into(&mut seen.request_data);
}

/// The part of it that result files show.
pub(crate) fn apply_to_row(sample: &ScriptSample, row: &mut SampleRow) {
    row.label = Arc::clone(&sample.label);
    row.response_code = Arc::clone(&sample.code);
    row.response_message = Arc::clone(&sample.message);
    row.success = sample.success;
    row.thread_name = Arc::clone(&sample.thread_name);
    row.latency_ms = sample.latency_ms;
    row.data_type = match &*sample.data_type {
        "text" => DataType::Text,
        "bin" => DataType::Binary,
        _ => DataType::Empty,
    };
}
