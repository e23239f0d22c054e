//! `weir run PLAN.jmx`: JMeter's command line.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Zoned;
use jiff::tz::TimeZone;
use weir_load::{SampleSink, UserCounts};
use weir_record::{SampleRow, SaveConfiguration, failed_to};
use weir_report::Dashboard;
use weir_script::Properties;

use super::console::{self, Console};
use super::grammar::{EngineName, PlanArguments};
use super::metrics::Metrics;
use super::report_folder::{self, ReportFolder};
use super::shutdown::ShutdownPort;
use super::summariser::{Summariser, SummariserSettings};
use super::{Conclusion, Load, before, conclude, engine, measure_load, record, with_jmeter};
use super::{files, properties, proxy};
use crate::error::ExpectedError;
use crate::{interrupt, output, plan_files, plans};

/// The ports on which JMeter listens for the word to stop.
const SHUTDOWN_PORT: u16 = 4_445;
const SHUTDOWN_PORT_MAX: u16 = 4_455;

/// Runs a plan, or does what else the options say.
pub(super) fn run(arguments: &PlanArguments) -> Result<u8, ExpectedError> {
    if arguments.version {
        output::data(&format!("weir {}", env!("CARGO_PKG_VERSION")));
        return Ok(0);
    }
    refuse_what_is_not_there(arguments)?;
    let properties = properties::read(arguments)?;
    if let Some(file) = &arguments.report_only {
        return report_only(file, arguments, &properties);
    }
    before::check(&arguments.shared)?;
    let path = arguments
        .path()
        .ok_or_else(|| ExpectedError::Input("name a plan: weir run PLAN.jmx".to_owned()))?;
    let engine = engine::chosen(path, arguments, &properties)?;
    tell_without_effect(arguments, engine);
    match engine {
        EngineName::Jmeter => run_with_jmeter(path, arguments, &properties),
        EngineName::Native | EngineName::Auto => run_plan(path, arguments, &properties),
    }
}

/// As `run_plan`, around a real JMeter: the report is Weir's, of JMeter's rows.
fn run_with_jmeter(
    path: &Path,
    arguments: &PlanArguments,
    properties: &Properties,
) -> Result<u8, ExpectedError> {
    let rows = arguments.log_file.as_deref();
    if arguments.report && rows.is_none() {
        return Err(ExpectedError::Input(
            "-e makes its report of JMeter's file of results when JMeter runs the plan; name one with -l"
                .to_owned(),
        ));
    }
    let folder = prepare_files(arguments)?;
    let exit_code = with_jmeter::run(path, properties, arguments)?;
    if let (Some(folder), Some(rows)) = (folder, rows) {
        let mut dashboard = report_folder::dashboard(properties, path)?;
        report_folder::read(&mut dashboard, rows, &SaveConfiguration::default())?;
        folder.write(&mut dashboard)?;
    }
    Ok(exit_code)
}

fn refuse_what_is_not_there(arguments: &PlanArguments) -> Result<(), ExpectedError> {
    let remote = arguments.remote
        || arguments.remote_start.is_some()
        || arguments.remote_exit
        || arguments.server;
    if remote {
        return Err(ExpectedError::Input(
            "-r, -R, -X, -s: load from several machines is not there yet; run the plan here without them"
                .to_owned(),
        ));
    }
    if arguments.engine != EngineName::Native && arguments.shared.http2 {
        return Err(ExpectedError::Input(
            "--http2: JMeter speaks HTTP/1.1; leave out --engine or --http2".to_owned(),
        ));
    }
    Ok(())
}

/// Options that one of the engines does not have.
fn tell_without_effect(arguments: &PlanArguments, engine: EngineName) {
    let is_native = engine == EngineName::Native;
    let without_effect = [
        (
            "-G",
            !arguments.global_property.is_empty(),
            "there are no remote engines",
        ),
        (
            "-D",
            is_native && !arguments.system_property.is_empty(),
            "Weir is no Java program; -J sets properties",
        ),
        (
            "-S",
            is_native && !arguments.system_property_file.is_empty(),
            "Weir is no Java program; -q reads properties",
        ),
        (
            "-L",
            is_native && !arguments.log_level.is_empty(),
            "Weir has no levels of log",
        ),
        (
            "-i",
            is_native && arguments.log_configuration.is_some(),
            "Weir has no such log",
        ),
    ];
    for (option, _, why) in without_effect.iter().filter(|(_, given, _)| *given) {
        output::talk(&format!("warning: {option} has no effect: {why}"));
    }
}

