//! What a user is to do next.

/// What comes next in a group's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A sampler, by its place.
    Sampler(u32),
    /// Something inside the transaction of this controller, or its end.
    Transaction(u32),
    /// The controller needs its lock before anything can come: see
    /// [`Walk::enter`](crate::walk::Walk::enter).
    Lock(u32),
    /// Nothing has come for long: let others run, then ask again.
    Pause,
}
