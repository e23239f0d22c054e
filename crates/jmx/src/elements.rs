//! The elements of a plan, one file each.

pub(crate) mod arguments;
pub(crate) mod header_manager;
pub(crate) mod http_sampler;
pub(crate) mod listener;
pub(crate) mod test_plan;
pub(crate) mod thread_group;
pub(crate) mod timer;
