//! Samplers that send nothing: the Java tests, the Debug Sampler and the Dummy Sampler.

use std::sync::Arc;
use std::time::Duration;

use weir_plan::{Dummy, JavaTest};
use weir_record::{DataType, SampleRow};
use weir_script::{PreviousResponse, ScriptSample, Text};

use crate::clock::Moment;
use crate::counts::Count;
use crate::details::note_text;
use crate::user::User;
use crate::user::debug::Shown;
use crate::user::rows::take_parts;
use crate::user::sampling::Sampled;
use crate::user::seen::Seen;
use crate::user::seen_by_scripts::data_type;
use crate::work::Step;

/// A sample that was made up.
#[derive(Debug, Default)]
pub(crate) struct Made {
    label: String,
    code: String,
    message: String,
    success: bool,
    request: String,
    body: String,
    /// The bytes of the body, where they are not those of the text in UTF-8.
    data: Option<Arc<[u8]>>,
    url: String,
    /// Its texts are there even when they are empty.
    says_all: bool,
    /// What its answer is; `SleepTest` does not say.
    data_type: DataType,
    /// The character set that result files show, instead of one that is found.
    encoding: Option<String>,
    /// Header lines that a script made up.
    request_headers: String,
    response_headers: String,
    /// A script made it, which sends nothing unless it says so.
    is_script: bool,
    sent_bytes: u64,
    /// Instead of the time that it took.
    elapsed_ms: Option<u64>,
    latency_ms: u64,
    connect_ms: u64,
    /// The samples that it stands for, if it is a whole.
    parts: Option<Vec<SampleRow>>,
}

/// The bytes of a body.
fn bytes<'m>(body: &'m str, data: Option<&'m [u8]>) -> &'m [u8] {
    data.unwrap_or(body.as_bytes())
}

impl Made {
    /// A whole that stands for its parts, and ends with the last of them.
    pub(crate) fn whole(label: String, request: String, parts: Vec<SampleRow>) -> Self {
        Self {
            label,
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: parts.iter().all(|part| part.success),
            request,
            data_type: DataType::Empty,
            parts: Some(parts),
            ..Self::default()
        }
    }

    /// What a script made.
    pub(crate) fn of_script(sample: &ScriptSample) -> Self {
        Self {
            label: sample.label.to_string(),
            code: sample.code.to_string(),
            message: sample.message.to_string(),
            success: sample.success,
            request: sample.request_data.to_string(),
            body: sample.body.to_string(),
            data: sample.data.clone(),
            url: sample.url.to_string(),
            latency_ms: sample.latency_ms,
            data_type: data_type(sample),
            encoding: Some(sample.encoding.to_string()),
            request_headers: sample.request_headers.to_string(),
            response_headers: sample.response_headers.to_string(),
            is_script: true,
            sent_bytes: sample.sent_bytes,
            ..Self::default()
        }
    }

    /// A step that could not be done.
    pub(crate) fn failed(label: String, message: String) -> Self {
        Self {
            label,
            code: "500".to_owned(),
            message,
            data_type: DataType::Text,
            ..Self::default()
        }
    }
}

