//! Settings under which selections are made again: those of the family, which widen ranks, and those of the table of sensitivity.

use super::family::{Change, MEMBERS};
use ktd_attribution::account::WeightBasis;
use ktd_attribution::model::{Centering, ModelConfig, Residuals, Weighting};
use ktd_env::factors::Winsor;

/// One setting: a factor model, the weights on which a day's return is split, and whether selection is within sectors alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) config: ModelConfig,
    pub(super) basis: WeightBasis,
    pub(super) is_within: bool,
}

/// Every setting once, and what names it.
pub(super) struct Settings {
    /// The family's first.
    distinct: Vec<Setting>,
    /// How many of them are the family's.
    of_family: usize,
    /// Members of the family that differ from the default, each with its place among the settings.
    pub(super) family: Vec<(&'static str, usize)>,
    /// Rows of the table of sensitivity, each with its place.
    pub(super) sensitivity: Vec<(String, usize)>,
}

impl Settings {
    /// The settings beside a default.
    pub(super) fn beside(default: &ModelConfig) -> Self {
        let mut all = Self {
            distinct: Vec::new(),
            of_family: 0,
            family: Vec::new(),
            sensitivity: Vec::new(),
        };
        let headline = Setting {
            config: default.clone(),
            basis: WeightBasis::HEADLINE,
            is_within: false,
        };
        for (label, change) in MEMBERS {
            let (config, basis) = change.of(default);
            let is_within = change == Change::WithinSectors;
            let setting = Setting {
                config,
                basis,
                is_within,
            };
            if setting != headline {
                let place = all.place(setting);
                all.family.push((label, place));
            }
        }
        all.of_family = all.distinct.len();
        for basis in WeightBasis::ALL
            .into_iter()
            .filter(|basis| *basis != WeightBasis::HEADLINE)
        {
            let place = all.place(Setting {
                basis,
                ..headline.clone()
            });
            all.sensitivity.push((format!("basis {}", basis.label()), place));
        }
        for (label, config) in variants(default) {
            let place = all.place(Setting {
                config,
                ..headline.clone()
            });
            all.sensitivity.push((label.to_owned(), place));
        }
        all
    }

    /// The settings that a track needs: the family's, and those of the table of sensitivity, which is the headline's alone.
    pub(super) fn needed(&self, is_headline: bool) -> &[Setting] {
        let count = if is_headline {
            self.distinct.len()
        } else {
            self.of_family
        };
        self.distinct.get(..count).unwrap_or(&[])
    }

    fn place(&mut self, setting: Setting) -> usize {
        let known = self.distinct.iter().position(|known| *known == setting);
        known.unwrap_or_else(|| {
            self.distinct.push(setting);
            self.distinct.len() - 1
        })
    }
}

/// The models of the table of sensitivity; the centre must move nothing.
fn variants(config: &ModelConfig) -> Vec<(&'static str, ModelConfig)> {
    let with = |change: &dyn Fn(&mut ModelConfig)| {
        let mut config = config.clone();
        change(&mut config);
        config
    };
    vec![
        (
            "z-score centre: regression weights",
            with(&|c| c.centering = Centering::Regression),
        ),
        ("residuals: fitted", with(&|c| c.residuals = Residuals::Fitted)),
        ("weights: equal", with(&|c| c.weighting = Weighting::Equal)),
        ("weights: amount", with(&|c| c.weighting = Weighting::Amount)),
        (
            "weights: inverse residual variance",
            with(&|c| c.weighting = Weighting::InverseResidualVariance),
        ),
        ("winsor: 3 sigma", with(&|c| c.winsor = Winsor::Sigma { k: 3.0 })),
        (
            "winsor: percentiles 1 and 99",
            with(&|c| c.winsor = Winsor::Percentile { low: 1.0, high: 99.0 }),
        ),
        ("winsor: none", with(&|c| c.winsor = Winsor::Unlimited)),
        (
            "ILLIQ without logarithm",
            with(&|c| c.factors.illiquidity_log = false),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_tables_name_is_made_once_and_the_default_never() {
        let settings = Settings::beside(&ModelConfig::ktd());
        let all = settings.needed(true);
        let headline = Setting {
            config: ModelConfig::ktd(),
            basis: WeightBasis::HEADLINE,
            is_within: false,
        };
        assert!(!all.contains(&headline));
        let named = settings.family.len() + settings.sensitivity.len();
        assert!(all.len() < named, "{} of {named}", all.len());
        assert!(
            settings
                .family
                .iter()
                .all(|(_, place)| *place < settings.needed(false).len())
        );
        let of_family = |label: &str| settings.family.iter().find(|(own, _)| *own == label).unwrap().1;
        let of_table = |label: &str| {
            settings
                .sensitivity
                .iter()
                .find(|(own, _)| own == label)
                .unwrap()
                .1
        };
        assert_eq!(of_family("equal weights"), of_table("weights: equal"));
        assert_eq!(of_family("basis pre"), of_table("basis pre"));
    }
}
