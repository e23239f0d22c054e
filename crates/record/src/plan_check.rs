//! What `weir check` has found in files of the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the format.
pub const CHECK_SCHEMA: &str = "weir/check/1";

/// The result of `weir check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// `weir/check/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// The files that were checked, in the order in which they were named.
    pub files: Vec<CheckedFile>,
}

/// A plan, study, network or gateway's file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedFile {
    /// As it was named.
    pub file: String,
    /// What is to be said of elements of a plan, each with its place.
    pub findings: Vec<String>,
    /// Elements of a plan that Weir does not run itself.
    pub unsupported: usize,
    /// Every file that the plan names.
    pub named_files: Vec<CheckedName>,
    /// Every server that gets requests of the plan, as far as it is known before the run. Of a
    /// study's plan none: its requests go to the study's target.
    #[serde(default)]
    pub servers: Vec<CheckedServer>,
    /// Every script of the plan, those in functions included.
    #[serde(default)]
    pub scripts: Vec<CheckedScript>,
    /// Every place where the plan asks what machine it runs on.
    #[serde(default)]
    pub machine: Vec<CheckedCall>,
    /// Why the file is not run as it is; absent: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A place in a plan where a file is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedName {
    /// Line in the plan, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
    /// The element or function that names it.
    pub element: String,
    /// The name as it is written.
    pub written: String,
    /// `reads`, `writes`, or `reads or writes`.
    pub does: String,
    /// Where it lies, with links followed; absent: the name is known only at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Whether the plan may touch it; absent: the name is known only at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// Only a JMeter touches it; Weir itself does not.
    pub only_jmeter: bool,
}

/// A server that gets requests of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedServer {
    /// Line of the first sampler that loads it, from 1.
    pub line: u32,
    /// Protocol, name and port.
    pub server: String,
}

/// A place in a plan where a script is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedScript {
    /// Line in the plan, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
    /// `Groovy`, `BeanShell` …
    pub language: String,
}

/// A place in a plan where a function is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCall {
    /// Line in the plan, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
    /// The function, such as `__machineName`.
    pub function: String,
}
