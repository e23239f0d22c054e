//! Attributes and operations of MBeans, asked of Jolokia each second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_exchange::MetricsUrl;
use weir_jvm::{Answer, Jolokia, ObjectName, Permission, Request};

use crate::reading::Reading;

use super::Origins;
use super::rule::{Figures, Found, Role, Rule, filled};

/// How often MBeans are looked for whose operations are called: a pool appears with its first use.
const LOOK_FOR_NAMES: Duration = Duration::from_secs(10);

/// What is read of an MBean, and what it is for Weir.
#[derive(Debug, Clone, PartialEq)]
pub struct MbeanRead {
    /// The MBean, or a pattern; figures of all that it covers are added up where they lead to the
    /// same signal.
    pub name: ObjectName,
    /// The figure.
    pub value: MbeanValue,
    /// What is taken off it.
    pub less: Option<MbeanValue>,
    /// A counter whose growth the growth of the figure is divided by.
    pub per: Option<MbeanValue>,
    /// What becomes of it. `{NAME}` in the signal stands for a property of the MBean's name.
    pub rule: Rule,
}

/// Where a figure of an MBean stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MbeanValue {
    /// In an attribute; of one with parts, `WaitTimeDetails/count` names a part.
    Attribute(String),
    /// In the text that an operation without arguments gives: the number behind this mark at the
    /// start of a line.
    Text {
        /// The operation.
        operation: String,
        /// What stands before the number, such as `waiting=`.
        mark: String,
    },
}

impl MbeanRead {
    /// An attribute that needs no other.
    pub fn attribute(name: ObjectName, attribute: impl Into<String>, rule: Rule) -> Self {
        Self {
            name,
            value: MbeanValue::Attribute(attribute.into()),
            less: None,
            per: None,
            rule,
        }
    }

    /// A number in the text of an operation.
    pub fn text(
        name: ObjectName,
        operation: impl Into<String>,
        mark: impl Into<String>,
        rule: Rule,
    ) -> Self {
        Self {
            name,
            value: MbeanValue::Text {
                operation: operation.into(),
                mark: mark.into(),
            },
            less: None,
            per: None,
            rule,
        }
    }

    fn values(&self) -> impl Iterator<Item = (Role, &MbeanValue)> {
        [
            (Role::Value, Some(&self.value)),
            (Role::Less, self.less.as_ref()),
            (Role::Per, self.per.as_ref()),
        ]
        .into_iter()
        .filter_map(|(role, value)| Some((role, value?)))
    }
}

/// A Jolokia agent and what it said last.
#[derive(Debug)]
pub(crate) struct JolokiaSource {
    client: Jolokia,
    reads: Vec<MbeanRead>,
    /// One question for each name or pattern, with all attributes that are read of it.
    attributes: Vec<Request>,
    /// Patterns of MBeans whose operations are called, and those operations.
    operations: Vec<(ObjectName, String)>,
    /// What the patterns covered when they were last looked for.
    covered: Vec<(usize, ObjectName)>,
    looked: Option<Instant>,
    asked: Vec<Asked>,
    figures: Figures,
}

/// What an answer is about.
#[derive(Debug)]
enum Asked {
    Attributes(usize),
    Operation(usize, ObjectName),
    Names(usize),
}

impl JolokiaSource {
    pub(crate) fn new(url: MetricsUrl, reads: Vec<MbeanRead>) -> Self {
        Self {
            client: Jolokia::new(url),
            attributes: attributes(&reads),
            operations: operations(&reads),
            covered: Vec::new(),
            looked: None,
            asked: Vec::new(),
            figures: Figures::new(reads.iter().map(|read| read.rule.clone()).collect()),
            reads,
        }
    }

    /// Sends all questions in one.
    pub(crate) fn ask(&mut self, now: Instant, deadline: Instant) {
        let attributes = self.attributes.iter().cloned().enumerate();
        let mut questions: Vec<(Asked, Request)> = attributes
            .map(|(at, request)| (Asked::Attributes(at), request))
            .collect();
        for (at, name) in &self.covered {
            let request = Request::Exec {
                name: name.clone(),
                operation: self.operations[*at].1.clone(),
                arguments: Vec::new(),
                repeatable: true,
            };
            questions.push((Asked::Operation(*at, name.clone()), request));
        }
        let look = self
            .looked
            .is_none_or(|then| now.duration_since(then) >= LOOK_FOR_NAMES);
        if look {
            self.looked = Some(now);
            for (at, (pattern, _)) in self.operations.iter().enumerate() {
                let pattern = pattern.clone();
                questions.push((Asked::Names(at), Request::Search { pattern }));
            }
        }
        let (asked, requests): (Vec<_>, Vec<_>) = questions.into_iter().unzip();
        self.asked = asked;
        self.client.ask(&requests, deadline);
    }

