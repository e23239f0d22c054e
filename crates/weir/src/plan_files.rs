//! The files that a plan reads and writes: which it may, and what is said of the others.
//!
//! A plan may touch what lies below its own folder and below the one that Weir is run in, and what
//! the user names: with `--allow-files`, in the study, or by itself on the command line. With
//! `--sandbox` its own folder and what the command line names have to do. What is refused and
//! always the same is told before the first request; the rest fails where it is asked for, as a
//! file that is missing does.

use std::path::{Path, PathBuf};

use clap::Args;
use weir_plan::LoadPlan;
use weir_reach::Reach;
use weir_record::CheckedName;
use weir_script::{FileDeed, FileUse, Origin, Properties};

use crate::error::ExpectedError;
use crate::output;

/// What is said of plans that a JMeter runs.
pub(crate) const OF_JMETER: &str = "with --engine jmeter a plan may do whatever you may: Weir cannot keep a JMeter to \
                                    some files";

/// The files that a plan may touch, as they are typed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FileOptions {
    /// Allow the plan to read and write this file, or all below this folder, beside the folders
    /// that are its own: the plan's, the study's and the one that Weir is run in; may be given
    /// several times.
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_files: Vec<PathBuf>,
    /// Keep the plan to its own folder, the run's directory, and the files that options name: the
    /// study's folder and the one that Weir is run in are out of reach, and so is what the study
    /// allows.
    #[arg(long)]
    pub(crate) sandbox: bool,
}

impl FileOptions {
    /// Whether one of them was typed.
    pub(crate) fn are_given(&self) -> bool {
        self.sandbox || !self.allow_files.is_empty()
    }

    /// The reach of a plan.
    pub(crate) fn reach(&self, plan: &Path) -> Reach {
        let reach = if self.sandbox {
            Reach::sandbox(plan)
        } else {
            Reach::of_plan(Some(plan))
        };
        let allowed = self.allow_files.iter();
        allowed.fold(reach, |reach, path| reach.allow(path))
    }
}

/// A file that a plan names, judged.
pub(crate) struct JudgedFile {
    file: FileUse,
    /// What is within the plan's reach unasked.
    bounds: &'static str,
    /// Where it lies, if its name is always the same.
    place: Option<PathBuf>,
    pub(crate) is_refused: bool,
    /// Why it cannot be read now, where that is known.
    problem: Option<String>,
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
        let is_read = file.does == FileDeed::Reads;
        let found = file.name.as_ref().map(|name| {
            if is_read {
                reach.find(name)
            } else {
                // What is written goes where Weir is run, be there a file beside the plan or not.
                PathBuf::from(name)
            }
        });
        let judgement = found.as_ref().map(|found| reach.judge(found));
        let is_refused = judgement.as_ref().is_some_and(|of| !of.is_allowed);
        let to_read = file.name.as_deref().zip(found.as_deref());
        let to_read = to_read.filter(|_| is_read && !is_refused && !file.only_jmeter);
        JudgedFile {
            problem: to_read.and_then(|(name, found)| unreadable(name, found, reach)),
            place: judgement.map(|of| of.place),
            is_refused,
            file,
            bounds: reach.bounds(),
        }
    });
    judged.collect()
}

/// Why a file that a plan reads cannot be read now.
fn unreadable(name: &str, found: &Path, reach: &Reach) -> Option<String> {
    let error = match reach.read(found) {
        Ok(file) => {
            let is_empty = file.metadata().is_ok_and(|facts| facts.len() == 0);
            return is_empty.then(|| format!("is empty ({})", place(found)));
        }
        Err(error) => error,
    };
    if error.kind() != std::io::ErrorKind::NotFound {
        return Some(format!("cannot be read ({}: {error})", place(found)));
    }
    let (here, beside) = (place(Path::new(name)), place(&reach.folder().join(name)));
    Some(if here == beside {
        format!("is not there (looked for {here})")
    } else {
        format!("is not there (looked for {here}, then {beside})")
    })
}

fn place(path: &Path) -> String {
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    place.display().to_string()
}

impl JudgedFile {
    /// Whether only a JMeter touches it.
    pub(crate) fn only_jmeter(&self) -> bool {
        self.file.only_jmeter
    }

    /// What is wrong with it before the run, without the plan's name: users may want it in vain.
    pub(crate) fn warning(&self) -> Option<String> {
        let problem = self.problem.as_ref()?;
        let (at, who, written) = (self.file.at, &self.file.who, &self.file.written);
        Some(format!(
            "line {}, column {}: {who} reads {written}, which {problem}",
            at.line, at.column
        ))
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
        let bounds = self.bounds;
        match &self.place {
            None => format!("{begin}: known only at run time, allowed within {bounds}"),
            Some(place) if self.is_refused => {
                let place = place.display();
                format!("{begin}: refused, outside {bounds} ({place}; --allow-files {place})")
            }
            Some(place) => match &self.problem {
                None => format!("{begin}: allowed ({})", place.display()),
                Some(problem) => format!("{begin}: {problem}"),
            },
        }
    }
}

/// Refuses a plan that names a file which it may not touch; warns of those that cannot be read.
pub(crate) fn refuse(
    plan: &LoadPlan,
    properties: &Properties,
    with_jmeter: bool,
) -> Result<(), ExpectedError> {
    let files = of_plan(plan, properties);
    let refused = files.iter();
    let refused = refused.filter(|file| file.is_refused && (with_jmeter || !file.only_jmeter()));
    let name = plan.source.as_deref().unwrap_or(Path::new("the plan"));
    for warning in files.iter().filter_map(JudgedFile::warning) {
        output::talk(&format!("{}: warning: {warning}", name.display()));
    }
    let mut count = 0;
    for file in refused {
        output::talk(&format!("{}: {}", name.display(), file.line()));
        count += 1;
    }
    if count == 0 {
        return Ok(());
    }
    let bounds = files.first().map_or("", |file| file.bounds);
    Err(ExpectedError::Input(format!(
        "{}: {count} file(s) are outside {bounds}; nothing was sent; allow a file or folder with --allow-files",
        name.display()
    )))
}
