//! The page of a watch: its charts over time and a table of all signals.

use askama::Template;
use serde::Serialize;

use super::{WatchInput, length, rows};
use crate::assets::Assets;
use crate::html::embed;
use crate::html::seconds::{self, Seconds, Shown};
use crate::{ReportError, words};

#[derive(Debug, Template)]
#[template(path = "watch.html")]
struct Page<'a> {
    target: &'a str,
    length: String,
    seconds: Seconds,
    rows: Vec<[String; 6]>,
    run: Vec<(&'static str, String)>,
    machine: Vec<(String, String)>,
    study: &'a str,
    weir: &'a str,
    data: String,
    assets: Assets,
}

/// What the script of a study's page draws, without what a watch does not have.
#[derive(Debug, Serialize)]
struct Data<'a> {
    curves: [(); 0],
    seconds: &'a Seconds,
}

/// The page of a watch, self-contained.
pub fn watch_html(input: &WatchInput<'_>) -> Result<String, ReportError> {
    let WatchInput {
        watch,
        manifest,
        timeline,
    } = input;
    let seconds = seconds::of(vec![Shown {
        id: 1,
        name: watch.target.clone(),
        window: (0.0, timeline.len() as f64),
        timeline,
    }]);
    let data = embed::json(&Data {
        curves: [],
        seconds: &seconds,
    })?;
    let page = Page {
        target: &watch.target,
        length: length(watch),
        seconds,
        rows: rows(watch).collect(),
        run: vec![
            ("Run", watch.run.clone()),
            ("Started", manifest.started.clone()),
            ("Command", manifest.command.join(" ")),
            ("Weir", watch.weir.clone()),
        ],
        machine: words::machine(manifest),
        study: &manifest.study,
        weir: &watch.weir,
        data,
        assets: Assets::with_script(include_str!("../../assets/report.js")),
    };
    Ok(page.render()?)
}
