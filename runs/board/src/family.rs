//! The family of defensible settings: a rank holds where it holds under all of them.

use ktd_attribution::account::WeightBasis;
use ktd_attribution::model::{ExtraStyle, ModelConfig, Residuals, Weighting};
use ktd_env::factors::Winsor;

/// What one member of the family changes of the default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    Winsor(Winsor),
    Weighting(Weighting),
    Basis(WeightBasis),
    Residuals(Residuals),
    Style(ExtraStyle),
    /// Selection less what the other names of each holding's sector selected.
    WithinSectors,
}

/// The members beside the default, each with one change: how far exposures are clipped, what a name weighs in the
/// regression, on which weights a day's return is split, whether names are left out of what explains them, one more style, and selection
/// within sectors alone. This is the one place that declares them.
pub(super) const MEMBERS: [(&str, Change); 12] = [
    (
        "clip at 3 MAD",
        Change::Winsor(Winsor::Mad {
            k: 3.0,
            scale: 1.4826,
        }),
    ),
    (
        "clip at 5 MAD",
        Change::Winsor(Winsor::Mad {
            k: 5.0,
            scale: 1.4826,
        }),
    ),
    (
        "clip at percentiles 1 and 99",
        Change::Winsor(Winsor::Percentile { low: 1.0, high: 99.0 }),
    ),
    ("no clip", Change::Winsor(Winsor::Unlimited)),
    ("equal weights", Change::Weighting(Weighting::Equal)),
    ("weights by amount", Change::Weighting(Weighting::Amount)),
    (
        "weights by residual variance",
        Change::Weighting(Weighting::InverseResidualVariance),
    ),
    ("basis pre", Change::Basis(WeightBasis::Pre)),
    ("fitted residuals", Change::Residuals(Residuals::Fitted)),
    ("with size", Change::Style(ExtraStyle::Size)),
    ("with beta", Change::Style(ExtraStyle::Beta)),
    ("within sectors", Change::WithinSectors),
];

/// The family as text, for the hash of a board's metrics.
pub(super) fn text() -> String {
    let names: Vec<&str> = MEMBERS.iter().map(|(name, _)| *name).collect();
    format!("settings family = {}\n", names.join("; "))
}

/// Days before a return day that some member reads.
pub(super) fn first_needed_day(config: &ModelConfig, first: usize) -> usize {
    let own = std::iter::once(config.clone());
    let members = MEMBERS.iter().map(|(_, change)| change.of(config).0);
    own.chain(members)
        .map(|config| config.first_needed_day(first))
        .min()
        .unwrap_or(first)
}

impl Change {
    /// The model's settings and the basis under the change.
    pub(super) fn of(self, config: &ModelConfig) -> (ModelConfig, WeightBasis) {
        let mut config = config.clone();
        let mut basis = WeightBasis::HEADLINE;
        match self {
            Self::Winsor(winsor) => config.winsor = winsor,
            Self::Weighting(weighting) => config.weighting = weighting,
            Self::Basis(other) => basis = other,
            Self::Residuals(residuals) => config.residuals = residuals,
            Self::Style(style) => config.extra_styles.push(style),
            Self::WithinSectors => {}
        }
        (config, basis)
    }
}
