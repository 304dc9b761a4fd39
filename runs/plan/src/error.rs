//! What can be wrong with a plan.

use ktd_client::ClientError;
use ktd_data::DataFileError;
use ktd_episode::EpisodeError;
use ktd_experiment::ExperimentError;
use ktd_record::RecordError;

ktd_io::edge_error! {
    /// A plan or an estimate that cannot be made.
    pub enum PlanningError {
        /// The experiment.
        Experiment(ExperimentError),
        /// The market data.
        Data(DataFileError),
        /// The record.
        Bundle(RecordError),
        /// A request to a model.
        Client(ClientError),
        /// An episode.
        Episode(EpisodeError),
    }
}
