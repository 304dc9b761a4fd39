//! What can be wrong with a board.

use ktd_data::DataFileError;
use ktd_experiment::ExperimentError;
use ktd_record::RecordError;

ktd_io::edge_error! {
    /// A board or an attribution that cannot be made.
    pub enum BoardError {
        /// The experiment.
        Experiment(ExperimentError),
        /// The market data.
        Data(DataFileError),
        /// The record.
        Bundle(RecordError),
    }
}
