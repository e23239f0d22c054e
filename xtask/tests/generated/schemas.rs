//! JSON schemas of the files that Weir writes, from the types that it writes them with.

use schemars::{JsonSchema, schema_for};
use weir_explain::Explanation;
use weir_gateway::{Reload, Status};
use weir_model::ModelReport;
use weir_record::{CheckResult, RunComparison, RunResult, StudyResult, TrialRecord, WatchResult};
use weir_sim::Report;
use weir_size::Sizing;

use crate::Generated;

#[test]
fn the_schema_of_a_study_is_up_to_date() {
    schema::<StudyResult>("docs/schemas/result.schema.json").settle();
}

#[test]
fn the_schema_of_a_single_run_is_up_to_date() {
    schema::<RunResult>("docs/schemas/run.schema.json").settle();
}

#[test]
fn the_schema_of_a_watch_is_up_to_date() {
    schema::<WatchResult>("docs/schemas/watch.schema.json").settle();
}

#[test]
fn the_schema_of_a_check_is_up_to_date() {
    schema::<CheckResult>("docs/schemas/check.schema.json").settle();
}

#[test]
fn the_schema_of_a_comparison_is_up_to_date() {
    schema::<RunComparison>("docs/schemas/compare.schema.json").settle();
}

#[test]
fn the_schema_of_an_explanation_is_up_to_date() {
    schema::<Explanation>("docs/schemas/explain.schema.json").settle();
}

#[test]
fn the_schema_of_a_model_is_up_to_date() {
    schema::<ModelReport>("docs/schemas/model.schema.json").settle();
}

#[test]
fn the_schema_of_a_sizing_is_up_to_date() {
    schema::<Sizing>("docs/schemas/size.schema.json").settle();
}

#[test]
fn the_schema_of_a_trial_is_up_to_date() {
    let schema = schema::<TrialRecord>("docs/schemas/trial.schema.json");
    let says = "\"description\": \"Samples answered per second, failed ones included.\"";
    assert!(schema.text.contains(says), "a schema describes its fields");
    schema.settle();
}

#[test]
fn the_schema_of_a_simulation_is_up_to_date() {
    let schema = schema::<Report>("docs/schemas/simulation.schema.json");
    let says = "\"description\": \"Requests answered per second.\"";
    assert!(schema.text.contains(says), "a schema describes its fields");
    schema.settle();
}

#[test]
fn the_schemas_of_a_gateway_are_up_to_date() {
    let status = schema::<Status>("docs/schemas/gate-status.schema.json");
    let says = "\"description\": \"Requests that were admitted.\"";
    assert!(status.text.contains(says), "a schema describes its fields");
    status.settle();
    schema::<Reload>("docs/schemas/gate-reload.schema.json").settle();
}

fn schema<T: JsonSchema>(path: &'static str) -> Generated {
    let mut text = serde_json::to_string_pretty(&schema_for!(T)).unwrap();
    text.push('\n');
    Generated { path, text }
}
