//! A definition that was read and checked.

use super::check::check;
use super::evaluate::evaluate;
use super::node::{Node, NodeId, Scan};
use super::parser::parse;
use super::script::Script;
use super::spread_divisor::SpreadDivisor;
use crate::bars::FactorBars;
use crate::fx_error::FxError;

/// The exact definition of a factor, in the language FX.
#[derive(Debug, Clone, PartialEq)]
pub struct FxDefinition {
    pub(super) script: Script,
    nodes: Vec<Node>,
    result: NodeId,
}

impl FxDefinition {
    /// Reads and checks a definition.
    ///
    /// # Errors
    /// [`FxError`] with the byte where the text is no definition, where it reads an unknown name, calls an unknown
    /// operator or gives one what it cannot take, and where it is too long, too large or too deep.
    pub fn parse(text: &str) -> Result<Self, FxError> {
        Self::checked(parse(text)?)
    }

    pub(super) fn checked(script: Script) -> Result<Self, FxError> {
        let (nodes, result) = check(&script)?;
        Ok(Self {
            script,
            nodes,
            result,
        })
    }

    /// The factor's values on bars, one a row, NaN where missing.
    ///
    /// # Errors
    /// [`FxFault::Gap`](super::FxFault::Gap) where a recursion meets a missing value after its first.
    pub fn evaluate(&self, bars: &FactorBars) -> Result<Vec<f64>, FxError> {
        self.evaluate_with(bars, SpreadDivisor::Sample)
    }

    /// The values with another divisor in spreads.
    ///
    /// # Errors
    /// As [`FxDefinition::evaluate`].
    pub fn evaluate_with(&self, bars: &FactorBars, divisor: SpreadDivisor) -> Result<Vec<f64>, FxError> {
        evaluate(&self.nodes, self.result, bars, divisor)
    }

    /// Whether the definition has a recursion.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        self.nodes
            .iter()
            .any(|node| matches!(node, Node::Scan(Scan::Smoothed { .. })))
    }

    /// Whether the definition reads the days themselves: weeks, months or weekdays.
    #[must_use]
    pub fn reads_calendar(&self) -> bool {
        self.nodes.iter().any(|node| {
            matches!(
                node,
                Node::Scan(Scan::PastPeriod(..) | Scan::PeriodSoFar(..) | Scan::SameWeekday(..))
            )
        })
    }
}
