//! What can be wrong with a report of reasons.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_record::RecordError;

ktd_io::edge_error! {
    /// A report of stated reasons that cannot be made.
    pub enum ReasonsError {
        /// The experiment.
        Experiment(ExperimentError),
        /// The market data.
        Data(DataFileError),
        /// The record.
        Bundle(RecordError),
    }
}
