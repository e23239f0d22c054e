//! A request as an object of JSON: by the names that servers and proxies give its fields, and their
//! users where they name them (nginx, Apache httpd, Caddy, Traefik, Envoy, Tomcat, Weir's gateway,
//! the Elastic Common Schema).

use std::borrow::Cow;

use serde_json::Value;

use crate::line::{Missing, Request, is_method, method_and_path, path_of, status_of};
use crate::time::{of_number, seconds};

/// How deep objects are looked into.
const DEPTH_MAX: usize = 4;

/// Names in small letters without `_`, `-`, `@` and `$`, the surest first.
const METHOD: [&str; 8] = [
    "method",
    "requestmethod",
    "httpmethod",
    "verb",
    "request.method",
    "http.request.method",
    "httprequest.requestmethod",
    "req.method",
];
const TARGET: [&str; 14] = [
    "target",
    "requesturi",
    "requesttarget",
    "uri",
    "url",
    "path",
    "requestpath",
    "request.uri",
    "request.url",
    "request.path",
    "url.original",
    "url.path",
    "httprequest.requesturl",
    "req.url",
];
const QUERY: [&str; 6] = [
    "query",
    "querystring",
    "args",
    "requestquery",
    "url.query",
    "request.query",
];
const WHOLE: [&str; 4] = ["request", "requestline", "req", "r"];
const STATUS: [&str; 10] = [
    "status",
    "statuscode",
    "responsecode",
    "downstreamstatus",
    "httpstatus",
    "responsestatus",
    "response.status",
    "http.response.statuscode",
    "httprequest.status",
    "res.statuscode",
];
const TIME: [&str; 14] = [
    "time",
    "timestamp",
    "ts",
    "timeiso8601",
    "timelocal",
    "starttime",
    "startutc",
    "startlocal",
    "datetime",
    "date",
    "msec",
    "requesttimeepoch",
    "eventtime",
    "t",
];

/// Of a log of which some lines were left out.
const STANDS_FOR: [&str; 1] = ["standsfor"];
/// A line that stands for more is no sample that one could reckon with.
const STANDS_FOR_MAX: u64 = 1_000_000;

/// The request of an object.
pub(crate) fn request(text: &str) -> Result<Request<'static>, Missing> {
    // Behind the object may stand more.
    let mut objects = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let object = objects
        .next()
        .and_then(Result::ok)
        .ok_or(Missing::RequestField)?;
    let mut fields = Vec::new();
    flatten("", &object, 0, &mut fields);
    let field = |names: &[&str]| {
        let values = names
            .iter()
            .map(|name| fields.iter().find(|(known, _)| known == name));
        values.flatten().map(|(_, value)| *value).next()
    };
    let (method, target) = named(&field)
        .or_else(|| whole(&field))
        .ok_or(Missing::RequestField)?;
    let second = field(&TIME).and_then(second_of);
    let second = second.ok_or(Missing::TimeField)?;
    let status = field(&STATUS).and_then(|status| match status {
        Value::Number(number) => status_of(&number.to_string()),
        Value::String(text) => status_of(text.trim()),
        _ => None,
    });
    Ok(Request {
        second,
        method: Cow::Owned(method),
        target: Cow::Owned(target),
        status: status.ok_or(Missing::StatusField)?,
        stands_for: field(&STANDS_FOR)
            .and_then(Value::as_u64)
            .map_or(1, |count| count.clamp(1, STANDS_FOR_MAX)),
    })
}

/// Method and path in fields of their own.
fn named<'v>(field: &impl Fn(&[&str]) -> Option<&'v Value>) -> Option<(String, String)> {
    let method = field(&METHOD)?.as_str()?;
    let target = path_of(field(&TARGET)?.as_str()?)?;
    let query = field(&QUERY).and_then(Value::as_str).unwrap_or_default();
    let query = query.trim_start_matches('?');
    let target = if query.is_empty() || query == "-" || target.contains('?') {
        target.to_owned()
    } else {
        format!("{target}?{query}")
    };
    is_method(method).then(|| (method.to_owned(), target))
}

