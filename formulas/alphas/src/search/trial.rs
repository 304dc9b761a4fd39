//! What became of one formula of a search on the train days.

use ktd_expressions::FormulaFault;
use serde::{Deserialize, Serialize};

/// Why a formula of a search has no fitness. Works have those that only values can show.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialFault {
    /// The checker refuses it.
    #[serde(skip)]
    #[strum(transparent)]
    Refused(FormulaFault),
    /// More nodes than the search allows.
    #[serde(skip)]
    TooManyNodes,
    /// Missing on too many cells of the universe.
    Sparse,
    /// Equal values on too many days.
    Constant,
    /// No day counts.
    Undefined,
}

impl TrialFault {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// What a formula is worth on the train days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialScore {
    /// Its mean daily rank correlation with the label.
    pub rank_ic: f64,
    /// The size of it less the cost of the formula's nodes.
    pub fitness: f64,
}

/// A formula that was tried, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its canonical form; of a text that is no formula, the text.
    pub form: String,
    /// Its nodes; 0 of a text that is no formula.
    pub nodes: usize,
    /// Its worth, or why it has none.
    pub outcome: Result<TrialScore, TrialFault>,
}

impl Trial {
    /// A formula with its train figure; `node_cost` is taken off for each node.
    #[must_use]
    pub fn new(form: &str, nodes: usize, rank_ic: Result<f64, TrialFault>, node_cost: f64) -> Self {
        let score = |rank_ic: f64| TrialScore {
            rank_ic,
            fitness: rank_ic.abs() - node_cost * ktd_stats::moments::count(nodes),
        };
        Self {
            form: form.to_owned(),
            nodes,
            outcome: rank_ic.map(score),
        }
    }

    /// Whether its values were computed: only such a trial is a look at the data.
    #[must_use]
    pub const fn is_evaluated(&self) -> bool {
        !matches!(
            self.outcome,
            Err(TrialFault::Refused(_) | TrialFault::TooManyNodes)
        )
    }
}
