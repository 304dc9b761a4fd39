//! .

pub mod simulate;
