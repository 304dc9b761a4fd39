//! From a model's call to its answer. A bad request is an answer too.

use crate::args::{Asked, NoArguments};
use crate::context::{ToolContext, ToolLimits};
use crate::fault::{self, Fault};
use crate::feedback_texts::USE_SCHEMA;
use crate::parsed_action::ParsedAction;
use crate::screen_by_expression::AskedFormulas;
use crate::spec::{spec_of, tool_specs_of, tools_of};
use crate::step_view::StepView;
use crate::submit_action::{SubmissionError, parse_action};
use crate::tool::Tool;
use crate::{
    banded, compare_candidates, get_market_context, get_stock_snapshot, portfolio_state, risk_check,
    schema_faults, screen_by_expression, screen_candidates, submit_action, text_limits,
};
use jsonschema::Validator;
use ktd_masking::{Payload, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// What goes back to the model for one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAnswer {
    /// The answer, or structured feedback on what is wrong with the call.
    pub payload: Payload,
    /// Whether the call was answered.
    pub ok: bool,
    /// The first fault's code, for counters; `None` for an answer.
    pub code: Option<&'static str>,
}

impl CallAnswer {
    const fn answered(payload: Payload) -> Self {
        Self {
            payload,
            ok: true,
            code: None,
        }
    }

    fn refused(faults: &[Fault]) -> Self {
        Self {
            payload: fault::faults(faults),
            ok: false,
            code: Some(faults.first().map_or("invalid_arguments", Fault::code)),
        }
    }
}

/// The read-only tools and `submit_action` with their validators, compiled once and used for every call.
#[derive(Debug)]
pub struct Toolbox {
    /// By tool of the set.
    validators: Vec<(Tool, Validator)>,
    submission_validator: Validator,
    specs: Arc<[ToolSpec]>,
    read_only: Arc<[ToolSpec]>,
    submission: ToolSpec,
}

/// A tool's own schema does not compile: a defect of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the argument schema of {tool} does not compile")]
pub struct ToolboxError {
    /// The tool's name.
    pub tool: &'static str,
}

impl Toolbox {
    /// Compiles the validators.
    ///
    /// # Errors
    /// [`ToolboxError`] when a tool's schema is itself invalid.
    pub fn new() -> Result<Self, ToolboxError> {
        Self::of(&ToolLimits::default())
    }

    /// Compiles the validators of the tools of a set of limits.
    ///
    /// # Errors
    /// Those of [`Toolbox::new`].
    pub fn of(limits: &ToolLimits) -> Result<Self, ToolboxError> {
        let compile = |spec: &ToolSpec| {
            jsonschema::validator_for(spec.parameters.as_value())
                .map_err(|_| ToolboxError { tool: spec.name })
        };
        let submission = submit_action::spec();
        let tools = tools_of(limits);
        let read_only: Arc<[ToolSpec]> = tools.iter().copied().map(spec_of).collect();
        let validators = tools.into_iter().zip(read_only.iter());
        let validators = validators.map(|(tool, spec)| compile(spec).map(|validator| (tool, validator)));
        Ok(Self {
            validators: validators.collect::<Result<_, _>>()?,
            submission_validator: compile(&submission)?,
            specs: tool_specs_of(limits).into(),
            read_only,
            submission,
        })
    }

