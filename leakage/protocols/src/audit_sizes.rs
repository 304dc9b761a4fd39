//! How often the audit of a signal is wrong about signals of which everything is known.

use crate::drawn_market::DrawnMarket;
use crate::error::LeakageError;
use crate::panel::BarGrid;
use crate::planted_leak::{LeakKind, PlantedLeak};
use crate::profile::ReturnPiece;
use crate::signal::{KnownAt, SignalGrid};
use crate::signal_audit::{SignalAuditor, SignalVerdict, SuspicionRule};
use crate::sizes::share;
use ktd_stats::SplitMix64;

/// What a planted signal is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DrawnSignal {
    /// Noise, as slow as drawn.
    Noise,
    /// A true forecast of the next session of this rank correlation with it, and of nothing else.
    Alpha(f64),
    /// A true forecast of the next night, as a premium pays for what the session before was.
    Premium(f64),
    /// The label of so many sessions at this share.
    Label(usize, f64),
    /// The weights of the names with the highest labels of so many sessions, known at the open and made at the close before.
    BestOfLabel(usize),
    /// Equal weights of as many names, held for some weeks each.
    CleanWeights,
}

/// A kind of signal on a kind of market.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditSizeDesign {
    /// Years of the market.
    pub years: usize,
    /// The signal.
    pub signal: DrawnSignal,
}

/// What audits of one design said, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditSizes {
    /// Audits.
    pub audits: u32,
    /// `suspect`.
    pub suspect: Option<f64>,
    /// `unusual`.
    pub unusual: Option<f64>,
}

/// Audits of a design, at most.
const MOST_AUDITS: u32 = 400;
const NAMES: usize = 60;
/// Names that weights are given to.
const HELD: usize = 10;

impl AuditSizeDesign {
    /// Clean signals and weights, true forecasts, a premium, and labels.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for years in [1, 3] {
            let mut add = |signal| all.push(Self { years, signal });
            for signal in [DrawnSignal::Noise, DrawnSignal::CleanWeights] {
                add(signal);
            }
            for ic in [0.03, 0.07, 0.12] {
                add(DrawnSignal::Alpha(ic));
            }
            add(DrawnSignal::Premium(0.2));
            for sessions in [1, 5, 20, 60] {
                for share in [0.2, 0.5, 1.0] {
                    add(DrawnSignal::Label(sessions, share));
                }
            }
            for sessions in [5, 20] {
                add(DrawnSignal::BestOfLabel(sessions));
            }
        }
        all
    }

    /// What so many audits come to, drawn by `seed`: a market and a signal each.
    ///
    /// # Errors
    /// [`LeakageError`] for a market that is none; a drawn one is.
    pub fn sizes(&self, audits: u32, seed: u64) -> Result<AuditSizes, LeakageError> {
        let audits = audits.min(MOST_AUDITS);
        let verdicts = (0..audits).map(|draw| self.verdict(&mut SplitMix64::of_replicate(seed, draw)));
        let verdicts: Vec<SignalVerdict> = verdicts.collect::<Result<_, _>>()?;
        let of = |name: &str| {
            let is: Vec<bool> = verdicts.iter().map(|verdict| verdict.name() == name).collect();
            share(&is)
        };
        Ok(AuditSizes {
            audits,
            suspect: of("suspect"),
            unusual: of("unusual"),
        })
    }

    fn verdict(&self, stream: &mut SplitMix64) -> Result<SignalVerdict, LeakageError> {
        let bars = DrawnMarket::unforeseen(self.years * DrawnMarket::YEAR, NAMES).bars(stream)?;
        let (scores, known_at) = self.signal.scores(&bars, stream);
        let signal = SignalGrid::new(&bars, &scores)?;
        Ok(SignalAuditor::new(&bars, SuspicionRule::BENCHMARK).verdict(&signal, known_at))
    }
}

