//! From the answers of judges to scores and controls.

use super::events::QuestionEvent;
use super::kind::JudgeRequest;
use super::list::{EntryRole, JudgeList};
use super::reading::JudgeReading;
use super::record::{
    JudgeAgreement, JudgeRecord, JudgedBy, JudgedFormula, JudgedPool, LogicJudgement, UnjudgedFormula,
};
use crate::alpha_report::{Figure, FigureRow, coded};
use crate::language::LostCounts;
use ktd_alphas::{JudgedScore, length_control, length_slope, ndcg, repeat_control};
use ktd_asking::{AskedRecord, AskingError};
use ktd_experiment::agent::TrainingCutoff;
use ktd_record::spending::Tokens;
use ktd_stats::moments::mean;
use ktd_stats::{Sample, kendall_tau};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The answers of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeAnswers {
    id: String,
    model: String,
    /// The last day of its training data, where its maker states one.
    known_until: Option<String>,
    events: Vec<QuestionEvent>,
    tokens: Tokens,
}

impl JudgeAnswers {
    /// What the model of a record has answered.
    pub(super) fn of(record: &AskedRecord<'_>, events: Vec<QuestionEvent>) -> Result<Self, AskingError> {
        let agent = &record.conversations().model().agent;
        Ok(Self {
            id: agent.id.clone(),
            model: agent.model_name().to_owned(),
            known_until: agent.cutoff.map(TrainingCutoff::text),
            events,
            tokens: record.spending()?.tokens,
        })
    }
}

/// The scores of one judge by entry of the list and order; the last order repeats the first.
struct ScoreGrid {
    cells: Vec<Vec<Option<f64>>>,
    /// By entry: why its last lost answer was lost.
    reasons: Vec<Option<String>>,
    orders: usize,
}

impl ScoreGrid {
    fn of(events: &[QuestionEvent], entries: usize, orders: usize) -> Self {
        let mut grid = Self {
            cells: vec![vec![None; orders + 1]; entries],
            reasons: vec![None; entries],
            orders,
        };
        for event in events {
            for (place, entry) in event.formulas.iter().enumerate() {
                let score = event.scores.as_ref().and_then(|scores| scores.get(place));
                if let (Some(score), Some(cell)) = (
                    score,
                    grid.cells
                        .get_mut(*entry)
                        .and_then(|row| row.get_mut(event.order)),
                ) {
                    *cell = Some(score.score);
                } else if let Some(reason) = grid.reasons.get_mut(*entry) {
                    reason.clone_from(&event.reason);
                }
            }
        }
        grid
    }

    fn scores(&self, entry: usize) -> &[Option<f64>] {
        let row = self.cells.get(entry).map_or(&[][..], Vec::as_slice);
        row.get(..self.orders).unwrap_or(row)
    }

    fn judged(&self, entry: usize) -> Option<JudgedScore> {
        let scores: Vec<f64> = self.scores(entry).iter().copied().flatten().collect();
        JudgedScore::of(&scores).ok()
    }

    fn median(&self, entry: usize) -> Option<f64> {
        self.judged(entry).map(|score| score.median)
    }

    /// Scores of the first order with those of its repeat.
    fn repeated(&self) -> Vec<(f64, f64)> {
        let pair = |row: &Vec<Option<f64>>| Some(((*row.first()?)?, (*row.get(self.orders)?)?));
        self.cells.iter().filter_map(pair).collect()
    }
}

/// What the answers come to.
pub(super) fn judgement(
    (request, format): (&JudgeRequest, u32),
    list: &JudgeList,
    reading: &JudgeReading,
    answers: &[JudgeAnswers],
) -> LogicJudgement {
    let grid = |answers: &JudgeAnswers| ScoreGrid::of(&answers.events, list.entries.len(), request.orders);
    let grids: Vec<ScoreGrid> = answers.iter().map(grid).collect();
    let formulas = judged_formulas(list, answers, &grids);
    let judges = answers
        .iter()
        .zip(&grids)
        .map(|(answers, grid)| judge_record(list, reading, answers, grid));
    let mut judgement = LogicJudgement {
        format,
        prompt: request.prompt,
        prompts_sha256: request.prompts_sha256.clone(),
        seed: request.seed,
        orders: request.orders,
        judges: judges.collect(),
        pools: Vec::new(),
        agreement: agreement(list, answers, &grids),
        formulas,
        unjudged: reading
            .unshown
            .iter()
            .map(|(formula, reason)| UnjudgedFormula {
                formula: formula.clone(),
                reason: reason.clone(),
            })
            .collect(),
    };
    judgement.pools = pools(reading, &judgement);
    judgement
}

