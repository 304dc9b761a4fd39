//! What can be wrong with a training.

use ktd_data::DataFileError;

ktd_io::edge_error! {
    /// A panel or a span on which no predictor can be trained.
    pub enum PredictError {
        /// The market data.
        Data(DataFileError),
    }
}
