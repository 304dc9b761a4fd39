//! A step of a recorded episode: what was asked and called, its orders, what became of them, and the account at its close.

use crate::BundlePaths;
use crate::event::{Mark, OrderRecord, ReadEvent, StepOutcome};
use crate::ledger::LedgerLine;
use crate::ledger_mark::mark_of;
use ktd_record::RecordError;
use ktd_record::chain::LogReader;
use serde_json::Value;
use std::collections::BTreeMap;

/// A step in what the model may see, and the exact account where the bundle tells it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedStep {
    /// 1-based step.
    pub step: usize,
    /// The trading day on whose open orders execute, as shown.
    pub day: Value,
    /// The as-of day, as shown.
    pub as_of: Value,
    /// Answered requests.
    pub turns: usize,
    /// Tools called, with the code of a refusal.
    pub calls: Vec<(String, Option<String>)>,
    /// Refused submissions: code, and what exactly one broke.
    pub model_faults: Vec<(String, Option<String>)>,
    /// Failed attempts, by code.
    pub infrastructure_faults: Vec<String>,
    /// Tokens of requests and of replies, as far as reported.
    pub tokens: (u64, u64),
    /// How the step ended; absent where it has not.
    pub outcome: Option<StepOutcome>,
    /// Whether the model's words were repaired to read its submission.
    pub is_repaired: bool,
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
            Self::fold(&mut steps, &mut nav_fen, event, &marks);
            Ok(())
        })?;
        Ok(steps)
    }

    /// The steps of events, in order, with the account of the private ledger where the events do not hold it.
    #[must_use]
    pub fn of(events: Vec<ReadEvent>, ledger: &BTreeMap<usize, Mark>) -> Vec<Self> {
        let (mut steps, mut nav_fen) = (Vec::new(), None);
        for event in events {
            Self::fold(&mut steps, &mut nav_fen, event, ledger);
        }
        steps
    }

    fn fold(
        steps: &mut Vec<Self>,
        nav_fen: &mut Option<i64>,
        event: ReadEvent,
        marks: &BTreeMap<usize, Mark>,
    ) {
        if let ReadEvent::EpisodeBegin { initial_cash_fen, .. } = event {
            *nav_fen = Some(initial_cash_fen);
        }
        if matches!(event, ReadEvent::StepBegin { .. }) {
            steps.push(Self {
                nav_before_fen: *nav_fen,
                ..Self::default()
            });
        }
        let Some(last) = steps.last_mut() else { return };
        let is_over = matches!(event, ReadEvent::StepEnd { .. });
        last.add(event);
        if is_over {
            last.mark = last.mark.or_else(|| marks.get(&last.step).copied());
            *nav_fen = last.mark.map(|mark| mark.nav_fen);
        }
    }

    /// Adds what an event says, and nothing that the private part alone knows. An event that begins a step forgets the one before.
    pub fn add(&mut self, event: ReadEvent) {
        match event {
            ReadEvent::StepBegin { step, day, as_of } => {
                *self = Self {
                    step,
                    day,
                    as_of,
                    nav_before_fen: self.nav_before_fen,
                    ..Self::default()
                };
            }
            ReadEvent::Turn { usage, .. } => {
                let (input, output) = self.tokens;
                self.turns += 1;
                self.tokens = (
                    input.saturating_add(usage.input()),
                    output.saturating_add(usage.output()),
                );
            }
            ReadEvent::InfrastructureFault { code, .. } => self.infrastructure_faults.push(code),
            ReadEvent::ToolCall { name, refused, .. } => self.calls.push((name, refused)),
            ReadEvent::ModelFault { code, detail, .. } => self.model_faults.push((code, detail)),
            ReadEvent::Decision {
                outcome,
                orders,
                overall_reason,
                is_repaired,
                ..
            } => {
                self.outcome = Some(outcome);
                self.orders = orders;
                self.overall_reason = overall_reason;
                self.is_repaired = is_repaired;
            }
            ReadEvent::Fills { fills, .. } => self.fills = fills,
            ReadEvent::StepEnd { mark, holdings, .. } => {
                self.mark = mark;
                self.holdings = holdings;
            }
            ReadEvent::EpisodeBegin { .. } | ReadEvent::EpisodeEnd { .. } => {}
        }
    }
}
