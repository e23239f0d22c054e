//! A client of Jolokia: JMX as JSON over HTTP, many questions in one exchange.
//!
//! After Jolokia's protocol 8 ("Jolokia protocol" in its reference manual). Questions are posted as
//! an array, because names with quotes, blanks and slashes need no escaping there. Each answer has
//! a status of its own; what makes a question impossible to convert (a text where a number is due)
//! fails the whole array, so what changes something is sent alone.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use weir_exchange::{Exchange, ExchangeError, MetricsUrl};

use crate::error::JvmError;
use crate::object_name::ObjectName;
use crate::policy::Permission;

/// One question or command.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Attributes of an MBean, or of all that a pattern covers. Those that are not there are not in
    /// the answer.
    Read {
        /// Name or pattern.
        name: ObjectName,
        /// Names of attributes.
        attributes: Vec<String>,
    },
    /// Sets an attribute; answered with its old value.
    Write {
        /// The MBean.
        name: ObjectName,
        /// The attribute.
        attribute: String,
        /// Its new value.
        value: Value,
    },
    /// Calls an operation; answered with what it returns.
    Exec {
        /// The MBean.
        name: ObjectName,
        /// The operation; with the types of its parameters in brackets when several have the name.
        operation: String,
        /// What it is called with.
        arguments: Vec<Value>,
        /// Whether it only tells something, so that it may be called again when the answer is
        /// lost.
        repeatable: bool,
    },
    /// The names that a pattern covers.
    Search {
        /// The pattern.
        pattern: ObjectName,
    },
}

/// What Jolokia says to one question.
pub type Answer = Result<Value, Refusal>;

/// Why Jolokia does not answer one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// As in HTTP: 404 when there is no such MBean, attribute or operation.
    pub status: u64,
    /// Its words.
    pub says: String,
}

/// A Jolokia agent that is asked over one kept connection.
#[derive(Debug)]
pub struct Jolokia {
    url: MetricsUrl,
    exchange: Exchange,
    asked: usize,
}

/// How long an answer to a single command may take.
const PATIENCE: Duration = Duration::from_secs(10);

impl Jolokia {
    /// The agent at an address such as `http://127.0.0.1:8778/jolokia`; nothing is sent yet.
    pub fn new(url: MetricsUrl) -> Self {
        let url = url.as_folder();
        Self {
            exchange: Exchange::new(url.address()),
            url,
            asked: 0,
        }
    }

    /// Its address.
    pub fn url(&self) -> &MetricsUrl {
        &self.url
    }

    /// Sends questions; they may be answered while the caller does other things. For what changes
    /// nothing.
    pub fn ask(&mut self, requests: &[Request], deadline: Instant) {
        let body = Value::Array(requests.iter().map(Request::to_json).collect());
        self.asked = requests.len();
        let request = self.url.post_json(&body.to_string());
        // Sent over a kept connection it may be sent twice.
        if requests.iter().all(Request::is_repeatable) {
            self.exchange.ask(request, deadline);
        } else {
            self.exchange.ask_once(request, deadline);
        }
    }

    /// Reads the answers, as many as there were questions and in their order.
    pub fn answers(&mut self, deadline: Instant) -> Result<Vec<Answer>, JvmError> {
        let answer = self.exchange.answer(deadline);
        let body = answer.map_err(|source| JvmError::Jolokia {
            url: self.url.to_string(),
            source,
        })?;
        answers(&body, self.asked).map_err(|why| JvmError::NotJolokia {
            url: self.url.to_string(),
            why,
        })
    }

    /// The attributes of an MBean, by name; all of them, or the reason why one is not there.
    pub fn read(
        &mut self,
        name: &ObjectName,
        attributes: &[&str],
    ) -> Result<BTreeMap<String, Value>, JvmError> {
        let request = Request::Read {
            name: name.clone(),
            attributes: attributes.iter().map(|&a| a.to_owned()).collect(),
        };
        let asked = request.says();
        let values = match self.one(request)? {
            Value::Object(values) => values,
            other => return Err(self.unexpected(&other)),
        };
        if let Some(error) = values.values().find(|value| is_error(value)) {
            let says = error.get("error").and_then(Value::as_str);
            return Err(self.refused(
                asked,
                Refusal {
                    status: 404,
                    says: says.unwrap_or("no reason").to_owned(),
                },
            ));
        }
        Ok(values.into_iter().collect())
    }

    /// Sets an attribute and gives its old value.
    pub fn write(
        &mut self,
        name: &ObjectName,
        attribute: &str,
        value: Value,
    ) -> Result<Value, JvmError> {
        self.one(Request::Write {
            name: name.clone(),
            attribute: attribute.to_owned(),
            value,
        })
    }