fn alphas(list: &JudgeList) -> impl Iterator<Item = usize> + '_ {
    let entries = list.entries.iter().enumerate();
    entries.filter_map(|(place, entry)| (entry.role == EntryRole::Alpha).then_some(place))
}

fn judged_formulas(list: &JudgeList, answers: &[JudgeAnswers], grids: &[ScoreGrid]) -> Vec<JudgedFormula> {
    let judged = alphas(list).filter_map(|place| {
        let entry = list.entries.get(place)?;
        let by = answers.iter().zip(grids).map(|(answers, grid)| {
            let judged = grid.judged(place);
            JudgedBy {
                judge: answers.id.clone(),
                scores: grid.scores(place).to_vec(),
                median: judged.map(|score| score.median),
                spread: judged.map(|score| score.spread),
            }
        });
        let by: Vec<JudgedBy> = by.collect();
        let medians: Vec<f64> = by.iter().filter_map(|by| by.median).collect();
        let score = mean(&medians);
        let reason = || grids.iter().find_map(|grid| grid.reasons.get(place)?.clone());
        Some(JudgedFormula {
            formula: entry.formula.canonical().to_owned(),
            nodes: entry.formula.formula().nodes(),
            reason: score.is_none().then(reason).flatten(),
            score,
            by,
        })
    });
    judged.collect()
}

fn judge_record(
    list: &JudgeList,
    reading: &JudgeReading,
    answers: &JudgeAnswers,
    grid: &ScoreGrid,
) -> JudgeRecord {
    let mut lost = LostCounts::default();
    let mut mistakes: BTreeMap<String, usize> = BTreeMap::new();
    for event in &answers.events {
        event.lost.into_iter().for_each(|kind| lost.add(kind));
        for code in &event.mistakes {
            *mistakes.entry(code.clone()).or_default() += 1;
        }
    }
    JudgeRecord {
        id: answers.id.clone(),
        model: answers.model.clone(),
        known_until: answers.known_until.clone(),
        is_miner: reading.is_miner(&answers.model),
        questions: answers.events.len(),
        lost,
        mistakes,
        tokens: answers.tokens,
        row: figures(list, reading, grid),
    }
}

/// The figures of a judge: its controls, and its agreement with people.
fn figures(list: &JudgeList, reading: &JudgeReading, grid: &ScoreGrid) -> FigureRow {
    let mut row = FigureRow::default();
    let scored: Vec<(usize, f64)> = alphas(list)
        .filter_map(|place| {
            let nodes = list.entries.get(place)?.formula.formula().nodes();
            Some((nodes, grid.median(place)?))
        })
        .collect();
    let scores: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
    row.put("mean", mean_of(&scores));
    let spreads = alphas(list).filter_map(|place| Some(grid.judged(place)?.spread));
    row.put("spread", mean_of(&spreads.collect::<Vec<f64>>()));
    put_length(&mut row, &length_pairs(list, grid));
    let slope = coded(length_slope(&scored));
    row.put(
        "length_slope",
        slope.as_ref().map(|line| line.slope).map_err(Clone::clone),
    );
    row.put("length_slope_p", slope.map(|line| line.p));
    let nonsense = list.entries.iter().enumerate().filter_map(|(place, entry)| {
        (entry.role == EntryRole::Nonsense)
            .then(|| grid.median(place))
            .flatten()
    });
    let nonsense: Vec<f64> = nonsense.collect();
    row.put("nonsense_mean", mean_of(&nonsense));
    let highest = nonsense.iter().copied().reduce(f64::max);
    row.put("nonsense_highest", highest.ok_or_else(|| "too_few".to_owned()));
    let repeat = coded(repeat_control(&grid.repeated()));
    let of_repeat = |figure: fn(&ktd_alphas::RepeatControl) -> Option<f64>| -> Figure {
        let repeat = repeat.as_ref().map_err(Clone::clone)?;
        figure(repeat).ok_or_else(|| "all_tied".to_owned())
    };
    row.put("repeat_distance", of_repeat(|repeat| Some(repeat.mean_distance)));
    row.put("repeat_tau", of_repeat(|repeat| repeat.tau));
    put_human(&mut row, list, reading, grid);
    row
}

