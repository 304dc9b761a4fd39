//! Closing a bundle: the summary, always recomputed from the events on disk.

use super::EpisodeInput;
use super::step::bind;
use crate::bundle::chain::{Lines, sha256_hex};
use crate::bundle::event::ReadEvent;
use crate::bundle::exchanges::Cassette;
use crate::bundle::open::read_header;
use crate::bundle::summary::{EpisodeFold, KEYED, Metric, Metrics, Summary};
use crate::bundle::verify::{check_summary, read_summary};
use crate::bundle::{BundlePaths, FORMAT_VERSION, json_bytes, write_whole};
use crate::error::RunError;
use crate::money::{Spending, Tariff};
use ktd_attribution::metric::{
    Abstention, Daily, InputError, NavPath, ParseFailure, StepOutcome, Undefined, cash_ratio, max_drawdown,
    sharpe_ratio, total_return, turnover,
};
use ktd_env::Fen;
use ktd_masking::MaskKey;
use std::collections::BTreeMap;
use std::path::Path;

/// The summary of a finished bundle, checked against its files: what was changed since is no result.
pub(super) fn finished(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<Summary, RunError> {
    let key = paths.ledger().exists().then_some(&input.key);
    check_summary(paths, &read_summary(paths)?, key)?;
    read_summary(paths)
}

/// Writes `summary.json`.
pub(super) fn write_summary(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<Summary, RunError> {
    let summary = summary_of(paths, Some(&input.key))?;
    write_whole(&paths.summary(), &json_bytes(&paths.summary(), &summary)?)?;
    Ok(summary)
}

/// The summary that a bundle's files give. Without the key the hash of the private ledger is left out.
///
/// # Errors
/// [`RunError`] when a file is missing or damaged, or the NAV is not one.
pub fn summary_of(paths: &BundlePaths, key: Option<&MaskKey>) -> Result<Summary, RunError> {
    let events: Vec<ReadEvent> = Lines::read(&paths.events())?.bodies(&paths.events())?;
    let fold = EpisodeFold::of(&events);
    let Some(reason) = fold.reason.clone() else {
        return Err(RunError::damaged(
            &paths.events(),
            "the episode has not ended; continue it with `ktd run`",
        ));
    };
    let mut sha256 = BTreeMap::new();
    for path in [paths.header(), paths.events(), paths.exchanges()] {
        let bytes = std::fs::read(&path).map_err(RunError::io("read", &path))?;
        sha256.insert(file_name(&path), sha256_hex(&bytes));
    }
    if let Some(key) = key {
        let path = paths.ledger();
        let text = std::fs::read_to_string(&path).map_err(RunError::io("read", &path))?;
        sha256.insert(format!("private/ledger.jsonl{KEYED}"), bind(key, &text));
    }
    let metrics = metrics(&fold).map_err(|error| RunError::damaged(&paths.events(), error.to_string()))?;
    let (money, first_own_step) = own_spending(paths)?;
    let own_steps = (fold.marks.len() + 1).saturating_sub(first_own_step);
    let own_steps = u64::try_from(own_steps).unwrap_or(u64::MAX);
    Ok(Summary {
        format: FORMAT_VERSION,
        reason,
        metrics,
        counters: fold.counters,
        per_step: money.per_step(own_steps),
        money,
        sha256,
    })
}

/// What a bundle's own sends cost so far, at the prices in its header.
///
/// # Errors
/// [`RunError`] when header or exchanges cannot be read.
pub fn spending_of(paths: &BundlePaths) -> Result<Spending, RunError> {
    own_spending(paths).map(|(spending, _)| spending)
}

/// The same, and the 1-based first step that was not copied from another episode.
fn own_spending(paths: &BundlePaths) -> Result<(Spending, usize), RunError> {
    let tariff = Tariff::of_header(&read_header(paths)?);
    let spending = Spending::of(&Cassette::read(&paths.exchanges())?, &tariff);
    Ok((spending, tariff.first_own_step()))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn metrics(fold: &EpisodeFold) -> Result<Metrics, InputError> {
    let yuan = |fen: i64| Fen(fen).to_yuan();
    let nav: Vec<f64> = fold.marks.iter().map(|mark| yuan(mark.nav_fen)).collect();
    let cash: Vec<f64> = fold.marks.iter().map(|mark| yuan(mark.cash_fen)).collect();
    let traded: Vec<f64> = fold
        .marks
        .iter()
        .map(|mark| yuan(mark.traded_value_fen))
        .collect();
    let path = NavPath::new(yuan(fold.initial_cash_fen), &nav)?;
    let traded: Daily<'_> = path.daily("traded value", &traded)?;
    let cash = path.daily("cash", &cash)?;
    let counters = &fold.counters;
    let outcomes = [
        (StepOutcome::Ordered, counters.submitted),
        (StepOutcome::VoluntaryHold, counters.hold),
        (StepOutcome::FallbackHold, counters.fallback),
        (StepOutcome::Uncovered, counters.uncovered),
    ];
    let abstention = Abstention::of(
        outcomes
            .into_iter()
            .flat_map(|(outcome, count)| std::iter::repeat_n(outcome, count)),
    );
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let parse_failure = ParseFailure {
        valid: small(counters.submitted + counters.hold),
        exhausted: small(counters.fallback),
    };
    let strict = ParseFailure {
        valid: small((counters.submitted + counters.hold).saturating_sub(counters.repaired)),
        exhausted: small(counters.fallback + counters.repaired),
    };
    Ok(Metrics {
        days: nav.len(),
        final_nav_fen: fold
            .marks
            .last()
            .map_or(fold.initial_cash_fen, |mark| mark.nav_fen),
        total_return: metric(total_return(&path)),
        sharpe_ratio: metric(sharpe_ratio(&path)),
        max_drawdown: metric(max_drawdown(&path)),
        turnover: metric(turnover(&traded)),
        hhi: mean(fold.marks.iter().map(|mark| hhi(mark.hhi_billionths))),
        cash_ratio: metric(cash_ratio(&cash)),
        abstention: metric(abstention.rate()),
        parse_failure: metric(parse_failure.rate()),
        parse_failure_strict: metric(strict.rate()),
        fee_drag: Metric {
            value: Some(fold.marks.iter().map(|mark| yuan(mark.fees_fen)).sum::<f64>() / path.initial()),
            reason: None,
        },
    })
}

fn metric(result: Result<f64, Undefined>) -> Metric {
    match result {
        Ok(value) => Metric {
            value: Some(value),
            reason: None,
        },
        Err(reason) => Metric {
            value: None,
            reason: Some(reason.to_string()),
        },
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "billionths of a share of NAV stay below 2^53"
)]
fn hhi(billionths: u64) -> f64 {
    billionths as f64 / 1.0e9
}

#[expect(clippy::cast_precision_loss, reason = "days stay far below 2^53")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> Metric {
    let count = values.len();
    if count == 0 {
        return Metric {
            value: None,
            reason: Some("no days".to_owned()),
        };
    }
    Metric {
        value: Some(values.sum::<f64>() / count as f64),
        reason: None,
    }
}
