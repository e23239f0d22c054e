//! The folder of JMeter's `-o`: a page and `statistics.json`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use weir_record::{JtlReader, SaveConfiguration, failed_to};
use weir_report::{ApdexThresholds, Dashboard, DashboardSettings};
use weir_script::Properties;

use crate::error::ExpectedError;
use crate::output;
use crate::progress::Counter;

/// Where JMeter writes when nobody says where.
const DEFAULT: &str = "report-output";

/// Samples that are read between two looks at the clock.
const LOOK_EVERY: u64 = 10_000;

/// A folder that may be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFolder(PathBuf);

impl ReportFolder {
    /// Checks that the folder is not there or empty; with `force`, whatever is in it is deleted.
    pub(crate) fn claim(path: Option<&Path>, force: bool) -> Result<Self, ExpectedError> {
        let path = path.unwrap_or(Path::new(DEFAULT));
        let failed = |error| ExpectedError::Environment(format!("-o {}: {error}", path.display()));
        if path.exists() {
            if !path.is_dir() {
                return Err(ExpectedError::Input(format!(
                    "-o {}: it is a file; the report needs a folder",
                    path.display()
                )));
            }
            let is_empty = fs::read_dir(path).map_err(failed)?.next().is_none();
            if !is_empty && !force {
                return Err(ExpectedError::Input(format!(
                    "-o {}: the folder is not empty; empty it, name another one, or let -f delete what is in it",
                    path.display()
                )));
            }
            if !is_empty {
                fs::remove_dir_all(path).map_err(failed)?;
            }
        }
        fs::create_dir_all(path).map_err(failed)?;
        Ok(Self(path.to_owned()))
    }

    /// Writes the report.
    pub(crate) fn write(&self, dashboard: &mut Dashboard) -> Result<(), ExpectedError> {
        let failed = |error: &dyn std::error::Error| ExpectedError::Environment(failed_to(error));
        let page = dashboard.html().map_err(|error| failed(&error))?;
        let figures = dashboard
            .statistics_json()
            .map_err(|error| failed(&error))?;
        for (name, text) in [("index.html", page), ("statistics.json", figures)] {
            weir_record::write_whole(&self.0.join(name), text.as_bytes())
                .map_err(|error| failed(&error))?;
        }
        let index = self.0.join("index.html");
        output::talk(&format!("report: {}", index.display()));
        Ok(())
    }
}

/// An empty dashboard, as JMeter's `jmeter.reportgenerator.*` properties want it.
pub(crate) fn dashboard(
    properties: &Properties,
    source: &Path,
) -> Result<Dashboard, ExpectedError> {
    let get = |name: &str| properties.get(&format!("jmeter.reportgenerator.{name}"));
    let number = |name: &str, otherwise: u64| match get(name) {
        None | Some("") => Ok(otherwise),
        Some(text) => text.trim().parse().map_err(|_| {
            ExpectedError::Input(format!(
                "the property jmeter.reportgenerator.{name} is `{text}`, which is no number"
            ))
        }),
    };
    let satisfied = number("apdex_satisfied_threshold", 500)?;
    let tolerated = number("apdex_tolerated_threshold", 1_500)?;
    let granularity = match get("overall_granularity") {
        // What jmeter.properties says by itself suits tests of hours; the page finds its own.
        None | Some("" | "60000") => None,
        Some(_) => Some(number("overall_granularity", 0)?),
    };
    let apdex = ApdexThresholds::new(satisfied, tolerated)
        .with_labels(get("apdex_per_transaction").unwrap_or(""))
        .map_err(|error| ExpectedError::Input(failed_to(&error)))?;
    let name = source
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Dashboard::new(DashboardSettings {
        title: get("report_title").unwrap_or("Load test").to_owned(),
        source: name,
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        apdex,
        statistic_window: number("statistic_window", 20_000)? as usize,
        granularity_ms: granularity,
        ..DashboardSettings::default()
    }))
}

/// Counts the samples of a stored file. Rows that cannot be read are told, not counted.
pub(crate) fn read(
    dashboard: &mut Dashboard,
    file: &Path,
    configuration: &SaveConfiguration,
) -> Result<(), ExpectedError> {
    let wrong = |error: &dyn std::fmt::Display| {
        ExpectedError::Input(format!("{}: {error}", file.display()))
    };
    let opened = File::open(file).map_err(|error| wrong(&error))?;
    let reader = JtlReader::with(opened, configuration, &TimeZone::system())
        .map_err(|error| wrong(&failed_to(&error)))?;
    let mut unread: Option<(u64, String)> = None;
    let mut samples = 0_u64;
    let mut progress = Counter::new("samples read");
    for (row, number) in reader.zip(1_u64..) {
        if number.is_multiple_of(LOOK_EVERY) {
            progress.set(number);
        }
        match row {
            Ok(row) => {
                samples += 1;
                dashboard.add(&row);
            }
            Err(error) => {
                let first = || (0, failed_to(&error));
                unread.get_or_insert_with(first).0 += 1;
            }
        }
    }
    progress.finish();
    if samples == 0 {
        let why = unread.map_or_else(|| "it is empty".to_owned(), |(_, why)| why);
        return Err(ExpectedError::Input(format!(
            "{}: there is no sample in it ({why}); name a result file that JMeter or Weir has written",
            file.display()
        )));
    }
    if let Some((count, why)) = unread {
        output::talk(&format!(
            "warning: {}: {count} rows could not be read and are not counted; the first: {why}",
            file.display()
        ));
        dashboard.unread(count, why);
    }
    Ok(())
}
