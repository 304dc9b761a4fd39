//! What is laid side by side: the one document that text and page are views of.

use crate::{Category, Hit};
use ktd_bundle::event::StepOutcome;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_masking::{Level, Mode, Numeric};
use schemars::JsonSchema;
use serde::Serialize;

/// Reasons side by side.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct SideBySide {
    /// [`crate::REASONS_FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub ktd: String,
    /// One agent on one window, in one mode, with one seed, under two masks or more.
    pub matches: Vec<MaskComparison>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Episodes that differ in their mask alone.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct MaskComparison {
    /// The agent.
    pub agent: String,
    /// The window.
    pub window: String,
    /// The decision mode.
    pub mode: Mode,
    /// The seed.
    pub seed: u64,
    /// The masks, from the brightest.
    pub masks: Vec<MaskColumn>,
    /// The steps that are shown.
    pub steps: Vec<StepComparison>,
}

/// One mask of a match.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MaskColumn {
    /// The mask's level.
    pub level: Level,
    /// The level whose text explained identifiers, if it is a prompt-only control.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<MaskInstruction>,
    /// How the mask shows numbers.
    pub numeric: Numeric,
    /// The bundle's directory.
    pub bundle: String,
}

/// One step under all masks.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct StepComparison {
    /// 1-based.
    pub step: usize,
    /// Its real date, where that was asked for.
    pub real_date: Option<String>,
    /// Words that count, under all masks.
    pub hits: usize,
    /// The step as a whole, mask by mask.
    pub cells: Vec<StepCell>,
    /// Its orders: the first beside the first, or the same real stock side by side where that was asked for.
    pub orders: Vec<OrderRow>,
}

/// A step as a whole under one mask.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct StepCell {
    /// Its trading day as the model saw it; `null` when the record has no decision.
    pub day: Option<String>,
    /// How it ended.
    pub outcome: Option<StepOutcome>,
    /// The reason for the whole.
    pub overall: Option<MarkedText>,
}

/// Orders side by side.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct OrderRow {
    /// The real stock, where that was asked for and is known.
    pub real: Option<String>,
    /// Mask by mask; `null` where there is none.
    pub cells: Vec<Option<OrderCell>>,
}

/// One order under one mask.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct OrderCell {
    /// 1-based order of the step.
    pub order: usize,
    /// The stock as the model wrote it.
    pub stock_id: String,
    /// `BUY` or `SELL`.
    pub side: String,
    /// Millionths of NAV.
    pub target_weight_millionths: Option<u32>,
    /// Shares.
    pub shares: Option<i64>,
    /// In `[0, 1]`.
    pub confidence: f64,
    /// Why.
    pub reason: MarkedText,
}

/// A text with the words in it that count.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MarkedText {
    /// As the model wrote it.
    pub text: String,
    /// The words, in their order.
    pub marks: Vec<MarkedWord>,
}

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MarkedWord {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// What it tells.
    pub category: Category,
    /// Whether the harness had shown it in that step.
    pub is_shown: bool,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPart<'t> {
    /// What does not count.
    Plain(&'t str),
    /// A word that does.
    Marked(&'t str, MarkedWord),
}

impl MarkedText {
    pub(super) fn of<'h>(text: &str, hits: impl Iterator<Item = &'h Hit>) -> Self {
        let mark = |hit: &Hit| MarkedWord {
            start: hit.bytes.0,
            end: hit.bytes.1,
            category: hit.category,
            is_shown: hit.is_shown,
        };
        Self {
            text: text.to_owned(),
            marks: hits.map(mark).collect(),
        }
    }

    /// The text in its parts, in order.
    #[must_use]
    pub fn parts(&self) -> Vec<TextPart<'_>> {
        let mut parts = Vec::with_capacity(2 * self.marks.len() + 1);
        let mut at = 0;
        for mark in &self.marks {
            let plain = self.text.get(at..mark.start).unwrap_or_default();
            let marked = self.text.get(mark.start..mark.end).unwrap_or_default();
            parts.extend([TextPart::Plain(plain), TextPart::Marked(marked, *mark)]);
            at = mark.end;
        }
        parts.push(TextPart::Plain(self.text.get(at..).unwrap_or_default()));
        parts
    }
}

impl OrderRow {
    /// What the row is of: a real stock, or an order by its number.
    #[must_use]
    pub fn label(&self) -> String {
        let order = self.cells.iter().flatten().map(|cell| cell.order).next();
        let order = order.map(|order| format!("order {order}"));
        self.real.clone().or(order).unwrap_or_default()
    }
}

impl StepCell {
    /// How the step ended where it has no orders: three things that are never one.
    #[must_use]
    pub const fn remark(&self) -> &'static str {
        match self.outcome {
            Some(StepOutcome::Submitted) => "",
            Some(StepOutcome::Hold) => "held: an empty list of orders",
            Some(StepOutcome::Fallback) => "no valid submission",
            Some(StepOutcome::Uncovered) => "lost to the infrastructure",
            None => "no decision is recorded",
        }
    }
}

impl OrderCell {
    /// The order without its reason: `BUY asset_0042 to weight 0.05, confidence 0.7`.
    #[must_use]
    pub fn head(&self) -> String {
        let quantity = match (self.target_weight_millionths, self.shares) {
            (Some(weight), _) => format!("to weight {}", f64::from(weight) / 1e6),
            (None, Some(shares)) => format!("{shares} shares"),
            (None, None) => String::new(),
        };
        format!(
            "{} {} {quantity}, confidence {}",
            self.side, self.stock_id, self.confidence
        )
    }
}