/// Both in one field, as in the common format.
fn whole<'v>(field: &impl Fn(&[&str]) -> Option<&'v Value>) -> Option<(String, String)> {
    let (method, target) = method_and_path(field(&WHOLE)?.as_str()?)?;
    Some((method.to_owned(), target.to_owned()))
}

fn second_of(time: &Value) -> Option<i64> {
    match time {
        Value::Number(number) => of_number(number.as_f64()?),
        Value::String(text) => seconds(text.trim_matches(['[', ']'])),
        _ => None,
    }
}

/// The values of an object by their names, those of objects inside it behind dots.
fn flatten<'v>(name: &str, value: &'v Value, depth: usize, fields: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(inside) if depth < DEPTH_MAX => {
            for (key, value) in inside {
                let key: String = key
                    .chars()
                    .filter(|c| !['_', '-', '@', '$'].contains(c))
                    .flat_map(char::to_lowercase)
                    .collect();
                let dot = if name.is_empty() { "" } else { "." };
                flatten(&format!("{name}{dot}{key}"), value, depth + 1, fields);
            }
        }
        _ => fields.push((name.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each a GET of `/item/0?a=1` at the same second with status 200.
    #[test]
    fn objects_of_servers_and_proxies_are_read() {
        for line in [
            // Weir's gateway.
            r#"{"time":"2024-05-14T13:00:00Z","client":"127.0.0.1:5","method":"GET","target":"/item/0?a=1","decision":"admitted","service_ms":3.1,"status":200}"#,
            // nginx, as users write its `log_format … escape=json`.
            r#"{"time_local":"14/May/2024:13:00:00 +0000","request":"GET /item/0?a=1 HTTP/1.1","status":"200","request_time":"0.004"}"#,
            r#"{"msec": "1715691600.123", "request_method": "GET", "uri": "/item/0", "args": "a=1", "status": 200}"#,
            r#"{"@timestamp":"2024-05-14T13:00:00+00:00","request_method":"GET","request_uri":"/item/0?a=1","status":200}"#,
            // Apache httpd, as users write its `LogFormat`.
            r#"{"time":"[14/May/2024:13:00:00 +0000]","method":"GET","url":"/item/0","query":"?a=1","status":"200"}"#,
            // Caddy.
            r#"{"level":"info","ts":1715691600.12,"logger":"http.log.access","request":{"method":"GET","host":"x","uri":"/item/0?a=1"},"duration":0.1,"status":200}"#,
            // Traefik.
            r#"{"DownstreamStatus":200,"Duration":10,"RequestMethod":"GET","RequestPath":"/item/0?a=1","StartUTC":"2024-05-14T13:00:00.0Z","time":"2024-05-14T13:00:00Z"}"#,
            // Envoy, as in its documentation of JSON formats and in Istio's.
            r#"{"start_time":"2024-05-14T13:00:00.310Z","method":"GET","path":"/item/0?a=1","response_code":200,"duration":5}"#,
            // Elastic Common Schema.
            r#"{"@timestamp":"2024-05-14T13:00:00Z","http":{"request":{"method":"GET"},"response":{"status_code":200}},"url":{"path":"/item/0","query":"a=1"}}"#,
        ] {
            let expected = Request {
                second: 1_715_691_600,
                method: "GET".into(),
                target: "/item/0?a=1".into(),
                status: 200,
                stands_for: 1,
            };
            assert_eq!(request(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_an_object_lacks_is_said() {
        for (line, missing) in [
            ("{", Missing::RequestField),
            (
                r#"{"level":"info","msg":"started","ts":1715691600}"#,
                Missing::RequestField,
            ),
            (
                r#"{"method":"GET","path":"/","status":200}"#,
                Missing::TimeField,
            ),
            (
                r#"{"time":"2024-05-14T13:00:00Z","method":"GET","path":"/"}"#,
                Missing::StatusField,
            ),
        ] {
            assert_eq!(request(line), Err(missing), "{line}");
        }
    }
}
