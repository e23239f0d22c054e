//! `weir run URL`: the short form, as ab, wrk and oha users type it.

use weir_load::SampleSink;
use weir_plan::{Argument, HttpRequest, LoadPlan, Sampler, Schedule, Template, ThreadGroup};
use weir_script::Properties;

use super::grammar::UrlArguments;
use super::metrics::Metrics;
use super::{Conclusion, Load, conclude, measure_load, record};
use crate::error::ExpectedError;
use crate::{interrupt, plans};

/// How long a run is when nobody says how long or how many.
const DURATION_S: f64 = 10.0;

/// Loads one URL.
pub(super) fn run(arguments: &UrlArguments) -> Result<u8, ExpectedError> {
    let shared = &arguments.shared;
    let plan = plan_of_url(arguments)?;
    let metrics = shared.metrics.map(Metrics::serve).transpose()?;
    let samples = metrics.map(|metrics| {
        SampleSink::default().observed(Box::new(move |row, users| metrics.sample(row, users)))
    });
    let interrupted = interrupt::flag()?;
    let load = Load {
        plan: plans::resolve(&plan, &Properties::new(), shared.seed)?,
        shared,
        samples,
        samples_max: arguments.requests,
        interrupted: &interrupted,
    };
    let (measured, population) = measure_load(load)?;
    let conclusion = Conclusion {
        shared,
        name: arguments.url.as_str(),
        stored: None,
    };
    conclude(
        &measured,
        record(&measured, population, shared)?,
        &conclusion,
    )
}

/// A closed workload of users that ask for one URL again and again, without think time.
fn plan_of_url(arguments: &UrlArguments) -> Result<LoadPlan, ExpectedError> {
    let literal = |text: &str| Template::literal(text);
    let headers = arguments
        .header
        .iter()
        .map(|header| match header.split_once(':') {
            Some((name, value)) => Ok((literal(name.trim()), literal(value.trim()))),
            None => Err(ExpectedError::Input(format!(
                "-H `{header}`: a header is written `Name: value`"
            ))),
        })
        .collect::<Result<_, _>>()?;
    let body = arguments.body.as_ref().map(|body| Argument {
        name: literal(""),
        value: literal(body),
        always_encode: false,
        use_equals: false,
        content_type: Template::default(),
    });
    let request = HttpRequest {
        method: literal(&arguments.method),
        raw_body: body.is_some(),
        arguments: body.into_iter().collect(),
        headers,
        keep_alive: !arguments.no_keepalive,
        ..place(arguments)
    };
    let sampler = Sampler::http(literal(arguments.url.path()), request);
    let duration_s = match (arguments.duration, arguments.requests) {
        (Some(duration), _) => Some(duration.as_secs_f64()),
        (None, Some(_)) => None,
        (None, None) => Some(DURATION_S),
    };
    // A user that could not send one request would be of no use.
    let most = arguments.requests.unwrap_or(u64::MAX);
    let users = u64::from(arguments.connections).min(most);
    let group = ThreadGroup {
        name: literal("users"),
        users: literal(&users.to_string()),
        ramp_up_s: literal("0"),
        schedule: duration_s.map(|duration_s| Schedule {
            duration_s: literal(&duration_s.to_string()),
            delay_s: literal("0"),
        }),
        nodes: vec![sampler.into()],
        ..ThreadGroup::default()
    };
    Ok(LoadPlan {
        name: arguments.url.to_string(),
        groups: vec![group],
        ..LoadPlan::default()
    })
}

/// Where requests go. With random fields only the query differs from request to request, so that
/// the server is known beforehand.
fn place(arguments: &UrlArguments) -> HttpRequest {
    let url = &arguments.url;
    if arguments.random.is_empty() {
        return HttpRequest {
            path: Template::literal(url.as_str()),
            ..HttpRequest::default()
        };
    }
    let fields = arguments.random.iter().map(|field| {
        let (name, low, high) = (&field.name, field.low, field.high);
        format!("{name}=${{__Random({low},{high})}}")
    });
    let query: Vec<String> = url
        .query()
        .map(str::to_owned)
        .into_iter()
        .chain(fields)
        .collect();
    let port = url.port().map_or_else(String::new, |port| port.to_string());
    HttpRequest {
        protocol: Template::literal(url.scheme()),
        host: Template::literal(url.host_str().unwrap_or_default()),
        port: Template::literal(port),
        path: Template::literal(format!("{}?{}", url.path(), query.join("&"))),
        ..HttpRequest::default()
    }
}
