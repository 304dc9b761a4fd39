//! What can be wrong with a record.

use crate::nearest_request::Nearest;
use ktd_experiment::ExperimentError;
use ktd_io::{ErrorClass, FileError, InputError};
use std::path::PathBuf;

/// A bundle that cannot be read, continued or replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A path or an option.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The experiment that it is of.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A bundle that is not as it was written.
    #[error("damaged bundle: {difference}")]
    DamagedBundle {
        /// The first thing that differs.
        difference: Box<Self>,
    },
    /// A bundle without its summary.
    #[error("{}: it is missing: the episode is unfinished, or the file was removed", .path.display())]
    Unfinished {
        /// The missing file.
        path: PathBuf,
    },
    /// A signed document that proves nothing, or files that are not those that were signed.
    #[error("{}: {what}", .path.display())]
    Untrusted {
        /// The file or the folder.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// How to fix it.
        hint: &'static str,
    },
    /// A run that continues or replays produced other bytes than the record.
    #[error("{}: line {line} differs from the record: {difference}", .path.display())]
    Diverged {
        /// Which file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// The first difference.
        difference: String,
    },
    /// A replayed request is not the recorded one.
    #[error("step {step}, request {ordinal}: it is not the recorded one{}", nearest_text(.nearest.as_deref()))]
    RequestDiffers {
        /// 1-based step.
        step: usize,
        /// 0-based request of the step.
        ordinal: u32,
        /// The recorded one, and the first field that differs.
        nearest: Option<Box<Nearest>>,
    },
    /// A replay needs a reply that was never recorded.
    #[error("step {step}, request {ordinal}: no reply is recorded for it{}", nearest_text(.nearest.as_deref()))]
    NotRecorded {
        /// 1-based step.
        step: usize,
        /// 0-based request of the step.
        ordinal: u32,
        /// The recorded request that is most like it, and the first field that differs.
        nearest: Option<Box<Nearest>>,
    },
}

ktd_io::error_constructors!(RecordError);
ktd_io::error_explanations!(RecordError: File, Experiment;
    Self::DamagedBundle { difference } => (difference.hint(), ErrorClass::Difference),
    Self::Unfinished { .. } => (
        "run the experiment again: `ktd run` continues and writes it",
        ErrorClass::Difference
    ),
    Self::Untrusted { hint, .. } => (*hint, ErrorClass::Difference),
    Self::Diverged { .. } => (
        "the panel, the program's version, the configuration or the record changed; see header.json",
        ErrorClass::Difference
    ),
    Self::RequestDiffers { .. } => (
        "replay with the panel and program version named in header.json",
        ErrorClass::Difference
    ),
    Self::NotRecorded { .. } => (
        "continue the episode with `ktd run` before replaying it",
        ErrorClass::Difference
    ),
);

impl RecordError {
    /// What readers of a bundle say of a difference in it: that the bundle is damaged.
    #[must_use]
    pub fn of_bundle(self) -> Self {
        let is_said = matches!(self, Self::Unfinished { .. } | Self::DamagedBundle { .. });
        if is_said || self.class() != ErrorClass::Difference {
            return self;
        }
        Self::DamagedBundle {
            difference: Box::new(self),
        }
    }
}

fn nearest_text(nearest: Option<&Nearest>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; {nearest}"))
}
