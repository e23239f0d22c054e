//! The stages of the funnel by their names, and their order.

/// The outer stages, outermost first; behind them come the pools, then the database.
const OUTER: [&str; 5] = ["gate", "backlog", "connections", "request-queue", "threads"];
const POOL: &str = "pool.";
const DATABASE: &str = "database";

/// Whether this is the name of a stage.
pub fn is_stage(name: &str) -> bool {
    OUTER.contains(&name) || is_pool(name) || name == DATABASE
}

/// Whether this is the name of a pool of connections.
pub fn is_pool(name: &str) -> bool {
    name.starts_with(POOL)
}

/// The place of a stage in the funnel, from 0, the outermost; all pools have the same.
pub fn stage_place(name: &str) -> usize {
    let outer = OUTER.iter().position(|outer| *outer == name);
    outer.unwrap_or(OUTER.len() + usize::from(name == DATABASE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_stand_between_the_threads_and_the_database() {
        let mut stages = ["database", "pool.db", "threads", "backlog", "gate"];
        stages.sort_by_key(|stage| stage_place(stage));
        assert_eq!(
            stages,
            ["gate", "backlog", "threads", "pool.db", "database"]
        );
        assert!(stages.into_iter().all(is_stage));
        assert!(!is_stage("machine"));
    }
}
