//! How many servers a load wants, from what its requests have cost, and when another number of them
//! is asked for.
//!
//! The gateway asks a real program for them, the simulator its own servers; both reckon here.
//!
//! ```
//! use std::time::Duration;
//! use weir_scale::{Bounds, Second, Seconds, Steady};
//!
//! let bounds = Bounds {
//!     min: 1,
//!     max: 10,
//!     up_after: Duration::from_secs(15),
//!     down_after: Duration::from_secs(300),
//! };
//! let (mut seconds, mut steady) = (Seconds::default(), Steady::new(1));
//! let mut asked = None;
//! for second in 0..60 {
//!     // 120 requests a second of 10 ms: 1.2 CPUs, of which a server of one CPU is to have 0.7.
//!     seconds.push(Second { offered: 120.0, ended: 120.0, busy_s: 1.2 });
//!     let wanted = seconds.wanted(1.0, 0.7).ok().map(|wanted| wanted.in_whole(&bounds));
//!     let now = Duration::from_secs(second);
//!     asked = asked.or(steady.at(now, wanted, &bounds));
//! }
//! assert_eq!(asked, Some(2));
//! ```

mod steady;
mod wanted;

use std::time::Duration;

pub use steady::Steady;
pub use wanted::{Second, Seconds, Wanted, WantedServers};

/// Between which numbers of servers it is, and how long another one has to be wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// No fewer are asked for.
    pub min: u32,
    /// No more are asked for.
    pub max: u32,
    /// How long more have to be wanted.
    pub up_after: Duration,
    /// How long fewer have to be wanted.
    pub down_after: Duration,
}
