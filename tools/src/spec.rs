//! The tools as a model is told of them.

use crate::submit_action;
use crate::tool::Tool;
use ktd_masking::{Numeric, ToolSpec};

/// The six read-only tools, then `submit_action`, always in this order.
///
/// They depend on `numeric` alone (with or without `shares`), so that a vendor's prompt cache holds over days, seeds
/// and masks.
#[must_use]
pub fn tool_specs(numeric: Numeric) -> Vec<ToolSpec> {
    let spec = |tool: Tool| ToolSpec {
        name: tool.name(),
        description: tool.description(),
        parameters: tool.parameters(),
    };
    Tool::ALL
        .into_iter()
        .map(spec)
        .chain([submit_action::spec(numeric)])
        .collect()
}