/// `-g FILE -o FOLDER`
fn report_only(
    file: &Path,
    arguments: &PlanArguments,
    properties: &Properties,
) -> Result<u8, ExpectedError> {
    let configuration = save_configuration(properties)?;
    let mut dashboard = report_folder::dashboard(properties, file)?;
    report_folder::read(&mut dashboard, file, &configuration)?;
    let folder = ReportFolder::claim(arguments.report_folder.as_deref(), arguments.force)?;
    folder.write(&mut dashboard)?;
    Ok(0)
}

fn save_configuration(properties: &Properties) -> Result<SaveConfiguration, ExpectedError> {
    let property = |name: &str| properties.get(name).map(str::to_owned);
    let mut configuration = SaveConfiguration::from_properties(property, &TimeZone::system())
        .map_err(|error| ExpectedError::Input(failed_to(&error)))?;
    let name = rustix::system::uname();
    configuration.host_name = name.nodename().to_string_lossy().into_owned();
    Ok(configuration)
}

fn run_plan(
    path: &Path,
    arguments: &PlanArguments,
    properties: &Properties,
) -> Result<u8, ExpectedError> {
    let shared = &arguments.shared;
    let folder = prepare_files(arguments)?;
    let is_talk = shared.json.as_deref() == Some(Path::new("-"));
    let mut console = Console::new(arguments.run_log.as_deref(), is_talk)?;
    let settings = summariser_settings(properties)?;
    if let Some(settings) = &settings {
        console.line(&format!("Creating summariser <{}>", settings.name));
    }
    let mut plan = plans::read(path, files::reach(path, arguments))?;
    plan_files::refuse(&plan, properties, false)?;
    if let Some(proxy) = proxy::typed(arguments)? {
        plan.set_proxy(&proxy);
    }
    console.line(&format!(
        "Created the tree successfully using {}",
        path.display()
    ));
    let resolved = plans::resolve(&plan, properties, shared.seed)?;
    if let Some(sink) = console.sink_for_plan() {
        resolved.variables.log_to(sink);
    }
    let dashboard = folder
        .is_some()
        .then(|| report_folder::dashboard(properties, path))
        .transpose()?;
    let configuration = save_configuration(properties)?;
    let sink = match &arguments.log_file {
        Some(file) => SampleSink::with(file, configuration.clone()),
        None => SampleSink::default(),
    };
    let sink = sink.with_listeners(configuration);
    let metrics = shared.metrics.map(Metrics::serve).transpose()?;
    let interrupted = interrupt::flag()?;
    let port = ShutdownPort::listen(SHUTDOWN_PORT..=SHUTDOWN_PORT_MAX, &interrupted);
    let now = Zoned::now();
    console.line(&format!(
        "Starting standalone test @ {}",
        console::shown(&now)
    ));
    if let Some(port) = &port {
        console.line(&format!(
            "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {}",
            port.port
        ));
    }
    let follower = Follower::new(
        console,
        settings,
        dashboard,
        now.timestamp().as_millisecond(),
    );
    let load = Load {
        plan: resolved,
        shared,
        samples: Some(sink.observed(follower.observer(metrics.clone()))),
        metrics,
        samples_max: None,
        // As JMeter.
        backs_off: false,
        asks_first: false,
        interrupted: &interrupted,
    };
    let measured = measure_load(load);
    // A load that did not start has no end to tell of.
    if measured.is_ok() || follower.lock().users.started > 0 {
        follower.end();
    }
    let (ran, population) = measured?;
    let mut measured = ran.measured;
    // Whoever ends a test in JMeter's way has not interrupted the program.
    if port.is_some_and(|port| port.was_told()) {
        measured.interrupted = false;
        interrupted.store(false, Ordering::Relaxed);
    }
    if let (Some(folder), Some(dashboard)) = (folder, &mut follower.lock().dashboard) {
        folder.write(dashboard)?;
    }
    let conclusion = Conclusion {
        shared,
        name: &path.display().to_string(),
        is_plan: true,
        stopped: ran.stopped.as_deref(),
        stored: None,
    };
    conclude(
        &measured,
        record(&measured, population, shared)?,
        &conclusion,
    )
}

