//! What is read of this machine and of another one.

mod far;
mod live;
