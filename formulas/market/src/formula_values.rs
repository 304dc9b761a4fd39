//! Values of formulas over a panel.

use crate::FormulasError;
use crate::field_panel::{FieldName, FieldPanel, PlannedPanel};
use ktd_env::TradeDate;
use ktd_expressions::{CheckedFormula, EvaluationError, FormulaEngine, FormulaPlan, FormulaPrecision};
use ktd_io::parallel::in_parallel_with;

/// Which rows are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueSpan {
    /// The first day; none for the panel's.
    pub from: Option<TradeDate>,
    /// The last day; none for the panel's.
    pub to: Option<TradeDate>,
    /// Codes; none for all.
    pub names: Option<Vec<String>>,
}

impl ValueSpan {
    fn has_day(&self, day: TradeDate) -> bool {
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }

    fn has_name(&self, name: &FieldName) -> bool {
        let named = |names: &Vec<String>| names.iter().any(|code| code.eq_ignore_ascii_case(&name.code));
        self.names.as_ref().is_none_or(named)
    }
}

/// Values of every formula on the rows of one instrument.
#[derive(Debug, Clone, PartialEq)]
pub struct NameValues {
    /// Its code.
    pub code: String,
    /// Places of the rows in the calendar.
    pub sessions: Vec<usize>,
    /// A column a formula, a cell a session; NaN where missing.
    pub columns: Vec<Vec<f32>>,
}

/// Values of formulas, instrument after instrument in the order of codes.
#[derive(Debug, Clone, PartialEq)]
pub struct FormulaValues {
    /// The sessions of the panel.
    pub calendar: Vec<TradeDate>,
    /// The instruments with at least one row.
    pub names: Vec<NameValues>,
}

impl FormulaValues {
    /// Rows of all instruments.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.names.iter().map(|name| name.sessions.len()).sum()
    }
}

/// Evaluates formulas on every instrument of the span, from its first row whatever the span is. The bits do not depend on
/// threads, on the span, or on the other formulas.
///
/// # Errors
/// [`FormulasError::Input`] for a formula that names an instrument that the panel lacks.
pub fn evaluate(
    panel: &FieldPanel,
    formulas: &[CheckedFormula],
    precision: FormulaPrecision,
    span: &ValueSpan,
    threads: usize,
) -> Result<FormulaValues, FormulasError> {
    let mut names = Vec::new();
    evaluate_each(panel, formulas, precision, (span, threads), |name| {
        names.push(name);
        Ok::<(), FormulasError>(())
    })?;
    Ok(FormulaValues {
        calendar: panel.calendar.clone(),
        names,
    })
}

/// The same, each instrument handed over in the order of codes, so that no more than a few stand in memory.
///
/// # Errors
/// Those of [`evaluate`], and those of `take`.
pub fn evaluate_each<E: From<FormulasError>>(
    panel: &FieldPanel,
    formulas: &[CheckedFormula],
    precision: FormulaPrecision,
    (span, threads): (&ValueSpan, usize),
    mut take: impl FnMut(NameValues) -> Result<(), E>,
) -> Result<(), E> {
    let plan = FormulaPlan::of(formulas, precision);
    let planned = PlannedPanel::new(panel, plan.fields());
    let wanted: Vec<&FieldName> = panel.names.iter().filter(|name| span.has_name(name)).collect();
    let cells = formulas.len().saturating_mul(panel.calendar.len()).max(1);
    let at_once = (BYTES_AT_ONCE / (4 * cells)).clamp(threads.max(1), NAMES_AT_ONCE);
    for names in wanted.chunks(at_once) {
        let each = in_parallel_with(names, threads, FormulaEngine::default, |engine, name| {
            values_of(panel, (&plan, engine), &planned, name, span)
        });
        for name in each {
            let name = name.map_err(|error| {
                FormulasError::input(
                    error.to_string(),
                    "name an instrument of the panel, or leave the formula out",
                )
            })?;
            if !name.sessions.is_empty() {
                take(name)?;
            }
        }
    }
    Ok(())
}

/// Instruments whose values stand in memory together, at most.
const NAMES_AT_ONCE: usize = 64;

/// Bytes that their values take, at most, unless those of one instrument a thread are more.
const BYTES_AT_ONCE: usize = 1 << 28;

fn values_of(
    panel: &FieldPanel,
    (plan, engine): (&FormulaPlan, &mut FormulaEngine),
    planned: &PlannedPanel<'_>,
    name: &FieldName,
    span: &ValueSpan,
) -> Result<NameValues, EvaluationError> {
    let kept: Vec<usize> = (0..name.rows())
        .filter(|row| {
            let session = name.first_session + row;
            let day = panel.calendar.get(session);
            name.is_shown(session) && day.is_some_and(|day| span.has_day(*day))
        })
        .collect();
    let mut columns = vec![Vec::new(); plan.formulas()];
    if !kept.is_empty() {
        let rows = planned.rows_of(name);
        engine.evaluate(plan, &rows, planned, |formula, cells| {
            if let Some(column) = columns.get_mut(formula) {
                column.extend(kept.iter().filter_map(|row| cells.get(*row)).copied());
            }
        })?;
    }
    Ok(NameValues {
        code: name.code.clone(),
        sessions: kept.into_iter().map(|row| name.first_session + row).collect(),
        columns,
    })
}
