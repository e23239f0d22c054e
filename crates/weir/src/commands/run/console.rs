//! What JMeter's users see on their console, and find in `jmeter.log`.
//!
//! The lines are JMeter's, on standard output, so that what reads them goes on reading them. When
//! standard output is for Weir's JSON alone, they go to standard error.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use jiff::Zoned;

use crate::error::ExpectedError;
use crate::output;

/// Says JMeter's lines.
#[derive(Debug)]
pub(crate) struct Console {
    log: Option<File>,
    is_talk: bool,
}

impl Console {
    /// Lines to standard output, or to standard error as talk; and to a log.
    pub(crate) fn new(log: Option<&Path>, is_talk: bool) -> Result<Self, ExpectedError> {
        let open = |path: &Path| {
            File::create(path).map_err(|error| {
                ExpectedError::Environment(format!("-j {}: {error}", path.display()))
            })
        };
        Ok(Self {
            log: log.map(open).transpose()?,
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

    fn log(&mut self, who: &str, text: &str) {
        if let Some(log) = &mut self.log {
            let now = Zoned::now().strftime("%Y-%m-%d %H:%M:%S,%3f");
            // A log on a full disk may not end a run that is measuring.
            drop(writeln!(log, "{now} INFO {who}: {text}"));
        }
    }
}

/// A moment as JMeter shows it: the date, and milliseconds since 1970.
pub(crate) fn shown(moment: &Zoned) -> String {
    let date = moment.strftime("%Y %b %-d %H:%M:%S %Z");
    format!("{date} ({})", moment.timestamp().as_millisecond())
}