impl User {
    /// JMeter's `JavaTest` and `SleepTest`: wait `sleep + (now mod (mask + 1))`, then answer.
    pub(crate) async fn java_test(&mut self, step: &Step, test: &JavaTest<Text>) -> Sampled {
        let started = self.core.clock.now();
        self.core.sample_begins();
        let scope = &mut self.scope;
        let number = |text: String| text.trim().parse::<u64>().unwrap_or(0);
        let least = number(test.sleep_ms.rendered(scope));
        let mask = test.sleep_mask.rendered(scope);
        let mask = match mask.trim().strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap_or(0),
            None => number(mask),
        };
        let name = scope.sampler_name().to_string();
        let own = test.label.rendered(scope);
        let mut made = Made {
            label: if own.is_empty() { name } else { own },
            code: test.response_code.rendered(scope),
            message: test.response_message.rendered(scope),
            success: test.status.rendered(scope).eq_ignore_ascii_case("OK"),
            request: test.sampler_data.rendered(scope),
            body: test.result_data.rendered(scope),
            data_type: DataType::Text,
            ..Made::default()
        };
        if test.is_sleep_test {
            made.success = true;
            made.data_type = DataType::Empty;
        }
        let more = if mask > 0 {
            self.core.clock.epoch_ms(started) % mask
        } else {
            0
        };
        self.sleep_ms(started, least + more).await;
        self.finish_made(step, started, made)
    }

    /// Shows what the user knows.
    pub(crate) fn debug(&mut self, step: &Step, variables: bool, properties: bool) -> Sampled {
        let started = self.core.clock.now();
        self.core.sample_begins();
        let shown = Shown::of(&self.scope, variables, properties);
        let made = Made {
            label: self.scope.sampler_name().to_string(),
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: true,
            request: shown.asked,
            body: shown.answered,
            says_all: true,
            data_type: DataType::Text,
            ..Made::default()
        };
        self.finish_made(step, started, made)
    }

    /// The plugin's Dummy Sampler.
    pub(crate) async fn dummy(&mut self, step: &Step, dummy: &Dummy<Text>) -> Sampled {
        let started = self.core.clock.now();
        self.core.sample_begins();
        let scope = &mut self.scope;
        let number = |text: String| text.trim().parse::<u64>().unwrap_or(0);
        let elapsed_ms = number(dummy.response_time_ms.rendered(scope));
        let made = Made {
            label: scope.sampler_name().to_string(),
            code: dummy.response_code.rendered(scope),
            message: dummy.response_message.rendered(scope),
            success: dummy
                .successful
                .rendered(scope)
                .eq_ignore_ascii_case("true"),
            request: dummy.request_data.rendered(scope),
            body: dummy.response_data.rendered(scope),
            url: dummy.url.rendered(scope),
            data_type: DataType::Text,
            elapsed_ms: Some(elapsed_ms),
            latency_ms: number(dummy.latency_ms.rendered(scope)),
            connect_ms: number(dummy.connect_ms.rendered(scope)),
            ..Made::default()
        };
        if dummy.waiting {
            self.sleep_ms(started, elapsed_ms).await;
        }
        self.finish_made(step, started, made)
    }

    /// Sleeps as a part of a sample, which a stop lets finish.
    async fn sleep_ms(&mut self, from: Moment, milliseconds: u64) {
        if milliseconds > 0 {
            let until = from.after(Duration::from_millis(milliseconds));
            self.client.timer.until(until, || false).await;
        }
    }

    pub(crate) fn finish_made(&mut self, step: &Step, started: Moment, mut made: Made) -> Sampled {
        let clock = self.core.clock;
        let ended = clock.now();
        let (class, label) = self.core.class_of(&made.label);
        if step.is_remembered {
            self.scope.previous = Some(Arc::new(PreviousResponse {
                body: made.body.clone(),
                code: made.code.clone(),
                message: made.message.clone(),
                ..PreviousResponse::default()
            }));
        }
        let (group_threads, all_threads) = self.alive();
        let elapsed = clock.elapsed_ms(started, ended);
        let mut row = SampleRow {
            timestamp_ms: clock.epoch_ms(started),
            elapsed_ms: made.elapsed_ms.unwrap_or(elapsed),
            label,
            response_code: made.code.into(),
            response_message: made.message.into(),
            thread_name: self.thread_name(),
            data_type: made.data_type,
            success: made.success,
            received_bytes: bytes(&made.body, made.data.as_deref()).len() as u64,
            // JMeter counts the characters of what it shows, as Java does.
            sent_bytes: if made.is_script {
                made.sent_bytes
            } else {
                made.request.encode_utf16().count() as u64
            },
            group_threads,
            all_threads,
            url: made.url.into(),
            latency_ms: made.latency_ms,
            connect_ms: made.connect_ms,
            ..SampleRow::default()
        };
        let parts = made.parts.take();
        let is_whole = parts.is_some();
        if let Some(parts) = parts {
            take_parts(&mut row, parts);
        }
        let mut rewritten = None;
        let mut as_part = None;
        if step.looks_into() {
            let mut seen = Seen::text(made.request.clone(), made.body.as_bytes());
            self.look_into(step, &mut row, &mut seen);
            as_part = step.is_seen_as_part.then(|| seen.part());
            rewritten = seen.rewritten();
            if let Some(body) = rewritten.as_ref().and_then(|new| new.body()) {
                row.received_bytes = body.len() as u64;
            }
        }
        if step.wanted.details {
            // A Java test without a text says nothing, a debug sample says that it is empty.
            let said = |text| Some(text).filter(|text: &&str| made.says_all || !text.is_empty());
            let asked = said(&made.request).or(made.is_script.then_some(&*made.request));
            let answered = said(&made.body);
            note_text(&mut row, asked, answered, step.wanted);
            let details = row.details.get_or_insert_default();
            if let Some(shown) = &mut details.response_data {
                *shown = bytes(&made.body, made.data.as_deref()).to_vec();
            }
            if let Some(encoding) = made.encoding {
                details.encoding = encoding;
            }
            details.request_headers = made.request_headers;
            details.response_headers = made.response_headers;
            if let Some(rewritten) = rewritten {
                rewritten.note(&mut row, step.wanted);
            }
        }
        if let Some(part) = as_part {
            part.note(&mut row);
        }
        if is_whole {
            // Its parts are counted.
            return Sampled::looked_at(row, None);
        }
        let measured_us = self.response_us(started, ended);
        let count = Count {
            class,
            ended,
            response_us: made.elapsed_ms.map_or(measured_us, |ms| ms * 1_000),
        };
        Sampled::looked_at(row, Some(count))
    }
}
