//! Variables and functions of load plans: what a `${…}` in a plan means, with JMeter's exact rules.

mod function;
mod parse;
mod problem;
mod properties;
mod resolve;
mod resolved;
mod scope;
mod text;
mod timer;
mod visit;

pub use problem::{Problem, ResolveError};
pub use properties::Properties;
pub use resolve::{Origin, resolve};
pub use resolved::{
    ResolvedArgument, ResolvedGroup, ResolvedPlan, ResolvedRequest, ResolvedStep, ResolvedTimer,
};
pub use scope::{GlobalVariables, Scope, Variables};
pub use text::Text;
pub use visit::{PropertyUse, properties_used};