    /// Reads the answers to what was asked at `now`; without them the signals are absent.
    pub(crate) fn read(&mut self, deadline: Instant, now: Instant, reading: &mut Reading) {
        let answers = self.client.answers(deadline).ok();
        let found = answers.map(|answers| self.find(&answers));
        self.figures.take(found, now, reading);
    }

    fn find(&mut self, answers: &[Answer]) -> Vec<Found> {
        let mut found = Vec::new();
        let mut covered = None;
        for (asked, answer) in self.asked.iter().zip(answers) {
            let Ok(answer) = answer else { continue };
            match asked {
                Asked::Attributes(at) => {
                    for (name, values) in self.attributes[*at].values(answer) {
                        self.attributes_of(&self.attributes[*at], &name, &values, &mut found);
                    }
                }
                Asked::Operation(at, name) => {
                    self.text_of(*at, name, answer.as_str().unwrap_or_default(), &mut found);
                }
                Asked::Names(at) => {
                    let names = answer.as_array().into_iter().flatten();
                    let names = names.filter_map(|name| name.as_str()?.parse().ok());
                    let covered: &mut Vec<_> = covered.get_or_insert_default();
                    covered.extend(names.map(|name| (*at, name)));
                }
            }
        }
        if let Some(covered) = covered {
            self.covered = covered;
        }
        found
    }

    fn attributes_of(
        &self,
        request: &Request,
        name: &ObjectName,
        values: &BTreeMap<String, Value>,
        found: &mut Vec<Found>,
    ) {
        let Request::Read { name: asked, .. } = request else {
            return;
        };
        for (rule, read) in self.reads.iter().enumerate() {
            for (role, value) in read.values().filter(|_| read.name == *asked) {
                let MbeanValue::Attribute(path) = value else {
                    continue;
                };
                add(rule, role, read, name, figure(values, path), found);
            }
        }
    }

    fn text_of(&self, operation: usize, name: &ObjectName, text: &str, found: &mut Vec<Found>) {
        let (pattern, called) = &self.operations[operation];
        for (rule, read) in self.reads.iter().enumerate() {
            for (role, value) in read.values().filter(|_| read.name == *pattern) {
                let MbeanValue::Text { operation, mark } = value else {
                    continue;
                };
                if operation == called {
                    add(rule, role, read, name, number_behind(text, mark), found);
                }
            }
        }
    }

    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        for (signal, at) in self.figures.came_by() {
            let MbeanRead { name, value, .. } = &self.reads[at];
            let place = match value {
                MbeanValue::Attribute(attribute) => attribute.clone(),
                MbeanValue::Text { operation, mark } => format!("{operation}() {mark}"),
            };
            origins
                .entry(signal.to_owned())
                .or_insert_with(|| format!("jolokia {} {name} {place}", self.client.url()));
        }
    }
}

fn add(
    rule: usize,
    role: Role,
    read: &MbeanRead,
    name: &ObjectName,
    figure: Option<f64>,
    found: &mut Vec<Found>,
) {
    let signal = filled(&read.rule.signal, |property| name.plain(property));
    if let (Some(figure), Some(signal)) = (figure, signal) {
        found.push(Found {
            rule,
            role,
            signal,
            figure,
        });
    }
}

/// The questions for attributes, each name or pattern once.
fn attributes(reads: &[MbeanRead]) -> Vec<Request> {
    let mut by_name: Vec<(ObjectName, Vec<String>)> = Vec::new();
    for read in reads {
        for (_, value) in read.values() {
            let MbeanValue::Attribute(path) = value else {
                continue;
            };
            let attribute = path.split('/').next().unwrap_or(path).to_owned();
            match by_name.iter_mut().find(|(name, _)| *name == read.name) {
                Some((_, attributes)) if attributes.contains(&attribute) => {}
                Some((_, attributes)) => attributes.push(attribute),
                None => by_name.push((read.name.clone(), vec![attribute])),
            }
        }
    }
    let requests = by_name.into_iter();
    requests
        .map(|(name, attributes)| Request::Read { name, attributes })
        .collect()
}

