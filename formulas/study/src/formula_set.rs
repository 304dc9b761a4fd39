//! Formulas to evaluate together, and those that are refused.

use crate::formula_file::FormulaLine;
use ktd_expressions::{
    Alpha158Options, CheckedFormula, FormulaError, FormulaRole, NamedFormula, alpha158, alpha360,
    check_formula, style_factors,
};
use std::collections::BTreeMap;

/// A set that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltInSet {
    /// Qlib's Alpha158.
    Alpha158,
    /// Qlib's Alpha360.
    Alpha360,
    /// The style factors that are formulas.
    Factors,
}

impl BuiltInSet {
    /// Every set.
    pub const ALL: [Self; 3] = [Self::Alpha158, Self::Alpha360, Self::Factors];

    /// Its name.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Alpha158 => "alpha158",
            Self::Alpha360 => "alpha360",
            Self::Factors => "factors",
        }
    }

    /// The set of a name.
    #[must_use]
    pub fn of(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.label() == label)
    }

    /// Its formulas.
    #[must_use]
    pub fn lines(self) -> Vec<FormulaLine> {
        let formulas: Vec<NamedFormula> = match self {
            Self::Alpha158 => alpha158(&Alpha158Options::default()),
            Self::Alpha360 => alpha360(),
            Self::Factors => style_factors(),
        };
        let line = |formula: NamedFormula| FormulaLine {
            id: formula.name,
            expression: formula.text,
            pool: Some(self.label().to_owned()),
        };
        formulas.into_iter().map(line).collect()
    }
}

/// A formula that no rule of its role takes.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedFormula {
    /// Which.
    pub line: FormulaLine,
    /// Why, where, and how to fix it.
    pub error: FormulaError,
}

/// Checked formulas with their lines, and those that were refused.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetOfFormulas {
    /// Formulas that hold, in the order of their lines.
    pub checked: Vec<(FormulaLine, CheckedFormula)>,
    /// The others.
    pub refused: Vec<RefusedFormula>,
}

impl SetOfFormulas {
    /// Checks lines against the fields there are.
    #[must_use]
    pub fn check(lines: Vec<FormulaLine>, fields: &[String], role: FormulaRole) -> Self {
        let mut set = Self::default();
        for line in lines {
            match check_formula(&line.expression, fields, role) {
                Ok(checked) => set.checked.push((line, checked)),
                Err(error) => set.refused.push(RefusedFormula { line, error }),
            }
        }
        set
    }

    /// The formulas that hold.
    #[must_use]
    pub fn formulas(&self) -> Vec<CheckedFormula> {
        self.checked.iter().map(|(_, checked)| checked.clone()).collect()
    }

    /// The id of an earlier formula of the same canonical form, by formula.
    #[must_use]
    pub fn duplicates(&self) -> Vec<Option<&str>> {
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        let mut earlier = Vec::with_capacity(self.checked.len());
        for (line, formula) in &self.checked {
            earlier.push(first.get(formula.canonical()).copied());
            first.entry(formula.canonical()).or_insert(&line.id);
        }
        earlier
    }
}
