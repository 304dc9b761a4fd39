//! The scan of requests that no mask stands behind.

use ktd_guard::{Finding, RequestScan};

/// A scan that lets every request pass: of a question in which nothing is hidden, about two numbers or about formulas.
#[derive(Debug, Clone, Copy)]
pub struct NothingHidden;

impl RequestScan for NothingHidden {
    fn scan(&self, _: &[u8], _: Option<&serde_json::Value>) -> Result<(), Finding> {
        Ok(())
    }
}
