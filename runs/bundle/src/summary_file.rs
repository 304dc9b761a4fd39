//! `summary.json`: read, recomputed from the other files, and compared with them.

use crate::BundleError;
use crate::BundlePaths;
use crate::bundle_ref::BundleRef;
use crate::exchanges::Cassette;
use crate::open::read_header;
use crate::recorded_files::RecordedFiles;
use crate::spending::Spending;
use crate::summary::{EpisodeFold, KEYED, Metric, Metrics, Summary};
use crate::tariff::Tariff;
use ktd_attribution::metric::{
    Abstention, Daily, InputError, NavPath, ParseFailure, StepOutcome, cash_ratio, max_drawdown,
    sharpe_ratio, total_return, turnover,
};
use ktd_env::Fen;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded, read_json};
use ktd_masking::MaskKey;

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
    key: Option<&MaskKey>,
) -> Result<(), BundleError> {
    let now = summary_of(paths, key)?;
    check_hashes(paths, recorded, &now)?;
    let bytes = read_bounded(&paths.summary(), JSON_LIMIT_BYTES)?;
    check_bytes(paths, (&bytes, recorded), now, key)
}

/// Compares a summary, as its bytes stand, with what the other files give.
pub(crate) fn check_bytes(
    paths: &BundlePaths,
    (bytes, recorded): (&[u8], &Summary),
    mut now: Summary,
    key: Option<&MaskKey>,
) -> Result<(), BundleError> {
    let path = paths.summary();
    if key.is_none() {
        // Without the private part its hash cannot be recomputed and stands as it is.
        let private = recorded.sha256.iter().filter(|(file, _)| file.ends_with(KEYED));
        now.sha256
            .extend(private.map(|(file, hash)| (file.clone(), hash.clone())));
    }
    let expected = json_bytes(&path, &now)?;
    if bytes == expected {
        return Ok(());
    }
    let (bytes, expected) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(&expected));
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
    let bundle = BundleRef::read(paths.root())?;
    RecordedFiles::read(&bundle, key)?.summary(&bundle)
}

/// What a bundle's own sends cost so far, at the prices in its header.
///
/// # Errors
/// [`BundleError`] when header or exchanges cannot be read.
pub fn spending_of(paths: &BundlePaths) -> Result<Spending, BundleError> {
    let tariff = Tariff::of_header(&read_header(paths)?);
    Ok(Spending::of(&Cassette::read(&paths.exchanges())?, &tariff))
}

pub(crate) fn metrics(fold: &EpisodeFold) -> Result<Metrics, InputError> {
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
