//! What a load plan means once its properties are known: variables, functions, requests.
//!
//! A plan keeps its texts as the user wrote them. [`resolve`] gives them JMeter's exact meaning
//! and yields a [`ResolvedPlan`]: numbers as numbers, and each text as a [`Text`] that is constant
//! as far as it can be. [`write_request`] turns a sampler into the bytes that JMeter would send.
//! Whatever is wrong with a plan is found before the first request, all of it at once.
//!
//! The rules were measured with JMeter 5.6.3 rather than taken from its description, and the
//! tests hold what it printed and sent.
//!
//! ```
//! use weir_plan::LoadPlan;
//! use weir_script::{Origin, Properties, resolve};
//!
//! let plan = LoadPlan::default();
//! let error = resolve(&plan, &Properties::new(), Origin::default()).unwrap_err();
//! assert!(error.problems[0].says.contains("no thread group"));
//! ```
//!
//! Deliberately absent: sockets, clocks, unseeded randomness. The time of a sample is set in the
//! [`Scope`], randomness is passed in, and nothing here waits. Files are touched by functions,
//! scripts and uploads, and only those within the plan's [`Reach`](weir_reach::Reach).

mod condition;
mod content_type;
mod date;
mod decimal_format;
mod encode;
mod files;
mod function;
mod hosts;
mod live;
mod location;
mod parse;
mod previous;
mod problem;
mod properties;
mod proxy;
mod reaches;
mod request;
mod resolve;
mod resolved;
mod scope;
mod scripting;
mod session;
mod set_by_elements;
mod settable;
mod static_hosts;
mod text;
mod timer;
mod unsendable;
mod upload;
mod url;
mod visit;

pub use condition::javascript_condition;
pub use decimal_format::java_decimal_format;
pub use files::{FileDeed, FileUse};
pub use hosts::{Host, finds_server, retarget};
pub use live::LogSink;
pub use location::{automatic_url, base_url, normalized, redirect_url, resource_url};
pub use previous::PreviousResponse;
pub use problem::{Problem, ResolveError};
pub use properties::Properties;
pub use proxy::ProxyServer;
pub use reaches::{MachineUse, ScriptUse, machine_asked, scripts_used};
pub use request::{
    Carries, FieldsAt, SentRequest, prepare_request, write_follow_up, write_request,
};
pub use resolve::{Origin, files_of, resolve};
pub use resolved::{
    HttpVersion, ResolvedArrivals, ResolvedGroup, ResolvedIterations, ResolvedLevel, ResolvedPlan,
    ResolvedStarts,
};
pub use scope::{Fault, GlobalVariables, SamplerName, Scope, Variables};
pub use scripting::{ScriptFailure, ScriptRun};
pub use session::{CachedSample, SessionProperties};
pub use settable::{Changes, Settable};
pub use static_hosts::static_addresses;
pub use text::Text;
pub use timer::delay_ms;
pub use unsendable::Unsendable;
pub use upload::Upload;
pub use url::{Scheme, Target, TargetError};
pub use visit::{PropertyUse, properties_used};
pub use weir_snippet::{
    ArgumentView, CookieJar, CookieView, Ends, Judgement, Place as ScriptPlace,
    Sample as ScriptSample, SamplerView, Value as ScriptValue, condition as evaluate_condition,
    path_and_arguments,
};