/// What an agent has to permit so that all this can be read.
pub fn permissions(reads: &[MbeanRead]) -> Vec<Permission> {
    let attributes = attributes(reads).into_iter().filter_map(|request| {
        let Request::Read { name, attributes } = request else {
            return None;
        };
        Some(Permission {
            name,
            reads: attributes,
            writes: Vec::new(),
            calls: Vec::new(),
        })
    });
    let operations = operations(reads)
        .into_iter()
        .map(|(name, operation)| Permission {
            name,
            reads: Vec::new(),
            writes: Vec::new(),
            calls: vec![operation],
        });
    attributes.chain(operations).collect()
}

/// The operations that are called, each once for a name or pattern.
fn operations(reads: &[MbeanRead]) -> Vec<(ObjectName, String)> {
    let mut operations = Vec::new();
    for read in reads {
        for (_, value) in read.values() {
            if let MbeanValue::Text { operation, .. } = value {
                let called = (read.name.clone(), operation.clone());
                if !operations.contains(&called) {
                    operations.push(called);
                }
            }
        }
    }
    operations
}

/// The number at a path `attribute/part`.
fn figure(values: &BTreeMap<String, Value>, path: &str) -> Option<f64> {
    let mut parts = path.split('/');
    let value = values.get(parts.next()?)?;
    parts
        .try_fold(value, |value, part| value.get(part))?
        .as_f64()
}

