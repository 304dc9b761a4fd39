//! What a model may call: the six read-only tools and `submit_action`; and the state a step opens with.
//!
//! Every call is answered, a bad one with structured feedback. Everything is read as of the as-of day, lists stand
//! in masked order, and whatever goes back is a [`ktd_masking::Payload`].
//!
//! Knows: the market's as-of view, the rules, masking. Never knows: the market itself, agents, prompts, files.

mod args;
pub mod banded;
mod call;
mod compare_candidates;
mod context;
mod facts;
mod fault;
pub mod feedback;
mod feedback_texts;
mod get_market_context;
mod get_stock_snapshot;
mod last_step;
mod last_step_payload;
mod masked_factor_view;
pub mod order;
mod parsed_action;
mod portfolio_state;
mod risk_check;
mod schema_faults;
mod screen_by_expression;
#[cfg(test)]
mod screen_by_expression_tests;
mod screen_candidates;
mod spec;
pub mod state;
mod statistics;
mod step_view;
mod submit_action;
mod text_limits;
mod tool;
mod volume;

pub use call::{CallAnswer, Toolbox, ToolboxError};
pub use context::{ToolContext, ToolLimits};
pub use fault::Fault;
pub use last_step::{LastStep, LastStepKind};
pub use parsed_action::{ParsedAction, ParsedOrder};
pub use screen_by_expression::AskedFormulas;
pub use spec::{tool_specs, tool_specs_of};
pub use step_view::{BrokenRules, StepView};
pub use submit_action::{SUBMIT_ACTION, SubmissionError, parse_action};
pub use tool::Tool;
