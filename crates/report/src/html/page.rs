//! What stands on the page, as text: the template only places it.

use std::collections::BTreeMap;

use askama::Template;
use weir_record::{Answer, Held, Role, RunManifest, StudyResult, TrialRecord};
use weir_stats::Method;

use super::curves::{self, CurveChart, ShapeKey};
use super::funnel::Funnel;
use super::seconds::Seconds;
use super::sweep::Sweep;
use crate::ReportInput;
use crate::assets::Assets;
use crate::before_and_after;
use crate::figures::{number, unit_of};
use crate::near_answer;
use crate::standing::Standing;
use crate::words;

/// Funnels that are drawn for a sweep; more would bury the table.
const FUNNELS_MAX: usize = 12;

/// The page's texts.
#[derive(Debug, Template)]
#[template(path = "report.html")]
pub(crate) struct Page<'a> {
    question: &'a str,
    /// Which server, from which machine, when.
    place: String,
    status: &'static str,
    tone: &'static str,
    summary: String,
    /// The sentences that follow the summary's first one.
    more: Vec<String>,
    facts: Vec<Fact>,
    fitted: Option<Fitted>,
    limited_by: Option<&'a str>,
    settings: Vec<Setting>,
    check: Option<Check>,
    charts: Vec<CurveChart>,
    shapes: Vec<ShapeKey>,
    curve_table: Option<(Vec<String>, Vec<Vec<String>>)>,
    funnels: Vec<Funnel>,
    funnels_left_out: usize,
    sweep: Option<Sweep>,
    configuration: Vec<&'a str>,
    findings: Vec<Finding>,
    seconds: Seconds,
    chosen: u32,
    trials: Vec<Trial>,
    /// Whether the load of all trials waits for nobody.
    is_open: bool,
    intervals: Vec<Interval>,
    run: Vec<(&'static str, String)>,
    machine: Vec<(String, String)>,
    /// Signals and where they came from.
    origins: Vec<(String, String)>,
    study: &'a str,
    weir: &'a str,
    data: String,
    assets: Assets,
}

/// A figure of the answer, shown large.
#[derive(Debug)]
struct Fact {
    value: String,
    unit: String,
    says: String,
}

/// The figures at the answer and at the next level.
#[derive(Debug)]
struct Fitted {
    /// Where they are from.
    from: String,
    at: String,
    next: String,
    rows: Vec<(String, String, String)>,
    /// The response times that were measured nearest to it.
    times: Option<String>,
}

#[derive(Debug)]
struct Setting {
    stage: String,
    native: String,
    from: String,
    to: String,
    because: String,
    trials: String,
}

#[derive(Debug)]
struct Check {
    passed: bool,
    heading: String,
    requirements: Vec<Requirement>,
    waits: Vec<(String, String, String)>,
    /// Users with the limits as found, and as many with those set.
    both: Option<(String, Vec<before_and_after::Row>)>,
    cost: Option<String>,
}

#[derive(Debug)]
struct Requirement {
    says: String,
    value: String,
    interval: String,
    met: bool,
    is_open: bool,
}

#[derive(Debug)]
struct Finding {
    id: String,
    says: String,
    trials: String,
}

/// A cell whose text is for people and whose number is for sorting.
#[derive(Debug)]
struct Cell {
    text: String,
    interval: String,
    sort: f64,
}

#[derive(Debug)]
struct Trial {
    id: u32,
    /// Whether the page has its timeline.
    seconds: bool,
    purpose: String,
    levels: Vec<String>,
    population: Cell,
    figures: Vec<Cell>,
    valid: bool,
    remarks: Vec<String>,
    because: Vec<String>,
    notes: Vec<String>,
    codes: Vec<(String, String)>,
    window: String,
    after: String,
    repeats: u32,
}

#[derive(Debug)]
struct Interval {
    trial: u32,
    figure: String,
    value: String,
    range: String,
    confidence: String,
    count: String,
    method: &'static str,
}

