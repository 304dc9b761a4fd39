//! What can be wrong with what is to be shown.

use ktd_record::RecordError;

ktd_io::edge_error! {
    /// Results that cannot be shown.
    pub enum ViewerError {
        /// The record.
        Bundle(RecordError),
    }
}
