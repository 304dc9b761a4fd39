//! The list that judges score: formulas of all pools, each once, with controls among them.

use crate::study_pool::StudyPool;
use ktd_alphas::{JudgedRole, NONSENSE_FORMULAS, longer_formula};
use ktd_env::KeyedStream;
use ktd_expressions::{CheckedFormula, FormulaFault, FormulaRole, check_formula};
use ktd_masking::Payload;
use ktd_study::StudyError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Formulas that are also judged as equal, longer ones.
const LENGTH_PAIRS: usize = 10;

/// A formula of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeEntry {
    pub(super) formula: CheckedFormula,
    pub(super) role: JudgedRole,
}

/// An entry as files keep it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct EntryLine {
    pub(super) formula: String,
    #[serde(flatten)]
    pub(super) role: JudgedRole,
}

/// The list, and what cannot be on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeList {
    pub(super) entries: Vec<JudgeEntry>,
    /// Canonical forms that are shown to no model, each with the code of its reason.
    pub(super) unshown: Vec<(String, &'static str)>,
}

/// A formula that a model may be shown.
fn shown(text: &str) -> Result<CheckedFormula, FormulaFault> {
    let fields = Payload::formula_fields();
    let checked = check_formula(text, fields, FormulaRole::MaskedAlpha).map_err(|error| error.fault)?;
    Payload::formula(checked.formula())?;
    Ok(checked)
}

impl JudgeList {
    /// The formulas of pools in their order, each canonical form once, then controls.
    pub(super) fn of_pools(pools: &[StudyPool], seed: u64) -> Self {
        let mut list = Self {
            entries: Vec::new(),
            unshown: Vec::new(),
        };
        let mut known = BTreeSet::new();
        for (_, checked) in pools.iter().flat_map(|pool| &pool.set.checked) {
            if !known.insert(checked.canonical().to_owned()) {
                continue;
            }
            match Payload::formula(checked.formula()) {
                Ok(_) => list.entries.push(JudgeEntry {
                    formula: checked.clone(),
                    role: JudgedRole::Alpha,
                }),
                Err(fault) => list.unshown.push((checked.canonical().to_owned(), fault.code())),
            }
        }
        list.add_longer(seed, &mut known);
        for text in NONSENSE_FORMULAS {
            list.add_control(text, JudgedRole::Nonsense, &mut known);
        }
        list
    }

    fn add_longer(&mut self, seed: u64, known: &mut BTreeSet<String>) {
        let alphas = self.entries.len();
        let mut places: Vec<usize> = (0..alphas).collect();
        KeyedStream::for_purpose(seed, "judge length control").shuffle(&mut places);
        for of in places {
            if alphas + LENGTH_PAIRS <= self.entries.len() {
                break;
            }
            let longer = self
                .entries
                .get(of)
                .map(|entry| longer_formula(entry.formula.formula()));
            if let Some(longer) = longer {
                self.add_control(&longer.to_string(), JudgedRole::Longer { of }, known);
            }
        }
    }

    /// Adds a control, unless it is a formula of the list already or beyond the limits.
    fn add_control(&mut self, text: &str, role: JudgedRole, known: &mut BTreeSet<String>) {
        if let Ok(formula) = shown(text)
            && known.insert(formula.canonical().to_owned())
        {
            self.entries.push(JudgeEntry { formula, role });
        }
    }

    /// The list that a file keeps.
    pub(super) fn of_lines(lines: &[EntryLine]) -> Result<Self, StudyError> {
        let entry = |line: &EntryLine| {
            let formula = shown(&line.formula).map_err(|fault| {
                StudyError::input(
                    format_args!(
                        "the recorded formula {:?} is refused: {}",
                        line.formula,
                        fault.code()
                    ),
                    "restore the folder: this file was changed",
                )
            })?;
            Ok(JudgeEntry {
                formula,
                role: line.role,
            })
        };
        let entries: Result<Vec<_>, StudyError> = lines.iter().map(entry).collect();
        Ok(Self {
            entries: entries?,
            unshown: Vec::new(),
        })
    }

    /// The entries as files keep them.
    pub(super) fn lines(&self) -> Vec<EntryLine> {
        let line = |entry: &JudgeEntry| EntryLine {
            formula: entry.formula.canonical().to_owned(),
            role: entry.role,
        };
        self.entries.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_formulas::FormulaLine;
    use ktd_formulas::SetOfFormulas;

    fn pool(texts: &[&str]) -> StudyPool {
        let lines = texts.iter().enumerate().map(|(place, text)| FormulaLine {
            id: format!("a{place}"),
            expression: (*text).to_owned(),
            pool: None,
        });
        let fields = ["close", "open", "volume", "secret"].map(str::to_owned);
        StudyPool {
            id: "p".to_owned(),
            set: SetOfFormulas::check(lines.collect(), &fields, FormulaRole::Alpha),
            ..StudyPool::default()
        }
    }

    #[test]
    fn each_formula_stands_once_with_its_controls() {
        let first = pool(&["Mean($close,5)/$close", "$open/$close", "Mean($secret,5)"]);
        let second = pool(&[
            "$open / $close",
            "Mask($close,'SH600000')/$close",
            "Delta($close,3)/$close",
        ]);
        let list = JudgeList::of_pools(&[first, second], 1);
        let of =
            |wanted: fn(JudgedRole) -> bool| list.entries.iter().filter(|entry| wanted(entry.role)).count();
        assert_eq!(of(|role| role == JudgedRole::Alpha), 3);
        assert_eq!(of(|role| matches!(role, JudgedRole::Longer { .. })), 3);
        assert_eq!(of(|role| role == JudgedRole::Nonsense), 5);
        let codes: Vec<&str> = list.unshown.iter().map(|(_, code)| *code).collect();
        assert_eq!(codes, ["unknown_field", "names_a_code"]);
        let again = JudgeList::of_lines(&list.lines()).unwrap();
        assert_eq!(again.entries, list.entries);
    }

    #[test]
    fn ten_formulas_have_an_equal_longer_one() {
        let texts: Vec<String> = (2..30).map(|rows| format!("Ref($close,{rows})/$close")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let list = JudgeList::of_pools(&[pool(&texts)], 1);
        let longer = |entry: &JudgeEntry| match entry.role {
            JudgedRole::Longer { of } => Some(of),
            JudgedRole::Alpha | JudgedRole::Nonsense => None,
        };
        let pairs: BTreeSet<usize> = list.entries.iter().filter_map(longer).collect();
        assert_eq!(pairs.len(), LENGTH_PAIRS);
        assert_ne!(pairs, (0..LENGTH_PAIRS).collect(), "a stream chooses them");
    }
}
