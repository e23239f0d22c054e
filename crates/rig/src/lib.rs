//! One real trial: set, start, warm up, measure, drain.
