//! The rationale meter: what models name in their reasons beyond what they were shown, by mask; and the reasons for the
//! same steps side by side.
//!
//! It reads the public part of bundles. Words are found by lists that can be read and replaced, and every hit can be quoted.
//!
//! Knows: the public part of bundles, and finders of identifiers. Never knows: ranks, a client, a running episode.

mod category;
mod error;
mod hit;
mod lexicon;
mod rate;
mod report;
mod sentence;
pub mod side;
mod spoken;
pub mod table;
mod told;
mod word_list;
mod words;

pub use category::Category;
pub use error::ReasonsError;
pub use hit::Hit;
pub use lexicon::{Found, Lexicon, Lists};
pub use rate::{Rate, Rates, Scope};
pub use report::{Heard, Hearing, REASONS_FORMAT, ReasonOptions, ReasonReport, Row, hear};
pub use sentence::{Quote, shown};
pub use spoken::{Spoken, SpokenStep};
pub use word_list::ListRecord;
