//! The tools as a model is told of them.

use crate::submit_action;
use crate::tool::Tool;
use ktd_masking::ToolSpec;

/// The six read-only tools, then `submit_action`, always in this order.
///
/// They depend on nothing, so that a vendor's prompt cache holds over days, seeds and masks.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    let spec = |tool: Tool| ToolSpec {
        name: tool.name(),
        description: tool.description(),
        parameters: tool.parameters(),
    };
    Tool::ALL
        .into_iter()
        .map(spec)
        .chain([submit_action::spec()])
        .collect()
}
