//! Variables and functions of load plans.
