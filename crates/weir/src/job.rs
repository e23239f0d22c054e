//! A study that is ready to run: read, checked, with its plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Spanned;
use weir_files::Distrust;
use weir_jmeter::PlanFile;
use weir_plan::{ArrivalProcess, LoadPlan};
use weir_reach::Reach;
use weir_record::{RunDirectory, RunManifest, TrialRecord};
use weir_script::Properties;
use weir_study::{Arrivals, Ask, EngineKind, LoadSource, StudyFile};

use crate::error::{ExpectedError, FileProblem, FileProblems};
use crate::plan_files::{self, FileOptions};
use crate::plan_reach::PlanReach;
use crate::{commands_of, jmeter, output, plans, stored, targets, url_plan};

/// What `weir tune` runs when it is given no study.
const DEFAULT_STUDY: &str = include_str!("../../../studies/default.toml");
const DEFAULT_STUDY_NAME: &str = "default";
const DEFAULT_PLAN_NAME: &str = "short.jmx";
/// The factor that is the rate of an open load.
pub(crate) const RATE: &str = "rate";
/// What messages call the plan of a study over one URL.
const URL_PLAN_NAME: &str = "url.jmx";
const DEFAULT_PLAN: &str = include_str!("../../../studies/plans/short.jmx");

/// The copy of the plan in a run directory.
pub(crate) const PLAN_COPY: &str = "plan.jmx";

/// A study that is ready to run.
pub(crate) struct Job {
    /// Names the run directory.
    pub(crate) name: String,
    /// What messages call the study: its file as typed, where it has one.
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) base: PathBuf,
    pub(crate) study: StudyFile,
    plan: PlanSource,
    /// Whether nobody else may have written its text.
    trusted: Result<(), Distrust>,
    /// The run to continue, with its finished trials.
    pub(crate) resumed: Option<(RunDirectory, RunManifest, Vec<TrialRecord>)>,
}

/// Where the plan of a study comes from.
enum PlanSource {
    File(PathBuf),
    /// A run's copy of the plan that its study names.
    Copy(PathBuf),
    Embedded,
    /// The load of a study over one URL.
    Url(String),
}

/// The plan of a study as its engine needs it.
#[expect(clippy::large_enum_variant, reason = "a run has one plan")]
pub(crate) enum JobPlan {
    /// Read in full, for Weir's own engine.
    Native(LoadPlan),
    /// As it is, for JMeter.
    Jmeter(PlanFile),
}

impl JobPlan {
    /// The names of the properties that the plan asks for.
    fn properties_used(&self) -> Vec<String> {
        match self {
            Self::Native(plan) => weir_script::properties_used(plan)
                .into_iter()
                .map(|property| property.name)
                .collect(),
            Self::Jmeter(plan) => plan.properties_used(),
        }
    }
}

impl Job {
    /// The study that comes with Weir.
    pub(crate) fn built_in() -> Result<Self, ExpectedError> {
        Ok(Self {
            name: DEFAULT_STUDY_NAME.to_owned(),
            file: DEFAULT_STUDY_NAME.to_owned(),
            text: DEFAULT_STUDY.to_owned(),
            base: PathBuf::from("."),
            study: parse(DEFAULT_STUDY_NAME, DEFAULT_STUDY)?,
            plan: PlanSource::Embedded,
            trusted: Ok(()),
            resumed: None,
        })
    }

    /// A study of the user.
    pub(crate) fn from_file(file: &Path) -> Result<Self, ExpectedError> {
        let (text, trusted) = weir_files::read_obeyed(file)
            .map_err(|error| ExpectedError::Input(format!("{}: {error}", file.display())))?;
        let study = parse(&file.display().to_string(), &text)?;
        let base = file.parent().map_or_else(PathBuf::new, Path::to_owned);
        let plan = plan_source(&study, &base)?;
        Ok(Self {
            name: file.file_stem().map_or_else(
                || "study".to_owned(),
                |stem| stem.to_string_lossy().into_owned(),
            ),
            file: file.display().to_string(),
            text,
            base,
            study,
            plan,
            trusted,
            resumed: None,
        })
    }

