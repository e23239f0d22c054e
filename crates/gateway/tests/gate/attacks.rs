//! What attackers send: each against a server that asserts exactly what reached it.

mod exhaustion;
mod frames;
mod framing;
mod heads;
mod poisoning;
mod slow;
