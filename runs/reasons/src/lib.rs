//! The rationale meter: what models name in their reasons beyond what they were shown, by mask; and the reasons for the
//! same steps side by side.
//!
//! It reads the public part of bundles. Words are found by lists that can be read and replaced, and every hit can be quoted.
//!
//! Knows: the public part of bundles, and finders of identifiers. Never knows: ranks, a client, a running episode.

mod candidate;
mod category;
mod denial;
mod detection;
mod error;
mod hit;
mod lexicon;
mod rate;
mod report;
mod sentence;
mod short_names;
mod shown_identifiers;
pub mod side;
mod stated_reasons;
pub mod table;
mod word_list;
mod words;

pub use category::Category;
pub use detection::{Detection, DetectionRow};
pub use error::ReasonsError;
pub use hit::Hit;
pub use lexicon::{Lexicon, Lists, WordMatch};
pub use rate::{Rate, Rates, ReasonScope};
pub use report::{
    EpisodeReasons, REASONS_FORMAT, ReasonOptions, ReasonReport, ReasonRow, ReasonSet, read_reasons,
};
pub use sentence::{Quotation, shown};
pub use stated_reasons::{StatedReasons, StepReasons};
pub use word_list::ListRecord;