/// Deletes what `-f` allows to delete, and claims the report's folder.
fn prepare_files(arguments: &PlanArguments) -> Result<Option<ReportFolder>, ExpectedError> {
    let rows = arguments.log_file.as_deref();
    if let Some(file) = rows.filter(|file| arguments.force && file.is_file()) {
        std::fs::remove_file(file).map_err(|error| {
            ExpectedError::Environment(format!("-f {}: {error}", file.display()))
        })?;
    }
    if !arguments.report {
        return Ok(None);
    }
    let has_rows = |file: &&Path| {
        file.metadata()
            .is_ok_and(|data| data.is_file() && data.len() > 0)
    };
    if let Some(file) = rows.filter(has_rows) {
        return Err(ExpectedError::Input(format!(
            "-l {}: the file is not empty, and a report is of one run; name another one, or let -f delete it",
            file.display()
        )));
    }
    ReportFolder::claim(arguments.report_folder.as_deref(), arguments.force).map(Some)
}

/// `None` when the plan's user wants no summary.
fn summariser_settings(
    properties: &Properties,
) -> Result<Option<SummariserSettings>, ExpectedError> {
    let name = properties.get("summariser.name").unwrap_or("summary");
    let interval = properties.get("summariser.interval").unwrap_or("30");
    let interval_s = interval.trim().parse().map_err(|_| {
        ExpectedError::Input(format!(
            "the property summariser.interval is `{interval}`, which is no number of seconds"
        ))
    })?;
    let is_false = |name: &str| {
        properties
            .get(name)
            .is_some_and(|value| !value.trim().eq_ignore_ascii_case("true"))
    };
    let settings = SummariserSettings {
        name: name.to_owned(),
        interval_s,
        with_transactions: is_false("summariser.ignore_transaction_controller_sample_result"),
        is_shown: !is_false("summariser.out"),
    };
    Ok((!name.is_empty()).then_some(settings))
}

/// Follows the samples of a run, and says JMeter's lines of them.
#[derive(Clone)]
struct Follower(Arc<Mutex<Following>>);

struct Following {
    console: Console,
    summariser: Option<Summariser>,
    is_shown: bool,
    dashboard: Option<Dashboard>,
    users: UserCounts,
}

impl Follower {
    fn new(
        console: Console,
        settings: Option<SummariserSettings>,
        dashboard: Option<Dashboard>,
        now_ms: i64,
    ) -> Self {
        let now_ms = u64::try_from(now_ms).unwrap_or(0);
        let is_shown = settings.as_ref().is_none_or(|settings| settings.is_shown);
        let summariser = settings.map(|settings| Summariser::new(settings, now_ms));
        Self(Arc::new(Mutex::new(Following {
            console,
            summariser,
            is_shown,
            dashboard,
            users: UserCounts::default(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Following> {
        // Lines and sums are whole after every step: a panic elsewhere does not spoil them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observer(&self, metrics: Option<Metrics>) -> weir_load::SampleObserver {
        let follower = self.clone();
        Box::new(move |row, users| {
            if let Some(metrics) = &metrics {
                metrics.sample(row, users);
            }
            follower.lock().sample(row, users);
        })
    }

    fn end(&self) {
        let mut following = self.lock();
        let users = UserCounts {
            active: 0,
            ..following.users
        };
        let summariser = following.summariser.as_mut();
        let lines = summariser.map_or_else(Vec::new, |summariser| summariser.end(users));
        following.say(&lines);
        let now = console::shown(&Zoned::now());
        let console = &mut following.console;
        console.line(&format!("Tidying up ...    @ {now}"));
        console.line("... end of run");
    }
}

impl Following {
    fn sample(&mut self, row: &SampleRow, users: UserCounts) {
        self.users = users;
        if let Some(summariser) = &mut self.summariser {
            let now_ms = jiff::Timestamp::now().as_millisecond();
            let lines = summariser.sample(row, u64::try_from(now_ms).unwrap_or(0), users);
            self.say(&lines);
        }
        if let Some(dashboard) = &mut self.dashboard {
            dashboard.add(row);
        }
    }

    fn say(&mut self, lines: &[String]) {
        for line in lines {
            self.console.summary(line, self.is_shown);
        }
    }
}
