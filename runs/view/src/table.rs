//! Plain tables for the terminal.

pub use crate::draw::{Align, Column, Layout, Table, display_width, grouped};