    /// The study of a run that is to be continued; `file`, where given, has to be the same.
    pub(crate) fn of_run(
        file: Option<&Path>,
        runs: &Path,
        run: &str,
    ) -> Result<Self, ExpectedError> {
        let directory = stored::find(runs, run)?;
        let manifest = directory.manifest().map_err(stored::failed)?;
        if let Some(file) = file
            && read_text(file)? != manifest.study
        {
            return Err(ExpectedError::Input(format!(
                "{}: this is not the study of the run `{}`; leave the study away to continue the run as it \
                 was, or leave --resume away to start a new one",
                file.display(),
                directory.id()
            )));
        }
        if manifest.study.is_empty() {
            return Err(ExpectedError::Input(format!(
                "{}: this run is one load, not a study; there is nothing to continue",
                directory.path().display()
            )));
        }
        let records = directory.records().map_err(stored::failed)?;
        let name = directory.id();
        Ok(Self {
            study: parse(&name, &manifest.study)?,
            file: name.clone(),
            name,
            text: manifest.study.clone(),
            base: manifest.base.clone(),
            plan: PlanSource::Copy(directory.path().join(PLAN_COPY)),
            trusted: weir_files::check_obeyed(&directory.manifest_path()),
            resumed: Some((directory, manifest, records)),
        })
    }

    /// Another study with the plan of a run, beside whose study the same files lie.
    pub(crate) fn again(
        directory: &RunDirectory,
        name: &str,
        text: String,
    ) -> Result<Self, ExpectedError> {
        let manifest = directory.manifest().map_err(stored::failed)?;
        Ok(Self {
            name: name.to_owned(),
            file: name.to_owned(),
            study: parse(name, &text)?,
            text,
            base: manifest.base,
            plan: PlanSource::Copy(directory.path().join(PLAN_COPY)),
            trusted: weir_files::check_obeyed(&directory.manifest_path()),
            resumed: None,
        })
    }

    /// Whether the words that are run, those of the study and of a plan that JMeter runs, are this
    /// user's or root's alone.
    pub(crate) fn check_trusted(&self) -> Result<(), Distrust> {
        self.trusted.clone()?;
        match &self.plan {
            PlanSource::File(path) | PlanSource::Copy(path)
                if self.study.load.engine == EngineKind::Jmeter =>
            {
                weir_files::check_obeyed(path)
            }
            _ => Ok(()),
        }
    }

    /// What the plan reaches.
    fn plan_reach(&self, options: &FileOptions) -> Result<PlanReach, ExpectedError> {
        let (text, path) = (self.plan_text()?, self.plan_path());
        let reach = self.reach(options).read_only();
        Ok(plans::reach_of(&text, &path, reach, &self.properties()))
    }

    /// Reads the plan.
    pub(crate) fn read_plan(&self, options: &FileOptions) -> Result<JobPlan, ExpectedError> {
        let plan = self.plan_path();
        if self.study.load.engine == EngineKind::Jmeter {
            jmeter::check_files(&plan, self.reach(options), &self.properties())?;
            return self.read_for_jmeter().map(JobPlan::Jmeter);
        }
        let plan = match &self.plan {
            PlanSource::File(path) => plans::read(path, self.reach(options)),
            PlanSource::Copy(_) => plans::read_copy(&self.plan_text()?, &plan, self.reach(options)),
            PlanSource::Embedded => plans::read_text(DEFAULT_PLAN, Path::new(DEFAULT_PLAN_NAME)),
            PlanSource::Url(text) => plans::read_text(text, Path::new(URL_PLAN_NAME)),
        }?;
        let plan = self.arranged(plan);
        plan_files::refuse(&plan, &self.properties(), false)?;
        Ok(JobPlan::Native(plan))
    }

    /// The plan with what the study says of the arrivals of its one URL.
    fn arranged(&self, mut plan: LoadPlan) -> LoadPlan {
        let load = &self.study.load;
        if matches!(load.source, LoadSource::Url(_)) && self.study.varies(RATE) {
            let process = match load.arrivals {
                Arrivals::Poisson => ArrivalProcess::Poisson,
                Arrivals::Constant => ArrivalProcess::Constant,
            };
            url_plan::let_arrive(&mut plan, process);
        }
        plan
    }

    /// The user's own plan: beside it lie the files that it names, also when its copy is run.
    fn plan_path(&self) -> PathBuf {
        match &self.study.load.source {
            LoadSource::Plan { path, .. } => self.base.join(path.get_ref()),
            LoadSource::Url(_) => PathBuf::from(URL_PLAN_NAME),
        }
    }

