//! Load plans: read, checked, resolved, with the user's file and line in every complaint.

use std::path::Path;

use weir_jmx::Severity;
use weir_plan::{LoadPlan, Position};
use weir_reach::Reach;
use weir_record::failed_to;
use weir_script::{
    Origin, Properties, ResolveError, ResolvedGroup, ResolvedPlan, ResolvedStarts, Target,
    static_addresses,
};

use crate::error::ExpectedError;
use crate::hosts::NamedHost;
use crate::output;
use crate::plan_files::{FileOptions, JudgedFile};
use crate::plan_reach::PlanReach;

/// What there is to know of a sampler whose server is not known before the test.
const LATER_HOST: &str = "the server is known only when the request is sent; a public one is not \
                          asked unless it is allowed (--allow-host)";

/// What there is to know of a plan that nobody runs.
const NOBODY: &str = "no thread group has users that send anything, and weir run refuses that: name the properties that \
                      set their number (-J), or look at the groups' schedules";

/// What `weir check` says of a plan.
pub(crate) struct PlanCheck {
    /// One line for each finding.
    pub(crate) lines: Vec<String>,
    /// How many of them warn: something that the plan asks for does not happen, or may not.
    pub(crate) warnings: usize,
    /// How many elements cannot be run.
    pub(crate) unsupported: usize,
    /// What it reaches.
    pub(crate) reach: PlanReach,
    /// Where its files may lie unasked.
    pub(crate) bounds: &'static str,
}

/// Reads a plan that has to run: anything unsupported in it is an error that names all of it.
pub(crate) fn read(path: &Path, reach: Reach) -> Result<LoadPlan, ExpectedError> {
    let reading = weir_jmx::read_within(path, reach).map_err(input)?;
    accept(reading)
}

/// As `read`, of a copy of its text; what it names lies where the plan itself does.
pub(crate) fn read_copy(text: &str, path: &Path, reach: Reach) -> Result<LoadPlan, ExpectedError> {
    let reading = weir_jmx::read_text_within(text, path, reach).map_err(input)?;
    accept(reading)
}

/// Reads a plan that comes with Weir.
pub(crate) fn read_text(text: &str, name: &Path) -> Result<LoadPlan, ExpectedError> {
    let reading = weir_jmx::read_text(text, name).map_err(input)?;
    accept(reading)
}

fn accept(reading: weir_jmx::Reading) -> Result<LoadPlan, ExpectedError> {
    let check = lines_of(&reading);
    if check.unsupported > 0 {
        for line in &check.lines {
            output::talk(line);
        }
        return Err(ExpectedError::Input(format!(
            "Weir cannot run {} element(s) of this plan; nothing was sent",
            check.unsupported
        )));
    }
    let warnings = reading.findings.iter();
    let warnings = warnings.filter(|finding| finding.severity == Severity::Warning);
    match warnings.count() {
        0 => {}
        1 => output::talk("1 element of the plan runs with a difference: weir check names it"),
        count => output::talk(&format!(
            "{count} elements of the plan run with a difference: weir check names them"
        )),
    }
    Ok(reading.plan)
}

/// What a plan reaches; nothing where it is no plan, which is told when it is read to run.
pub(crate) fn reach_of(
    text: &str,
    path: &Path,
    reach: Reach,
    properties: &Properties,
) -> PlanReach {
    weir_jmx::read_text_within(text, path, reach).map_or_else(
        |_| PlanReach::default(),
        |reading| PlanReach::of(&reading.plan, properties),
    )
}

/// What of a plan Weir does not run itself, with these properties: one line for each.
pub(crate) fn unsupported(
    path: &Path,
    reach: Reach,
    properties: &Properties,
) -> Result<Vec<String>, ExpectedError> {
    let reading = weir_jmx::read_within(path, reach.read_only()).map_err(input)?;
    let resolved = weir_script::resolve(&reading.plan, properties, Origin::default());
    let mut lines: Vec<String> = reading.unsupported().map(ToString::to_string).collect();
    lines.extend(problems(&reading, resolved));
    Ok(lines)
}

/// What keeps a plan from running beside the elements that its reading names: what the run looks
/// at before it starts.
fn problems(
    reading: &weir_jmx::Reading,
    resolved: Result<ResolvedPlan, ResolveError>,
) -> Vec<String> {
    let Err(error) = resolved.and_then(|plan| plan.hosts(None)) else {
        return Vec::new();
    };
    // An element that is named already is not named again for what it holds.
    let named: Vec<Position> = reading.unsupported().map(|finding| finding.at).collect();
    let fresh = error.problems.iter();
    let fresh = fresh.filter(|problem| !named.contains(&problem.at));
    fresh.map(ToString::to_string).collect()
}

