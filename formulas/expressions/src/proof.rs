//! The proof that no value reads a later day: a panel is cut, and its later days are replaced, and no earlier bit moves.

use crate::engine::{EvaluationError, FormulaEngine};
use crate::plan::FormulaPlan;
use crate::rows::{FieldCells, NamePanel, NameRows};

/// A name of a panel under proof.
#[derive(Debug, Clone)]
pub struct PanelName<'a> {
    /// Its code.
    pub code: String,
    /// Its rows, with columns in the order of the plan's fields.
    pub rows: NameRows<'a>,
}

/// A cell that changed when only later days did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookAheadLeak {
    /// The place of the formula in its plan.
    pub formula: usize,
    /// The code of the name.
    pub code: String,
    /// The row of the name.
    pub row: usize,
    /// The first session that was cut off or replaced.
    pub session: usize,
}

/// Columns of a name whose rows from a session on are replaced, in the order of the plan's fields.
pub type ReplacedColumns = Vec<Vec<f64>>;

struct BorrowedPanel<'a, 'b>(&'b [PanelName<'a>]);

impl NamePanel for BorrowedPanel<'_, '_> {
    fn name_rows(&self, code: &str) -> Option<NameRows<'_>> {
        let name = self.0.iter().find(|name| name.code.eq_ignore_ascii_case(code));
        name.map(|name| name.rows.clone())
    }
}

/// The values of all formulas on all names: by name, then by formula.
fn values(plan: &FormulaPlan, names: &[PanelName<'_>]) -> Result<Vec<Vec<Vec<f32>>>, EvaluationError> {
    let mut engine = FormulaEngine::default();
    let panel = BorrowedPanel(names);
    let of_name = |name: &PanelName<'_>| {
        let mut columns = vec![Vec::new(); plan.formulas()];
        engine.evaluate(plan, &name.rows, &panel, |formula, cells| {
            if let Some(column) = columns.get_mut(formula) {
                column.extend_from_slice(cells);
            }
        })?;
        Ok(columns)
    };
    names.iter().map(of_name).collect()
}

/// Evaluates a plan on a panel, on the panel before each of some sessions, and on panels whose rows from a session on
/// are replaced, and returns the first cell of each formula and name whose bits before that session differ.
///
/// `replace` gives a name's columns for one of the sessions of `replaced`; rows before the session are taken from the
/// panel whatever it returns.
///
/// # Errors
/// The columns of a name are not those of the plan's fields, or a formula names an unknown instrument.
pub fn prove_no_look_ahead(
    plan: &FormulaPlan,
    names: &[PanelName<'_>],
    cut: &[usize],
    replaced: &[usize],
    mut replace: impl FnMut(usize, &PanelName<'_>) -> ReplacedColumns,
) -> Result<Vec<LookAheadLeak>, EvaluationError> {
    let whole = values(plan, names)?;
    let mut leaks = Vec::new();
    for session in cut {
        let before: Vec<PanelName<'_>> = names
            .iter()
            .map(|name| PanelName {
                code: name.code.clone(),
                rows: name.rows.before(*session),
            })
            .collect();
        compare(&whole, &values(plan, &before)?, names, *session, &mut leaks);
    }
    for session in replaced {
        let columns: Vec<ReplacedColumns> = names
            .iter()
            .map(|name| mixed(name, *session, replace(*session, name)))
            .collect();
        let after: Vec<PanelName<'_>> = names
            .iter()
            .zip(&columns)
            .map(|(name, columns)| PanelName {
                code: name.code.clone(),
                rows: NameRows::new(
                    name.rows.first_session(),
                    columns.iter().map(|cells| FieldCells::Doubles(cells)).collect(),
                ),
            })
            .collect();
        compare(&whole, &values(plan, &after)?, names, *session, &mut leaks);
    }
    Ok(leaks)
}

/// The panel's cells before a session, the replacement's from it on.
fn mixed(name: &PanelName<'_>, session: usize, replacement: ReplacedColumns) -> ReplacedColumns {
    let kept = session.saturating_sub(name.rows.first_session());
    let columns = name.rows.columns().iter().zip(replacement);
    columns
        .map(|(own, new)| {
            let after = new.into_iter().skip(kept);
            own.doubles().take(kept).chain(after).collect()
        })
        .collect()
}

fn compare(
    whole: &[Vec<Vec<f32>>],
    other: &[Vec<Vec<f32>>],
    names: &[PanelName<'_>],
    session: usize,
    leaks: &mut Vec<LookAheadLeak>,
) {
    for (name, (whole, other)) in names.iter().zip(whole.iter().zip(other)) {
        let rows = name.rows.before(session).rows();
        for (formula, (whole, other)) in whole.iter().zip(other).enumerate() {
            let mut cells = whole.iter().zip(other).take(rows);
            let differs = cells.position(|(whole, other)| whole.to_bits() != other.to_bits());
            if let Some(row) = differs {
                leaks.push(LookAheadLeak {
                    formula,
                    code: name.code.clone(),
                    row,
                    session,
                });
            }
        }
    }
}
