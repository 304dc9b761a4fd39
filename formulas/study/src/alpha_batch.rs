//! A block of alphas that are evaluated together: as many as their scores fit in memory.

use crate::alpha_exchange::AlphaExchange;
use crate::alpha_found::{ALPHAS, AlphaFound, EvaluatedBlock, SplitFound};
use crate::alpha_study::StudyOrientation;
use crate::open_study::OpenStudy;
use crate::split_tables::SplitTables;
use ktd_alphas::NoiseMode;
use ktd_alphas::{
    DailyRanks, DayTable, Figure, FigureRow, NoiseLaw, daily_correlations, day_spreads, evaluate_alpha,
    mean_interval, sharpe_interval,
};
use ktd_expressions::CheckedFormula;
use ktd_formulas::NoiseDraw;
use ktd_formulas::{ScoreColumns, ScoreTask};
use ktd_io::parallel::in_parallel;
use ktd_stats::moments::mean;
use ktd_stats::{Interval, Undefined};
use ktd_study::{Hands, StudyError};
use std::cell::LazyCell;

/// The laws of the noise, in the order of their figures.
const LAWS: [NoiseLaw; 2] = [NoiseLaw::Normal, NoiseLaw::StudentT3];

/// What alphas of a batch are evaluated with.
#[derive(Debug)]
pub(crate) struct BatchTask<'s> {
    pub(crate) open: &'s OpenStudy,
    pub(crate) task: &'s ScoreTask<'s>,
    pub(crate) splits: &'s [SplitTables<'s>],
    pub(crate) sigma: Option<f64>,
    pub(crate) exchange: Option<&'s AlphaExchange>,
}

/// By split: how much of its order an alpha keeps under one draw; none where that is undefined.
type OneDraw = Vec<Option<f64>>;

/// By law: each draw, by alpha.
type Draws = [Vec<Vec<OneDraw>>; 2];

