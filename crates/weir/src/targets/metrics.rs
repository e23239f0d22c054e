//! From `metrics` and `names` of a study to pages that are read.

use weir_metric::describe;
use weir_probe::{Metric, MetricRow, NameTable, Rule};
use weir_server::MetricsPage;
use weir_study::{MetricName, MetricWords, MetricsSpec};

use crate::error::{ExpectedError, FileProblem, FileProblems};
use crate::job::Job;

/// The pages, with the user's names before those that are known.
pub(super) fn pages(spec: &MetricsSpec, job: &Job) -> Result<Vec<MetricsPage>, ExpectedError> {
    let problems: Vec<FileProblem> = spec
        .names
        .iter()
        .filter(|name| describe(name.signal.get_ref()).is_none())
        .map(|name| FileProblem {
            span: name.signal.span(),
            says: format!("`{}` is no signal", name.signal.get_ref()),
            help: Some(
                "signals of a server are STAGE.occupancy, STAGE.waiting, STAGE.wait, STAGE.entries, STAGE.limit, \
                 STAGE.refused (such as `threads.occupancy`), gc.time, and app.NAME for any other"
                    .to_owned(),
            ),
        })
        .collect();
    if !problems.is_empty() {
        let problems = FileProblems::new(&job.file, &job.text, problems);
        return Err(ExpectedError::File(problems));
    }
    let names = NameTable::default().with_rows(spec.names.iter().map(row));
    Ok(spec
        .pages
        .iter()
        .map(|place| MetricsPage {
            place: place.clone(),
            names: names.clone(),
        })
        .collect())
}

fn row(name: &MetricName) -> MetricRow {
    let signal = name.signal.get_ref();
    let rule = if name.growth {
        Rule::growth(signal)
    } else {
        Rule::level(signal)
    };
    MetricRow {
        per: name.per.as_ref().map(metric),
        ..MetricRow::new(metric(&name.metric), rule)
    }
}

fn metric(words: &MetricWords) -> Metric {
    Metric {
        name: words.name.clone(),
        labels: words.labels.clone(),
    }
}
