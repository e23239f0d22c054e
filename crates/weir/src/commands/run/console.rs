//! What JMeter's users see on their console, and find in `jmeter.log`.
//!
//! The lines are JMeter's, on standard output, so that what reads them goes on reading them. When
//! standard output is for Weir's JSON alone, they go to standard error.

use std::path::Path;

use jiff::Zoned;
use weir_script::LogSink;

use super::log::Log;

use crate::error::ExpectedError;
use crate::output;

/// Says JMeter's lines.
#[derive(Debug)]
pub(crate) struct Console {
    log: Option<Log>,
    is_talk: bool,
}

impl Console {
    /// Lines to standard output, or to standard error as talk; and to a log.
    pub(crate) fn new(log: Option<&Path>, is_talk: bool) -> Result<Self, ExpectedError> {
        Ok(Self {
            log: log.map(Log::create).transpose()?,
            is_talk,
        })
    }

    /// Says a line.
    pub(crate) fn line(&mut self, text: &str) {
        if self.is_talk {
            output::talk(text);
        } else {
            output::data(text);
        }
        self.log("o.a.j.JMeter", text);
    }

    /// Says a line of the summariser.
    pub(crate) fn summary(&mut self, text: &str, shown: bool) {
        if shown {
            if self.is_talk {
                output::talk(text);
            } else {
                output::data(text);
            }
        }
        self.log("o.a.j.r.Summariser", text);
    }

    /// Where what the plan logs goes, if there is a log.
    pub(crate) fn sink_for_plan(&self) -> Option<LogSink> {
        let log = self.log.clone()?;
        Some(Box::new(move |level, text| log.line_of_plan(level, text)))
    }

    fn log(&self, who: &str, text: &str) {
        if let Some(log) = &self.log {
            log.line("INFO", who, text);
        }
    }
}

/// A moment as JMeter shows it: the date, and milliseconds since 1970.
pub(crate) fn shown(moment: &Zoned) -> String {
    let date = moment.strftime("%Y %b %-d %H:%M:%S %Z");
    format!("{date} ({})", moment.timestamp().as_millisecond())
}
