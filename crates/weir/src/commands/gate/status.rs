//! `weir gate status`: how a gateway that runs stands.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use weir_exchange::{Exchange, MetricsUrl};
use weir_gateway::{Status, UNIX};
use weir_record::failed_to;

use crate::error::ExpectedError;
use crate::output;

/// Longest wait for the gateway's answer.
const WITHIN: Duration = Duration::from_secs(5);

/// Show how a gateway that runs stands.
///
/// Limits, requests offered, admitted, waiting and rejected by why, of each class; backends;
/// connections. Counts are since the gateway's start.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The gateway's admin port, or `unix:` and the path of its socket.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8082")]
    admin: String,
    /// The token of the gateway's file, if it asks for one.
    #[arg(long, value_name = "TOKEN", value_parser = one_line)]
    token: Option<String>,
    /// Write it as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn run(arguments: &StatusArguments) -> Result<u8, ExpectedError> {
    let answer = ask(arguments)?;
    let status = read(&answer, arguments)?;
    if let Some(json) = &arguments.json {
        output::json_to(json, &status)?;
    }
    if arguments.json.as_deref() != Some(Path::new("-")) {
        // Names in it are those of whoever answers.
        let shown = serde_json::from_slice(&answer).ok().map(one_line_each);
        let shown = shown.and_then(|value| serde_json::from_value::<Status>(value).ok());
        output::data_lines(&shown.unwrap_or(status).to_string());
    }
    Ok(0)
}

/// With every text and name in it on one line.
fn one_line_each(value: Value) -> Value {
    let line = |text: &str| weir_shown::line(text).into_owned();
    match value {
        Value::String(text) => Value::String(line(&text)),
        Value::Array(values) => values.into_iter().map(one_line_each).collect(),
        Value::Object(named) => {
            let named = named.into_iter();
            named
                .map(|(name, value)| (line(&name), one_line_each(value)))
                .collect()
        }
        other => other,
    }
}

/// A token as a header field can carry it.
fn one_line(typed: &str) -> Result<String, String> {
    if typed.is_empty() || typed.chars().any(char::is_control) {
        return Err("a token is a word of signs that can be seen".to_owned());
    }
    Ok(typed.to_owned())
}

fn ask(arguments: &StatusArguments) -> Result<Vec<u8>, ExpectedError> {
    let (mut exchange, url) = gateway(&arguments.admin)?;
    let deadline = Instant::now() + WITHIN;
    let request = match &arguments.token {
        Some(token) => url.get_with_token(token),
        None => url.get(),
    };
    exchange.ask_once(request, deadline);
    let answer = exchange.answer(deadline).map_err(|error| {
        ExpectedError::Environment(format!(
            "{}: is a gateway running there? {}",
            arguments.admin,
            failed_to(&error)
        ))
    })?;
    Ok(answer.clone())
}

/// The gateway at an address or a path, and where its status is.
fn gateway(admin: &str) -> Result<(Exchange, MetricsUrl), ExpectedError> {
    let path = admin.strip_prefix(UNIX).map(Path::new);
    // Over a path nobody asks for the host.
    let base = path.map_or(admin.trim_end_matches('/'), |_| "http://127.0.0.1");
    let url: MetricsUrl = format!("{base}/status")
        .parse()
        .map_err(|error| ExpectedError::Input(failed_to(&error)))?;
    let exchange = match path {
        None => Exchange::new(url.address()),
        Some(path) => Exchange::at_path(path).map_err(|error| {
            ExpectedError::Input(format!("{admin}: no path of a socket: {error}"))
        })?,
    };
    Ok((exchange, url))
}

fn read(answer: &[u8], arguments: &StatusArguments) -> Result<Status, ExpectedError> {
    serde_json::from_slice(answer).map_err(|error| {
        ExpectedError::Environment(format!(
            "{}: what answers is no gateway of this version: {error}",
            arguments.admin
        ))
    })
}