    /// Calls an operation.
    pub fn exec(
        &mut self,
        name: &ObjectName,
        operation: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, JvmError> {
        self.one(Request::Exec {
            name: name.clone(),
            operation: operation.to_owned(),
            arguments,
            repeatable: false,
        })
    }

    /// The names of the MBeans that a pattern covers.
    pub fn search(&mut self, pattern: &ObjectName) -> Result<Vec<ObjectName>, JvmError> {
        let names = self.one(Request::Search {
            pattern: pattern.clone(),
        })?;
        let Value::Array(names) = &names else {
            return Err(self.unexpected(&names));
        };
        let names = names.iter().filter_map(Value::as_str);
        names.map(str::parse).collect()
    }

    /// Asks until the agent answers: one that was just loaded takes about a second.
    pub fn wait_until_ready(&mut self, patience: Duration) -> Result<(), JvmError> {
        const BETWEEN: Duration = Duration::from_millis(50);
        let until = Instant::now() + patience;
        let Permission {
            name,
            reads: attributes,
            ..
        } = ready_permission()?;
        let runtime = Request::Read { name, attributes };
        loop {
            let deadline = until.max(Instant::now() + BETWEEN);
            self.ask(std::slice::from_ref(&runtime), deadline);
            match self.answers(deadline) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= until => return Err(error),
                Err(_) => std::thread::sleep(BETWEEN),
            }
        }
    }

    /// Whether the agent answers only who knows a password that is not known here.
    pub fn wants_password(&mut self) -> Result<bool, JvmError> {
        let Permission { name, reads, .. } = ready_permission()?;
        let request = Request::Read {
            name,
            attributes: reads,
        };
        let deadline = Instant::now() + PATIENCE;
        self.ask(&[request], deadline);
        match self.answers(deadline) {
            Err(JvmError::Jolokia {
                source: ExchangeError::Status { code: 401, .. },
                ..
            }) => Ok(true),
            answers => answers.map(|_| false),
        }
    }

    fn one(&mut self, request: Request) -> Result<Value, JvmError> {
        let asked = request.says();
        let deadline = Instant::now() + PATIENCE;
        self.ask(&[request], deadline);
        let mut answers = self.answers(deadline)?;
        let answer = answers.pop().unwrap_or(Ok(Value::Null));
        answer.map_err(|refusal| self.refused(asked, refusal))
    }

    fn refused(&self, asked: String, refusal: Refusal) -> JvmError {
        JvmError::Refused {
            asked,
            url: self.url.to_string(),
            status: refusal.status,
            says: refusal.says,
        }
    }

    fn unexpected(&self, value: &Value) -> JvmError {
        let start: String = value.to_string().chars().take(100).collect();
        JvmError::NotJolokia {
            url: self.url.to_string(),
            why: format!("the value is `{start}`"),
        }
    }
}

/// What [`Jolokia::wait_until_ready`] asks.
pub(crate) fn ready_permission() -> Result<Permission, JvmError> {
    Ok(Permission {
        name: "java.lang:type=Runtime".parse()?,
        reads: vec!["Name".to_owned()],
        writes: Vec::new(),
        calls: Vec::new(),
    })
}

impl Request {
    /// What an answer to this read says, MBean by MBean, whether it names one or is a pattern;
    /// nothing for other requests. Attributes that could not be read are left out.
    pub fn values(&self, answer: &Value) -> Vec<(ObjectName, BTreeMap<String, Value>)> {
        let (Self::Read { name, .. }, Value::Object(values)) = (self, answer) else {
            return Vec::new();
        };
        if !name.is_pattern() {
            return vec![(name.clone(), readable(values))];
        }
        let each = values
            .iter()
            .filter_map(|(name, values)| Some((name.parse().ok()?, readable(values.as_object()?))));
        each.collect()
    }

    fn is_repeatable(&self) -> bool {
        match self {
            Self::Read { .. } | Self::Search { .. } => true,
            Self::Write { .. } => false,
            Self::Exec { repeatable, .. } => *repeatable,
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Read { name, attributes } => json!({
                "type": "read",
                "mbean": name.to_string(),
                "attribute": attributes,
                // Otherwise one attribute that is missing would take the others with it.
                "config": {"ignoreErrors": true, "includeStackTrace": false},
            }),
            Self::Write {
                name,
                attribute,
                value,
            } => json!({
                "type": "write",
                "mbean": name.to_string(),
                "attribute": attribute,
                "value": value,
                "config": {"includeStackTrace": false},
            }),
            Self::Exec {
                name,
                operation,
                arguments,
                ..
            } => json!({
                "type": "exec",
                "mbean": name.to_string(),
                "operation": operation,
                "arguments": arguments,
                "config": {"includeStackTrace": false},
            }),
            Self::Search { pattern } => json!({"type": "search", "mbean": pattern.to_string()}),
        }
    }

    /// What it is, for a message.
    fn says(&self) -> String {
        match self {
            Self::Read { name, attributes } => {
                format!("have `{}` of `{name}` read", attributes.join("`, `"))
            }
            Self::Write {
                name,
                attribute,
                value,
            } => format!("have `{attribute}` of `{name}` set to {value}"),
            Self::Exec {
                name, operation, ..
            } => format!("have `{operation}` of `{name}` called"),
            Self::Search { pattern } => format!("have `{pattern}` searched"),
        }
    }
}

