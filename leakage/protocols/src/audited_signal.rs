//! The audit of a signal as a row.

use crate::ladder::LadderRung;
use crate::profile::PieceCorrelation;
use crate::signal_audit::{SignalAudit, SignalVerdict};
use crate::switch::FillRule;
use schemars::JsonSchema;
use serde::Serialize;

/// A signal with its audit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditedSignal {
    /// Its column.
    pub signal: String,
    /// `suspect`, `nothing_seen` or `too_little`.
    pub verdict: &'static str,
    /// The piece of return that it goes with, where it is suspect.
    pub goes_with: Option<String>,
    /// The rank correlation with that piece.
    pub ic: Option<f64>,
    /// Its t.
    pub t: Option<f64>,
    /// The largest rank correlation among far pieces of its kind.
    pub largest_far: Option<f64>,
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
        let (piece, ic, t, largest_far) = match audit.verdict {
            SignalVerdict::Suspect {
                piece,
                ic,
                t,
                largest_far,
            } => (Some(piece.to_string()), Some(ic), t, Some(largest_far)),
            SignalVerdict::NothingSeen | SignalVerdict::TooLittle { .. } => (None, None, None, None),
        };
        Self {
            signal: signal.to_owned(),
            verdict: audit.verdict.name(),
            goes_with: piece,
            ic,
            t,
            largest_far,
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
