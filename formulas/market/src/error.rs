//! What can be wrong with formulas over a market.

use ktd_data::DataFileError;

ktd_io::edge_error! {
    /// A pool, a formula or a market that has no values.
    pub enum FormulasError {
        /// The market data.
        Data(DataFileError),
    }
}
