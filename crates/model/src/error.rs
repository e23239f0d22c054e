//! Why a run has no model, or the model no answer.

/// Why a run has no model, or the model no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Not enough that differs.
    #[error(
        "fit a model: {count} treatment(s) can be used, and it takes {needed}, so that each can be predicted from the \
         others; run more levels of users (`weir sweep`){left_out}"
    )]
    TooFew {
        /// Treatments that can be used.
        count: usize,
        /// How many it takes.
        needed: usize,
        /// What was left out and why, as text that follows.
        left_out: String,
    },
    /// A limit would shift the mix of requests that the model takes as one.
    #[error(
        "predict {question}: {queued:.0} of {population} requests would wait for a thread or a connection, and they are of kinds \
         that take very different times ({kinds}); a full limit shifts their mix, which a model of one kind does not know"
    )]
    MixWouldShift {
        /// What was asked.
        question: String,
        /// Requests that would wait.
        queued: f64,
        /// Users of all groups.
        population: u32,
        /// The kinds and their response times.
        kinds: String,
    },
    /// The queueing model refuses.
    #[error(transparent)]
    Model(#[from] weir_queueing::ModelError),
}
