//! How a page is written: markup that is always closed and escaped, drawings in classes instead of colours, and axes.

mod axes;
mod backend;
mod canvas;
mod markup;
mod number;
mod thin;

pub use axes::{Axes, Edges, Plane, padded};
pub use canvas::{Anchor, Canvas};
pub use markup::Markup;
pub use number::{
    axis_percent, change, counted, decimals, fitted, joined, named, percent, plural, portion, real,
    scientific, short_hash,
};
pub use thin::thin;
