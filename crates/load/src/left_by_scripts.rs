//! What scripts leave for the user who runs them.

use std::rc::Rc;
use std::sync::Arc;

use weir_plan::HttpRequest;
use weir_script::{Ends, Text};

use crate::http::outcome::Failure;

/// What scripts left for the user.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The request as scripts before it made it.
    pub(crate) request: Option<Rc<HttpRequest<Text>>>,
    /// The sampler's name as scripts made it.
    pub(crate) label: Option<String>,
    /// Listeners that are scripts in earshot of the sampler that was begun last.
    pub(crate) earshot: Arc<[usize]>,
    /// Why nothing may be sent where scripts want it to go.
    pub(crate) refusal: Option<Failure>,
    /// Why the step cannot be done.
    pub(crate) hindrance: Option<String>,
    pub(crate) ends: Option<Ends>,
    pub(crate) sleep_ms: u64,
    /// Nobody is told of the sample.
    pub(crate) ignores: bool,
}
