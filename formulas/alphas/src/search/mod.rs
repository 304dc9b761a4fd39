//! The search for formulas: by random growth, and by genetic programming.
//!
//! A search hands out candidates batch by batch and is given back what became of each on the train days; it never sees
//! the days themselves. The same seed and the same answers give the same candidates.

mod book;
mod candidate;
mod genetic;
mod genetic_settings;
mod growth;
mod parts;
mod random;
mod train;
mod trial;
mod variation;

#[cfg(test)]
mod planted_tests;

pub use book::TrialBook;
pub use candidate::SearchCandidate;
pub use genetic::GeneticSearch;
pub use genetic_settings::GeneticSettings;
pub use growth::FormulaGrowth;
pub use random::{FormulaSearch, RandomSearch, SearchTerms};
pub use train::TrainTables;
pub use trial::{Trial, TrialFault, TrialScore};
