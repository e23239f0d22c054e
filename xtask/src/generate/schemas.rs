//! JSON schemas of the files that Weir writes, from the types that it writes them with.

use schemars::{JsonSchema, schema_for};
use weir_record::{RunResult, StudyResult, TrialRecord};

use crate::error::TaskError;
use crate::generate::Generated;

/// A schema for each format.
pub(crate) fn all() -> Result<Vec<Generated>, TaskError> {
    Ok(vec![
        schema::<StudyResult>("docs/schemas/result.schema.json")?,
        schema::<RunResult>("docs/schemas/run.schema.json")?,
        schema::<TrialRecord>("docs/schemas/trial.schema.json")?,
    ])
}

fn schema<T: JsonSchema>(path: &'static str) -> Result<Generated, TaskError> {
    let mut text =
        serde_json::to_string_pretty(&schema_for!(T)).map_err(|error| TaskError::Form {
            what: path.to_owned(),
            why: error.to_string(),
        })?;
    text.push('\n');
    Ok(Generated { path, text })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    #[test]
    fn a_schema_describes_its_fields() {
        let files = all().unwrap();
        let trial = files
            .iter()
            .find(|file| file.path.ends_with("trial.schema.json"))
            .unwrap();
        let schema: serde_json::Value = serde_json::from_str(&trial.text).unwrap();
        let says = &schema["properties"]["throughput_per_s"]["description"];
        assert_eq!(says, "Samples answered per second, failed ones included.");
        assert_eq!(schema["title"], "TrialRecord");
    }
}
