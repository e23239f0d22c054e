//! The page of one load.

use askama::Template;
use serde::Serialize;

use super::spread::Spread;
use super::{OneLoadInput, by_label, bytes, headline, lead, name, outcomes, percentiles};
use crate::assets::Assets;
use crate::html::embed;
use crate::html::seconds::{self, Seconds, Shown};
use crate::{ReportError, words};

#[derive(Debug, Template)]
#[template(path = "one_load.html")]
struct Page<'a> {
    target: &'a str,
    headline: String,
    lead: String,
    invalid: &'a [String],
    notes: &'a [String],
    requirements: Vec<(bool, String, String)>,
    percentiles: Vec<[String; 3]>,
    spread: Option<Spread>,
    frame: (f64, f64, f64),
    labels: Vec<[String; 9]>,
    outcomes: Vec<(String, String, String)>,
    bytes: Vec<(&'static str, String)>,
    seconds: Seconds,
    run: Vec<(&'static str, String)>,
    machine: Vec<(String, String)>,
    weir: &'a str,
    data: String,
    assets: Assets,
}

/// What the script of a study's page draws, without what one load does not have.
#[derive(Debug, Serialize)]
struct Data<'a> {
    curves: [(); 0],
    seconds: &'a Seconds,
}

/// The page of one load, self-contained.
pub fn one_load_html(input: &OneLoadInput<'_>) -> Result<String, ReportError> {
    let OneLoadInput {
        result,
        manifest,
        timeline,
        response_us,
    } = input;
    let trial = &result.trial;
    let target = name(manifest);
    let seconds = seconds::of(vec![Shown {
        id: 1,
        name: target.to_owned(),
        window: (trial.warm_up_s, trial.warm_up_s + trial.window_s),
        timeline,
    }]);
    let data = embed::json(&Data {
        curves: [],
        seconds: &seconds,
    })?;
    let requirements = result.requirements.iter();
    let requirements = requirements.map(|asked| {
        let found = words::found_text(asked);
        (asked.met, asked.says.clone(), found)
    });
    let page = Page {
        target,
        headline: headline(trial),
        lead: lead(trial),
        invalid: &trial.invalid_because,
        notes: &trial.notes,
        requirements: requirements.collect(),
        percentiles: percentiles(trial),
        spread: Spread::of(response_us),
        frame: Spread::frame(),
        labels: by_label(trial),
        outcomes: outcomes(trial),
        bytes: bytes(trial),
        seconds,
        run: vec![
            ("Run", result.run.clone().unwrap_or_default()),
            ("Started", manifest.started.clone()),
            ("Command", manifest.command.join(" ")),
            ("Weir", result.weir.clone()),
        ],
        machine: words::machine(manifest),
        weir: &result.weir,
        data,
        assets: Assets::with_script(include_str!("../../assets/report.js")),
    };
    Ok(page.render()?)
}
