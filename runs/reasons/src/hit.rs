//! A word that counts, with all that is needed to look it up.

use super::category::Category;
use super::lexicon::{Lexicon, WordMatch};
use super::sentence::Quotation;
use super::shown_identifiers::ShownIdentifiers;
use super::stated_reasons::{StatedReasons, StepReasons};
use crate::ReasonsError;
use ktd_bundle::BundlePaths;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_masking::{Level, Mode, Numeric};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A word that counts.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Hit {
    /// The bundle's directory.
    pub bundle: String,
    /// The agent.
    pub agent: String,
    /// The mask's level.
    pub level: Level,
    /// The level whose text explained identifiers, if it is a prompt-only control.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<MaskInstruction>,
    /// How the mask shows numbers.
    pub numeric: Numeric,
    /// The decision mode.
    pub mode: Mode,
    /// 1-based step.
    pub step: usize,
    /// 1-based order of the step; `null` for a word in the reason for the whole.
    pub order: Option<usize>,
    /// The stock as the model wrote it, where the word is in an order's reason.
    pub stock_id: Option<String>,
    /// What the word tells.
    pub category: Category,
    /// Whether the harness had shown it in that step: a code, date or sector repeated is counted apart.
    pub is_shown: bool,
    /// The list that has it, or what else found it.
    pub source: String,
    /// The word as it was written.
    pub word: String,
    /// Its first byte in the reason, and the one after its last.
    pub bytes: (usize, usize),
    /// The sentence around it.
    pub sentence: String,
    /// The same in three parts.
    #[serde(skip)]
    pub quote: Quotation,
}

/// The hits of an episode, in the order of its words.
///
/// # Errors
/// [`ReasonsError`] when its exchanges, which say what was told, cannot be read.
pub(super) fn hits(spoken: &StatedReasons, lexicon: &Lexicon) -> Result<Vec<Hit>, ReasonsError> {
    let texts = spoken
        .steps
        .iter()
        .flat_map(|step| step.texts().map(move |(order, text)| (step, order, text)));
    let found: Vec<_> = texts
        .flat_map(|(step, order, text)| {
            let found = lexicon.find(text).into_iter();
            found.map(move |found| (step, order, text, found))
        })
        .collect();
    let asked = found.iter().filter(|(.., found)| found.may_be_told());
    let told = told_in(spoken, &asked.map(|(step, ..)| step.step).collect())?;
    let hit = |(step, order, text, found): (&StepReasons, Option<usize>, &str, WordMatch)| {
        let quote = Quotation::of(text, &found.bytes);
        let told = told.get(&step.step);
        let is_shown = told.is_some_and(|told| told.has(&found, &quote.word));
        Hit::new(spoken, (step, order), found, is_shown, quote)
    };
    Ok(found.into_iter().map(hit).collect())
}

/// Identifiers shown in some steps of an episode. Exchanges are long: they are read when a hit asks for them.
fn told_in(
    spoken: &StatedReasons,
    steps: &BTreeSet<usize>,
) -> Result<BTreeMap<usize, ShownIdentifiers>, ReasonsError> {
    if steps.is_empty() {
        return Ok(BTreeMap::new());
    }
    let path = BundlePaths::new(&spoken.opened.bundle.root).exchanges();
    Ok(ShownIdentifiers::of_steps(&path, steps)?)
}

impl Hit {
    fn new(
        spoken: &StatedReasons,
        (step, order): (&StepReasons, Option<usize>),
        found: WordMatch,
        is_shown: bool,
        quote: Quotation,
    ) -> Self {
        let header = &spoken.opened.bundle.header;
        let stock_id = order.and_then(|place| step.orders.get(place));
        Self {
            bundle: spoken.opened.bundle.root.display().to_string(),
            agent: header.agent.id.clone(),
            level: header.mask.level,
            instruction: header.mask.instruction,
            numeric: header.mask.numeric,
            mode: header.mode,
            step: step.step,
            order: order.map(|place| place + 1),
            stock_id: stock_id.map(|order| order.stock_id.clone()),
            category: found.category,
            is_shown,
            source: found.source,
            word: quote.word.clone(),
            bytes: (found.bytes.start, found.bytes.end),
            sentence: quote.sentence(),
            quote,
        }
    }
}
