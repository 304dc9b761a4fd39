//! The audit of a signal as a row.

use crate::ladder::LadderRung;
use crate::later_correlation::SignalPart;
use crate::profile::PieceCorrelation;
use crate::signal_audit::{LeastLabel, SignalAudit};
use crate::switch::FillRule;
use schemars::JsonSchema;
use serde::Serialize;

/// A signal with its audit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditedSignal {
    /// Its column.
    pub signal: String,
    /// `suspect`, `unusual`, `nothing_seen` or `too_little`.
    pub verdict: &'static str,
    /// The piece of return that it goes with, where it is suspect or unusual.
    pub goes_with: Option<String>,
    /// The rank correlation with that piece.
    pub ic: Option<f64>,
    /// Its t.
    pub t: Option<f64>,
    /// Whether the signal goes with it, or what is new in the signal.
    pub part: Option<SignalPart>,
    /// What the verdict would have missed: the least shares of labels, mixed into its ranks, that are found.
    pub least_labels: Vec<LeastLabel>,
    /// Days with at least ten scores.
    pub days: usize,
    /// The rank correlation with each piece of return around the stamp.
    pub profile: Vec<PieceCorrelation>,
    /// Its best tenth at each fill.
    pub fill_ladder: Vec<LadderRung>,
    /// The annual ratio of its best tenth one session later.
    pub delayed_sharpe: Option<f64>,
}

impl AuditedSignal {
    /// The row of an audit of so many days.
    #[must_use]
    pub fn of((signal, days): (&str, usize), audit: SignalAudit) -> Self {
        let evidence = audit.verdict.evidence();
        Self {
            signal: signal.to_owned(),
            verdict: audit.verdict.name(),
            goes_with: evidence.map(|found| found.piece.to_string()),
            ic: evidence.map(|found| found.ic),
            t: evidence.and_then(|found| found.t),
            part: evidence.map(|found| found.part),
            least_labels: audit.least_labels,
            days,
            profile: audit.profile,
            fill_ladder: audit.ladder,
            delayed_sharpe: audit.delayed.sharpe,
        }
    }

    /// The annual ratio of its best tenth at a fill.
    #[must_use]
    pub fn sharpe(&self, fill: FillRule) -> Option<f64> {
        self.fill_ladder.iter().find(|rung| rung.fill == fill)?.sharpe
    }
}
