//! What events and exchanges of an episode say for its score.

use super::order_tally::rule;
use ktd_bundle::event::ReadEvent;
use std::collections::{BTreeMap, BTreeSet};

/// What they say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RecordReading {
    /// Cash before the first day, fen.
    pub(super) initial_cash_fen: i64,
    /// Stated confidences of the orders of each step.
    pub(super) confidences: BTreeMap<usize, Vec<f64>>,
    /// Submissions that were fed back, by the code of the first rule of the exchange that they broke.
    pub(super) fed_back: BTreeMap<String, usize>,
    /// Calls of the tool that submits during research, which are wishes and no submissions.
    pub(super) early_submissions: usize,
    /// Names of the models that answered, as the provider says.
    pub(super) served_models: BTreeSet<String>,
}

impl RecordReading {
    /// Adds what an event says.
    pub(super) fn add(&mut self, event: ReadEvent) {
        self.early_submissions += event.early_submissions();
        match event {
            ReadEvent::EpisodeBegin { initial_cash_fen, .. } => self.initial_cash_fen = initial_cash_fen,
            ReadEvent::Turn { served_model, .. } => self.served_models.extend(served_model),
            ReadEvent::Decision { step, orders, .. } => {
                let confidences = orders.iter().map(|order| order.confidence).collect();
                self.confidences.insert(step, confidences);
            }
            ReadEvent::ModelFault { detail, .. } => {
                // What is no rule of the exchange is a fault of form.
                if let Some(code) = detail.filter(|code| rule(code).is_some()) {
                    *self.fed_back.entry(code).or_insert(0) += 1;
                }
            }
            ReadEvent::StepBegin { .. }
            | ReadEvent::InfrastructureFault { .. }
            | ReadEvent::ToolCall { .. }
            | ReadEvent::Fills { .. }
            | ReadEvent::StepEnd { .. }
            | ReadEvent::EpisodeEnd { .. } => {}
        }
    }
}
