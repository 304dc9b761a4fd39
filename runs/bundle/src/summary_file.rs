//! `summary.json`: read, recomputed from the other files, and compared with them.

use crate::BundleError;
use crate::chain::Lines;
use crate::event::ReadEvent;
use crate::exchanges::Cassette;
use crate::ledger_binding::ledger_binding;
use crate::open::read_header;
use crate::spending::Spending;
use crate::summary::{EpisodeFold, KEYED, Metric, Metrics, Summary};
use crate::tariff::Tariff;
use crate::{BundlePaths, FORMAT_VERSION};
use ktd_attribution::metric::{
    Abstention, Daily, InputError, NavPath, ParseFailure, StepOutcome, cash_ratio, max_drawdown,
    sharpe_ratio, total_return, turnover,
};
use ktd_env::Fen;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, read_json};
use ktd_masking::MaskKey;
use std::collections::BTreeMap;
use std::path::Path;

/// The summary as it is written.
///
/// # Errors
/// [`BundleError::Unfinished`] when there is none, and when it cannot be read.
pub fn read_summary(paths: &BundlePaths) -> Result<Summary, BundleError> {
    let path = paths.summary();
    if path.exists() {
        return Ok(read_json(&path)?);
    }
    Err(BundleError::Unfinished { path })
}

/// Names the first file whose hash is not the recorded one.
///
/// # Errors
/// [`BundleError`] naming that file.
pub fn check_hashes(paths: &BundlePaths, recorded: &Summary, now: &Summary) -> Result<(), BundleError> {
    let differs = now
        .sha256
        .iter()
        .find(|(file, hash)| recorded.sha256.get(*file) != Some(hash));
    differs.map_or(Ok(()), |(file, _)| {
        let file = file.strip_suffix(KEYED).unwrap_or(file);
        let what = "its hash is not the one in summary.json";
        Err(BundleError::damaged(&paths.root().join(file), what))
    })
}

/// Recomputes the summary and names the first thing that differs.
///
/// # Errors
/// [`BundleError`] naming the file and place that differs.
pub fn check_summary(
    paths: &BundlePaths,
    recorded: &Summary,
    key: Option<&ktd_masking::MaskKey>,
) -> Result<(), BundleError> {
    let path = paths.summary();
    let mut now = summary_of(paths, key)?;
    check_hashes(paths, recorded, &now)?;
    if key.is_none() {
        // Without the private part its hash cannot be recomputed and stands as it is.
        let private = recorded.sha256.iter().filter(|(file, _)| file.ends_with(KEYED));
        now.sha256
            .extend(private.map(|(file, hash)| (file.clone(), hash.clone())));
    }
    let bytes = std::fs::read(&path).map_err(BundleError::io("read", &path))?;
    let expected = json_bytes(&path, &now)?;
    if bytes == expected {
        return Ok(());
    }
    let (bytes, expected) = (
        String::from_utf8_lossy(&bytes),
        String::from_utf8_lossy(&expected),
    );
    let differs = bytes
        .lines()
        .zip(expected.lines())
        .enumerate()
        .find(|(_, (left, right))| left != right);
    let what = differs.map_or_else(
        || "it is longer or shorter than the events give".to_owned(),
        |(line, (left, right))| {
            format!(
                "line {}: {:?}, but the events give {:?}",
                line + 1,
                left.trim(),
                right.trim()
            )
        },
    );
    Err(BundleError::damaged(&path, what))
}

/// The summary that a bundle's files give. Without the key the hash of the private ledger is left out.
///
/// # Errors
/// [`BundleError`] when a file is missing or damaged, or the NAV is not one.
pub fn summary_of(paths: &BundlePaths, key: Option<&MaskKey>) -> Result<Summary, BundleError> {
    let lines = Lines::read(&paths.events())?;
    lines.starts_from(&read_header(paths)?.genesis()?, &paths.events())?;
    let events: Vec<ReadEvent> = lines.bodies(&paths.events())?;
    let fold = EpisodeFold::of(&events);
    let Some(reason) = fold.reason.clone() else {
        return Err(BundleError::damaged(
            &paths.events(),
            "the episode has not ended; continue it with `ktd run`",
        ));
    };
    let mut sha256 = BTreeMap::new();
    for path in [paths.header(), paths.events(), paths.exchanges()] {
        let bytes = std::fs::read(&path).map_err(BundleError::io("read", &path))?;
        sha256.insert(file_name(&path), sha256_hex(&bytes));
    }
    if let Some(key) = key {
        let path = paths.ledger();
        let text = std::fs::read_to_string(&path).map_err(BundleError::io("read", &path))?;
        sha256.insert(format!("private/ledger.jsonl{KEYED}"), ledger_binding(key, &text));
    }
    let metrics = metrics(&fold).map_err(|error| BundleError::damaged(&paths.events(), error.to_string()))?;
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
/// [`BundleError`] when header or exchanges cannot be read.
pub fn spending_of(paths: &BundlePaths) -> Result<Spending, BundleError> {
    own_spending(paths).map(|(spending, _)| spending)
}

/// The same, and the 1-based first step that was not copied from another episode.
fn own_spending(paths: &BundlePaths) -> Result<(Spending, usize), BundleError> {
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
        total_return: Metric::of(total_return(&path)),
        sharpe_ratio: Metric::of(sharpe_ratio(&path)),
        max_drawdown: Metric::of(max_drawdown(&path)),
        turnover: Metric::of(turnover(&traded)),
        hhi: mean(fold.marks.iter().map(|mark| hhi(mark.hhi_billionths))),
        cash_ratio: Metric::of(cash_ratio(&cash)),
        abstention: Metric::of(abstention.rate()),
        parse_failure: Metric::of(parse_failure.rate()),
        parse_failure_strict: Metric::of(strict.rate()),
        fee_drag: Metric {
            value: Some(fold.marks.iter().map(|mark| yuan(mark.fees_fen)).sum::<f64>() / path.initial()),
            reason: None,
        },
    })
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
