//! What the elements of a plan mean, a file for each family.

pub(crate) mod arguments;
pub(crate) mod assertion;
pub(crate) mod controller;
pub(crate) mod data;
pub(crate) mod extractor;
pub(crate) mod header_manager;
pub(crate) mod http_sampler;
pub(crate) mod listener;
pub(crate) mod manager;
pub(crate) mod modifier;
pub(crate) mod sampler;
pub(crate) mod script;
pub(crate) mod starts;
pub(crate) mod test_plan;
pub(crate) mod thread_group;
pub(crate) mod timer;
