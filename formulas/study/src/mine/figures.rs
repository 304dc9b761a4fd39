//! Figures of formulas on train days: what a search may show of what it has found.

use super::market::OpenMine;
use ktd_alphas::NoiseMode;
use ktd_alphas::{DayTable, Figure, FigureRow, NoiseLaw, coded, mean_rank_correlation, rank_robustness};
use ktd_expressions::CheckedFormula;
use ktd_formulas::NoiseDraw;
use ktd_io::parallel::in_parallel;
use ktd_stats::moments::mean;
use ktd_study::StudyError;

/// The word for a correlation with a better formula where there is none.
const NO_BETTER: &str = "no_better_formula";

/// Why robustness is undefined where no draw is made.
const NO_DRAW: &str = "no_draw";

/// A formula with its train figure.
#[derive(Debug, Clone)]
pub(crate) struct TrainFormula {
    pub(crate) checked: CheckedFormula,
    /// Its mean daily rank correlation with the label, whose sign orients it.
    pub(crate) rank_ic: f64,
}

impl TrainFormula {
    /// Whether it predicts the wrong way round.
    pub(crate) fn is_turned(&self) -> bool {
        self.rank_ic < 0.0
    }
}

impl OpenMine {
    /// Train figures of a few formulas, each oriented by its train rank correlation, best first: `pps`, `ic`, `rank_ic`,
    /// `rre`, `pfs_n`, and `correlation`, the largest in size with a formula before it. The scores of all of them stand in
    /// memory together. Nothing of a valid or later day is in them.
    pub(crate) fn train_figures(&self, formulas: &[TrainFormula]) -> Result<Vec<FigureRow>, StudyError> {
        let (mine, days, threads) = (&self.mine, &self.train, self.threads);
        let checked: Vec<CheckedFormula> = formulas.iter().map(|formula| formula.checked.clone()).collect();
        let tables = days.scores(mine, (&days.data.panel, threads), &checked)?;
        let robustness = self.robustness(&checked, &tables)?;
        let places: Vec<usize> = (0..tables.len()).collect();
        let rows = in_parallel(&places, threads, |place| {
            let scores = tables.get(*place)?;
            let mut row = days.figures(mine, scores, formulas.get(*place)?.is_turned());
            row.put("pfs_n", robustness.get(*place)?.clone());
            row.put(
                "correlation",
                self.largest_correlation(scores, tables.get(..*place)?),
            );
            Some(row)
        });
        Ok(rows.into_iter().flatten().collect())
    }

    /// The largest mean daily rank correlation, by its size, with one of some better formulas.
    fn largest_correlation(&self, scores: &DayTable, better: &[DayTable]) -> Figure {
        let (members, days) = (&self.train.members, &self.train.days);
        let with = |other| mean_rank_correlation(other, scores, members, days, self.mine.min_names);
        let found = better.iter().filter_map(with);
        found
            .reduce(|largest, next| if largest.abs() < next.abs() { next } else { largest })
            .ok_or_else(|| NO_BETTER.to_owned())
    }

    /// The mean over normal draws of the rank correlation with itself on perturbed bars.
    fn robustness(
        &self,
        formulas: &[CheckedFormula],
        tables: &[DayTable],
    ) -> Result<Vec<Figure>, StudyError> {
        let Some(sigma) = self.sigma()? else {
            return Ok(vec![Err(NO_DRAW.to_owned()); formulas.len()]);
        };
        let days = &self.train;
        let mut draws = Vec::new();
        for draw in 0..self.mine.draws() {
            let (law, seed) = (NoiseLaw::Normal, self.mine.seed);
            let noise = NoiseDraw {
                mode: NoiseMode::Input,
                law,
                sigma,
                seed,
                draw,
            };
            let (panel, _) = noise.panel(&days.data, self.threads);
            let perturbed = days.scores(&self.mine, (&panel, self.threads), formulas)?;
            let pairs: Vec<(&DayTable, &DayTable)> = tables.iter().zip(&perturbed).collect();
            draws.push(in_parallel(&pairs, self.threads, |(scores, perturbed)| {
                rank_robustness(scores, perturbed, &days.members, &days.days, self.mine.min_names)
            }));
        }
        let of_formula = |formula: usize| -> Figure {
            let own = draws.iter().filter_map(|kept| kept.get(formula).copied());
            let own: Vec<f64> = coded(own.collect::<Result<_, _>>())?;
            mean(&own).ok_or_else(|| NO_DRAW.to_owned())
        };
        Ok((0..formulas.len()).map(of_formula).collect())
    }
}