impl DrawnSignal {
    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Noise => "noise".to_owned(),
            Self::Alpha(ic) => format!("true forecast of a session, rank IC {ic}"),
            Self::Premium(ic) => format!("true forecast of a night, rank IC {ic}"),
            Self::Label(sessions, share) => format!("label of {sessions}, share {share}"),
            Self::BestOfLabel(sessions) => format!("weights of the best by the label of {sessions}"),
            Self::CleanWeights => "weights without foresight".to_owned(),
        }
    }

    /// Whether it reads what it cannot know.
    #[must_use]
    pub const fn leaks(self) -> bool {
        matches!(self, Self::Label(..) | Self::BestOfLabel(_))
    }

    fn scores(self, bars: &BarGrid, stream: &mut SplitMix64) -> (Vec<f64>, KnownAt) {
        let seed = stream.next_u64();
        let label = |sessions, share| {
            let kind = LeakKind::Label;
            let leak = PlantedLeak {
                kind,
                sessions,
                share,
            };
            leak.scores(bars, seed)
        };
        match self {
            // A label without a share is the noise that it is mixed into.
            Self::Noise => (label(1, 0.0), KnownAt::Close),
            Self::Label(sessions, share) => (label(sessions, share), KnownAt::Close),
            Self::Alpha(ic) => (forecast(bars, ReturnPiece(2), ic, stream), KnownAt::Close),
            Self::Premium(ic) => (forecast(bars, ReturnPiece(1), ic, stream), KnownAt::Close),
            Self::BestOfLabel(sessions) => (weights(bars, &label(sessions, 1.0), 1), KnownAt::Open),
            Self::CleanWeights => (weights(bars, &label(1, 0.0), 15), KnownAt::Open),
        }
    }
}

/// Scores whose correlation with a piece of return is about this: the piece in deviations of its day, and noise.
fn forecast(bars: &BarGrid, piece: ReturnPiece, ic: f64, stream: &mut SplitMix64) -> Vec<f64> {
    let mut scores = Vec::with_capacity(bars.sessions() * bars.names());
    for session in 0..bars.sessions() {
        let values: Vec<f64> = (0..bars.names())
            .map(|name| piece.value(bars, session, name))
            .collect();
        let moments = ktd_stats::moments::Moments::of(&values);
        scores.extend(values.iter().map(|value| {
            let standard = moments.map_or(f64::NAN, |of| (value - of.mean()) / of.deviation());
            ic * standard + libm::sqrt(1.0 - ic * ic) * stream.normal()
        }));
    }
    scores
}

/// Equal weights of the names with the highest scores of the session before, chosen anew every so many sessions.
fn weights(bars: &BarGrid, scores: &[f64], every: usize) -> Vec<f64> {
    let names = bars.names();
    let mut held = vec![f64::NAN; names];
    let mut weights = held.clone();
    for (session, row) in scores
        .chunks(names)
        .enumerate()
        .take(bars.sessions().saturating_sub(1))
    {
        if session % every == 0 {
            let mut order: Vec<usize> = (0..names)
                .filter(|name| row.get(*name).is_some_and(|score| score.is_finite()))
                .collect();
            let score = |name: &usize| row.get(*name).copied().unwrap_or(f64::NAN);
            order.sort_by(|one, other| score(other).total_cmp(&score(one)));
            let is_whole = HELD <= order.len();
            for (name, weight) in held.iter_mut().enumerate() {
                let is_held = order.iter().take(HELD).any(|chosen| *chosen == name);
                *weight = match (is_whole, is_held) {
                    (false, _) => f64::NAN,
                    (true, true) => 0.1,
                    (true, false) => 0.0,
                };
            }
        }
        weights.extend_from_slice(&held);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clean signals are never accused, true forecasts of usual strength and premia neither, and labels themselves always.
    #[test]
    fn labels_and_weights_made_of_them_are_suspect_and_what_is_clean_is_not() {
        for signal in [
            DrawnSignal::Noise,
            DrawnSignal::CleanWeights,
            DrawnSignal::Premium(0.2),
            DrawnSignal::Label(5, 1.0),
            DrawnSignal::Label(60, 1.0),
            DrawnSignal::BestOfLabel(20),
        ] {
            let found = AuditSizeDesign { years: 3, signal }.sizes(4, 2).unwrap();
            let expected = if signal.leaks() { 1.0 } else { 0.0 };
            assert!(
                (found.suspect.unwrap() - expected).abs() < 0.01,
                "{signal:?}: {found:?}"
            );
        }
    }
}
