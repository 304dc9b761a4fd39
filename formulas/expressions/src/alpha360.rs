//! Alpha360: Qlib's set of the last sixty rows of six fields, relative to today's.

use crate::factors::NamedFormula;

const DAYS: usize = 60;

/// The formulas of Alpha360, in Qlib's order: field by field, oldest row first.
#[must_use]
pub fn alpha360() -> Vec<NamedFormula> {
    let fields = ["close", "open", "high", "low", "vwap", "volume"];
    let days = |field: &'static str| (0..DAYS).rev().map(move |lag| lagged(field, lag));
    fields.into_iter().flat_map(days).collect()
}

fn lagged(field: &str, lag: usize) -> NamedFormula {
    let today = if field == "volume" {
        "($volume+1e-12)"
    } else {
        "$close"
    };
    let text = if lag == 0 {
        format!("${field}/{today}")
    } else {
        format!("Ref(${field}, {lag})/{today}")
    };
    NamedFormula::new(&format!("{}{lag}", field.to_uppercase()), &text)
}
