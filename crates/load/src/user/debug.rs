//! What the Debug Sampler and the Debug `PostProcessor` show of a user.
//!
//! JMeter's own internal variables (`JMeterThread.pack` and the like) are not there, and neither
//! are the properties of a Java machine and the settings of a sampler.

use std::collections::BTreeMap;

use weir_plan::DebugPostProcessor;
use weir_record::{DataType, SampleRow};
use weir_script::{Scope, Text};

use crate::details::note_text;
use crate::user::User;
use crate::work::Step;

/// JMeter's property with which parts of samples keep their own names instead of that of the whole
/// with a number.
const KEEPS_NAMES: &str = "subresults.disable_renaming";

/// What is shown, as the sample that shows it has it.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// What was asked for.
    pub(crate) asked: String,
    /// The answer.
    pub(crate) answered: String,
}

impl Shown {
    /// A user's variables, the properties of the test, or both.
    pub(crate) fn of(scope: &Scope, variables: bool, properties: bool) -> Self {
        let mut shown = Self::default();
        if variables {
            let known = &scope.variables;
            let global = known.globals().iter();
            let global = global.filter(|(name, _)| known.get(name).is_some());
            let all = global.chain(known.own());
            let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
            shown.list("JMeterVariables", &all.collect());
        }
        if properties {
            shown.list("JMeterProperties", &scope.variables.globals().properties());
        }
        shown
    }

    fn list(&mut self, title: &str, values: &BTreeMap<String, String>) {
        self.asked.extend([title, "\n"]);
        self.answered.extend([title, ":\n"]);
        for (name, value) in values {
            self.answered.extend([name, "=", value, "\n"]);
        }
        self.answered.push('\n');
    }
}

impl User {
    /// Adds a part to a sample that shows what is known.
    pub(crate) fn show_debug(
        &mut self,
        step: &Step,
        debug: &DebugPostProcessor<Text>,
        row: &mut SampleRow,
    ) {
        let parts = debug.parts;
        let mut shown = Shown::of(&self.scope, parts.variables, parts.properties);
        if parts.sampler {
            shown.asked.insert_str(0, "SamplerProperties\n");
            shown.answered.insert_str(0, "SamplerProperties:\n\n");
        }
        let property = self.scope.variables.globals().property(KEEPS_NAMES);
        let label = if property.is_some_and(|value| value == "true") {
            debug.name.rendered(&mut self.scope)
        } else {
            format!("{}-{}", row.label, row.children.len())
        };
        let now = self.core.clock.now();
        let mut part = SampleRow {
            timestamp_ms: self.core.clock.epoch_ms(now),
            label: label.into(),
            response_code: "200".into(),
            response_message: "OK".into(),
            thread_name: self.thread_name(),
            data_type: DataType::Text,
            success: true,
            received_bytes: shown.answered.len() as u64,
            sent_bytes: shown.asked.len() as u64,
            group_threads: row.group_threads,
            all_threads: row.all_threads,
            ..SampleRow::default()
        };
        if step.wanted.details {
            let (asked, answered) = (Some(&*shown.asked), Some(&*shown.answered));
            note_text(&mut part, asked, answered, step.wanted);
        }
        // The sample lasts to the end of its part (JMeter).
        let end = part.timestamp_ms.saturating_sub(row.timestamp_ms);
        row.elapsed_ms = row.elapsed_ms.max(end);
        row.received_bytes += part.received_bytes;
        row.sent_bytes += part.sent_bytes;
        row.children.push(part);
    }
}
