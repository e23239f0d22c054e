//! What is read of this machine and of another one.

mod arrivals;
mod far;
mod live;
mod quota;