impl<'a> Page<'a> {
    pub(crate) fn of(
        input: &ReportInput<'a>,
        charts: Vec<CurveChart>,
        seconds: Seconds,
        data: String,
    ) -> Self {
        let result = input.result;
        let mut sentences = sentences(&result.summary).into_iter().map(words::unbroken);
        let (funnels, funnels_left_out) = funnels(result);
        Self {
            question: &result.question,
            place: place(result, input.manifest),
            status: words::status(result),
            tone: tone(result),
            summary: sentences.next().unwrap_or_default(),
            more: sentences.collect(),
            facts: facts(result),
            fitted: fitted(result),
            limited_by: result
                .answer
                .as_ref()
                .and_then(|answer| answer.limited_by.as_deref()),
            settings: settings(result),
            check: result.held.as_ref().map(|held| check(result, held)),
            shapes: if charts.is_empty() || has_pictures(result) {
                Vec::new()
            } else {
                curves::shapes(result)
            },
            charts,
            curve_table: curves::curve_table(result),
            funnels,
            funnels_left_out,
            sweep: Sweep::of(result),
            configuration: result
                .configuration
                .iter()
                .map(|file| &*file.diff)
                .collect(),
            findings: findings(result),
            chosen: answer_trial(result).map_or(0, |trial| trial.id),
            seconds,
            trials: trials(input),
            is_open: is_open(input),
            intervals: result.trials.iter().flat_map(intervals).collect(),
            run: run(input),
            machine: words::machine(input.manifest),
            origins: origins(result),
            study: &input.manifest.study,
            weir: &result.weir,
            data,
            assets: Assets::with_script(include_str!("../../assets/report.js")),
        }
    }
}

/// Whether its charts are pictures of cases, whose points are no single trials.
fn has_pictures(result: &StudyResult) -> bool {
    let table = result.table.as_ref();
    table.is_some_and(|table| !table.pictures.is_empty())
}

/// The sentences of a text: each begins with a capital. The first one is the page's heading.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = text;
    while let Some((at, _)) = rest.match_indices(". ").find(|(at, _)| {
        let next = rest[at + 2..].chars().next();
        next.is_some_and(char::is_uppercase)
    }) {
        sentences.push(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    sentences.push(rest);
    sentences
}

/// Which of three tones the status has; its word stands beside it.
fn tone(result: &StudyResult) -> &'static str {
    use weir_record::Status::{Answered, Interrupted, Invalid, Never, NotMet, Same, Undecided};
    match result.status {
        Answered | Same => "good",
        NotMet | Never | Invalid => "bad",
        Undecided | Interrupted => "open",
    }
}

fn facts(result: &StudyResult) -> Vec<Fact> {
    let mut facts = result.answer.as_ref().map_or_else(Vec::new, answer_facts);
    let changed = result.settings_detail.iter();
    let changed = changed.filter(|setting| setting.from != Some(setting.to));
    facts.extend(changed.map(|setting| {
        Fact {
            value: number(setting.to),
            unit: setting.stage.clone(),
            says: setting
                .from
                .map_or_else(String::new, |from| format!("was {}", number(from))),
        }
    }));
    facts.extend(result.held.as_ref().map(|held| {
        Fact {
            value: if held.passed {
                "✓ holds"
            } else if held.is_open() {
                "? open"
            } else {
                "✗ fails"
            }
            .to_owned(),
            unit: String::new(),
            says: format!("check with {}", words::load_of_check(result, held)),
        }
    }));
    facts
}

fn answer_facts(answer: &Answer) -> Vec<Fact> {
    let interval = format!(
        "{} interval {}–{}",
        percent(answer.confidence),
        number(answer.low),
        number(answer.high)
    );
    let mut facts = vec![Fact {
        value: number(answer.value),
        unit: words::noun(&answer.factor).to_owned(),
        says: interval,
    }];
    if f64::from(answer.population) > answer.value {
        facts.push(Fact {
            value: number(f64::from(answer.population)),
            unit: "virtual users".to_owned(),
            says: "all thread groups together".to_owned(),
        });
    }
    facts
}

fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// `spring-boot, http://127.0.0.1:8080/ · 1 CPU · from a machine with 2 CPUs (AMD EPYC) · …`, with
/// the moment of the start.
fn place(result: &StudyResult, manifest: &RunManifest) -> String {
    let target = &result.target;
    let kind = target.recognised.iter().cloned();
    let named = Some(target.name.clone()).filter(|name| !name.is_empty());
    let server = kind.chain(named).collect::<Vec<_>>().join(", ");
    let cpus = |count: &str| match count {
        "1" => "1 CPU".to_owned(),
        count => format!("{count} CPUs"),
    };
    let own = (target.cpus > 0).then(|| cpus(&target.cpus.to_string()));
    let fact = |name: &str| manifest.machine.get(name);
    let from = fact("cpus").map(|count| {
        let model = fact("cpu-model").map_or_else(String::new, |model| format!(" ({model})"));
        format!("from a machine with {}{model}", cpus(count))
    });
    // RFC 3339 to the minute.
    let started = manifest
        .started
        .get(..16)
        .map(|at| format!("{} UTC", at.replace('T', " ")));
    let parts = [
        Some(server).filter(|server| !server.is_empty()),
        own,
        from,
        started,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn fitted(result: &StudyResult) -> Option<Fitted> {
    let answer = result.answer.as_ref()?;
    let rows = words::fitted(answer);
    (!rows.is_empty()).then(|| Fitted {
        from: words::capital(words::figures_from(answer)),
        at: words::at_level(answer, answer.value),
        next: words::at_level(answer, answer.value + 1.0),
        rows,
        times: near_answer::says(result).map(|says| words::capital(&says)),
    })
}

fn settings(result: &StudyResult) -> Vec<Setting> {
    let settings = result.settings_detail.iter();
    settings
        .map(|setting| Setting {
            stage: setting.stage.clone(),
            native: setting.native.clone().unwrap_or_else(|| "–".to_owned()),
            from: words::limit(setting.from),
            to: number(setting.to),
            because: words::unbroken(&setting.because),
            trials: words::trials(&setting.trials),
        })
        .collect()
}

fn check(result: &StudyResult, held: &Held) -> Check {
    let requirements = held.requirements.iter().map(|requirement| {
        let (value, interval) = words::found(requirement);
        Requirement {
            says: words::unbroken(&requirement.says),
            value,
            interval,
            met: requirement.met,
            is_open: requirement.is_open(),
        }
    });
    Check {
        passed: held.passed,
        heading: words::check(result, held),
        requirements: requirements.collect(),
        waits: words::waits(result, held),
        both: before_and_after::of(held)
            .map(|both| (before_and_after::title(both), before_and_after::rows(both))),
        cost: held.cost_at_answer.as_deref().map(words::unbroken),
    }
}

/// The valid trial that is closest to the answer without derived settings; the first one of a
/// sweep, the last one of a search without an answer.
fn answer_trial(result: &StudyResult) -> Option<&TrialRecord> {
    let mut valid = result.trials.iter().filter(|trial| trial.valid);
    if result.table.is_some() {
        return valid.next();
    }
    let Some(answer) = &result.answer else {
        return valid.next_back().or(result.trials.last());
    };
    let distance =
        |trial: &TrialRecord| (curves::level(trial, &answer.factor) - answer.value).abs();
    valid
        .filter(|trial| !matches!(trial.role, Role::Check | Role::Control))
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn funnels(result: &StudyResult) -> (Vec<Funnel>, usize) {
    let mut wanted: Vec<(String, &TrialRecord)> = Vec::new();
    let find = |id: &u32| result.trials.iter().find(|trial| trial.id == *id);
    if let Some(table) = &result.table {
        for row in &table.rows {
            let trial = row.trials.iter().filter_map(find).find(|trial| trial.valid);
            wanted.extend(trial.map(|trial| (row.case.clone(), trial)));
        }
    } else {
        let title = if result.answer.is_some() && !result.raised.is_empty() {
            "Near the answer, limits raised"
        } else if result.answer.is_some() {
            "Near the answer, limits as found"
        } else {
            "The last valid trial"
        };
        wanted.extend(answer_trial(result).map(|trial| (title.to_owned(), trial)));
        let mut checked = result.held.iter().flat_map(|held| held.trials.iter().rev());
        let check = checked.find_map(find);
        wanted.extend(check.map(|trial| ("The check, limits set".to_owned(), trial)));
        let before = result
            .held
            .iter()
            .filter_map(|held| held.before_and_after.as_ref());
        let before = before.filter_map(|both| find(&both.before.trial));
        let title = "The same load, limits as found";
        wanted.extend(before.map(|trial| (title.to_owned(), trial)));
    }
    let left_out = wanted.len().saturating_sub(FUNNELS_MAX);
    let funnels = wanted.into_iter().take(FUNNELS_MAX).enumerate();
    let funnels = funnels.filter_map(|(id, (title, trial))| {
        let title = format!("{title}: {} (trial {})", words::load_text(trial), trial.id);
        Funnel::of(id, title, &result.target.stages, trial)
    });
    (funnels.collect(), left_out)
}

fn findings(result: &StudyResult) -> Vec<Finding> {
    let findings = result.findings.iter();
    findings
        .map(|finding| Finding {
            id: finding.id.clone(),
            says: words::unbroken(&finding.in_full()),
            trials: words::trials(&finding.trials),
        })
        .collect()
}

fn is_open(input: &ReportInput<'_>) -> bool {
    let mut trials = input.result.trials.iter();
    trials.len() > 0 && trials.all(|trial| words::load(trial).1 != "users")
}

fn trials(input: &ReportInput<'_>) -> Vec<Trial> {
    let trials = input.result.trials.iter();
    trials
        .map(|record| {
            let timeline = input.timelines.get(&record.id);
            trial(record, timeline.is_some_and(|seconds| !seconds.is_empty()))
        })
        .collect()
}

/// The number of users; of an open load its rate.
fn load(trial: &TrialRecord) -> Cell {
    let (level, noun) = words::load(trial);
    let unit = if noun == "users" { "" } else { "/s" };
    Cell {
        text: number(level) + unit,
        interval: String::new(),
        sort: level,
    }
}

fn trial(trial: &TrialRecord, seconds: bool) -> Trial {
    let standing = Standing::of(trial);
    let figure = |name: &str, value: Option<f64>| cell(trial, name, value);
    let response = &trial.response_time_ms;
    let codes = trial.errors.by_code.iter();
    let mut throughput = figure("throughput_per_s", Some(trial.throughput_per_s));
    if let Some(rate) = trial.answered_per_s() {
        throughput.interval = format!("{} {}", throughput.interval, words::answered(rate));
    }
    Trial {
        id: trial.id,
        seconds,
        purpose: words::purpose(trial).to_owned(),
        levels: words::levels_beside(trial),
        population: load(trial),
        figures: vec![
            throughput,
            figure("response_time_ms.mean", Some(response.mean)),
            figure("response_time_ms.p50", Some(response.p50)),
            figure("response_time_ms.p99", Some(response.p99)),
            figure("cpu", trial.cpu.map(|cpu| cpu.total)),
            figure("errors.share", Some(trial.errors.share)),
        ],
        valid: standing.valid(),
        remarks: standing.remarks(),
        because: standing.invalid_because,
        notes: trial.notes.clone(),
        codes: codes
            .map(|(code, count)| (number(*count as f64), code.clone()))
            .collect(),
        window: format!("{} s", number(trial.window_s)),
        after: format!("after {} s", number(trial.warm_up_s)),
        repeats: trial.repeats,
    }
}

fn cell(trial: &TrialRecord, name: &str, value: Option<f64>) -> Cell {
    let Some(value) = value else {
        return Cell {
            text: "–".to_owned(),
            interval: String::new(),
            sort: -1.0,
        };
    };
    let kind = unit_of(name);
    let estimate = trial.intervals.get(name);
    Cell {
        text: kind.text(value),
        interval: estimate.map_or_else(String::new, |e| kind.range(value, e.low, e.high)),
        sort: value,
    }
}

fn intervals(trial: &TrialRecord) -> Vec<Interval> {
    let estimates = trial.intervals.iter();
    estimates
        .map(|(name, estimate)| {
            let kind = unit_of(name);
            Interval {
                trial: trial.id,
                figure: words::figure(name),
                value: kind.text(estimate.value),
                range: kind.range(estimate.value, estimate.low, estimate.high),
                confidence: percent(estimate.confidence),
                count: number(estimate.count as f64),
                method: method(estimate.method),
            }
        })
        .collect()
}

fn method(method: Method) -> &'static str {
    match method {
        Method::BatchMeans => "batch means; count: seconds",
        Method::Student => "Student's t; count: values",
        Method::OrderStatistics => "order statistics; count: responses",
        Method::ClopperPearson => "Clopper–Pearson; count: samples",
        Method::ChiSquared => "chi-squared; count: repeats",
        Method::Crossing => "crossing of a local line; count: trials",
        Method::LocalLine => "local line; count: trials",
        Method::WelchLogRatio => "Welch's t of logarithms; count: trials",
        Method::PairedLogRatio => "Student's t of logarithms of pairs; count: pairs",
        Method::LogLine => "line through logarithms; count: trials",
        Method::NonlinearLeastSquares => "nonlinear least squares; count: trials",
        Method::Mover => "two intervals put together (MOVER); count: of both",
        _ => "other",
    }
}

/// Where the signals of all trials came from; of one that changed its origin, the last.
fn origins(result: &StudyResult) -> Vec<(String, String)> {
    let trials = result.trials.iter();
    let origins: BTreeMap<&String, &String> =
        trials.flat_map(|trial| &trial.signal_origins).collect();
    origins
        .into_iter()
        .map(|(signal, origin)| (signal.clone(), origin.clone()))
        .collect()
}

fn run(input: &ReportInput<'_>) -> Vec<(&'static str, String)> {
    let ReportInput {
        result, manifest, ..
    } = input;
    let scope = match result.target.cpu_scope {
        weir_record::CpuScope::OwnCpus => "CPUs of its own",
        weir_record::CpuScope::SharedCpus => {
            "CPUs shared with the load generator: CPU figures hold by ratio only"
        }
        weir_record::CpuScope::Unknown => "CPU cannot be read",
    };
    vec![
        ("Run", result.run.clone()),
        ("Started", manifest.started.clone()),
        ("Command", manifest.command.join(" ")),
        ("Weir", result.weir.clone()),
        ("Seed", manifest.seed.to_string()),
        (
            "Target",
            format!(
                "{} ({}), {}, {scope}",
                result.target.name,
                result.target.kind,
                words::cpus(result.target.cpus)
            ),
        ),
    ]
}
