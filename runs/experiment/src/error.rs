//! What can be wrong with an experiment.

ktd_io::edge_error! {
    /// An experiment file, price table or option that cannot be used.
    pub enum ExperimentError {}
}