/// Everything that there is to say about a plan.
pub(crate) fn check(path: &Path, options: &FileOptions) -> Result<PlanCheck, ExpectedError> {
    let reach = options.reach(path).read_only();
    let bounds = reach.bounds();
    let reading = weir_jmx::read_within(path, reach).map_err(input)?;
    let mut check = lines_of(&reading);
    check.reach = PlanReach::of(&reading.plan, &Properties::new());
    check.bounds = bounds;
    let file = path.display();
    let warnings = check.reach.files.iter().filter_map(JudgedFile::warning);
    let warnings = warnings.map(|warning| format!("{file}: warning: {warning}"));
    let warnings: Vec<String> = warnings.collect();
    check.warn(warnings.into_iter());
    // Properties are not known here; what can be wrong without them is found all the same.
    let resolved = weir_script::resolve(&reading.plan, &Properties::new(), Origin::default());
    let warnings = match &resolved {
        Ok(plan) => &plan.warnings,
        Err(error) => &error.warnings,
    };
    let warnings = warnings.iter();
    check.warn(warnings.map(|warning| format!("{file}: warning: {warning}")));
    if let Ok(plan) = &resolved {
        check.reach = check.reach.with_servers_of(plan);
        let later = plan.later_hosts().into_iter();
        let said = later.map(|at| format!("{file}: warning: line {}: {LATER_HOST}", at.line));
        check.warn(said);
        let nobody = plan.groups.iter().all(is_idle);
        check.warn(
            nobody
                .then(|| format!("{file}: warning: {NOBODY}"))
                .into_iter(),
        );
    }
    let problems = problems(&reading, resolved);
    check.unsupported += problems.len();
    let problems = problems.iter();
    let problems = problems.map(|problem| format!("{file}: {problem}"));
    check.lines.extend(problems);
    Ok(check)
}

/// Whether a group has no users, or nothing to send.
fn is_idle(group: &ResolvedGroup) -> bool {
    let has_none = match &group.starts {
        ResolvedStarts::Ramp => group.users == 0,
        ResolvedStarts::Lives(lives) => lives.is_empty(),
        ResolvedStarts::Level(_) | ResolvedStarts::Arrivals(_) => false,
    };
    has_none || group.samplers().is_empty()
}

impl PlanCheck {
    fn warn(&mut self, lines: impl Iterator<Item = String>) {
        let before = self.lines.len();
        self.lines.extend(lines);
        self.warnings += self.lines.len() - before;
    }
}

fn lines_of(reading: &weir_jmx::Reading) -> PlanCheck {
    let file = reading
        .plan
        .source
        .as_ref()
        .map_or_else(|| "the plan".to_owned(), |path| path.display().to_string());
    let count = |severity| {
        let findings = reading.findings.iter();
        findings.filter(|of| of.severity == severity).count()
    };
    PlanCheck {
        lines: reading
            .findings
            .iter()
            .map(|finding| format!("{file}: {finding}"))
            .collect(),
        warnings: count(Severity::Warning),
        unsupported: count(Severity::Unsupported),
        reach: PlanReach::default(),
        bounds: "",
    }
}

/// Makes a plan ready to run.
pub(crate) fn resolve(
    plan: &LoadPlan,
    properties: &Properties,
    seed: u64,
) -> Result<ResolvedPlan, ExpectedError> {
    let epoch_ms = jiff::Timestamp::now().as_millisecond();
    let resolved =
        weir_script::resolve(plan, properties, Origin { seed, epoch_ms }).map_err(input)?;
    for warning in &resolved.warnings {
        output::talk(&format!("warning: {warning}"));
    }
    Ok(resolved)
}

/// Every server that a plan loads, with the place where it is named.
pub(crate) fn hosts(
    plan: &ResolvedPlan,
    target: Option<&Target>,
) -> Result<Vec<NamedHost>, ExpectedError> {
    let file = plan.source.as_ref().map(|path| path.display().to_string());
    let mut named = Vec::new();
    let later = match target {
        Some(_) => Vec::new(),
        None => plan.later_hosts(),
    };
    for at in later {
        let of_file = file.as_deref().unwrap_or_default();
        output::talk(&format!("warning: {of_file}:{}: {LATER_HOST}", at.line));
    }
    for host in plan.hosts(target).map_err(input)? {
        let named_in = match (&file, target) {
            (Some(file), None) => format!("{file}:{}", host.at.line),
            _ => "the command line".to_owned(),
        };
        let table = host.table.map(|table| &plan.dns_caches[table]);
        let table_says = |host: &str| table.and_then(|table| static_addresses(table, host));
        // What goes to a proxy is load for it too.
        let through = host.proxy.map(|proxy| (proxy.host, proxy.port));
        let server = (host.server.host, host.server.port);
        for (host, port) in through.into_iter().chain([server]) {
            // What the plan's own table says is what is loaded, whatever the name says.
            match table_says(&host) {
                Some(addresses) => named.extend(addresses.into_iter().map(|address| NamedHost {
                    host: address.to_owned(),
                    port,
                    named_in: format!("{named_in}, as {host}"),
                })),
                None => named.push(NamedHost {
                    named_in: named_in.clone(),
                    host,
                    port,
                }),
            }
        }
    }
    Ok(named)
}

/// A host and port that override those of the plan.
pub(crate) fn target(text: &str) -> Result<Target, ExpectedError> {
    text.parse::<Target>().map_err(input)
}

/// A library's error about something that the user wrote.
fn input(error: impl std::error::Error) -> ExpectedError {
    ExpectedError::Input(failed_to(&error))
}
