//! From the answers of judges to scores and controls.

use super::list::JudgeList;
use super::question::QuestionEvent;
use super::reading::JudgeReading;
use super::record::{
    JudgeAgreement, JudgeRecord, JudgedBy, JudgedFormula, JudgedPool, LogicJudgement, UnjudgedFormula,
};
use super::request::JudgeRequest;
use crate::language::LostCounts;
use ktd_alphas::{JudgedRole, ScoreGrid};
use ktd_asking::{AskedRecord, AskingError};
use ktd_experiment::agent::TrainingCutoff;
use ktd_record::spending::Tokens;
use ktd_stats::moments::mean;
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

    fn grid(&self, entries: usize, orders: usize) -> ScoreGrid {
        let mut grid = ScoreGrid::new(entries, orders);
        for event in &self.events {
            for (place, entry) in event.formulas.iter().enumerate() {
                let score = event.end.answer.as_ref().and_then(|scores| scores.get(place));
                let score = score
                    .map(|score| score.score)
                    .ok_or_else(|| event.end.reason.clone());
                grid.put((*entry, event.order), score);
            }
        }
        grid
    }
}

/// What the answers come to.
pub(super) fn judgement(
    (request, format): (&JudgeRequest, u32),
    list: &JudgeList,
    reading: &JudgeReading,
    answers: &[JudgeAnswers],
) -> LogicJudgement {
    let grids = answers
        .iter()
        .map(|answers| (answers, answers.grid(list.entries.len(), request.orders)));
    let grids: Vec<(&JudgeAnswers, ScoreGrid)> = grids.collect();
    let judges = grids
        .iter()
        .map(|(answers, grid)| judge_record(list, reading, answers, grid));
    let unjudged = reading.unshown.iter().map(|(formula, reason)| UnjudgedFormula {
        formula: formula.clone(),
        reason: reason.clone(),
    });
    let mut judgement = LogicJudgement {
        format,
        prompt: request.prompt,
        prompts_sha256: request.prompts_sha256.clone(),
        seed: request.seed,
        orders: request.orders,
        judges: judges.collect(),
        pools: Vec::new(),
        agreement: agreement(list, &grids),
        formulas: alphas(list)
            .filter_map(|place| judged_formula(list, place, &grids))
            .collect(),
        unjudged: unjudged.collect(),
    };
    judgement.pools = pools(reading, &judgement);
    judgement
}

fn alphas(list: &JudgeList) -> impl Iterator<Item = usize> + '_ {
    let entries = list.entries.iter().enumerate();
    entries.filter_map(|(place, entry)| (entry.role == JudgedRole::Alpha).then_some(place))
}

fn judged_formula(
    list: &JudgeList,
    place: usize,
    grids: &[(&JudgeAnswers, ScoreGrid)],
) -> Option<JudgedFormula> {
    let entry = list.entries.get(place)?;
    let by = grids.iter().map(|(answers, grid)| {
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
    let reason = || grids.iter().find_map(|(_, grid)| grid.reason(place).cloned());
    Some(JudgedFormula {
        formula: entry.formula.canonical().to_owned(),
        nodes: entry.formula.formula().nodes(),
        reason: score.is_none().then(reason).flatten(),
        score,
        by,
    })
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
        event.end.lost.into_iter().for_each(|kind| lost.add(kind));
        for code in &event.end.mistakes {
            *mistakes.entry(code.clone()).or_default() += 1;
        }
    }
    let entries = list.entries.iter();
    let entries: Vec<(JudgedRole, usize)> = entries
        .map(|entry| (entry.role, entry.formula.formula().nodes()))
        .collect();
    let human = reading.human.as_ref().map(|human| -> Vec<(usize, f64)> {
        let score = |place: usize| {
            let formula = list.entries.get(place)?.formula.canonical();
            Some((place, human.iter().find(|human| human.formula == formula)?.score))
        };
        alphas(list).filter_map(score).collect()
    });
    JudgeRecord {
        id: answers.id.clone(),
        model: answers.model.clone(),
        known_until: answers.known_until.clone(),
        is_miner: reading.is_miner(&answers.model),
        questions: answers.events.len(),
        lost,
        mistakes,
        tokens: answers.tokens,
        row: grid.figures(&entries, human.as_deref()),
    }
}

fn agreement(list: &JudgeList, grids: &[(&JudgeAnswers, ScoreGrid)]) -> Vec<JudgeAgreement> {
    let mut pairs = Vec::new();
    for (place, (first, left)) in grids.iter().enumerate() {
        for (second, right) in grids.iter().skip(place + 1) {
            let (formulas, tau) = left.agreement(right, alphas(list));
            pairs.push(JudgeAgreement {
                first: first.id.clone(),
                second: second.id.clone(),
                formulas,
                tau,
            });
        }
    }
    pairs
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
