//! Recorded conversations with language models outside an episode: judges, writers of formulas, writers of code.
//!
//! [`AskingSettings`] are the keys that say who is asked and at what cost. A [`AskedRecord`] is the folder of one model:
//! each request is kept before it is sent and each reply before it is used, so that a run that was killed continues
//! without asking twice, and a finished one is replayed without a network. [`TextRounds`] are a conversation in text
//! alone, with what comes from outside any mask.
//!
//! Knows: the one client, the record, open conversations. Never knows: what is asked, what an answer is worth.

mod agent_file;
mod answerer;
mod asked_record;
mod comparison;
mod error;
mod line_journal;
mod model;
mod pause;
mod role;
mod settings;
mod text_rounds;

pub use agent_file::{AGENT_FILE, AgentFile, keep_same};
pub use answerer::Answerer;
pub use asked_record::AskedRecord;
pub use comparison::compare_with_file;
pub use error::AskingError;
pub use line_journal::LineJournal;
pub use model::endpoint_of;
pub use pause::pause;
pub use role::AskingRole;
pub use settings::{AskingSettings, OpenModels};
pub use text_rounds::{TextAnswer, TextOpening, TextRounds};
