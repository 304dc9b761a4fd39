//! Rules of the house that no compiler checks, held against the repository's own text.

mod architecture;
mod dependencies;
mod skipped;
mod sources;
mod tidy;
