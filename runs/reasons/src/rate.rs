//! How often words of a kind stand in reasons.

use super::category::Category;
use super::hit::Hit;
use crate::ReasonsError;
use ktd_bundle::summary::Metric;
use ktd_stats::{Confidence, wilson};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Which reasons of an episode are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonScope {
    /// The reasons of orders.
    Order,
    /// The reasons for the whole.
    Overall,
}

impl ReasonScope {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Order, Self::Overall];

    /// The name in tables and files.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Overall => "overall",
        }
    }
}

/// Words of one kind in a number of reasons.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Rate {
    /// Words.
    pub hits: u64,
    /// Words a thousand reasons.
    pub per_1000: Metric,
    /// Reasons with at least one of them.
    pub reasons_with: u64,
    /// The share of these.
    pub share: Metric,
    /// Wilson's 95 % interval of the share.
    pub interval: Option<(f64, f64)>,
    /// Words that the harness had shown in the step; they are in no number above.
    pub shown: u64,
    /// The same a thousand reasons.
    pub shown_per_1000: Metric,
}

/// The words in a number of reasons.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Rates {
    /// Reasons with at least one visible character.
    pub reasons: u64,
    /// Reasons without; they are in no rate.
    pub empty: u64,
    /// Words of any kind.
    pub any: Rate,
    /// Words by kind.
    pub categories: BTreeMap<Category, Rate>,
}

/// Counts of reasons and hits, before they are rates.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    reasons: u64,
    empty: u64,
    hits: BTreeMap<Category, u64>,
    shown: BTreeMap<Category, u64>,
    /// Reasons with a hit: of a category, or (`None`) of any.
    with: BTreeMap<Option<Category>, u64>,
}

impl Tally {
    /// Counts one reason with its hits.
    pub(super) fn add<'h>(&mut self, text: &str, hits: impl Iterator<Item = &'h Hit>) {
        let is_visible = |character: char| !character.is_whitespace() && !character.is_control();
        if !text.contains(is_visible) {
            self.empty += 1;
            return;
        }
        self.reasons += 1;
        let mut kinds = BTreeSet::new();
        for hit in hits {
            let counts = if hit.is_shown {
                &mut self.shown
            } else {
                &mut self.hits
            };
            *counts.entry(hit.category).or_insert(0) += 1;
            if !hit.is_shown {
                kinds.extend([None, Some(hit.category)]);
            }
        }
        for kind in kinds {
            *self.with.entry(kind).or_insert(0) += 1;
        }
    }

    /// The rates; `what` names the reasons that there may be none of.
    ///
    /// # Errors
    /// [`ReasonsError::Input`] for counts that no share has.
    pub(super) fn rates(&self, what: &str) -> Result<Rates, ReasonsError> {
        let of = |counts: &BTreeMap<Category, u64>, kind: Option<Category>| match kind {
            Some(kind) => counts.get(&kind).copied().unwrap_or(0),
            None => counts.values().sum(),
        };
        let rate = |kind: Option<Category>| {
            let with = self.with.get(&kind).copied().unwrap_or(0);
            Rate::of(
                (of(&self.hits, kind), with, of(&self.shown, kind)),
                self.reasons,
                what,
            )
        };
        let categories = Category::ALL
            .into_iter()
            .map(|category| Ok((category, rate(Some(category))?)))
            .collect::<Result<_, ReasonsError>>()?;
        Ok(Rates {
            reasons: self.reasons,
            empty: self.empty,
            any: rate(None)?,
            categories,
        })
    }
}

impl Rate {
    fn of((hits, with, shown): (u64, u64, u64), reasons: u64, what: &str) -> Result<Self, ReasonsError> {
        let interval = wilson(with, reasons, Confidence::P95)
            .map_err(|error| ReasonsError::input(error.to_string(), "report this defect"))?;
        let quotient = |count: u64, scale: f64| {
            if reasons == 0 {
                return Metric::missing(format!("no {what} reasons"));
            }
            Metric {
                value: Some(scale * float(count) / float(reasons)),
                reason: None,
            }
        };
        Ok(Self {
            hits,
            per_1000: quotient(hits, 1000.0),
            reasons_with: with,
            share: quotient(with, 1.0),
            interval: interval.map(|interval| (interval.lower, interval.upper)),
            shown,
            shown_per_1000: quotient(shown, 1000.0),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody writes 2^53 reasons")]
const fn float(count: u64) -> f64 {
    count as f64
}
