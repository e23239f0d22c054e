//! The whole line of stages, and the limits that can be changed while it runs.

use std::io;
use std::sync::{Arc, Mutex};

use serde::Serialize;

use crate::backlog::Backlog;
use crate::content::Content;
use crate::database::Statements;
use crate::dispatch::Dispatch;
use crate::gate::Gate;
use crate::open_files;
use crate::parking::Parking;
use crate::pool::Pool;
use crate::worker;

/// The stages, outermost first, and what requests read.
pub(crate) struct Funnel {
    pub(crate) backlog: Backlog,
    pub(crate) gate: Arc<Gate>,
    pub(crate) parking: Parking,
    pub(crate) dispatch: Dispatch,
    pub(crate) pool: Pool,
    pub(crate) statements: Statements,
    pub(crate) content: Content,
    /// Held while limits change, so that two changes do not mix.
    pub(crate) changing: Mutex<()>,
}

/// The limits in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Limits {
    pub(crate) backlog: u64,
    pub(crate) connections: u64,
    pub(crate) threads: u64,
    #[serde(rename = "pool.db")]
    pub(crate) pool: u64,
}

/// The limits to change; the others stay.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) connections: Option<u64>,
    pub(crate) threads: Option<u64>,
    pub(crate) pool: Option<u64>,
}

/// Why a change was made in part only.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeError {
    #[error("failed to start another worker thread: {0}")]
    Thread(io::Error),
    #[error("failed to open another database connection: {0}")]
    Database(rusqlite::Error),
}

impl Funnel {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            backlog: self.backlog.limit,
            connections: self.gate.limit(),
            threads: self.dispatch.limit(),
            pool: self.pool.limit(),
        }
    }

    /// Changes limits: growth at once, the rest as connections close and workers become free.
    pub(crate) fn change(self: &Arc<Self>, change: Change) -> Result<(), ChangeError> {
        let _changing = self
            .changing
            .lock()
            .expect("nothing panics while it changes limits");
        if let Some(pool) = change.pool {
            self.pool.set_limit(pool).map_err(ChangeError::Database)?;
        }
        if let Some(threads) = change.threads {
            let missing = self.dispatch.set_limit(threads);
            worker::start(self, missing).map_err(ChangeError::Thread)?;
        }
        if let Some(connections) = change.connections {
            let others = self.dispatch.limit() + self.pool.limit();
            self.gate
                .set_limit(open_files::room_for_connections(connections, others));
        }
        Ok(())
    }
}
