//! What attackers know of how probes are drawn: the database with the design of a set.

use crate::column::Column;
use crate::database::{Database, SUSPENDED, narrow};
use crate::kind::ProbeKind;
use crate::prior::{Prior, priors};
use crate::sampling_design::SamplingDesign;
use ktd_env::Board;
use ktd_env::factors::Factor;
use std::borrow::Cow;

impl Database {
    /// The same database in the hands of attackers who know how the probes were drawn.
    #[must_use]
    pub fn with_design(mut self, design: SamplingDesign) -> Self {
        self.priors = priors(&design, &self.askable, self.day_count());
        self.design = design;
        self
    }

    /// The prior of an exhibit of this kind that shows so many steps.
    pub(crate) fn prior(&self, kind: ProbeKind, steps: usize) -> Cow<'_, Prior> {
        let known = self.priors.get(&(kind, steps)).map(Cow::Borrowed);
        let made = || Prior::of((&self.design, &self.askable, self.day_count()), kind, steps);
        known.unwrap_or_else(|| Cow::Owned(made()))
    }

    /// Counts the members of each board that a probe can ask about on a day.
    pub(crate) fn count_askable(&mut self) {
        let mut askable = vec![vec![0; self.day_count()]; Board::ALL.len()];
        for members in &self.members {
            let Some(rows) = self.names.get(members.place) else {
                continue;
            };
            let board = Board::ALL.iter().position(|board| *board == rows.board);
            let Some(counts) = board.and_then(|board| askable.get_mut(board)) else {
                continue;
            };
            for row in members.span.clone().filter(|row| self.is_whole(*row)) {
                if let Some(stocks) = counts.get_mut(rows.first + row - rows.span.start) {
                    *stocks += 1;
                }
            }
        }
        self.askable = askable;
    }

    /// Whether a row has trading and every factor.
    fn is_whole(&self, row: usize) -> bool {
        let number = |column: Column| self.column(column).get(row).copied().unwrap_or(f32::NAN);
        let has_factor = |factor: &Factor| number(Column::Score(*factor)).is_finite();
        number(Column::State).total_cmp(&narrow(SUSPENDED)).is_ne() && Factor::ALL.iter().all(has_factor)
    }
}
