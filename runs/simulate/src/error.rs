//! What can be wrong with a simulation.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;

ktd_io::edge_error! {
    /// Orders or scores that cannot be simulated.
    pub enum SimulateError {
        /// The experiment.
        Experiment(ExperimentError),
        /// The market data.
        Data(DataFileError),
    }
}
