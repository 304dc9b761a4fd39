//! Identifiers in text: codes, names of companies and dates in any spelling, and the scan of a request's bytes for them.
//!
//! | who asks | what it finds |
//! |---|---|
//! | [`Guard`] | what a mask hides, in the final bytes of a request |
//! | [`Register`] | what a text names of a panel: stocks, sectors, days |
//! | [`CodeFinder`], [`DateFinder`], [`LevelFinder`] | codes, dates and levels of an index in what people and models write, with their places |
//!
//! Knows: `env` (a panel's real names and days), `masking` (which level hides what). Never knows: agents, tools, prompts,
//! files, clocks.

mod carried_json;
mod code_finder;
mod company_name;
mod date_finder;
mod dates;
mod digits;
mod folded;
mod guard;
mod level_finder;
mod numbers;
mod pattern_error;
mod period;
mod pointer;
mod register;

pub use code_finder::{CodeFinder, FoundCode, six_digits};
pub use company_name::{is_telling, spellings};
pub use date_finder::{DateFinder, FoundDate};
pub use folded::{Folded, exact_key, is_chinese, key};
pub use guard::{Finding, Guard, Guards, RequestScan};
pub use level_finder::{FoundLevel, LevelFinder};
pub use pattern_error::PatternError;
pub use period::Period;
pub use register::{Mentions, Register};
