//! The states of a [`PooledServer`], and what happens in each.

use super::PooledServer;

/// Where the requests are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Where {
    /// In the server, in threads or in front of them.
    pub(super) present: u32,
    /// Of those in threads: waiting for a connection or holding one.
    pub(super) at_pool: u32,
    /// Of those that hold one: using the CPU.
    pub(super) computing: u32,
}

impl Where {
    pub(super) const EMPTY: Self = Self {
        present: 0,
        at_pool: 0,
        computing: 0,
    };
}

impl PooledServer {
    pub(super) fn busy(&self, state: &Where) -> u32 {
        state.present.min(self.threads)
    }

    pub(super) fn holding(&self, state: &Where) -> u32 {
        state.at_pool.min(self.pool)
    }

    pub(super) fn asking_per_s(&self, state: &Where) -> f64 {
        if self.think_s == 0.0 {
            0.0
        } else {
            f64::from(self.users - state.present) / self.think_s
        }
    }

    /// Rate of one computing request: its share of the CPUs.
    fn share_of_cpu(&self, state: &Where) -> f64 {
        let computing = self.before(state) + state.computing;
        if computing == 0 {
            0.0
        } else {
            (f64::from(self.servers) / f64::from(computing)).min(1.0)
        }
    }

    /// Requests in threads that have not asked for a connection yet.
    fn before(&self, state: &Where) -> u32 {
        self.busy(state) - state.at_pool
    }

    fn before_per_s(&self, state: &Where) -> f64 {
        rate(
            f64::from(self.before(state)) * self.share_of_cpu(state),
            self.cpu_before_s,
        )
    }

    fn held_per_s(&self, state: &Where) -> f64 {
        rate(
            f64::from(self.holding(state) - state.computing),
            self.hold_s,
        )
    }

    fn computed_per_s(&self, state: &Where) -> f64 {
        rate(
            f64::from(state.computing) * self.share_of_cpu(state),
            self.cpu_holding_s,
        )
    }

    fn uses_pool(&self) -> bool {
        self.hold_s + self.cpu_holding_s > 0.0
    }

    /// Rate at which requests leave the server.
    pub(super) fn leaving_per_s(&self, state: &Where) -> f64 {
        if !self.uses_pool() {
            self.before_per_s(state)
        } else if self.cpu_holding_s > 0.0 {
            self.computed_per_s(state)
        } else {
            self.held_per_s(state)
        }
    }

    pub(super) fn moves(&self, state: &Where, out: &mut Vec<(Where, f64)>) {
        let asking = self.asking_per_s(state);
        if state.present < self.places() && asking > 0.0 {
            out.push((self.arrived(*state), asking));
        }
        self.moves_inside(state, out, |left| {
            if self.think_s == 0.0 {
                self.arrived(left)
            } else {
                left
            }
        });
    }

    /// Moves of requests in threads; `left` says what follows when one leaves.
    fn moves_inside(
        &self,
        state: &Where,
        out: &mut Vec<(Where, f64)>,
        left: impl Fn(Where) -> Where,
    ) {
        if self.uses_pool() {
            let asking = self.before_per_s(state);
            if asking > 0.0 {
                out.push((self.asked_for_connection(*state), asking));
            }
            let held = self.held_per_s(state);
            if self.cpu_holding_s > 0.0 && held > 0.0 {
                let computing = Where {
                    computing: state.computing + 1,
                    ..*state
                };
                out.push((computing, held));
            }
        }
        let leaving = self.leaving_per_s(state);
        if leaving > 0.0 {
            out.push((left(self.left(*state)), leaving));
        }
    }

    /// One more request in the server; a full one stays as it is.
    pub(super) fn arrived(&self, state: Where) -> Where {
        if state.present >= self.places() {
            return state;
        }
        let more = Where {
            present: state.present + 1,
            ..state
        };
        if self.cpu_before_s == 0.0 && self.busy(&more) > self.busy(&state) {
            return self.asked_for_connection(more);
        }
        more
    }

    fn asked_for_connection(&self, state: Where) -> Where {
        self.with_connections(Where {
            at_pool: state.at_pool + 1,
            ..state
        })
    }

    /// Whoever holds a connection without anything to do but compute, computes.
    fn with_connections(&self, state: Where) -> Where {
        if self.hold_s == 0.0 {
            Where {
                computing: self.holding(&state),
                ..state
            }
        } else {
            state
        }
    }

    /// A request has left its thread, and the next one from the queue has taken it.
    fn left(&self, state: Where) -> Where {
        let present = state.present - 1;
        if !self.uses_pool() {
            return Where { present, ..state };
        }
        let rest = self.with_connections(Where {
            present,
            at_pool: state.at_pool - 1,
            computing: state.computing - u32::from(self.cpu_holding_s > 0.0),
        });
        if self.cpu_before_s == 0.0 && state.present > self.threads {
            return self.asked_for_connection(rest);
        }
        rest
    }
}

/// Rate of a step that takes `time_s`; a step that takes no time is taken at once elsewhere.
fn rate(count: f64, time_s: f64) -> f64 {
    if time_s == 0.0 { 0.0 } else { count / time_s }
}
