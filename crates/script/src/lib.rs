//! Variables and functions of load plans: what a `${…}` in a plan means, with JMeter's exact rules.

mod encode;
mod function;
mod hosts;
mod parse;
mod problem;
mod properties;
mod request;
mod resolve;
mod resolved;
mod scope;
mod text;
mod timer;
mod url;
mod visit;

pub use hosts::Host;
pub use problem::{Problem, ResolveError};
pub use properties::Properties;
pub use request::{SentRequest, Unsendable, write_request};
pub use resolve::{Origin, resolve};
pub use resolved::{
    ResolvedArgument, ResolvedGroup, ResolvedPlan, ResolvedRequest, ResolvedStep, ResolvedTimer,
};
pub use scope::{GlobalVariables, Scope, Variables};
pub use text::Text;
pub use url::{Scheme, Target, TargetError};
pub use visit::{PropertyUse, properties_used};
