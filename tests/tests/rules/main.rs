//! Rules of the house that no compiler checks, held against the repository's own text.

mod architecture;
mod crates;
mod dependencies;
mod experiment_keys;
mod lint_files;
mod modules;
mod names;
mod skipped;
mod sources;
mod tidy;
mod words;
