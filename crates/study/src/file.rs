//! The study file: what the user asks, read with all its problems at once.
//!
//! A study names one target, one load and one question ([`FindSpec`], [`BestSpec`],
//! [`SeveralSpec`], [`MattersSpec`] or [`SweepSpec`]). Every key
//! that is not known, every value that does not fit stands in the list of [`Problem`]s with its
//! place in the file; a study with problems is never run. What the design foresees and this
//! version cannot do is called "not built yet", with a way out.

mod best;
mod factor;
mod find;
mod gate;
mod level;
mod load;
mod matters;
mod raise;
mod several;
mod sweep;
mod target;

pub use best::{BestGoal, BestSpec};
pub use find::{DEFAULT_REQUIREMENTS, FindSpec, Varied};
pub use gate::{GateClassSpec, GateSpec};
pub use load::{Arrivals, EngineKind, LoadSource, LoadSpec, auto_window};
pub(crate) use matters::AS_FOUND;
pub use matters::MattersSpec;
pub use raise::RaiseSpec;
pub use several::SeveralSpec;
pub(crate) use several::is_spare;
pub(crate) use sweep::default_columns;
pub use sweep::{
    Across, CaseSpec, ChoiceSpec, ColumnSpec, CompareSpec, Design, EnvironmentSpec, Factor,
    OverviewColumnSpec, OverviewSpec, PictureSpec, Shown, SpreadSpec, SweepSpec,
};
pub(crate) use sweep::{Derived, depth};
pub use target::{
    BehindSpec, BuiltinSpec, CommandApp, CommandSpec, DatabaseSpec, ExternalSpec, HttpdSpec,
    JolokiaSpec, LibertyApp, LibertyServerSpec, LibertySpec, LimitSetter, LimitSpec, MetricName,
    MetricWords, MetricsSpec, MpmKind, PoolWord, SpringBootApp, SpringBootSpec, StopSignal,
    TargetKind, TargetSpec, TomcatApp, TomcatServer, TomcatSpec,
};

use std::collections::BTreeSet;

use find::Goal;
use weir_record::Levels;
pub use weir_userfile::Problem;
use weir_userfile::{Section, check_schema, read_file};

/// The version of the format that this reader understands.
const SCHEMA: &str = "weir/study/1";
/// Seed of a study that names none: the same study makes the same requests each time.
const SEED: u32 = 1;

/// A study, as its file says.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFile {
    /// The server under load.
    pub target: TargetSpec,
    /// What is sent.
    pub load: LoadSpec,
    /// The gateway between load and server; `None`: the load goes to the server.
    pub gate: Option<GateSpec>,
    /// What is asked.
    pub ask: Ask,
}

/// What a study asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// The largest level that meets the requirements.
    Find(FindSpec),
    /// The best level, or the smallest that is not worse.
    Best(BestSpec),
    /// The best levels of several settings together, or the smallest that are not worse.
    Several(SeveralSpec),
    /// Whether a setting matters at all.
    Matters(MattersSpec),
    /// A table of cases.
    Sweep(SweepSpec),
}

impl StudyFile {
    /// Reads a study from the text of its file; the problems stand in the file's order.
    ///
    /// ```
    /// use weir_study::{Ask, StudyFile};
    ///
    /// let study = StudyFile::parse(
    ///     r#"
    ///     schema = "weir/study/1"
    ///     [target.builtin]
    ///     [load]
    ///     plan = "short.jmx"
    ///     users = "THREAD_NUMBER"
    ///     [find]
    ///     subject-to = ["cpu <= 80 %"]
    ///     "#,
    /// )
    /// .expect("nothing is wrong with it");
    /// assert!(matches!(study.ask, Ask::Find(_)));
    ///
    /// let problems = StudyFile::parse("[find]\npresicion = '5 %'").unwrap_err();
    /// assert!(problems.iter().any(|problem| problem.help.as_deref() == Some("did you mean `precision`?")));
    /// ```
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        read_file("a study", text, read)
    }
}

