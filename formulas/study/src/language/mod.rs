//! Language models that are asked about formulas: one conversation a question, through the one client.
//!
//! What is asked is template text with formulas as payloads; every request is recorded before it is sent and every reply
//! before it is used. A model's mistake is fed back within its retries, then its answer is lost; a fault of the
//! infrastructure is sent again, and stops the run when its attempts are used up.

mod answer_fault;
mod conversation;
mod counts;

pub(crate) use answer_fault::{AnswerFault, read_object};
pub(crate) use conversation::{FormulaConversations, FormulaQuestion, QuestionEnd};
pub use counts::{LossKind, LostCounts};

/// SHA-256 of a tool as a model is shown it.
pub(crate) fn tool_sha256(tool: &ktd_masking::ToolSpec) -> String {
    let parts = (tool.name, tool.description, tool.parameters.as_value());
    // Static text and a schema made from a type cannot fail to be written.
    ktd_io::sha256::sha256_hex(&serde_json::to_vec(&parts).unwrap_or_default())
}
