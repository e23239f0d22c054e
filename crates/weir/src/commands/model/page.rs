//! The model as a page: what it predicts along the users, with the trials that were measured.

use weir_model::{Figures, ModelReport, PARAMETERS, TrialReport};
use weir_report::{CurvePoint, Drawing, PointWithInterval, Sheet, SheetTable};

use super::table::time;

/// A figure to draw: its title, its unit, itself of a prediction, itself of a trial.
type Drawn = (
    &'static str,
    &'static str,
    fn(&Figures) -> f64,
    fn(&TrialReport) -> Option<f64>,
);

const DRAWN: [Drawn; 4] = [
    (
        "Throughput",
        "requests/s",
        |figures| figures.throughput_per_s,
        |trial| Some(trial.measured.throughput_per_s),
    ),
    (
        "CPU",
        "% busy",
        |figures| figures.cpu * 100.0,
        |trial| Some(trial.measured.cpu * 100.0),
    ),
    (
        "Response time",
        "ms, mean",
        |figures| figures.response_time_s * 1e3,
        |trial| Some(trial.measured.response_time_s * 1e3),
    ),
    (
        "Threads",
        "busy, mean",
        |figures| figures.threads_busy,
        |trial| trial.measured.threads_busy,
    ),
];

pub(super) fn sheet(report: &ModelReport) -> Sheet {
    Sheet {
        title: title(report),
        lead: vec![
            "The curve is what the model predicts for a new trial with the limits of most trials, the shaded band its 95 % interval; points \
             are trials that were measured. A trial with other limits may lie off the curve: its own prediction stands in the table."
                .to_owned(),
        ],
        drawings: DRAWN.iter().map(|drawn| drawing(report, drawn)).collect(),
        forests: Vec::new(),
        tables: vec![parameters(report), trials(report)],
        notes: notes(report),
        made_by: format!("weir model {} · Weir {}", report.run, report.weir),
    }
}

fn title(report: &ModelReport) -> String {
    let errors = &report.validation.held_out;
    match report.validation.disagreements.first() {
        Some(disagreement) => format!(
            "The model of {} is refused: {}",
            report.run, disagreement.says
        ),
        None => format!(
            "The model of {} predicts trials left out within {:.1} % in throughput, {:.1} % in CPU, {:.1} % in response time, on average",
            report.run,
            errors.throughput.mean * 100.0,
            errors.cpu.mean * 100.0,
            errors.response_time.mean * 100.0
        ),
    }
}

fn drawing(report: &ModelReport, (title, unit, predicted, measured): &Drawn) -> Drawing {
    let curve = report.curve.iter().map(|at| CurvePoint {
        x: f64::from(at.question.population),
        value: predicted(&at.figures),
        low: predicted(&at.low),
        high: predicted(&at.high),
    });
    let points = report.validation.trials.iter().filter_map(|trial| {
        Some(PointWithInterval {
            x: f64::from(trial.population),
            y: measured(trial)?,
            interval: None,
            says: format!("trial {}", trial.trial),
        })
    });
    Drawing {
        title: (*title).to_owned(),
        x_title: "users".to_owned(),
        y_title: (*unit).to_owned(),
        curve: curve.collect(),
        points: points.collect(),
        goals: Vec::new(),
        marks: Vec::new(),
    }
}

fn parameters(report: &ModelReport) -> SheetTable {
    let words = |name: &str| {
        let known = PARAMETERS.iter().find(|(known, _, _)| *known == name);
        known.map_or(name, |(_, words, _)| words).to_owned()
    };
    let rows = report.parameters.iter().filter(|found| found.high > 0.0);
    SheetTable {
        title: "One request".to_owned(),
        head: ["", "time", "95 % interval"].map(str::to_owned).to_vec(),
        rows: rows
            .map(|found| {
                let interval = format!("{} to {}", time(found.low), time(found.high));
                vec![words(&found.name), time(found.value), interval]
            })
            .collect(),
    }
}

fn trials(report: &ModelReport) -> SheetTable {
    let head = [
        "trial",
        "users",
        "requests/s",
        "predicted",
        "CPU %",
        "predicted",
        "response time",
        "predicted",
    ];
    let row = |trial: &TrialReport| {
        let (measured, predicted) = (&trial.measured, &trial.held_out);
        vec![
            trial.trial.to_string(),
            trial.population.to_string(),
            format!("{:.1}", measured.throughput_per_s),
            format!("{:.1}", predicted.throughput_per_s),
            format!("{:.1}", measured.cpu * 100.0),
            format!("{:.1}", predicted.cpu * 100.0),
            time(measured.response_time_s),
            time(predicted.response_time_s),
        ]
    };
    SheetTable {
        title: "Each treatment predicted from the others".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: report.validation.trials.iter().map(row).collect(),
    }
}

fn notes(report: &ModelReport) -> Vec<String> {
    let left_out = report
        .left_out
        .iter()
        .map(|left| format!("Trial {} is left out: {}.", left.trial, left.because));
    let refused = report.refused.iter().map(|why| format!("Refused: {why}."));
    left_out.chain(refused).collect()
}
