//! .

pub mod qlib;
