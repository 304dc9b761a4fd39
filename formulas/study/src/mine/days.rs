//! One split of a search: the market up to its last day, and what formulas are held against.

use super::config::MineStudy;
use crate::FormulaStudyError;
use crate::alpha_report::{FigureRow, coded};
use crate::alpha_study::StudyLabel;
use crate::study_data::StudyData;
use crate::study_split::SplitSpan;
use crate::study_values::ScoreTask;
use ktd_alphas::{
    DayTable, LabelKind, MemberTable, StabilityMode, TrainTables, daily_correlations, label_returns,
    rank_stability,
};
use ktd_expressions::CheckedFormula;
use ktd_formulas::FieldPanel;
use std::ops::Range;

/// A split of a search. Later days than its last are not in it.
#[derive(Debug, Clone)]
pub(crate) struct MineDays {
    pub(crate) data: StudyData,
    window: Range<usize>,
    labels: DayTable,
    pub(crate) members: MemberTable,
    pub(crate) days: Vec<usize>,
    label_days: Vec<usize>,
}

impl MineDays {
    /// The days of a split.
    pub(crate) fn new(
        mine: &MineStudy,
        data: &StudyData,
        span: &SplitSpan,
    ) -> Result<Self, FormulaStudyError> {
        let window = span.sessions.clone();
        let data = data.until(window.end);
        let table = |field| data.table(field, &window);
        let volumes = table("volume");
        let labels = match mine.label {
            StudyLabel::NextOpen => label_returns(LabelKind::NextOpen, &table("open"), &volumes, 1),
            StudyLabel::Close => label_returns(LabelKind::Close, &table("close"), &volumes, 1),
        };
        let members = data.universe(mine.universe, &window);
        let days = span.days(window.start);
        if members.cells(&days) == 0 {
            return Err(FormulaStudyError::input(
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
    ) -> Result<Vec<DayTable>, FormulaStudyError> {
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
        row.put("pps", coded(power.map(|power| power.score)));
        row.put("ic", coded(power.map(|power| power.ic)));
        row.put("rank_ic", coded(power.map(|power| power.rank_ic)));
        row.put("rre", coded(stability.map(|stability| stability.score)));
        row
    }
}
