//! The files that a plan reads and writes: which it may, and what is said of the others.
//!
//! A plan may touch what lies below its own folder and below the one that Weir is run in, and what
//! the user names: with `--allow-files`, in the study, or by itself on the command line. What is
//! refused and always the same is told before the first request; the rest fails where it is asked
//! for, as a file that is missing does.

use std::path::{Path, PathBuf};

use weir_plan::LoadPlan;
use weir_reach::Reach;
use weir_record::CheckedName;
use weir_script::{FileUse, Origin, Properties};

use crate::error::ExpectedError;
use crate::output;

/// What is said of plans that a JMeter runs.
pub(crate) const OF_JMETER: &str = "with --engine jmeter a plan may do whatever you may: Weir cannot keep a JMeter to \
                                    some files";

/// The reach of a plan with what `--allow-files` names.
pub(crate) fn reach(plan: &Path, allowed: &[PathBuf]) -> Reach {
    let reach = Reach::of_plan(Some(plan));
    allowed.iter().fold(reach, |reach, path| reach.allow(path))
}

/// A file that a plan names, judged.
pub(crate) struct JudgedFile {
    file: FileUse,
    /// Where it lies, if its name is always the same.
    place: Option<PathBuf>,
    pub(crate) is_refused: bool,
}

/// The files of a plan, as far as they show before it runs. Nothing is written by looking.
pub(crate) fn of_plan(plan: &LoadPlan, properties: &Properties) -> Vec<JudgedFile> {
    let reach = plan.reach.clone().unwrap_or_default();
    let looked_at = LoadPlan {
        reach: Some(reach.clone().read_only()),
        ..plan.clone()
    };
    let files = weir_script::files_of(&looked_at, properties, Origin::default());
    reach.take_refused();
    judged(files, &reach)
}

fn judged(files: Vec<FileUse>, reach: &Reach) -> Vec<JudgedFile> {
    let judged = files.into_iter().map(|file| {
        let judgement = file.name.as_ref().map(|name| {
            let found = match file.does {
                weir_script::FileDeed::Reads => reach.find(name),
                // What is written goes where Weir is run, be there a file beside the plan or not.
                _ => PathBuf::from(name),
            };
            reach.judge(&found)
        });
        JudgedFile {
            is_refused: judgement.as_ref().is_some_and(|of| !of.is_allowed),
            place: judgement.map(|of| of.place),
            file,
        }
    });
    judged.collect()
}

impl JudgedFile {
    /// Whether only a JMeter touches it.
    pub(crate) fn only_jmeter(&self) -> bool {
        self.file.only_jmeter
    }

    /// The file as programs read it.
    pub(crate) fn checked(&self) -> CheckedName {
        CheckedName {
            line: self.file.at.line,
            column: self.file.at.column,
            element: self.file.who.clone(),
            written: self.file.written.clone(),
            does: self.file.does.word().to_owned(),
            place: self.place.as_ref().map(|place| place.display().to_string()),
            allowed: self.place.as_ref().map(|_| !self.is_refused),
            only_jmeter: self.file.only_jmeter,
        }
    }

    /// What is said of it in a list, without the plan's name.
    pub(crate) fn line(&self) -> String {
        let (who, does) = (&self.file.who, self.file.does.word());
        let at = self.file.at;
        let only = if self.file.only_jmeter {
            " (only with --engine jmeter)"
        } else {
            ""
        };
        let begin = format!(
            "line {}, column {}: {who} {does} {}{only}",
            at.line, at.column, self.file.written
        );
        match &self.place {
            None => format!(
                "{begin}: known only at run time, allowed within the folders of plan and run"
            ),
            Some(place) if self.is_refused => {
                let place = place.display();
                format!(
                    "{begin}: refused, outside the folders of plan and run ({place}; --allow-files {place})"
                )
            }
            Some(place) => format!("{begin}: allowed ({})", place.display()),
        }
    }
}

/// Refuses a plan that names a file which it may not touch.
pub(crate) fn refuse(
    plan: &LoadPlan,
    properties: &Properties,
    with_jmeter: bool,
) -> Result<(), ExpectedError> {
    let files = of_plan(plan, properties);
    let refused = files.iter();
    let refused = refused.filter(|file| file.is_refused && (with_jmeter || !file.only_jmeter()));
    let name = plan.source.as_deref().unwrap_or(Path::new("the plan"));
    let mut count = 0;
    for file in refused {
        output::talk(&format!("{}: {}", name.display(), file.line()));
        count += 1;
    }
    if count == 0 {
        return Ok(());
    }
    Err(ExpectedError::Input(format!(
        "{}: {count} file(s) are outside the folders of plan and run; nothing was sent; allow a file or folder with \
         --allow-files",
        name.display()
    )))
}
