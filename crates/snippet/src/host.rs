//! What a script may touch: everything outside of it is asked of a [`Host`].

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::temporal::DateParts;
use crate::{DateWriter, SharedValue, Value};

/// The world around a script.
///
/// There is nothing else: no processes, no sockets, no environment, no classes to load.
pub trait Host {
    /// The value of a user's variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// Sets a user's variable.
    fn set_variable(&mut self, name: &str, value: &str);
    /// Takes a user's variable away.
    fn remove_variable(&mut self, name: &str);
    /// All variables of the user, in the order of their names.
    fn variables(&self) -> Vec<(String, String)>;
    /// What a script put there with `vars.putObject`.
    fn object(&self, name: &str) -> Option<Value>;
    /// Keeps an object for later scripts of the user.
    fn set_object(&mut self, name: &str, value: Value);
    /// The value of a property.
    fn property(&self, name: &str) -> Option<String>;
    /// All properties.
    fn properties(&self) -> Vec<(String, String)>;
    /// Sets a property for all users; the answer is its earlier value.
    fn set_property(&mut self, name: &str, value: &str) -> Option<String>;
    /// The value of a property that is no text.
    fn shared_property(&self, name: &str) -> Option<SharedValue>;
    /// Sets a property to what is no text, instead of its text.
    fn share_property(&mut self, name: &str, value: SharedValue);
    /// Takes a property away, whatever it holds.
    fn remove_property(&mut self, name: &str);
    /// Takes a text for the log.
    fn log(&mut self, level: &str, text: &str);
    /// Milliseconds since 1970.
    fn epoch_ms(&self) -> i64;
    /// 64 random bits.
    fn random(&mut self) -> u64;
    /// A time in a pattern of Java, in this time zone or the machine's; the error says what is
    /// wrong with the pattern.
    fn format_date(
        &self,
        epoch_ms: i64,
        pattern: &str,
        zone: Option<&str>,
    ) -> Result<String, String>;
    /// The time zone of whoever runs the script.
    fn time_zone(&self) -> TimeZone;
    /// A date, a time or both in a pattern of `DateTimeFormatter`; `None` when the pattern asks
    /// for what is not there, the error says what is wrong with it.
    fn format_parts(&self, parts: &DateParts, pattern: &str) -> Result<Option<String>, String>;
    /// What a text in a pattern of `DateTimeFormatter` says; `None` when it does not fit.
    fn parse_parts(&self, text: &str, pattern: &str) -> Result<Option<DateParts>, String>;
    /// What writes dates that are shown as texts.
    fn date_writer(&self) -> DateWriter;
    /// The time that a text in a pattern of Java says; `None` when it does not fit.
    fn parse_date(&self, text: &str, pattern: &str, zone: Option<&str>) -> Option<i64>;
    /// The user's number in its group, from 1.
    fn user(&self) -> u32;
    /// The number of the iteration of the user's group, from 1.
    fn iteration(&self) -> u64;
    /// The name of the user's group.
    fn group(&self) -> Arc<str>;
    /// The folder of the plan.
    fn directory(&self) -> String;
    /// Reads a whole file of bounded size.
    fn read_file(&mut self, path: &str) -> io::Result<Vec<u8>>;
    /// Writes into a file, after what is there or instead of it.
    fn write_file(&mut self, path: &str, bytes: &[u8], mode: WriteMode) -> io::Result<()>;
    /// Whether a file or folder is there.
    fn exists(&self, path: &str) -> bool;
    /// Whether a folder is there.
    fn is_folder(&self, path: &str) -> bool;
    /// How many bytes a file has.
    fn file_length(&self, path: &str) -> io::Result<u64>;
    /// Makes a folder, and those above it.
    fn make_folders(&mut self, path: &str) -> io::Result<()>;
    /// Removes a file or an empty folder.
    fn remove_file(&mut self, path: &str) -> io::Result<()>;
}

/// What becomes of what a file held before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// It stays.
    Append,
    /// It is replaced.
    Replace,
}

/// Where a script stands in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// A function in a text, or a condition.
    #[default]
    Function,
    /// A sampler.
    Sampler,
    /// Before a sampler.
    Before,
    /// After a sampler.
    After,
    /// An assertion.
    Assertion,
    /// A timer.
    Timer,
    /// A listener.
    Listener,
}

impl Place {
    /// Whether `prev` is the sample that is being made, and not the one before it.
    pub(crate) fn is_in_sample(self) -> bool {
        matches!(self, Self::After | Self::Assertion | Self::Listener)
    }
}

/// What the languages of JMeter bind to names, and what scripts leave there.
#[derive(Debug, Default)]
pub struct Bindings {
    /// Where the script stands.
    pub place: Place,
    /// `Label`.
    pub label: String,
    /// `Parameters`, and cut at spaces `args`.
    pub parameters: String,
    /// `FileName`.
    pub file_name: String,
    /// `threadName`.
    pub thread_name: String,
    /// `prev`: the sample before, or the one that the script looks at.
    pub previous: Option<Sample>,
    /// `SampleResult` of a sampler.
    pub own: Option<Sample>,
    /// `sampler`: the request that is going to be sent, or was.
    pub sampler: Option<SamplerView>,
    /// The cookies of the request's Cookie Manager; none if it has no manager.
    pub cookies: Option<CookieJar>,
    /// `AssertionResult`.
    pub judgement: Judgement,
    /// How long the script wants to sleep: it goes on at once, and the user sleeps afterwards.
    pub sleep_ms: u64,
    /// What the script wants to end.
    pub ends: Option<Ends>,
}

