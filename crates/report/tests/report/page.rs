//! The page as a file: well formed, self-contained, proof against what users write.

use crate::common::{Run, sweep, tune};
use weir_record::{Level, Status};
use weir_report::html;

/// The page's elements without the contents of scripts and styles, which are no markup.
fn markup(page: &str) -> String {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut kept = String::new();
    while let Some(at) = ["<script", "<style"]
        .iter()
        .filter_map(|tag| rest.find(tag))
        .min()
    {
        let name = if rest[at..].starts_with("<script") {
            "script"
        } else {
            "style"
        };
        let open = at + rest[at..].find('>').unwrap() + 1;
        let close = open + rest[open..].find(&format!("</{name}")).unwrap();
        kept.push_str(&rest[..open]);
        rest = &rest[close..];
        let end = rest.find('>').unwrap() + 1;
        kept.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

/// What stands in the page's data element.
fn data(page: &str) -> serde_json::Value {
    let from = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let length = page[from..].find("</script>").unwrap();
    serde_json::from_str(&page[from..from + length]).unwrap()
}

fn check(run: &Run) -> String {
    let page = html(&run.input()).unwrap();
    let markup = markup(&page);
    let parsed = roxmltree::Document::parse(&markup).unwrap_or_else(|error| panic!("{error}"));
    let mut ids: Vec<&str> = parsed
        .descendants()
        .filter_map(|node| node.attribute("id"))
        .collect();
    let links = parsed
        .descendants()
        .filter_map(|node| node.attribute("href"));
    for link in links.filter(|link| !link.starts_with("data:")) {
        let id = link.strip_prefix('#').expect("a page links only to itself");
        assert!(ids.contains(&id), "{link} leads nowhere");
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "every id stands once");
    assert!(
        parsed
            .descendants()
            .all(|node| node.attribute("src").is_none())
    );
    for head in parsed.descendants().filter(|node| node.has_tag_name("th")) {
        assert!(
            head.attribute("scope").is_some(),
            "a head says what it heads"
        );
    }
    page
}

#[test]
fn a_tune_is_well_formed_and_links_to_itself_only() {
    check(&tune());
}

#[test]
fn a_sweep_is_well_formed_and_links_to_itself_only() {
    check(&sweep());
}

#[test]
fn a_run_that_ended_at_once_still_has_a_page() {
    let mut run = tune();
    run.result.status = Status::Interrupted;
    run.result.answer = None;
    run.result.held = None;
    run.result.settings_detail.clear();
    run.result.findings.clear();
    run.result.trials.clear();
    run.result.target.stages.clear();
    run.timelines.clear();
    run.manifest.machine.clear();
    check(&run);
}

#[test]
fn what_users_write_does_not_break_the_page() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"' ]]> {{7*7}} --> \u{2028}";
    let mut run = tune();
    run.result.question = evil.to_owned();
    run.result.summary = evil.to_owned();
    run.result.target.stages[3].native = Some(evil.to_owned());
    run.result.findings[0].says = evil.to_owned();
    run.result.settings_detail[0].because = evil.to_owned();
    run.manifest.study = evil.to_owned();
    run.manifest.command.push(evil.to_owned());
    let trial = &mut run.result.trials[6];
    trial.case = Some(evil.to_owned());
    trial.invalid_because = vec![evil.to_owned()];
    trial
        .levels
        .insert(evil.to_owned(), Level::Text(evil.to_owned()));
    trial.errors.by_code.insert(evil.to_owned(), 3);
    let page = check(&run);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img"));
    let trials = data(&page)["seconds"]["trials"].clone();
    let name = trials[6]["name"].as_str().unwrap();
    assert!(name.contains(evil), "{name}");
}

#[test]
fn every_trial_and_every_watched_signal_of_a_chart_is_embedded_once() {
    let run = tune();
    let data = data(&html(&run.input()).unwrap());
    let trials = data["seconds"]["trials"].as_array().unwrap();
    assert_eq!(trials.len(), run.timelines.len());
    let fourth = &trials[3];
    assert_eq!(fourth["missed"], serde_json::json!([22, 23, 30]));
    let cpu = fourth["signals"]["cpu"].as_array().unwrap();
    assert_eq!(cpu.len(), 40);
    assert!(cpu[22].is_null() && cpu[21].is_number());
    let percent = cpu[39].as_f64().unwrap();
    let share = run.timelines[&4].second(39).unwrap()["cpu"];
    assert!((percent / 100.0 - share).abs() < 1e-3);
    for chart in data["curves"].as_array().unwrap() {
        for series in chart["series"].as_array().unwrap() {
            assert_eq!(
                series["points"].as_array().unwrap().len(),
                run.result.trials.len()
            );
        }
    }
}

#[test]
fn goals_come_from_the_study_and_from_what_binds() {
    let mut run = tune();
    run.result.trials[2].errors.share = 0.004;
    let data = data(&html(&run.input()).unwrap());
    let curves = data["curves"].as_array().unwrap();
    let goals = |id: &str| {
        let chart = curves.iter().find(|chart| chart["id"] == id).unwrap();
        chart["goals"].clone()
    };
    assert_eq!(
        goals("chart-cpu"),
        serde_json::json!([{"y": 80.0, "says": "cpu <= 80 %"}])
    );
    assert_eq!(goals("chart-errors-share")[0]["says"], "errors <= 0.1 %");
    assert_eq!(goals("chart-throughput-per-s"), serde_json::json!([]));
}

#[test]
fn marks_tell_invalid_stolen_saturated_and_set_trials_apart() {
    let run = tune();
    let data = data(&html(&run.input()).unwrap());
    let points = data["curves"][0]["series"][0]["points"].as_array().unwrap();
    let shapes: Vec<&str> = points
        .iter()
        .map(|point| point["shape"].as_str().unwrap())
        .collect();
    assert_eq!(
        shapes,
        [
            "disc", "disc", "square", "disc", "disc", "disc", "cross", "ring", "diamond",
            "diamond", "diamond"
        ]
    );
}

#[test]
fn a_long_run_stays_a_file_that_can_be_mailed() {
    let page = html(&tune().input()).unwrap();
    assert!(
        page.len() < 400_000,
        "{} bytes for eleven trials",
        page.len()
    );
}
