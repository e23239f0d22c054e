//! `weir gate --learn`: what production traffic teaches, shown while it is learnt, and written.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use weir_gateway::{AdaptiveSettings, Gateway, Keep, Lasting, Settings, Status};

use crate::commands::watch;
use crate::error::ExpectedError;
use crate::progress::LiveView;
use crate::stored;

/// What is learnt, and what becomes of it.
#[derive(Debug, Args)]
pub(super) struct LearnArguments {
    /// Learn from the traffic how many requests may be in flight, within `min` and `max` of
    /// [limit.adaptive]; say it each second.
    #[arg(long)]
    learn: bool,
    /// At the end write the gateway's file with what was learnt.
    #[arg(long, value_name = "FILE", requires = "learn")]
    write: Option<PathBuf>,
    /// What the written file holds.
    #[arg(long, value_enum, default_value_t = Kept::Limit, requires = "write")]
    keep: Kept,
    /// Write it after so long too, such as `30m` or `12h`; the gateway goes on.
    #[arg(long = "for", value_name = "TIME", value_parser = watch::length, requires = "write")]
    length: Option<Duration>,
}

/// What a file is to hold from now on.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kept {
    /// The number, in the place of [limit.adaptive]
    Limit,
    /// [limit.adaptive], with where the number has been as its bounds
    Bounds,
}

/// A gateway that learns.
pub(super) struct Learning {
    to: Option<PathBuf>,
    keep: Keep,
    /// When it is written while the gateway goes on.
    due: Option<Instant>,
    seconds: u64,
    view: LiveView,
}

impl Learning {
    /// As it is asked for.
    pub(super) fn wanted(arguments: &LearnArguments) -> Option<Self> {
        arguments.learn.then(|| Self {
            to: arguments.write.clone(),
            keep: match arguments.keep {
                Kept::Limit => Keep::Limit,
                Kept::Bounds => Keep::Bounds,
            },
            due: arguments.length.map(|length| Instant::now() + length),
            seconds: 0,
            view: LiveView::new(""),
        })
    }

    /// Says within which bounds.
    pub(super) fn begin(&self, settings: &Settings) {
        let adaptive = settings.limit.adaptive.as_ref();
        let number =
            |of: fn(&AdaptiveSettings) -> Option<f64>| adaptive.and_then(of).unwrap_or_default();
        let (min, max) = (number(|found| found.min), number(|found| found.max));
        let step = number(|found| found.step) * 100.0;
        let to = self.to.as_ref();
        let to = to.map_or_else(String::new, |to| format!(" and writes {}", to.display()));
        self.view.line(&format!(
            "learns a limit from {min} to {max}, by at most {step} % at a time; Ctrl-C ends it{to}"
        ));
    }

    /// Says how it stands; what cannot be written now is no reason to leave the traffic alone.
    pub(super) fn second(&mut self, gateway: &Gateway) {
        self.seconds += 1;
        self.view.says(self.seconds, &line(&gateway.status()));
        if self.due.is_some_and(|due| Instant::now() >= due) {
            self.due = None;
            if let Err(error) = self.save(gateway) {
                self.view.line(&format!("warning: {error}"));
            }
        }
    }

    /// Says what was learnt, and writes it.
    pub(super) fn end(self, gateway: &Gateway) -> Result<(), ExpectedError> {
        self.view.finish();
        self.save(gateway)
    }

    fn save(&self, gateway: &Gateway) -> Result<(), ExpectedError> {
        let Some(learnt) = gateway.status().learnt else {
            self.view.line(
                "nothing was learnt: nobody has waited for the limit, so that the traffic needs no more than it allows",
            );
            return Ok(());
        };
        self.view.line(&learnt.to_string());
        let Some(to) = &self.to else {
            return Ok(());
        };
        let name = to.display();
        let Some((text, lasting)) = gateway.with_learnt(&learnt, self.keep) else {
            return Err(ExpectedError::Input(format!(
                "failed to write {name}: what was learnt finds no place in the gateway's file; write `concurrency = {:.0}` \
                 in [limit] yourself",
                learnt.concurrency
            )));
        };
        weir_record::write_whole(to, text.as_bytes()).map_err(stored::failed)?;
        self.view.line(&match lasting {
            Lasting::Start(_) => {
                format!(
                    "wrote {name}: {lasting}; learn on from there with: weir gate {name} --learn"
                )
            }
            _ => format!("wrote {name}: {lasting}; hold it with: weir gate {name}"),
        });
        Ok(())
    }
}

/// How it stands, on one line.
fn line(status: &Status) -> String {
    let all = &status.all;
    let limit = all.limit.unwrap_or_default();
    let mut parts = vec![format!(
        "limit {limit:.1}  {} in flight  {} wait  {} rejected",
        all.in_flight,
        all.queued,
        all.refused.total()
    )];
    if let Some(busy) = status.cpu.as_ref().and_then(|cpu| cpu.busy) {
        parts.push(format!("CPU {:.1} %", busy * 100.0));
    }
    parts.push(match &status.learnt {
        Some(learnt) => learnt.to_string(),
        None => "nobody has waited for it yet".to_owned(),
    });
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Words {
        #[command(flatten)]
        learn: LearnArguments,
    }

    #[test]
    fn nothing_is_written_that_is_not_learnt() {
        let words = |words: &[&str]| Words::try_parse_from([&["gate"], words].concat());
        for wrong in [
            &["--write", "a.toml"][..],
            &["--learn", "--for", "1m"],
            &["--learn", "--keep", "bounds"],
            &["--learn", "--write", "a.toml", "--for", "1"],
        ] {
            assert!(words(wrong).is_err(), "{wrong:?}");
        }
        for right in [
            &[][..],
            &["--learn"],
            &[
                "--learn", "--write", "a.toml", "--keep", "bounds", "--for", "10m",
            ],
        ] {
            assert!(words(right).is_ok(), "{right:?}");
        }
    }
}
