//! What happens after a sample that did not succeed.

/// What a thread group, or a Result Status Action Handler, does when a sample fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnSampleError {
    /// The user goes on with the next step.
    #[default]
    Continue,
    /// The user goes on with the next iteration of the group.
    StartNextLoop,
    /// The user ends.
    StopThread,
    /// No user starts another sample; running samples finish.
    StopTest,
    /// Running samples are cut off too.
    StopTestNow,
}
