//! Values of a strategy's parameters.

use std::collections::BTreeMap;

/// Value of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValue {
    /// A whole number or a float.
    Number(f64),
    /// A text, such as a time of day.
    Text(String),
}

/// Parameters of a strategy by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters(BTreeMap<String, ParameterValue>);

impl Parameters {
    /// Parameters of these names and values.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = (String, ParameterValue)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// Names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A number of that name.
    pub(crate) fn number(&self, name: &'static str) -> Result<f64, &'static str> {
        match self.0.get(name) {
            Some(ParameterValue::Number(value)) if value.is_finite() => Ok(*value),
            Some(ParameterValue::Number(_) | ParameterValue::Text(_)) | None => Err(name),
        }
    }

    /// A count of that name: a whole number from 1 to 10,000.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and between 1 and 10,000"
    )]
    pub(crate) fn count(&self, name: &'static str) -> Result<usize, &'static str> {
        let value = self.number(name)?;
        let is_count = (1.0..=10_000.0).contains(&value) && value.fract() == 0.0;
        if is_count { Ok(value as usize) } else { Err(name) }
    }

    /// A text of that name.
    pub(crate) fn text(&self, name: &'static str) -> Result<&str, &'static str> {
        match self.0.get(name) {
            Some(ParameterValue::Text(text)) => Ok(text),
            Some(ParameterValue::Number(_)) | None => Err(name),
        }
    }
}
