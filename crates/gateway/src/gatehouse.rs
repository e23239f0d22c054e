//! What all threads of a gateway share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::{Semaphore, watch};

use crate::access_log::{AccessLog, Line};
use crate::client::ClientAddress;
use crate::cpu::CpuBoard;
use crate::flow::Flow;
use crate::heads::Heads;
use crate::live::Current;
use crate::long_lived::LongLived;
use crate::malformed::{Malformed, MalformedCounts};
use crate::scale::ScaleBoard;
use crate::tls::Tls;

/// What all threads of a gateway share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) flow: Arc<Flow>,
    pub(crate) current: Current,
    pub(crate) log: Option<Arc<AccessLog>>,
    pub(crate) tls: Option<Tls>,
    pub(crate) counts: FrontCounts,
    /// What lasts and has given its slot back.
    pub(crate) long_lived: Arc<LongLived>,
    /// How busy the backends are.
    pub(crate) cpu: CpuBoard,
    /// How many of them are wanted.
    pub(crate) scale: ScaleBoard,
    /// Room for connections of clients.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) room_total: usize,
    /// Room for heads that are not whole.
    pub(crate) heads: Arc<Heads>,
    /// Whether no more requests are taken.
    pub(crate) drains: watch::Receiver<bool>,
    pub(crate) threads: usize,
    pub(crate) begun: Instant,
}

impl Shared {
    /// What has come from there is no request at all.
    pub(crate) fn no_request(&self, from: ClientAddress, why: Malformed) {
        self.counts.malformed.count(why);
        if let Some(log) = &self.log {
            Line::none(log, from, why);
        }
    }
}

/// Ready when the gateway takes no more requests.
pub(crate) async fn drained(drains: &mut watch::Receiver<bool>) {
    // The other end is gone only when the whole gateway is.
    let _ = drains.wait_for(|drains| *drains).await;
}

/// Counts one more, until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(crate) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What happened in front of the admission, counted since the gateway began.
#[derive(Debug, Default)]
pub(crate) struct FrontCounts {
    /// Connections accepted.
    pub(crate) connections: AtomicU64,
    /// Of the room for connections, what is taken for the next ones that come.
    pub(crate) accepting: AtomicUsize,
    /// Connections that rest now.
    pub(crate) resting: AtomicUsize,
    /// Connections that could not be accepted, for want of open files as a rule.
    pub(crate) not_accepted: AtomicU64,
    /// What was no request that may be passed on.
    pub(crate) malformed: MalformedCounts,
    /// Times that the next connection had to wait until another has ended.
    pub(crate) full: AtomicU64,
    /// Requests that nothing held.
    pub(crate) exempt: AtomicU64,
    /// Changes of the settings.
    pub(crate) reloads: AtomicU64,
    /// Times that the admin side had to be started again.
    pub(crate) admin_restarts: AtomicU64,
}
