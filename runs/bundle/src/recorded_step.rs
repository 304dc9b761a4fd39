//! A step of a recorded episode: its orders, what became of them, and the account at its close.

use crate::BundlePaths;
use crate::event::{Mark, OrderRecord, ReadEvent, StepOutcome};
use crate::ledger::LedgerLine;
use crate::ledger_mark::mark_of;
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use serde_json::Value;
use std::collections::BTreeMap;

/// A step in what the model may see, and the exact account where the bundle tells it.
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
    /// Net asset value before the step, fen; absent where the bundle does not tell it.
    pub nav_before_fen: Option<i64>,
    /// The account at the close: of the events, or of the private ledger. Absent where the step has not ended, and where
    /// the mask keeps it private and the private part is missing.
    pub mark: Option<Mark>,
    /// Holdings at the close, as shown.
    pub holdings: Value,
}

impl RecordedStep {
    /// The steps of a bundle, in order.
    ///
    /// # Errors
    /// [`RecordError`] when its events cannot be read.
    pub fn all(paths: &BundlePaths) -> Result<Vec<Self>, RecordError> {
        let mut marks = BTreeMap::new();
        LogReader::open(&paths.ledger())?.each(|line: LedgerLine| {
            marks.insert(line.step, mark_of(&line));
            Ok(())
        })?;
        let (mut steps, mut nav_fen) = (Vec::new(), None);
        LogReader::open(&paths.events())?.each(|event| {
            Self::add(&mut steps, &mut nav_fen, event, &marks);
            Ok(())
        })?;
        Ok(steps)
    }

    /// The steps of events, in order, with the account of the private ledger where the events do not hold it.
    #[must_use]
    pub fn of(events: Vec<ReadEvent>, ledger: &BTreeMap<usize, Mark>) -> Vec<Self> {
        let (mut steps, mut nav_fen) = (Vec::new(), None);
        for event in events {
            Self::add(&mut steps, &mut nav_fen, event, ledger);
        }
        steps
    }

    fn add(
        steps: &mut Vec<Self>,
        nav_fen: &mut Option<i64>,
        event: ReadEvent,
        marks: &BTreeMap<usize, Mark>,
    ) {
        match event {
            ReadEvent::EpisodeBegin { initial_cash_fen, .. } => *nav_fen = Some(initial_cash_fen),
            ReadEvent::StepBegin { step, day, as_of } => steps.push(Self {
                step,
                day,
                as_of,
                outcome: None,
                orders: Vec::new(),
                overall_reason: None,
                fills: Value::Null,
                nav_before_fen: *nav_fen,
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
            ReadEvent::StepEnd {
                step, mark, holdings, ..
            } => {
                let mark = mark.or_else(|| marks.get(&step).copied());
                *nav_fen = mark.map(|mark| mark.nav_fen);
                if let Some(last) = steps.last_mut() {
                    last.mark = mark;
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
}
