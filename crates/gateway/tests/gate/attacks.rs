//! What attackers send: each against a server that asserts exactly what reached it.

mod downgrade;
mod exhaustion;
mod frames;
mod framing;
mod heads;
mod page;
mod poisoning;
mod slow;
