//! Verdicts by the number of stocks that are known: each stock given away tells more of the day, and of the others.

use super::class_verdict::{ClassBound, bounds, write_bounds};
use super::count::RecoveryCount;
use super::rate::{AcceptanceRule, RateStatus, RecoveryRate};
use super::verdict::CertificateVerdict;
use ktd_stats::StatsError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Verdict on the database's attackers who know so many stocks of an asking agent's episode.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownStocksVerdict {
    /// Stocks whose codes are given away.
    pub given_away: usize,
    /// Whether every bound of theirs holds.
    pub verdict: CertificateVerdict,
    /// How far above chance their largest upper bound lies, of each measure that is judged.
    pub bounds: Vec<ClassBound>,
    /// What they recovered.
    pub figures: Vec<RecoveryRate>,
}

impl fmt::Display for KnownStocksVerdict {
    /// `3 known stocks: certified, top5 up to chance +2.10 % (may be 5.0 %, by census on asked_known)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stocks = if self.given_away == 1 { "stock" } else { "stocks" };
        write!(f, "{} known {stocks}: {}", self.given_away, self.verdict.label())?;
        write_bounds(f, &self.bounds)
    }
}

/// The verdict on each number of known stocks.
pub(super) fn known_stocks_verdicts(
    rule: &AcceptanceRule,
    counts: &BTreeMap<usize, Vec<RecoveryCount>>,
) -> Result<Vec<KnownStocksVerdict>, StatsError> {
    let of = |(given_away, counts): (&usize, &Vec<RecoveryCount>)| {
        let figures: Vec<RecoveryRate> = counts
            .iter()
            .map(|count| rule.rate(count))
            .collect::<Result<_, _>>()?;
        let is_broken = figures.iter().any(|figure| figure.status == RateStatus::Broken);
        Ok(KnownStocksVerdict {
            given_away: *given_away,
            verdict: if is_broken {
                CertificateVerdict::Refused
            } else {
                CertificateVerdict::Certified
            },
            bounds: bounds(&figures.iter().collect::<Vec<_>>()),
            figures,
        })
    };
    counts.iter().map(of).collect()
}
