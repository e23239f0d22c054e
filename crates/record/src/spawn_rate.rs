//! What shows that a server starts its workers more slowly than clients come.
//!
//! Where a process ends after a number of connections, the server can serve no more connections in
//! a second than it starts processes, times that number.

/// Clients wait longer than this on average (Little's law): whoever comes between two cycles waits
/// for the next one in any case, also where enough processes are started in each.
pub const SPAWN_WAIT_MIN_S: f64 = 1.0;
/// The stage is not what holds them when it is at most this full.
pub const SPAWN_OCCUPIED_MAX: f64 = 0.5;
/// The rate and what the started processes can serve agree within this share: the rate is that of
/// a cycle which is not a whole second, and a process may end with a connection less.
pub const SPAWN_AGREES: f64 = 0.15;
/// The server's own processes use less CPU than this.
pub const SPAWN_CPU_MAX: f64 = 0.8;

/// What one trial tells of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpawnRate {
    /// Answered per second, behind the beginning where that is known.
    pub rate: f64,
    /// Processes that are started per second while many are started at once.
    pub spawned: f64,
    /// Connections that a process serves.
    pub lifetime: f64,
    /// Connections that wait.
    pub waiting: f64,
    /// Share of the places that are taken.
    pub taken: f64,
    /// Share of its CPUs that the server itself uses, where that is known.
    pub own_cpu: Option<f64>,
}

impl SpawnRate {
    /// Connections that the started processes can serve per second.
    pub fn capacity(&self) -> f64 {
        self.spawned * self.lifetime
    }

    /// By which share the rate differs from that.
    pub fn disagreement(&self) -> f64 {
        (self.rate / self.capacity() - 1.0).abs()
    }

    /// How long a connection waits on average, in seconds (Little's law).
    pub fn wait_s(&self) -> f64 {
        self.waiting / self.rate
    }

    /// Whether it is what holds the flow: connections wait while places are free and the CPU is,
    /// and as many are answered as started processes can serve.
    pub fn holds(&self) -> bool {
        self.wait_s() >= SPAWN_WAIT_MIN_S
            && self.taken <= SPAWN_OCCUPIED_MAX
            && self.own_cpu.is_none_or(|cpu| cpu < SPAWN_CPU_MAX)
            && self.disagreement() <= SPAWN_AGREES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published experiment: 50 processes of which few are busy, 60 requests a second.
    const HELD: SpawnRate = SpawnRate {
        rate: 30.4,
        spawned: 30.2,
        lifetime: 1.0,
        waiting: 120.0,
        taken: 0.1,
        own_cpu: Some(0.05),
    };

    #[test]
    fn connections_wait_while_places_are_free() {
        assert!(HELD.holds());
        assert!((HELD.wait_s() - 120.0 / 30.4).abs() < 1e-12);
        for not in [
            SpawnRate {
                waiting: 20.0,
                ..HELD
            },
            SpawnRate { taken: 0.9, ..HELD },
            SpawnRate {
                own_cpu: Some(0.9),
                ..HELD
            },
            SpawnRate {
                lifetime: 2.0,
                ..HELD
            },
        ] {
            assert!(!not.holds(), "{not:?}");
        }
        assert!(
            SpawnRate {
                own_cpu: None,
                ..HELD
            }
            .holds()
        );
    }
}
