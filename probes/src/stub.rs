//! A stand-in.
#![allow(missing_docs, missing_debug_implementations, clippy::all, clippy::pedantic, clippy::indexing_slicing)]
use crate::{Database, Gold, Measure};
pub fn expected(db: &Database, gold: &Gold, joint_days: usize) -> Vec<(Measure, f64)> {
    if gold.is_same().is_some() {
        return vec![(Measure::Same, 0.5)];
    }
    let board = gold.targets[0].board;
    let n = db.boards.iter().filter(|b| **b == board).count() as f64;
    let d = (db.day_count() - 260) as f64;
    vec![
        (Measure::Top1, 1.0 / n),
        (Measure::Top5, (5.0 / n).min(1.0)),
        (Measure::Date5, 11.0 / d),
        (Measure::Date20, 41.0 / d),
        (Measure::Date60, 121.0 / d),
        (Measure::Joint, (5.0 / n).min(1.0) * (2 * joint_days + 1) as f64 / d),
        (Measure::Sector, 0.05),
        (Measure::Board, 1.0),
    ]
}
pub mod controls {
    use crate::{ProbePlan, ProbeText};
    use ktd_env::Market;
    pub fn sorted_aliases(_: &Market, _: &ProbePlan, probes: &[ProbeText]) -> Vec<ProbeText> {
        probes.to_vec()
    }
}