/// The number that follows a mark at the start of a line.
fn number_behind(text: &str, mark: &str) -> Option<f64> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.trim_start().strip_prefix(mark))?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::source::mbeans;
    use serde_json::json;

    #[test]
    fn everything_that_is_asked_is_permitted() {
        let reads = mbeans::all();
        let permitted = permissions(&reads);
        let is_permitted = |name: &ObjectName, listed: &dyn Fn(&Permission) -> bool| {
            permitted
                .iter()
                .any(|permission| permission.name == *name && listed(permission))
        };
        for request in attributes(&reads) {
            let Request::Read { name, attributes } = request else {
                panic!("{request:?}");
            };
            assert!(is_permitted(&name, &|permission| permission.reads == attributes));
        }
        for (name, operation) in operations(&reads) {
            assert!(is_permitted(&name, &|permission| permission.calls == [operation.clone()]));
        }
        assert!(
            permitted
                .iter()
                .all(|permission| permission.writes.is_empty())
        );
    }

    fn source(reads: Vec<MbeanRead>) -> JolokiaSource {
        let url = "http://127.0.0.1:9/jolokia".parse().unwrap();
        JolokiaSource::new(url, reads)
    }

    /// What the source makes of values by name, asked in the order of its questions.
    fn take(
        source: &mut JolokiaSource,
        now: Instant,
        answer: impl Fn(&Asked) -> Answer,
    ) -> Reading {
        source.ask(now, now);
        let answers: Vec<Answer> = source.asked.iter().map(answer).collect();
        let found = source.find(&answers);
        let mut reading = Reading::new();
        source.figures.take(Some(found), now, &mut reading);
        reading
    }

    #[test]
    fn attributes_of_one_pattern_are_one_question() {
        let source = source(mbeans::tomcat());
        assert_eq!(source.attributes.len(), 2, "connectors and their requests");
        assert!(source.operations.is_empty());
    }

    #[test]
    fn tomcat_with_a_pool() {
        let reads = [mbeans::tomcat(), mbeans::tomcat_jdbc(), mbeans::hikari()].concat();
        let mut source = source(reads);
        let now = Instant::now();
        let attributes = source.attributes.clone();
        let reading = take(&mut source, now, |asked| {
            let Asked::Attributes(at) = asked else {
                panic!("nothing is called");
            };
            let Request::Read { name, .. } = &attributes[*at] else {
                panic!("attributes are read");
            };
            Ok(match name.to_string().as_str() {
                "*:type=ThreadPool,*" => json!({
                    "Catalina:name=\"http-nio-127.0.0.1-8080\",type=ThreadPool": {
                        "currentThreadsBusy": 50, "currentThreadCount": 50, "maxThreads": 50,
                        "connectionCount": 51, "keepAliveCount": 0, "maxConnections": 8192,
                    }
                }),
                "tomcat.jdbc:type=ConnectionPool,*" => json!({
                    "tomcat.jdbc:class=org.apache.tomcat.jdbc.pool.DataSource,context=/stress,engine=Catalina,host=localhost,name=\"jdbc/db\",type=ConnectionPool": {
                        "Active": 10, "Idle": 0, "WaitCount": 15, "MaxActive": 10,
                    }
                }),
                "com.zaxxer.hikari:type=Pool (*)" => json!({
                    "com.zaxxer.hikari:type=Pool (orders)": {
                        "ActiveConnections": 9, "IdleConnections": 1, "ThreadsAwaitingConnection": 5,
                    }
                }),
                "com.zaxxer.hikari:type=PoolConfig (*)" => json!({
                    "com.zaxxer.hikari:type=PoolConfig (orders)": { "MaximumPoolSize": 10 }
                }),
                _ => Value::Null,
            })
        });
        for (signal, figure) in [
            ("threads.occupancy", 50.0),
            ("threads.idle", 0.0),
            ("threads.limit", 50.0),
            ("connections.occupancy", 50.0),
            ("connections.limit", 8192.0),
            ("pool.db.occupancy", 10.0),
            ("pool.db.waiting", 15.0),
            ("pool.db.limit", 10.0),
            ("pool.orders.occupancy", 9.0),
            ("pool.orders.waiting", 5.0),
            ("pool.orders.limit", 10.0),
        ] {
            assert_eq!(reading.get(signal), Some(&figure), "{signal}");
        }
        let mut origins = Origins::new();
        source.add_origins(&mut origins);
        assert_eq!(
            origins["threads.occupancy"],
            "jolokia http://127.0.0.1:9/jolokia/ *:type=ThreadPool,* currentThreadsBusy"
        );
    }

    /// Operations are called by full names, which are looked for first; the contents as Liberty 25
    /// writes them.
    #[test]
    fn liberty() {
        let mut source = source(mbeans::liberty());
        let manager = "WebSphere:jndiName=jdbc/db,name=dataSource[db]/connectionManager[default-0],type=com.ibm.ws.jca.cm.mbean.ConnectionManagerMBean";
        let contents = "PoolManager@5e5b\nname=WebSphere:type=x\njndiName=jdbc/db\nmaxPoolSize=10\nsize=10\nwaiting=15\nunshared=0\nshared=10\navailable=0\n";
        let answer = |waited_ms: u32, waits: u32| {
            move |asked: &Asked| {
                Ok(match asked {
                    Asked::Names(_) => json!([manager]),
                    Asked::Operation(..) => json!(contents),
                    Asked::Attributes(0) => {
                        json!({"WebSphere:name=Default Executor,type=ThreadPoolStats": {"ActiveThreads": 25, "PoolSize": 50}})
                    }
                    Asked::Attributes(_) => {
                        json!({"WebSphere:name=jdbc/db,type=ConnectionPoolStats": {
                            "WaitTimeDetails": {"total": waited_ms, "count": waits},
                        }})
                    }
                })
            }
        };
        let start = Instant::now();
        let first = take(&mut source, start, answer(1000, 10));
        assert_eq!(first.get("threads.occupancy"), Some(&25.0));
        assert!(!first.contains_key("pool.db.waiting"), "not called yet");
        let second = take(
            &mut source,
            start + Duration::from_secs(1),
            answer(11_000, 14),
        );
        for (signal, figure) in [
            ("pool.db.waiting", 15.0),
            ("pool.db.occupancy", 10.0),
            ("pool.db.limit", 10.0),
            ("pool.db.idle", 0.0),
            ("pool.db.wait", 2.5),
            ("threads.idle", 25.0),
        ] {
            assert_eq!(second.get(signal), Some(&figure), "{signal}");
        }
    }

    #[test]
    fn a_number_is_found_behind_its_mark() {
        let text = "size=10\n  waiting=15 of\nmax=\n";
        assert_eq!(number_behind(text, "waiting="), Some(15.0));
        assert_eq!(number_behind(text, "size="), Some(10.0));
        assert_eq!(number_behind(text, "max="), None);
        assert_eq!(number_behind(text, "none="), None);
    }
}