impl BatchTask<'_> {
    /// Evaluates some formulas into a file of `hands`, a line an alpha; draws of noise are works.
    pub(crate) fn evaluate(
        &self,
        formulas: &[CheckedFormula],
        hands: &Hands<'_, ()>,
    ) -> Result<EvaluatedBlock, StudyError> {
        let forms: Vec<&str> = formulas.iter().map(CheckedFormula::canonical).collect();
        // Values are computed once, and not at all where all of it is recorded.
        let columns = LazyCell::new(|| {
            let panel = &self.open.data.panel;
            let columns = self.task.columns(panel, formulas, &mut || hands.advance(1));
            columns.map_err(StudyError::from)
        });
        let columns = || columns.as_ref().map_err(StudyError::clone);
        let (draws, raised) = self.draws(&columns, (formulas, &forms), hands)?;
        let sha256 = hands.lines(ALPHAS, |sink| {
            let (columns, places) = (columns()?, (0..formulas.len()).collect::<Vec<usize>>());
            let mut found = in_parallel(&places, self.task.threads, |place| {
                self.alpha(columns.table(*place))
            });
            self.add_robustness(&mut found, &draws);
            found.iter().try_for_each(|alpha| sink.push(alpha))
        })?;
        Ok(EvaluatedBlock { sha256, raised })
    }

    /// The scores of an alpha as train days turn them, whether they did, and its rank correlation on these days as it is written.
    pub(crate) fn oriented(&self, scores: DayTable) -> (DayTable, bool, Option<f64>) {
        let of_train = |scores: &DayTable| {
            let train = self.splits.iter().find(|split| split.name == "train")?;
            let split = &train.split;
            let daily = daily_correlations(
                scores,
                split.labels,
                split.members,
                &split.label_days,
                self.open.study.min_names,
            );
            daily.power(0.0).ok().map(|power| power.rank_ic)
        };
        let as_written = of_train(&scores);
        let is_turned = self.open.study.orientation == StudyOrientation::Train
            && as_written.is_some_and(|rank_ic| rank_ic < 0.0);
        let scores = if is_turned { scores.times(-1.0) } else { scores };
        (scores, is_turned, as_written)
    }

    /// What an alpha is worth but for its robustness.
    pub(crate) fn alpha(&self, scores: DayTable) -> AlphaFound {
        let study = &self.open.study;
        let (scores, is_turned, as_written) = self.oriented(scores);
        let splits = self.splits.iter().map(|split| {
            let evaluation = evaluate_alpha(&scores, &split.split);
            let mut row = FigureRow::default();
            evaluation.add_figures(&mut row, self.open.label_words().1);
            let first = split.split.label_days.first().copied().unwrap_or(0);
            let power = mean_interval(&evaluation.scores(study.beta, first));
            add_interval(&mut row, ["pps_low", "pps_high"], power);
            add_interval(
                &mut row,
                ["sr_low", "sr_high"],
                sharpe_interval(&evaluation.returns()),
            );
            let net = evaluation.net_returns();
            add_interval(&mut row, ["sr_net_low", "sr_net_high"], sharpe_interval(&net));
            row.put("coverage", Ok(split.split.coverage(&scores)));
            if let Some(exchange) = self.exchange {
                exchange.add_figures(&mut row, &scores, split);
            }
            SplitFound {
                row,
                is_constant: evaluation.is_constant,
                returns: net,
                years: evaluation.by_year(|day| self.open.year_of(day)),
            }
        });
        let members = self.splits.first().map(|split| split.split.members);
        AlphaFound {
            is_turned,
            train_rank_ic: as_written.map(|rank_ic| if is_turned { -rank_ic } else { rank_ic }),
            spreads: members
                .map(|members| day_spreads(&scores, members))
                .unwrap_or_default(),
            splits: splits.collect(),
        }
    }

    /// Draw after draw, each a work, so that the scores on one perturbed panel stand in memory; and how often the least factor held.
    pub(crate) fn draws<'c>(
        &self,
        columns: &impl Fn() -> Result<&'c ScoreColumns, StudyError>,
        (formulas, forms): (&[CheckedFormula], &[&str]),
        hands: &Hands<'_, ()>,
    ) -> Result<(Draws, usize), StudyError> {
        let (mut raised, mut draws) = (0, Draws::default());
        let (noise, seed) = (&self.open.study.noise, self.open.study.seed);
        let members = self.splits.first().map(|split| split.split.members);
        let ranks = LazyCell::new(|| {
            let places: Vec<usize> = (0..formulas.len()).collect();
            columns().map(|columns| {
                in_parallel(&places, self.task.threads, |place| {
                    members.map(|members| DailyRanks::of(&columns.table(*place), members))
                })
            })
        });
        for ((law_place, law), of_law) in LAWS.into_iter().enumerate().zip(&mut draws) {
            let places = 0..self.sigma.map_or(0, |_| self.open.study.draws());
            for place in places {
                let draw = NoiseDraw {
                    mode: noise.mode,
                    law,
                    sigma: self.sigma.unwrap_or_default(),
                    seed,
                    draw: place,
                };
                let input = (forms, law_place, place);
                let (kept, floor): (Vec<OneDraw>, usize) = hands.work("noise draw", &input, || {
                    let ranks = ranks.as_ref().map_err(StudyError::clone)?;
                    self.one_draw((columns()?, ranks), formulas, draw, &mut || hands.advance(1))
                })?;
                raised += floor;
                of_law.push(kept);
            }
        }
        Ok((draws, raised))
    }

    /// Gives alphas of the block what the draws leave of their order.
    pub(crate) fn add_robustness(&self, found: &mut [AlphaFound], draws: &Draws) {
        for (alpha, found) in found.iter_mut().enumerate() {
            for (place, split) in found.splits.iter_mut().enumerate() {
                add_robustness_figures(&mut split.row, draws, (alpha, place), self.sigma.is_some());
            }
        }
    }

    /// By alpha and split: how much of its order one draw leaves; and how often the least factor held.
    fn one_draw(
        &self,
        (columns, ranks): (&ScoreColumns, &[Option<DailyRanks>]),
        formulas: &[CheckedFormula],
        draw: NoiseDraw,
        advance: &mut dyn FnMut(),
    ) -> Result<(Vec<OneDraw>, usize), StudyError> {
        let places: Vec<usize> = (0..formulas.len()).collect();
        let min_names = self.open.study.min_names;
        let threads = self.task.threads;
        let by_ranks = |place: usize, perturbed: &DayTable| -> Vec<Option<f64>> {
            let ranks = ranks.get(place).and_then(Option::as_ref);
            let splits = self.splits.iter();
            splits
                .map(|split| ranks?.robustness(perturbed, &split.split.days, min_names).ok())
                .collect()
        };
        if matches!(draw.mode, NoiseMode::Input | NoiseMode::Bar) {
            let (panel, raised) = draw.panel(&self.open.data, threads);
            let perturbed = self.task.columns(&panel, formulas, advance)?;
            let kept = in_parallel(&places, threads, |place| {
                by_ranks(*place, &perturbed.table(*place))
            });
            return Ok((kept, raised));
        }
        let factors = draw.factors(&self.open.data, &self.task.window);
        let kept = in_parallel(&places, threads, |place| {
            let scores = columns.table(*place);
            let perturbed = scores.product(&factors);
            if draw.mode == NoiseMode::Output {
                return by_ranks(*place, &perturbed);
            }
            let of_split = |split: &SplitTables<'_>| {
                let (members, days) = (split.split.members, &split.split.days);
                let daily = daily_correlations(&scores, &perturbed, members, days, min_names);
                daily.power(1.0).ok().map(|power| power.ic)
            };
            self.splits.iter().map(of_split).collect()
        });
        Ok((kept, 0))
    }
}

fn add_interval(row: &mut FigureRow, [low, high]: [&str; 2], interval: Result<Interval, Undefined>) {
    row.put_all(
        &interval,
        &[
            (low, |interval| Ok(interval.lower)),
            (high, |interval| Ok(interval.upper)),
        ],
    );
}

fn add_robustness_figures(
    row: &mut FigureRow,
    draws: &Draws,
    (alpha, split): (usize, usize),
    is_drawn: bool,
) {
    let robustness = |law: usize| -> Figure {
        let of_draw = |draw: &Vec<OneDraw>| draw.get(alpha)?.get(split).copied().flatten();
        let draws = draws.get(law).map(|draws| draws.iter().map(of_draw));
        let whole = draws.and_then(Iterator::collect::<Option<Vec<f64>>>);
        let reason = if is_drawn { "too_few_days" } else { "no_noise" };
        whole
            .and_then(|draws| mean(&draws))
            .ok_or_else(|| reason.to_owned())
    };
    let (normal, student) = (robustness(0), robustness(1));
    let both = normal.clone().and_then(|normal| Ok((normal, student.clone()?)));
    let middle = |(normal, student)| f64::midpoint(normal, student);
    row.put("pfs", both.clone().map(middle));
    row.put("pfs_min", both.map(|(normal, student)| normal.min(student)));
    row.put("pfs_n", normal);
    row.put("pfs_t", student);
}
