//! Pages as text: what stands in the values, escaped by templates. Every address in a page is relative, so that the server
//! and an exported folder show the same pages.

pub(crate) mod board;
pub(crate) mod certificate;
mod codes;
pub(crate) mod compare;
pub(crate) mod episode;
pub(crate) mod experiment;
mod exposures;
mod frame;
mod holdings;
mod nav;
mod performance;
pub(crate) mod problem;
pub(crate) mod ranked_row;
pub(crate) mod search;
pub(crate) mod step;
pub(crate) mod study;
pub(crate) mod tear_sheet;
mod value;
mod waterfall;

pub(crate) use frame::{PageSite, SCRIPT, STYLE_SHEET, SiteKind, script, style_sheet};