/// What a script wants to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    /// The loop around the step.
    Loop,
    /// The pass of the loop around the step.
    LoopIteration,
    /// The iteration of the user's group.
    GroupIteration,
    /// The user.
    User,
    /// The test, gracefully.
    Test,
    /// The test, at once.
    TestNow,
}

/// What an assertion says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The assertion's name.
    pub name: String,
    /// The sample is not as it should be.
    pub failure: bool,
    /// The assertion could not be evaluated.
    pub error: bool,
    /// Why.
    pub message: Option<String>,
}

/// A sample as scripts see and change it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Its label.
    pub label: Arc<str>,
    /// The response code.
    pub code: Arc<str>,
    /// The response message.
    pub message: Arc<str>,
    /// Whether it succeeded.
    pub success: bool,
    /// The body as text.
    pub body: Arc<str>,
    /// The body's bytes, where they are not those of the text in UTF-8.
    pub data: Option<Arc<[u8]>>,
    /// Status line and header lines of the response.
    pub response_headers: Arc<str>,
    /// Header lines of the request.
    pub request_headers: Arc<str>,
    /// What was sent.
    pub request_data: Arc<str>,
    /// The URL; empty without one.
    pub url: Arc<str>,
    /// The name of the thread.
    pub thread_name: Arc<str>,
    /// The content type.
    pub content_type: Arc<str>,
    /// The character set of the body, if something says it.
    pub encoding: Arc<str>,
    /// The method of a request.
    pub method: Arc<str>,
    /// The body of a request.
    pub query: Arc<str>,
    /// The cookies of a request.
    pub cookies: Arc<str>,
    /// `text`, `bin` or nothing.
    pub data_type: Arc<str>,
    /// Milliseconds since 1970.
    pub start_ms: u64,
    /// Elapsed time.
    pub elapsed_ms: u64,
    /// Time to the first byte.
    pub latency_ms: u64,
    /// Time to connect.
    pub connect_ms: u64,
    /// Time that does not count.
    pub idle_ms: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes of the response's head, of those that were received.
    pub header_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Users of the group.
    pub group_threads: u32,
    /// Users of all groups.
    pub all_threads: u32,
    /// Listeners are not told of it.
    pub ignored: bool,
    /// Whether a script changed it.
    pub changed: bool,
    /// What assertions have said of it so far.
    pub judgements: Vec<Judgement>,
    /// The samples that it is made of.
    pub parts: Vec<Sample>,
}

impl Sample {
    /// The bytes of the body.
    pub fn bytes(&self) -> &[u8] {
        self.data.as_deref().unwrap_or(self.body.as_bytes())
    }

    /// Whether a script changed it or a part of it.
    pub fn is_changed(&self) -> bool {
        self.changed || self.parts.iter().any(Self::is_changed)
    }
}

/// An HTTP request as scripts see and change it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SamplerView {
    /// The class of the element.
    pub class: &'static str,
    /// The element's name.
    pub name: String,
    /// The host.
    pub domain: String,
    /// The port; 0 without one.
    pub port: String,
    /// `http` or `https`.
    pub protocol: String,
    /// The path.
    pub path: String,
    /// The method.
    pub method: String,
    /// Its arguments.
    pub arguments: Vec<ArgumentView>,
    /// Names and values of header fields.
    pub headers: Vec<(String, String)>,
    /// Whether the arguments are the body as it is sent.
    pub raw_body: bool,
    /// Whether redirects are followed as parts of the sample.
    pub follow_redirects: bool,
    /// Whether redirects are followed without a trace.
    pub auto_redirects: bool,
}

/// An argument of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentView {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it is encoded before it is sent.
    pub encode: bool,
    /// Whether `=` stands behind its name in a query also without a value.
    pub equals: bool,
    /// Which of the request's arguments it is; none, if a script has added it.
    pub known: Option<usize>,
}

impl ArgumentView {
    /// One that is added.
    pub fn added(name: impl Into<String>, value: impl Into<String>, encode: bool) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            encode,
            equals: true,
            known: None,
        }
    }
}

/// The Cookie Manager of a request.
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    /// Its cookies, in their order.
    pub cookies: Vec<Rc<RefCell<CookieView>>>,
    /// Cookies without a value are not kept.
    pub drops_empty: bool,
    /// Cookies become variables whose names begin so.
    pub saved_prefix: Option<String>,
}

/// A cookie as scripts see and change it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CookieView {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host or domain that it is for.
    pub domain: String,
    /// The path that it is for.
    pub path: String,
    /// Sent over TLS only.
    pub is_secure: bool,
    /// Somebody gave the domain.
    pub gives_domain: bool,
    /// Somebody gave the path.
    pub gives_path: bool,
    /// 0 for cookies as everybody writes them.
    pub version: i32,
    /// Which of the manager's cookies it was; none, if a script has made it.
    pub known: Option<usize>,
}

impl CookieView {
    /// Whether there is room for one of both only.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.name == other.name && self.path == other.path && self.domain == other.domain
    }
}
