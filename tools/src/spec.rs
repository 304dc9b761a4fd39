//! Descriptions of the tools for a model.

use crate::context::ToolLimits;
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
    Tool::ALL.into_iter().map(spec_of)
}

/// A read-only tool.
pub(crate) fn spec_of(tool: Tool) -> ToolSpec {
    ToolSpec {
        name: tool.name(),
        description: tool.description(),
        parameters: tool.parameters(),
    }
}

/// The tools of a set of limits: the six read-only ones, the one by expression where it is asked for, then `submit_action`.
#[must_use]
pub fn tool_specs_of(limits: &ToolLimits) -> Vec<ToolSpec> {
    tools_of(limits)
        .into_iter()
        .map(spec_of)
        .chain([submit_action::spec()])
        .collect()
}

/// The read-only tools of a set of limits.
pub(crate) fn tools_of(limits: &ToolLimits) -> Vec<Tool> {
    let by_expression = limits.expressions.then_some(Tool::ScreenByExpression);
    Tool::ALL.into_iter().chain(by_expression).collect()
}