fn mean_of(values: &[f64]) -> Figure {
    mean(values).ok_or_else(|| "too_few".to_owned())
}

fn length_pairs(list: &JudgeList, grid: &ScoreGrid) -> Vec<(f64, f64)> {
    let pair = |(place, role): (usize, EntryRole)| match role {
        EntryRole::Longer { of } => Some((grid.median(of)?, grid.median(place)?)),
        EntryRole::Alpha | EntryRole::Nonsense => None,
    };
    let entries = list.entries.iter().map(|entry| entry.role).enumerate();
    entries.filter_map(pair).collect()
}

fn put_length(row: &mut FigureRow, pairs: &[(f64, f64)]) {
    let length = coded(length_control(pairs));
    let of =
        |figure: fn(&ktd_alphas::LengthControl) -> f64| length.as_ref().map(figure).map_err(Clone::clone);
    row.put("length_difference", of(|length| length.mean_difference));
    row.put("length_p", of(|length| length.test.p));
    row.put(
        "length_pairs",
        of(|length| ktd_stats::moments::count(length.pairs)),
    );
}

fn put_human(row: &mut FigureRow, list: &JudgeList, reading: &JudgeReading, grid: &ScoreGrid) {
    let Some(human) = &reading.human else {
        return;
    };
    let items = alphas(list).filter_map(|place| {
        let formula = list.entries.get(place)?.formula.canonical();
        let human = human.iter().find(|human| human.formula == formula)?;
        Some((human.score, grid.median(place)?))
    });
    let items: Vec<(f64, f64)> = items.collect();
    for (name, first) in [
        ("ndcg_5", 5),
        ("ndcg_10", 10),
        ("ndcg_20", 20),
        ("ndcg_all", items.len()),
    ] {
        row.put(name, coded(ndcg(&items, first)));
    }
}

fn agreement(list: &JudgeList, answers: &[JudgeAnswers], grids: &[ScoreGrid]) -> Vec<JudgeAgreement> {
    let judges: Vec<(&str, &ScoreGrid)> = answers
        .iter()
        .map(|answers| answers.id.as_str())
        .zip(grids)
        .collect();
    let mut pairs = Vec::new();
    for (place, (first, left)) in judges.iter().enumerate() {
        for (second, right) in judges.iter().skip(place + 1) {
            let both = alphas(list).filter_map(|entry| Some((left.median(entry)?, right.median(entry)?)));
            let (left, right): (Vec<f64>, Vec<f64>) = both.unzip();
            pairs.push(JudgeAgreement {
                first: (*first).to_owned(),
                second: (*second).to_owned(),
                formulas: left.len(),
                tau: tau(&left, &right),
            });
        }
    }
    pairs
}

fn tau(left: &[f64], right: &[f64]) -> Option<f64> {
    let left = Sample::new("scores", left).ok()?;
    let right = Sample::new("scores", right).ok()?;
    kendall_tau(&left, &right).ok()?.ok()
}

fn pools(reading: &JudgeReading, judgement: &LogicJudgement) -> Vec<JudgedPool> {
    let pools = reading.pools.iter().map(|pool| {
        let scores = pool
            .alphas
            .iter()
            .filter_map(|alpha| judgement.logic(&alpha.formula).ok());
        let scores: Vec<f64> = scores.collect();
        JudgedPool {
            pool: pool.id.clone(),
            alphas: pool.alphas.len(),
            judged: scores.len(),
            score: mean(&scores),
            miners: pool.miners.clone(),
        }
    });
    pools.collect()
}
