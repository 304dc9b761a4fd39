//! The proof on a panel that formulas read no later day.

use crate::FormulasError;
use crate::field_panel::{FieldPanel, PlannedPanel};
use ktd_env::KeyedStream;
use ktd_expressions::{
    CheckedFormula, FormulaPlan, FormulaPrecision, LookAheadLeak, PanelName, ReplacedColumns,
    prove_no_look_ahead,
};

/// Panels that are cut after a session.
const CUTS: usize = 10;

/// Panels whose later bars are replaced.
const REPLACEMENTS: usize = 5;

/// Instruments that a proof tries, the first of the panel in the order of codes: the engine treats all alike.
pub const PROOF_NAMES: usize = 20;

/// Evaluates formulas on ten panels cut after a session and on five whose later bars are replaced by random paths, each of the
/// first [`PROOF_NAMES`] instruments, and returns the first cell of each formula and instrument whose earlier bits moved: a
/// defect of the engine, which evaluates every instrument by the same steps.
///
/// # Errors
/// [`FormulasError`] for a formula that names an instrument that is not among them.
pub fn prove(
    panel: &FieldPanel,
    formulas: &[CheckedFormula],
    precision: FormulaPrecision,
    seed: u64,
) -> Result<Vec<LookAheadLeak>, FormulasError> {
    let plan = FormulaPlan::of(formulas, precision);
    let planned = PlannedPanel::new(panel, plan.fields());
    let names: Vec<PanelName<'_>> = panel
        .names
        .iter()
        .take(PROOF_NAMES)
        .map(|name| PanelName {
            code: name.code.clone(),
            rows: planned.rows_of(name),
        })
        .collect();
    let sessions = panel.calendar.len();
    let places = |count: usize| -> Vec<usize> {
        (1..=count)
            .map(|place| sessions * place / (count + 1))
            .filter(|session| 0 < *session)
            .collect()
    };
    let replace = |session: usize, name: &PanelName<'_>| {
        let purpose = format!("replaced bars {session} {}", name.code);
        replaced(name, &mut KeyedStream::for_purpose(seed, &purpose))
    };
    prove_no_look_ahead(&plan, &names, &places(CUTS), &places(REPLACEMENTS), replace).map_err(|error| {
        FormulasError::input(
            error.to_string(),
            "prove formulas that name an instrument on a panel that begins with it",
        )
    })
}

/// Every cell times a step of a random path that all columns of a row do not share.
fn replaced(name: &PanelName<'_>, stream: &mut KeyedStream) -> ReplacedColumns {
    const STEP: f64 = 0.5;
    name.rows
        .columns()
        .iter()
        .map(|cells| {
            cells
                .doubles()
                .map(|cell| cell * libm::exp(STEP * stream.normal()))
                .collect()
        })
        .collect()
}
