//! Where the members of each day stand among each other.

use crate::column::Column;
use crate::database::{Database, count, narrow};
use ktd_env::factors::{Factor, Technical};

impl Database {
    /// Percentiles among the members of each day: 100 x (those below + half of the other equal ones) / (all - 1).
    pub(crate) fn rank_members(&mut self) {
        let mut of_day: Vec<Vec<usize>> = vec![Vec::new(); self.day_count()];
        for members in &self.members {
            for row in members.span.clone() {
                if let Some(rows) = of_day.get_mut(self.day_of_row(members.place, row)) {
                    rows.push(row);
                }
            }
        }
        let factors = Factor::ALL.map(|factor| (Column::Raw(factor), Column::Percentile(factor)));
        let technicals = Technical::ALL.map(|technical| {
            (
                Column::Technical(technical),
                Column::TechnicalPercentile(technical),
            )
        });
        for (from, to) in factors.into_iter().chain(technicals) {
            for rows in &of_day {
                let values = self.column(from);
                let mut ranked: Vec<(f32, usize)> = rows
                    .iter()
                    .filter_map(|row| Some((*values.get(*row).filter(|value| value.is_finite())?, *row)))
                    .collect();
                ranked.sort_by(|left, right| left.0.total_cmp(&right.0));
                self.put_ranks(to, &ranked);
            }
        }
    }

    fn put_ranks(&mut self, to: Column, ranked: &[(f32, usize)]) {
        let Some(cells) = self.columns.get_mut(to.place()) else {
            return;
        };
        let most = count(ranked.len().saturating_sub(1)).max(1.0);
        let mut below = 0;
        for equal in ranked.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
            let rank = count(below) + count(equal.len() - 1) / 2.0;
            for (_, row) in equal {
                if let Some(cell) = cells.get_mut(*row) {
                    *cell = narrow(100.0 * rank / most);
                }
            }
            below += equal.len();
        }
    }
}