    /// What the plan may touch: beside its own folder and what the command line allows, the folder
    /// of the study and what the study allows. In a sandbox the latter are out of reach: the study
    /// may have come with the plan.
    fn reach(&self, options: &FileOptions) -> Reach {
        let reach = options.reach(&self.plan_path());
        let run = self.resumed.iter();
        let reach = run.fold(reach, |reach, (directory, ..)| {
            reach.with_folder(directory.path())
        });
        if options.sandbox {
            return reach;
        }
        let base = if self.base.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &self.base
        };
        let in_study = self.study.load.allow_files.iter();
        in_study.fold(reach.with_folder(base), |reach, path| {
            reach.allow(&self.base.join(path.get_ref()))
        })
    }

    /// A run that is continued has the plan's text, but the files that the plan names lie beside
    /// the user's own.
    fn read_for_jmeter(&self) -> Result<PlanFile, ExpectedError> {
        PlanFile::of_text(&self.plan_path(), self.plan_text()?, &self.properties())
            .map_err(jmeter::failed)
    }

    /// The plan as it is written.
    pub(crate) fn plan_text(&self) -> Result<String, ExpectedError> {
        match &self.plan {
            PlanSource::File(path) | PlanSource::Copy(path) => read_text(path),
            PlanSource::Embedded => Ok(DEFAULT_PLAN.to_owned()),
            PlanSource::Url(text) => Ok(text.clone()),
        }
    }

    /// Seed of all randomness of the run.
    pub(crate) fn seed(&self) -> u64 {
        match &self.study.ask {
            Ask::Find(find) => find.seed,
            Ask::Best(best) => best.seed,
            Ask::Several(several) => several.seed,
            Ask::Matters(matters) => matters.seed,
            Ask::Sweep(sweep) => sweep.seed,
        }
    }

    /// Properties of the plan that the study sets.
    pub(crate) fn properties(&self) -> Properties {
        let mut properties = Properties::new();
        for (name, value) in &self.study.load.properties {
            properties.set(name, value);
        }
        properties
    }

    /// The properties of the plan that factors set, by factor.
    pub(crate) fn factor_properties(&self) -> BTreeMap<String, String> {
        if let LoadSource::Url(_) = &self.study.load.source {
            let named = [("users", url_plan::USERS), (RATE, url_plan::RATE)].into_iter();
            let named = named.filter(|(factor, _)| *factor != RATE || self.study.varies(RATE));
            return named
                .map(|(factor, name)| (factor.to_owned(), name.to_owned()))
                .collect();
        }
        self.named_properties()
            .into_iter()
            .map(|(factor, name)| (factor.to_owned(), name.get_ref().clone()))
            .collect()
    }

    /// As `factor_properties`, with the places in the study where they are named.
    fn named_properties(&self) -> Vec<(&'static str, &Spanned<String>)> {
        let LoadSource::Plan { users, rate, .. } = &self.study.load.source else {
            return Vec::new();
        };
        let named = [("users", users), (RATE, rate)].into_iter();
        named
            .filter_map(|(factor, name)| Some((factor, name.as_ref()?)))
            .collect()
    }
}

fn read_text(file: &Path) -> Result<String, ExpectedError> {
    std::fs::read_to_string(file)
        .map_err(|error| ExpectedError::Input(format!("{}: {error}", file.display())))
}

fn parse(name: &str, text: &str) -> Result<StudyFile, ExpectedError> {
    StudyFile::parse(text).map_err(|problems| {
        let problems = problems.into_iter().map(FileProblem::from).collect();
        ExpectedError::File(FileProblems::new(name, text, problems))
    })
}

/// Reads a study with its plan; for `weir check`.
///
/// What the plan reaches comes before what is wrong with it.
pub(crate) fn check(
    file: &Path,
    options: &FileOptions,
    reached: impl FnOnce(&PlanReach),
) -> Result<(), ExpectedError> {
    let job = Job::from_file(file)?;
    targets::check(&job)?;
    commands_of::list(&job, output::data);
    reached(&job.plan_reach(options)?);
    let plan = job.read_plan(options)?;
    check_factor_properties(&job, &plan)
}

fn plan_source(study: &StudyFile, base: &Path) -> Result<PlanSource, ExpectedError> {
    match &study.load.source {
        LoadSource::Plan { path, .. } => Ok(PlanSource::File(base.join(path.get_ref()))),
        LoadSource::Url(url) => {
            url_plan::text(url.get_ref(), study.varies(RATE)).map(PlanSource::Url)
        }
    }
}

/// The properties that factors set have to stand in the plan.
pub(crate) fn check_factor_properties(job: &Job, plan: &JobPlan) -> Result<(), ExpectedError> {
    let mut known = plan.properties_used();
    known.sort_unstable();
    known.dedup();
    let named = job.named_properties().into_iter();
    let problems: Vec<FileProblem> = named
        .filter(|(_, name)| !known.contains(name.get_ref()))
        .map(|(_, name)| FileProblem {
            span: name.span(),
            says: format!("the plan has no property `{}`", name.get_ref()),
            help: Some(format!("the plan's properties are {}", known.join(", "))),
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let problems = FileProblems::new(&job.file, &job.text, problems);
    Err(ExpectedError::File(problems))
}
