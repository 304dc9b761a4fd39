//! One split of a search: the market up to its last day, and what formulas are held against.

use super::config::MineStudy;
use crate::study_split::SplitSpan;
use ktd_alphas::{
    DayTable, FigureRow, MemberTable, StabilityMode, TrainTables, daily_correlations, rank_stability,
};
use ktd_expressions::CheckedFormula;
use ktd_formulas::FieldPanel;
use ktd_formulas::FormulaMarket;
use ktd_formulas::ScoreTask;
use ktd_study::StudyError;
use std::ops::Range;

/// A split of a search. Later days than its last are not in it.
#[derive(Debug, Clone)]
pub(crate) struct MineDays {
    pub(crate) data: FormulaMarket,
    window: Range<usize>,
    labels: DayTable,
    pub(crate) members: MemberTable,
    pub(crate) days: Vec<usize>,
    label_days: Vec<usize>,
}

impl MineDays {
    /// The days of a split.
    pub(crate) fn new(mine: &MineStudy, data: &FormulaMarket, span: &SplitSpan) -> Result<Self, StudyError> {
        let window = span.sessions.clone();
        let data = data.until(window.end);
        let labels = data.labels(mine.label, &window);
        let members = data.universe(mine.universe, &window);
        let days = span.days(window.start);
        if members.cells(&days) == 0 {
            return Err(StudyError::input(
                format_args!("no name counts on any day of split {}", span.name),
                "write universe = \"all\" where the panel has no members",
            ));
        }
        Ok(Self {
            label_days: span.label_days(window.start),
            data,
            window,
            labels,
            members,
            days,
        })
    }

    /// Its sessions in the calendar.
    pub(crate) fn sessions(&self) -> Vec<usize> {
        self.window.clone().collect()
    }

    /// What fitness is computed from.
    pub(crate) fn train_tables(&self, mine: &MineStudy) -> TrainTables {
        let days = (self.days.clone(), self.label_days.as_slice());
        TrainTables::new(self.labels.clone(), self.members.clone(), days, mine.min_names)
    }

    /// Bytes of the scores of one formula.
    pub(crate) fn table_bytes(&self) -> usize {
        self.window.len() * self.data.stocks().count() * size_of::<f64>()
    }

    /// The scores of formulas on a panel of these days: its own, or that with perturbed bars.
    pub(crate) fn scores(
        &self,
        mine: &MineStudy,
        (panel, threads): (&FieldPanel, usize),
        formulas: &[CheckedFormula],
    ) -> Result<Vec<DayTable>, StudyError> {
        let task = ScoreTask {
            data: &self.data,
            precision: mine.numeric.precision(),
            window: self.window.clone(),
            threads,
        };
        let columns = task.columns(panel, formulas, &mut || ())?;
        Ok((0..formulas.len())
            .map(|formula| columns.table(formula))
            .collect())
    }

    /// Prediction and stability of a formula's scores; multiplied by -1 before where they are to be turned.
    pub(crate) fn figures(&self, mine: &MineStudy, scores: &DayTable, is_turned: bool) -> FigureRow {
        let (members, min_names) = (&self.members, mine.min_names);
        let turned = is_turned.then(|| scores.times(-1.0));
        let scores = turned.as_ref().unwrap_or(scores);
        let daily = daily_correlations(scores, &self.labels, members, &self.label_days, min_names);
        let power = daily.power(mine.beta);
        let stability = rank_stability(scores, members, &self.days, min_names, StabilityMode::Common);
        let mut row = FigureRow::default();
        row.put_all(
            &power,
            &[
                ("pps", |power| Ok(power.score)),
                ("ic", |power| Ok(power.ic)),
                ("rank_ic", |power| Ok(power.rank_ic)),
            ],
        );
        row.put_all(&stability, &[("rre", |stability| Ok(stability.score))]);
        row
    }
}
