//! Planted programs on real bars, without skill or one of them with it: deflated ratios, and the probability of overfitting.

use super::{PlantedTruth, SeenEffect, StrategySizeDesign};
use crate::real_rows::{RealRow, RealVersion};
use crate::trials::{StrategyTrials, TriedVersions};
use ktd_env::KeyedStream;

/// Probability from which a reader takes a ratio for true.
const PROBABLE: f64 = 0.95;
/// Probability of overfitting up to which a reader takes a choice for safe.
const SAFE: f64 = 0.05;
/// Sessions a year.
const SESSIONS_A_YEAR: f64 = 244.0;

/// How returns of a session come about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SessionShape {
    Normal,
    /// Six sessions in ten without a position, and one in twenty of those with one three times as wild.
    Sparse,
}

/// Submissions of one strategy, each with some versions, of which the last is ranked.
#[derive(Debug, Clone, Copy)]
struct PlantedTrials {
    submissions: usize,
    versions: usize,
    sessions: usize,
    shape: SessionShape,
    /// Correlation of the returns of all programs, which trade one market.
    market: f64,
    /// The true ratio a year of the first submission; the others have none.
    ratio: f64,
    /// Whether the deflated ratio is looked at, or the probability of overfitting.
    is_of_ratio: bool,
}

pub(super) fn designs() -> Vec<StrategySizeDesign> {
    let one = PlantedTrials {
        submissions: 1,
        versions: 1,
        sessions: 244,
        shape: SessionShape::Normal,
        market: 0.0,
        ratio: 0.0,
        is_of_ratio: true,
    };
    let many = |submissions, versions| PlantedTrials {
        submissions,
        versions,
        ..one
    };
    let six = PlantedTrials {
        is_of_ratio: false,
        ..many(6, 1)
    };
    let sparse = |own| PlantedTrials {
        shape: SessionShape::Sparse,
        ..own
    };
    let skilled = |ratio, own| PlantedTrials { ratio, ..own };
    let on_market = PlantedTrials {
        market: 0.4,
        ..many(12, 4)
    };
    let of_ratio = [
        one,
        sparse(one),
        PlantedTrials { sessions: 60, ..one },
        many(3, 1),
        many(12, 1),
        many(12, 4),
        sparse(many(12, 4)),
        on_market,
        skilled(3.0, one),
        skilled(3.0, many(12, 4)),
        skilled(6.0, many(12, 4)),
    ];
    let of_choice = [
        six,
        sparse(six),
        PlantedTrials {
            submissions: 12,
            ..six
        },
        skilled(3.0, six),
        skilled(6.0, six),
    ];
    let safe = of_choice.into_iter().map(|own| {
        own.design("PBO of at most 5 %")
            .not_claimed("a share of halves, and no test")
    });
    of_ratio
        .into_iter()
        .map(|own| own.design("any DSR of 95 %"))
        .chain(safe)
        .collect()
}

impl PlantedTrials {
    fn design(self, conclusion: &'static str) -> StrategySizeDesign {
        let tried = format!("{} submissions of {} versions", self.submissions, self.versions);
        let sessions = format!("{} sessions", self.sessions);
        let sparse = (self.shape == SessionShape::Sparse).then(|| "six in ten idle, tails".to_owned());
        let market = (0.0 < self.market).then(|| format!("correlation {}", self.market));
        let ratio = (0.0 < self.ratio).then(|| format!("one of true ratio {}", self.ratio));
        let parts = [Some(tried), Some(sessions), sparse, market, ratio];
        let planted = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        StrategySizeDesign::new(conclusion, planted, self)
    }

    /// The versions of each submission.
    fn drawn(&self, stream: &mut KeyedStream) -> Vec<Vec<RealVersion>> {
        let market: Vec<f64> = (0..self.sessions).map(|_| stream.normal()).collect();
        let mut all = Vec::new();
        for submission in 0..self.submissions {
            let ratio = if submission == 0 { self.ratio } else { 0.0 };
            let mut versions = Vec::new();
            for iteration in 0..self.versions {
                let returns = market.iter().map(|market| {
                    let own = self.market.sqrt() * market + (1.0 - self.market).sqrt() * stream.normal();
                    0.01 * self.shaped(own, ratio / SESSIONS_A_YEAR.sqrt(), stream)
                });
                versions.push(RealVersion {
                    test_returns: Some(returns.collect()),
                    rows: vec![ran()],
                    ..RealVersion::without(iteration, None)
                });
            }
            all.push(versions);
        }
        all
    }

    /// A return whose mean over deviation is the drift.
    fn shaped(&self, own: f64, drift: f64, stream: &mut KeyedStream) -> f64 {
        match self.shape {
            SessionShape::Normal => own + drift,
            SessionShape::Sparse if stream.uniform() < 0.6 => 0.0,
            SessionShape::Sparse if stream.uniform() < 0.05 => 3.0 * own,
            SessionShape::Sparse => own,
        }
    }
}

/// A row that says that a version ran; of what it earned, only the returns are looked at.
fn ran() -> RealRow {
    RealRow {
        split: "test".to_owned(),
        symbols: Vec::new(),
        bars: 0,
        program: None,
        fault: None,
        reference: None,
        reference_fault: None,
    }
}

impl PlantedTruth for PlantedTrials {
    fn has_effect(&self) -> bool {
        0.0 < self.ratio
    }

    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let drawn = self.drawn(stream);
        let own = drawn.iter().map(|versions| TriedVersions {
            versions,
            ranked: versions.last().map(|last| last.iteration),
            is_valid: true,
        });
        let trials = StrategyTrials { own: own.collect() };
        if !self.is_of_ratio {
            return SeenEffect::of_verdict(trials.overfitting().is_ok_and(|found| found <= SAFE));
        }
        let ranked = trials.own.iter().filter_map(TriedVersions::returns);
        let named = ranked.take(if self.has_effect() { 1 } else { self.submissions });
        let mut probable = named.filter(|returns| {
            let found = trials.deflated(returns);
            found.is_ok_and(|found| PROBABLE <= found.probability)
        });
        SeenEffect::of_verdict(probable.next().is_some())
    }
}
