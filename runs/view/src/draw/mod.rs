//! Text and pictures for people: numbers, tables for a terminal and for a page, HTML, and drawings in SVG.
//!
//! Knows nothing of what is shown: no file, no experiment, no board. Markup is made by templates that escape what they are
//! given; drawings have classes instead of colours.

mod axes;
mod canvas;
mod captioned;
mod cell;
mod column;
mod difference_bars;
mod document;
mod heat_map;
mod months;
mod number;
mod safe;
mod share_rows;
mod table;
mod table_data;
mod text;
mod text_table;
mod thin;
mod ticks;

pub use axes::{Axes, Axis, Edges, Plane, padded};
pub use canvas::{Anchor, Canvas, Point};
pub use captioned::{COLOURS, captioned, line_key};
pub use cell::TableCell;
pub use column::{Align, Column, RowCells};
pub use difference_bars::difference_bars;
pub use document::{document, frame};
pub use heat_map::{HeatCell, HeatMap};
pub use months::{MONTH_DAYS, months};
pub use number::{
    axis_percent, basis_points, change, counted, decimals, duration, grouped, joined, named, p_value,
    percent, plural, portion, real, scientific, short_hash,
};
pub use safe::{csv_text, visible};
pub use share_rows::{ShareMark, ShareRow, share_rows};
pub use table::{TableView, scroll};
pub use table_data::{MISSING, TableData, paragraph};
pub use text::{display_width, fitted, fitted_parts, wrapped, wrapped_whole};
pub use text_table::{Layout, Table};
pub use thin::thin;
pub use ticks::ticks;

/// The style sheet of pages with tables and pictures.
pub const STYLE: &str = include_str!("style.css");

/// The style sheet of pictures with legends.
pub const FIGURES_STYLE: &str = include_str!("figures.css");
