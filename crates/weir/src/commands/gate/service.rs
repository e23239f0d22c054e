//! What the service manager is told (`sd_notify(3)`); nothing where there is none.

use sd_notify::NotifyState;

use crate::output;

/// It takes requests, and this is its process: after a hand-over it is another than before.
pub(super) fn ready() -> Vec<NotifyState<'static>> {
    vec![NotifyState::Ready, NotifyState::MainPid(std::process::id())]
}

/// It reads its file again.
pub(super) fn reloads() -> Vec<NotifyState<'static>> {
    let now = NotifyState::monotonic_usec_now().ok();
    [Some(NotifyState::Reloading), now]
        .into_iter()
        .flatten()
        .collect()
}

/// It ends when its requests have.
pub(super) fn stops() -> Vec<NotifyState<'static>> {
    vec![NotifyState::Stopping]
}

/// Tells it.
pub(super) fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(false, states) {
        output::talk(&format!("the service manager was not told: {error}"));
    }
}
