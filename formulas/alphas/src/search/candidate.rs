//! A formula that a search proposes.

use super::trial::TrialFault;
use ktd_expressions::{CheckedFormula, Formula, FormulaRole, check_formula};

/// A formula that a search proposes: one to evaluate, or one that is refused before.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchCandidate {
    /// One to evaluate.
    Checked(CheckedFormula),
    /// One that no value is computed of.
    Refused {
        /// Its canonical form, or the text of what is no formula.
        form: String,
        /// Its nodes; 0 of what is no formula.
        nodes: usize,
        /// Why.
        fault: TrialFault,
    },
}

impl SearchCandidate {
    /// The candidate of a text.
    #[must_use]
    pub fn of_text<F: AsRef<str>>(text: &str, fields: &[F], role: FormulaRole, max_nodes: usize) -> Self {
        match check_formula(text, fields, role) {
            Ok(checked) if max_nodes < checked.formula().nodes() => Self::Refused {
                form: checked.canonical().to_owned(),
                nodes: checked.formula().nodes(),
                fault: TrialFault::TooManyNodes,
            },
            Ok(checked) => Self::Checked(checked),
            Err(error) => Self::Refused {
                form: text.to_owned(),
                nodes: 0,
                fault: TrialFault::Refused(error.fault),
            },
        }
    }

    /// The candidate of a tree.
    pub(super) fn of(formula: &Formula, fields: &[String], max_nodes: usize) -> Self {
        let nodes = formula.nodes();
        let form = formula.to_string();
        if max_nodes < nodes {
            let fault = TrialFault::TooManyNodes;
            return Self::Refused { form, nodes, fault };
        }
        match check_formula(&form, fields, FormulaRole::Alpha) {
            Ok(checked) => Self::Checked(checked),
            Err(error) => Self::Refused {
                form,
                nodes,
                fault: TrialFault::Refused(error.fault),
            },
        }
    }

    /// What it is known by.
    #[must_use]
    pub fn form(&self) -> &str {
        match self {
            Self::Checked(checked) => checked.canonical(),
            Self::Refused { form, .. } => form,
        }
    }

    /// The formula, where it is to be evaluated.
    #[must_use]
    pub const fn checked(&self) -> Option<&CheckedFormula> {
        match self {
            Self::Checked(checked) => Some(checked),
            Self::Refused { .. } => None,
        }
    }

    /// Form, nodes and fault of one that is not to be evaluated.
    #[must_use]
    pub fn refusal(&self) -> Option<(&str, usize, TrialFault)> {
        match self {
            Self::Checked(_) => None,
            Self::Refused { form, nodes, fault } => Some((form, *nodes, *fault)),
        }
    }
}