    /// Descriptions of all tools for a model, [`tool_specs_of`] made once.
    #[must_use]
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// Descriptions of the read-only tools for a model, made once.
    #[must_use]
    pub fn read_only_specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.read_only)
    }

    /// Description of `submit_action` for a model.
    #[must_use]
    pub const fn submission_spec(&self) -> &ToolSpec {
        &self.submission
    }

    /// Answers one call. `arguments` is the text exactly as the model wrote it.
    #[must_use]
    pub fn call<'a>(&self, view: impl Into<StepView<'a>>, name: &str, arguments: &str) -> CallAnswer {
        self.call_after(view, name, arguments, &mut AskedFormulas::default())
    }

    /// Answers one call after others of the step, whose formulas have been counted.
    #[must_use]
    pub fn call_after<'a>(
        &self,
        view: impl Into<StepView<'a>>,
        name: &str,
        arguments: &str,
        asked: &mut AskedFormulas,
    ) -> CallAnswer {
        let is_in_set = |tool: &Tool| self.validators.iter().any(|(of, _)| of == tool);
        let Some(tool) = Tool::from_name(name).filter(is_in_set) else {
            return CallAnswer::refused(&[self.unknown_tool()]);
        };
        match self.answer(view.into(), tool, arguments, asked) {
            Ok(payload) => CallAnswer::answered(payload),
            Err(faults) => CallAnswer::refused(&faults),
        }
    }

    /// Reads the arguments of `submit_action` exactly as the model wrote them: as [`parse_action`], and whatever it
    /// lets pass is held against the schema that the model was shown.
    ///
    /// # Errors
    /// [`SubmissionError`] with what is wrong.
    pub fn parse_submission<'a>(
        &self,
        view: impl Into<StepView<'a>>,
        arguments: &str,
    ) -> Result<ParsedAction, SubmissionError> {
        let action = parse_action(view, arguments)?;
        match check(&self.submission_validator, arguments) {
            Ok(()) => Ok(action),
            Err(faults) => Err(SubmissionError::of(faults)),
        }
    }

    fn answer(
        &self,
        view: StepView<'_>,
        tool: Tool,
        text: &str,
        formulas: &mut AskedFormulas,
    ) -> Result<Payload, Vec<Fault>> {
        text_limits::check(text, view.limits()).map_err(|fault| vec![fault])?;
        self.validate(tool, text)?;
        let asked = match tool {
            Tool::GetMarketContext => typed::<NoArguments>(text).map(|_| Asked::Context),
            Tool::ScreenCandidates => typed(text).map(Asked::Screen),
            Tool::GetStockSnapshot => typed(text).map(Asked::Snapshot),
            Tool::CompareCandidates => typed(text).map(Asked::Compare),
            Tool::PortfolioState => typed::<NoArguments>(text).map(|_| Asked::Portfolio),
            Tool::RiskCheck => typed(text).map(Asked::Risk),
            Tool::ScreenByExpression => typed(text).map(Asked::Expression),
        }?;
        match view {
            StepView::Market(context) => market_answer(context, &asked, formulas),
            StepView::Roster(context) => banded::answer(context, &asked),
        }
    }

    fn unknown_tool(&self) -> Fault {
        let names = self
            .validators
            .iter()
            .map(|(tool, _)| Payload::label(tool.name()));
        Fault::new("unknown_tool", "one of `tools`", "call a tool by its exact name")
            .with("tools", Payload::list(names))
    }

    fn validate(&self, tool: Tool, text: &str) -> Result<(), Vec<Fault>> {
        let validator = self.validators.iter().find(|(of, _)| *of == tool);
        validator.map_or(Ok(()), |(_, validator)| check(validator, text))
    }
}

fn market_answer(
    context: &ToolContext<'_>,
    asked: &Asked,
    formulas: &mut AskedFormulas,
) -> Result<Payload, Vec<Fault>> {
    match asked {
        Asked::Context => Ok(get_market_context::answer(context)),
        Asked::Screen(arguments) => screen_candidates::answer(context, arguments),
        Asked::Snapshot(arguments) => get_stock_snapshot::answer(context, arguments),
        Asked::Compare(arguments) => compare_candidates::answer(context, arguments),
        Asked::Portfolio => Ok(portfolio_state::answer(context)),
        Asked::Risk(arguments) => risk_check::answer(context, arguments),
        Asked::Expression(arguments) => screen_by_expression::answer(context, arguments, formulas),
    }
}

/// Holds a text against a schema.
fn check(validator: &Validator, text: &str) -> Result<(), Vec<Fault>> {
    let mut value: Value = serde_json::from_str(text).map_err(|error| vec![text_limits::not_json(&error)])?;
    drop_nulls(&mut value);
    let faults: Vec<Fault> = validator
        .iter_errors(&value)
        .map(|error| schema_faults::fault(&error))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// A key with the value `null` counts as absent, as in orders.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn typed<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Fault>> {
    serde_json::from_str(text).map_err(|_| vec![untyped()])
}

/// What the schema lets pass and the types do not: `5.0` for a whole number, or a key given twice.
const fn untyped() -> Fault {
    Fault::new(
        "invalid_arguments",
        "whole numbers written without a point, each key once",
        USE_SCHEMA,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_is_held_against_the_schema_that_is_shown() {
        let toolbox = Toolbox::new().unwrap();
        let codes = |text: &str| -> Vec<&str> {
            let faults = check(&toolbox.submission_validator, text)
                .err()
                .unwrap_or_default();
            faults.iter().map(Fault::code).collect()
        };
        let order = r#"{"stock_id":"x","side":"BUY","target_weight":0.1,"confidence":1,"reason":"r"}"#;
        let list = |order: &str| format!(r#"{{"orders":[{order}],"overall_reason":"r"}}"#);
        assert!(codes(&list(order)).is_empty());
        assert!(codes(r#"{"orders":[],"overall_reason":"r"}"#).is_empty());
        for (text, code) in [
            (r#"{"orders":[]}"#.to_owned(), "missing"),
            (list(&order.replace("BUY", "HOLD")), "unknown_value"),
            (list(&order.replace("0.1", "1.1")), "out_of_range"),
            (list(&order.replace("0.1", "\"0.1\"")), "wrong_type"),
        ] {
            assert_eq!(codes(&text), [code], "{text}");
        }
    }
}
