//! A step of a recorded episode: its orders, what became of them, and the account at its close.

use crate::EpisodeError;
use ktd_bundle::BundlePaths;
use ktd_bundle::chain::Lines;
use ktd_bundle::event::{Mark, OrderRecord, ReadEvent, StepOutcome};
use serde_json::Value;

/// A step in what the model may see.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    /// 1-based step.
    pub step: usize,
    /// The trading day on whose open orders execute, as shown.
    pub day: Value,
    /// The as-of day, as shown.
    pub as_of: Value,
    /// How the step ended; absent where it has not.
    pub outcome: Option<StepOutcome>,
    /// The orders, in the model's words.
    pub orders: Vec<OrderRecord>,
    /// The model's reason for the whole.
    pub overall_reason: Option<String>,
    /// What became of the orders, as the model is told.
    pub fills: Value,
    /// Net asset value before the step, fen.
    pub nav_before_fen: i64,
    /// The account at the close.
    pub mark: Option<Mark>,
    /// Holdings at the close, as shown.
    pub holdings: Value,
}

impl RecordedStep {
    /// The steps of a bundle, in order.
    ///
    /// # Errors
    /// [`EpisodeError`] when its events cannot be read.
    pub fn all(paths: &BundlePaths) -> Result<Vec<Self>, EpisodeError> {
        let path = paths.events();
        let events: Vec<ReadEvent> = Lines::read(&path)?.bodies(&path)?;
        Ok(Self::of(events))
    }

    fn of(events: Vec<ReadEvent>) -> Vec<Self> {
        let mut steps: Vec<Self> = Vec::new();
        let mut nav_fen = 0;
        for event in events {
            match event {
                ReadEvent::EpisodeBegin { initial_cash_fen, .. } => nav_fen = initial_cash_fen,
                ReadEvent::StepBegin { step, day, as_of } => steps.push(Self {
                    step,
                    day,
                    as_of,
                    outcome: None,
                    orders: Vec::new(),
                    overall_reason: None,
                    fills: Value::Null,
                    nav_before_fen: nav_fen,
                    mark: None,
                    holdings: Value::Null,
                }),
                ReadEvent::Decision {
                    outcome,
                    orders,
                    overall_reason,
                    ..
                } => {
                    if let Some(last) = steps.last_mut() {
                        last.outcome = Some(outcome);
                        last.orders = orders;
                        last.overall_reason = overall_reason;
                    }
                }
                ReadEvent::Fills { fills, .. } => {
                    if let Some(last) = steps.last_mut() {
                        last.fills = fills;
                    }
                }
                ReadEvent::StepEnd { mark, holdings, .. } => {
                    nav_fen = mark.nav_fen;
                    if let Some(last) = steps.last_mut() {
                        last.mark = Some(mark);
                        last.holdings = holdings;
                    }
                }
                ReadEvent::Turn { .. }
                | ReadEvent::InfrastructureFault { .. }
                | ReadEvent::ToolCall { .. }
                | ReadEvent::ModelFault { .. }
                | ReadEvent::EpisodeEnd { .. } => {}
            }
        }
        steps
    }
}