fn read(root: &Section<'_>) -> Option<StudyFile> {
    check_schema(root, SCHEMA);
    let question = root.text("question").map(toml::Spanned::into_inner);
    let seed = root.whole("seed", 0..=u32::MAX);
    let seed = u64::from(seed.map_or(SEED, toml::Spanned::into_inner));
    let target = if root.value("target").is_some() {
        root.section("target", "[target]")
            .and_then(|target| target::read(&target))
    } else {
        root.missing("[target]", "[target.builtin]");
        None
    };
    let load = if root.value("load").is_some() {
        root.section("load", "[load]")
            .and_then(|load| load::read(&load))
    } else {
        root.missing("[load]", "[load]");
        None
    };
    let gate = gate::read(root);
    let ask = read_ask(root, question, load.as_ref(), seed);
    root.finish();
    let (target, load, mut ask) = (target?, load?, ask?);
    check_properties(root, &load, &ask);
    if let Ask::Find(find) = &mut ask {
        find.raise.kept = kept(&target);
    }
    Some(StudyFile {
        target,
        gate: gate::of_study(root, gate, &ask),
        load,
        ask,
    })
}

/// Limits that are not raised by themselves: those that the study sets, and those for which the
/// user would have to be asked in the middle of the search.
fn kept(target: &TargetSpec) -> BTreeSet<String> {
    let set = target.settings.keys().cloned();
    let asked = match &target.kind {
        TargetKind::External(spec) => spec.limits.iter().collect(),
        _ => Vec::new(),
    };
    let asked = asked
        .into_iter()
        .filter(|(_, limit)| limit.set == LimitSetter::Ask)
        .map(|(name, _)| name.clone());
    set.chain(asked).collect()
}

fn read_ask(
    root: &Section<'_>,
    question: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> Option<Ask> {
    let find = root.section("find", "[find]");
    let sweep = root.section("sweep", "[sweep]");
    if let (Some(_), Some(sweep)) = (&find, &sweep) {
        root.problems().add_with_help(
            sweep.span(),
            "a study has one question, this one has [find] and [sweep]",
            "make two files of it",
        );
    }
    if let Some(find) = find {
        let goal = find::read_goal(&find);
        if several::is_list(&find) {
            return several::read(&find, goal, question, load, seed).map(Ask::Several);
        }
        return match goal {
            Goal::Best(goal) => best::read(&find, goal, question, load, seed).map(Ask::Best),
            Goal::Matters => matters::read(&find, question, load, seed).map(Ask::Matters),
            Goal::Largest => Some(Ask::Find(find::read(&find, question, load, seed))),
        };
    }
    if sweep.is_none() && root.value("find").is_none() && root.value("sweep").is_none() {
        root.missing("[find]", "[find]` or `[sweep]");
    }
    sweep.and_then(|sweep| sweep::read(&sweep, question, load, seed).map(Ask::Sweep))
}

/// A level of `users` or `rate` needs a property of the plan to set.
fn check_properties(root: &Section<'_>, load: &LoadSpec, ask: &Ask) {
    let LoadSource::Plan { path, users, rate } = &load.source else {
        return;
    };
    if users.is_none() && varies(ask, "users") {
        root.problems().add_with_help(
            path.span(),
            "the study varies `users`, and nothing says which property of the plan that is",
            "write `users = \"PROPERTY\"` in [load], such as `users = \"THREAD_NUMBER\"`",
        );
    }
    if rate.is_none() && varies(ask, "rate") {
        root.problems().add_with_help(
            path.span(),
            "the study varies `rate`, and nothing says which property of the plan that is",
            "write `rate = \"PROPERTY\"` in [load], such as `rate = \"RATE\"`",
        );
    }
}

impl StudyFile {
    /// Whether trials have levels of this factor.
    pub fn varies(&self, factor: &str) -> bool {
        varies(&self.ask, factor)
    }
}

/// All factors that trials have levels of.
fn factors(ask: &Ask) -> Vec<&str> {
    fn of(levels: &Levels) -> impl Iterator<Item = &str> {
        levels.keys().map(String::as_str)
    }
    match ask {
        Ask::Find(find) => of(&find.set).chain([find.varied.factor()]).collect(),
        Ask::Best(best) => of(&best.set).chain([best.vary.as_str()]).collect(),
        Ask::Several(several) => of(&several.set).collect(),
        Ask::Matters(matters) => matters.factors().collect(),
        Ask::Sweep(sweep) => match &sweep.design {
            Design::Cases(cases) => cases.iter().flat_map(|case| of(&case.set)).collect(),
            Design::Full(factors) | Design::OneAtATime(factors) => {
                factors.iter().map(|factor| factor.name.as_str()).collect()
            }
        },
    }
}

fn varies(ask: &Ask, name: &str) -> bool {
    factors(ask).contains(&name)
}
