//! Table 4: functions that were shifted for safety, and over-engineered ones (classes of `AlphaQT`'s tables 4 and 5).

use super::cells::ReportedCell;
use super::layers::{INTERVAL_NOTE, bounds, missing, rate_columns};
use crate::CodeError;
use crate::run::FIRST_ROUND;
use ktd_factor_code::{
    FactorCategory, FactorTasks, FamilyRate, JudgeRule, LayersPassed, NearMiss, SourceSize,
};
use ktd_stats::{Sample, median};
use ktd_study::StudyError;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

/// A first answer that runs.
struct SizedAnswer<'r> {
    family: FactorCategory,
    task: &'r str,
    reached: LayersPassed,
    /// The right values, some rows too late.
    is_late: bool,
    /// None where the task has no golden code here.
    size: Option<SourceSize>,
}

/// The first answers of a bundle that run.
struct SizedCell<'c, 'r> {
    cell: &'c ReportedCell<'r>,
    answers: Vec<SizedAnswer<'r>>,
}

impl<'c, 'r> SizedCell<'c, 'r> {
    fn of(cell: &'c ReportedCell<'r>, known: &FactorTasks) -> Self {
        let first = cell.found.answers.iter();
        let first = first.filter(|answer| answer.event.round == FIRST_ROUND);
        let answers = first.filter_map(|answer| {
            let verdict = answer.event.verdict.as_ref()?;
            let task = cell
                .world
                .tasks
                .iter()
                .find(|task| task.id == answer.event.task)?;
            let reached = verdict.passes(JudgeRule::Strict, &cell.rules);
            // A user's task of that name is another one.
            let golden = known.find(&task.id).filter(|known| known.fx == task.fx);
            let golden = golden.and_then(|known| known.golden.as_deref());
            let sized = SizedAnswer {
                family: task.category,
                task: &task.id,
                reached,
                is_late: matches!(verdict.near_miss, Some(NearMiss::Shift { rows }) if 0 < rows),
                size: answer
                    .source
                    .as_deref()
                    .zip(golden)
                    .map(|(own, golden)| SourceSize::of(own, golden)),
            };
            (LayersPassed::Runs <= reached).then_some(sized)
        });
        Self {
            cell,
            answers: answers.collect(),
        }
    }

    fn rate(&self, passes: impl Fn(&SizedAnswer<'_>) -> Option<bool>) -> FamilyRate<'r> {
        let counted = self.answers.iter();
        FamilyRate::of(counted.filter_map(|answer| Some((answer.family, answer.task, passes(answer)?))))
    }

    /// Of functions that are safe and not right, those that are late.
    fn late(&self) -> FamilyRate<'r> {
        self.rate(|answer| (answer.reached == LayersPassed::Safe).then_some(answer.is_late))
    }

    /// Of functions that are right, or of those that run and are not, the over-engineered ones.
    fn over_engineered(&self, is_right: bool) -> FamilyRate<'r> {
        self.rate(|answer| {
            let is_of = (LayersPassed::Right <= answer.reached) == is_right;
            Some(answer.size.filter(|_| is_of)?.is_over_engineered())
        })
    }

    /// The median of operations, in operations of the golden code.
    fn median_size(&self) -> Option<f64> {
        let number = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
        let sizes = self.answers.iter().filter_map(|answer| answer.size);
        let sizes: Vec<f64> = sizes
            .filter(|size| 0 < size.golden)
            .map(|size| number(size.own) / number(size.golden))
            .collect();
        median(&Sample::new("functions", &sizes).ok()?).ok()
    }
}

/// The table.
pub(super) fn table(cells: &[ReportedCell<'_>]) -> Result<TableData, StudyError> {
    let known = FactorTasks::compiled_in().map_err(CodeError::from)?;
    let rows: Vec<SizedCell<'_, '_>> = cells.iter().map(|cell| SizedCell::of(cell, &known)).collect();
    let table = RowTable::new(
        "T4. Shifted for safety, and over-engineered, of first answers",
        &rows,
    )
    .text("bundle", |row| row.cell.name())
    .count("safe and not right", |row| row.late().answers);
    let table = rate_columns(table, "shifted for safety", |row| bounds(&row.late()))
        .count("right", |row| row.over_engineered(true).answers);
    let table = rate_columns(table, "over-engineered of them", |row| {
        bounds(&row.over_engineered(true))
    })
    .count("run and not right", |row| row.over_engineered(false).answers);
    let table = rate_columns(table, "over-engineered of these", |row| {
        bounds(&row.over_engineered(false))
    });
    Ok(table
        .column(("median size", Right), |row| {
            let size = row.median_size();
            size.map_or_else(|| missing("no function that runs, of a task with golden code"), TableCell::Ratio)
        })
        .table()
        .with_note(format!(
            "shifted for safety: the right values, 1 to 5 rows too late; over-engineered: at least {} times the operations of the golden \
             code, and {} more; size: operations over those of the golden code; of tasks of one's own nothing is compared. Of the golden \
             set the rule names 0 of 108 golden functions, 1 of 99 right replies, which loops, and 0 of 88 wrong ones; of golden functions \
             with 1, 3, 5 and 9 steps that nobody asked for it names 4, 45, 76 and 94 of 100; how many honest functions of another hand it \
             names is not known",
            SourceSize::TIMES,
            SourceSize::MORE
        ))
        .with_note(INTERVAL_NOTE))
}
