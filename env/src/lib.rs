//! .
//! .

pub mod factors;
