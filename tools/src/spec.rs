//! Descriptions of the tools for a model.

use crate::submit_action;
use crate::tool::Tool;
use ktd_masking::ToolSpec;

/// The six read-only tools, then `submit_action`, always in this order.
///
/// They depend on nothing, so that a vendor's prompt cache holds over days, seeds and masks.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    read_only_specs().chain([submit_action::spec()]).collect()
}

/// The six read-only tools.
pub(crate) fn read_only_specs() -> impl Iterator<Item = ToolSpec> {
    Tool::ALL.into_iter().map(|tool| ToolSpec {
        name: tool.name(),
        description: tool.description(),
        parameters: tool.parameters(),
    })
}