fn readable(values: &Map<String, Value>) -> BTreeMap<String, Value> {
    let there = values.iter().filter(|(_, value)| !is_error(value));
    there
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// What Jolokia puts in place of an attribute that it could not read.
fn is_error(value: &Value) -> bool {
    value.get(".error").is_some()
}

fn answers(body: &[u8], asked: usize) -> Result<Vec<Answer>, String> {
    let parsed = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let Value::Array(entries) = parsed else {
        return Err("it is no array".to_owned());
    };
    if entries.len() != asked {
        return Err(format!("{} answers to {asked} questions", entries.len()));
    }
    entries.into_iter().map(entry).collect()
}

fn entry(entry: Value) -> Result<Answer, String> {
    let Value::Object(mut entry) = entry else {
        return Err("an answer is no object".to_owned());
    };
    let status = entry.get("status").and_then(Value::as_u64);
    let status = status.ok_or("an answer has no status")?;
    if status == 200 {
        return Ok(Ok(entry.remove("value").unwrap_or(Value::Null)));
    }
    let says = entry.get("error").and_then(Value::as_str);
    Ok(Err(Refusal {
        status,
        says: says.unwrap_or("no reason").to_owned(),
    }))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What Jolokia 2.5.1 answered in `tests/Watched.java`.
    const RECORDED: &[u8] = include_bytes!("../tests/recorded/jolokia-2.5.1-answers.json");

    fn name(text: &str) -> ObjectName {
        text.parse().unwrap()
    }

    fn read(text: &str) -> Request {
        Request::Read {
            name: name(text),
            attributes: Vec::new(),
        }
    }

    #[test]
    fn each_answer_has_its_own_status() {
        let answers = answers(RECORDED, 13).unwrap();
        let statuses: Vec<u64> = answers
            .iter()
            .map(|answer| answer.as_ref().err().map_or(200, |refusal| refusal.status))
            .collect();
        let expected = [
            404, 200, 200, 404, 200, 200, 404, 404, 200, 200, 200, 200, 200,
        ];
        assert_eq!(statuses, expected);
        let refused = answers[6].as_ref().unwrap_err();
        assert_eq!(refused.says, "no:type=Such");
        assert_eq!(answers[8], Ok(json!(50)), "a write answers with what was");
        assert_eq!(answers[10], Ok(json!(5)));
        let contents = answers[9].as_ref().unwrap().as_str().unwrap();
        assert!(contents.contains("\nwaiting=15\n"));
    }

    #[test]
    fn a_pattern_gives_every_mbean_and_leaves_out_what_is_not_there() {
        let answers = answers(RECORDED, 13).unwrap();
        let value = answers[1].as_ref().unwrap();
        let found = read("Catalina:type=ThreadPool,*").values(value);
        assert_eq!(found.len(), 2);
        for port in [8080, 8081] {
            let turned = name(&format!(
                "Catalina:name=\"http-nio-127.0.0.1-{port}\",type=ThreadPool"
            ));
            let (_, values) = found.iter().find(|(name, _)| *name == turned).unwrap();
            assert_eq!(values["CurrentThreadsBusy"], 25);
            assert_eq!(values["ConnectionCount"], 26);
            assert!(!values.contains_key("Nothing"));
        }
        let one = name("Catalina:type=ThreadPool,name=\"http-nio-127.0.0.1-8080\"");
        let request = Request::Read {
            name: one.clone(),
            attributes: Vec::new(),
        };
        let found = request.values(answers[4].as_ref().unwrap());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, one);
        let keys: Vec<&str> = found[0].1.keys().map(String::as_str).collect();
        assert_eq!(keys, ["CurrentThreadsBusy"], "the other is an error");
    }

    #[test]
    fn what_is_not_jolokias_says_why() {
        for (body, why) in [
            ("<html>", "expected value"),
            ("{}", "no array"),
            ("[]", "0 answers to 1 questions"),
            ("[1]", "no object"),
            ("[{}]", "no status"),
        ] {
            let error = answers(body.as_bytes(), 1).unwrap_err();
            assert!(error.contains(why), "{body}: {error}");
        }
        let silent = answers(b"[{\"status\":500}]", 1).unwrap();
        assert_eq!(silent[0].as_ref().unwrap_err().says, "no reason");
    }

    proptest! {
        #[test]
        fn any_answer_is_taken(body: Vec<u8>, at in 0..RECORDED.len(), byte: u8) {
            let _ = answers(&body, 1);
            let mut body = RECORDED.to_vec();
            body[at] = byte;
            for answer in answers(&body, 13).into_iter().flatten().flatten() {
                let _ = read("Catalina:type=ThreadPool,*").values(&answer);
            }
        }
    }
}
