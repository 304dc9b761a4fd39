//! Formulas to evaluate together, and those that are refused.

use crate::formula_file::FormulaLine;
use ktd_expressions::{
    Alpha158Options, CheckedFormula, FormulaError, FormulaRole, NamedFormula, alpha158, alpha360,
    check_formula, style_factors,
};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
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

/// A checked formula for people and programs.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CheckedLine<'s> {
    id: &'s str,
    pool: Option<&'s str>,
    expression: &'s str,
    canonical: &'s str,
    r#type: &'static str,
    days_back: String,
    days_ahead: u64,
    duplicate_of: Option<&'s str>,
}

/// A refusal for people and programs.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct RefusedLine<'s> {
    id: &'s str,
    expression: &'s str,
    code: &'static str,
    byte: usize,
    found: &'s str,
    expected: &'s str,
    hint: &'s str,
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

    /// What each formula that holds means and reads.
    #[must_use]
    pub fn checked_lines(&self) -> Vec<CheckedLine<'_>> {
        let checked = self.checked.iter().zip(self.duplicates());
        let lines = checked.map(|((line, checked), duplicate_of)| CheckedLine {
            id: &line.id,
            pool: line.pool.as_deref(),
            expression: &line.expression,
            canonical: checked.canonical(),
            r#type: checked.kind().label(),
            days_back: checked.reach().back.to_string(),
            days_ahead: checked.reach().forward,
            duplicate_of,
        });
        lines.collect()
    }

    /// Why each of the others is refused.
    #[must_use]
    pub fn refusals(&self) -> Vec<RefusedLine<'_>> {
        let refusals = self
            .refused
            .iter()
            .map(|RefusedFormula { line, error }| RefusedLine {
                id: &line.id,
                expression: &line.expression,
                code: error.fault.code(),
                byte: error.at,
                found: &error.found,
                expected: &error.expected,
                hint: &error.hint,
            });
        refusals.collect()
    }

    /// All of it as a table.
    #[must_use]
    pub fn table(&self) -> TableData {
        let mut rows: Vec<[String; 6]> = Vec::new();
        for line in self.checked_lines() {
            let note = line
                .duplicate_of
                .map_or_else(String::new, |id| format!("duplicate of {id}"));
            let (id, formula, ahead) = (
                line.id.to_owned(),
                line.canonical.to_owned(),
                line.days_ahead.to_string(),
            );
            rows.push([id, formula, line.r#type.to_owned(), line.days_back, ahead, note]);
        }
        for line in self.refusals() {
            let note = format!("{} at byte {}", line.code, line.byte);
            let (id, formula) = (line.id.to_owned(), line.expression.to_owned());
            rows.push([
                id,
                formula,
                "refused".to_owned(),
                String::new(),
                String::new(),
                note,
            ]);
        }
        let title = format!("{} formulas, {} refused", rows.len(), self.refused.len());
        let number = |text: &String| TableCell::Text(text.clone());
        RowTable::new(title, &rows)
            .text("id", |[id, ..]| id)
            .text("formula", |[_, formula, ..]| formula)
            .text("type", |[_, _, kind, ..]| kind)
            .column(("days back", Align::Right), |[.., back, _, _]| number(back))
            .column(("days ahead", Align::Right), |[.., ahead, _]| number(ahead))
            .text("note", |[.., note]| note)
            .table()
    }
}
