//! Outcome of an audit, which is no study and shows itself as one does.

use crate::{Report, StudyError, document_schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Outcome of an audit.
#[derive(Debug)]
pub struct Audited {
    /// What it found, for programs.
    pub document: Value,
    /// What it found, for people.
    pub report: Report,
    /// What is wrong with what was audited; none where nothing is.
    pub wrong: Option<StudyError>,
    /// The JSON Schema of what programs get.
    pub schema: Value,
}

impl Audited {
    /// An outcome with its document and its report.
    ///
    /// # Errors
    /// [`StudyError`] for a document that cannot be written.
    pub fn new<D: Serialize + JsonSchema>(
        document: &D,
        report: Report,
        wrong: Option<StudyError>,
    ) -> Result<Self, StudyError> {
        let document = serde_json::to_value(document).map_err(|error| {
            StudyError::input(format_args!("the document cannot be written: {error}"), "")
        })?;
        Ok(Self {
            document,
            report,
            wrong,
            schema: document_schema::<D>(),
        })
    }
}
