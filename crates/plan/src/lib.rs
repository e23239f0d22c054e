//! What is sent, as data: load plans.
//!
//! [`LoadPlan`] is the one description of a load that the engine runs, whether it was read from a
//! JMeter plan or built from a URL; it is data and validation only. [`Extractor`] and [`Assertion`]
//! are what a plan says about responses.
//!
//! Deliberately absent: running anything, reading files, substituting variables (a plan keeps the
//! text as the user wrote it, in [`Template`]s; `weir-script` gives them their meaning).

mod assertions;
mod config;
mod controller;
mod cookie_policy;
mod extractors;
mod http;
mod listener;
mod load;
mod on_sample_error;
mod open_model;
mod processors;
mod rate;
mod sample_part;
mod sampler;
mod starts;
mod template;
mod timer;
mod variable;

pub use assertions::{
    Assertion, DurationAssertion, JsonAssertion, Md5HexAssertion, ResponseAssertion, ResponseTest,
    SizeAssertion, SizeField, XPath2Assertion, XPathAssertion, XmlAssertion,
};
pub use config::{
    AuthManager, AuthMechanism, Authorization, CacheManager, CookieManager, Counter, CsvDataSet,
    DnsCache, IterationElement, RandomVariable, StaticCookie, UserParameters,
};
pub use controller::{Controller, ControllerKind, Node, Share, Transaction};
pub use cookie_policy::CookiePolicy;
pub use extractors::{
    BoundaryExtractor, CssExtractor, Extractor, JmesPathExtractor, JsonExtractor,
    JsonPathExtractor, RegexExtractor, XPath2Extractor, XPathExtractor,
};
pub use http::{Argument, EmbeddedResources, FileUpload, HttpRequest, Proxy};
pub use listener::{AutoStop, AutoStopLimit, Backend, Database, Listener, Logged};
pub use load::{
    ElementId, GroupKind, Iterations, LoadPlan, NamedFile, Schedule, ThreadGroup, scripts_of,
};
pub use on_sample_error::OnSampleError;
pub use open_model::{OpenModelError, open_model_steps};
pub use processors::{
    DebugParts, DebugPostProcessor, FailureHandler, FoundParameters, PostProcessor, PreProcessor,
    ResultAction, Script, SessionIdPlace, UrlRewriting,
};
pub use rate::{RateError, RatePiece, RateProfile};
pub use sample_part::{SampleField, SampleScope, XmlReading};
pub use sampler::{Dummy, FlowAction, FlowControl, JavaTest, Parallel, Sampler, SamplerKind};
pub use starts::{
    ArrivalProcess, ArrivalSchedule, ArrivalStep, Arrivals, Starts, UserLevel, UserLife, UserRow,
    UserSteps, WhenFull,
};
pub use template::{Position, Template};
pub use timer::{PreciseThroughput, ShapingRow, ThroughputShare, Timer, TimerKind};
pub use variable::Variable;
