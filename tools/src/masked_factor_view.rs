//! Factors and technicals as a mask shows them: the one place that knows in what terms it does.
//!
//! Every tool shows them, orders by them and bounds them through a [`MaskedFactorView`], so that no list tells more than its cells.

use crate::context::ToolContext;
use ktd_env::factors::{Factor, Technical};
use ktd_env::{AsOf, NameId};
use ktd_masking::{CrossSectionRank, FactorScale, MaskedNumber, Numeric, Payload, RankedValues};

/// The factors and technicals of one call.
pub(crate) struct MaskedFactorView<'a> {
    context: &'a ToolContext<'a>,
    view: AsOf<'a>,
    factors: Vec<(Factor, RankedValues)>,
    technicals: Vec<(Technical, RankedValues)>,
}

impl<'a> MaskedFactorView<'a> {
    /// These factors and technicals as shown. Cross-sections are ranked here, once a call.
    pub(crate) fn of(context: &'a ToolContext<'a>, factors: &[Factor], technicals: &[Technical]) -> Self {
        let view = *context.as_of;
        // Bands are told by a roster alone, without a market in reach: here nothing is shown of them.
        let members: Vec<NameId> = match context.mask.scale() {
            FactorScale::Values | FactorScale::Bands => Vec::new(),
            FactorScale::Percentiles => view.members().collect(),
        };
        let of_factor = |factor: &Factor| {
            (
                *factor,
                RankedValues::of(&members, |name| view.factor(name, *factor)),
            )
        };
        let of_technical = |technical: &Technical| {
            let section = RankedValues::of(&members, |name| view.technical(name, *technical));
            (*technical, section)
        };
        Self {
            context,
            view,
            factors: factors.iter().map(of_factor).collect(),
            technicals: technicals.iter().map(of_technical).collect(),
        }
    }

    /// The columns that tell a factor.
    pub(crate) fn factor_columns(&self, factor: Factor) -> Vec<&'static str> {
        match self.context.mask.scale() {
            FactorScale::Values => vec![factor.name(), z_name(factor)],
            FactorScale::Percentiles => vec![percentile_name(factor)],
            FactorScale::Bands => Vec::new(),
        }
    }

    /// The cells of those columns.
    pub(crate) fn factor_cells(&self, name: NameId, factor: Factor) -> Vec<Payload> {
        let score = Payload::optional(self.score(name, factor));
        match self.context.mask.scale() {
            FactorScale::Values => vec![Payload::optional(self.raw(name, factor)), score],
            FactorScale::Percentiles => vec![score],
            FactorScale::Bands => Vec::new(),
        }
    }

    /// The rows that tell a name's factors, each with its label.
    pub(crate) fn factor_rows(&self, name: NameId) -> Vec<(&'static str, Vec<Payload>)> {
        let scores = self
            .factors
            .iter()
            .map(|(factor, _)| Payload::optional(self.score(name, *factor)));
        let scores = scores.collect();
        match self.context.mask.scale() {
            FactorScale::Values => {
                let raws = self
                    .factors
                    .iter()
                    .map(|(factor, _)| Payload::optional(self.raw(name, *factor)));
                vec![("raw", raws.collect()), ("z", scores)]
            }
            FactorScale::Percentiles => vec![("pct", scores)],
            FactorScale::Bands => Vec::new(),
        }
    }

    /// What scores and bounds act on: the z-score, the percentile or the band; `None` where it is missing.
    pub(crate) fn score(&self, name: NameId, factor: Factor) -> Option<MaskedNumber> {
        let mask = self.context.mask;
        match mask.scale() {
            FactorScale::Values => mask.score(self.view.factor_z(name, factor)?),
            FactorScale::Percentiles => mask.percentile(self.rank(name, factor)?),
            FactorScale::Bands => None,
        }
    }

    /// How far the score lies above that of a middling name; 0 where it is missing.
    pub(crate) fn above_middle(&self, name: NameId, factor: Factor) -> f64 {
        const MIDDLE_PERCENTILE: f64 = 50.0;
        let Some(score) = self.score(name, factor) else {
            return 0.0;
        };
        match self.context.mask.scale() {
            FactorScale::Values | FactorScale::Bands => score.value(),
            FactorScale::Percentiles => score.value() - MIDDLE_PERCENTILE,
        }
    }

    /// The raw value, where it is shown.
    pub(crate) fn raw(&self, name: NameId, factor: Factor) -> Option<MaskedNumber> {
        self.context.mask.factor(factor, self.view.factor(name, factor)?)
    }

    /// What orders names of equal scores, and `None` where the shown numbers tell no more.
    ///
    /// Under `rescaled` the hidden raw value of ILLIQ orders too: it says which of two clipped scores is higher, and every
    /// recorded episode at that setting was made so.
    pub(crate) fn finer(&self, name: NameId, factor: Factor) -> Option<f64> {
        match self.context.mask.numeric() {
            Numeric::Exact | Numeric::Rescaled => self.view.factor(name, factor),
            Numeric::RoundedTenth
            | Numeric::RoundedHalf
            | Numeric::Ranked
            | Numeric::BandedFive
            | Numeric::Banded => self.raw(name, factor).map(MaskedNumber::value),
        }
    }

    /// What the highest names of a factor are chosen by.
    pub(crate) fn height(&self, name: NameId, factor: Factor) -> Option<f64> {
        let by_score = || self.score(name, factor).map(MaskedNumber::value);
        match self.context.mask.numeric() {
            Numeric::Exact | Numeric::Rescaled => self.view.factor(name, factor),
            Numeric::RoundedTenth | Numeric::RoundedHalf => {
                if self.context.mask.shows_raw(factor) {
                    self.raw(name, factor).map(MaskedNumber::value)
                } else {
                    by_score()
                }
            }
            Numeric::Ranked | Numeric::BandedFive | Numeric::Banded => by_score(),
        }
    }

    /// The key of a technical. Where nothing is shown of it, its cells are empty and its column is left out.
    pub(crate) fn technical_name(&self, technical: Technical) -> &'static str {
        match self.context.mask.scale() {
            FactorScale::Values | FactorScale::Bands => technical.name(),
            FactorScale::Percentiles => technical_percentile_name(technical),
        }
    }

    /// A technical as it is shown.
    pub(crate) fn technical(&self, name: NameId, technical: Technical) -> Payload {
        let mask = self.context.mask;
        let Some(value) = self.view.technical(name, technical) else {
            return Payload::null();
        };
        let number = match mask.scale() {
            FactorScale::Values => mask.technical(technical, value),
            FactorScale::Percentiles => {
                let section = self.technicals.iter().find(|(of, _)| *of == technical);
                section
                    .and_then(|(_, section)| section.rank(value, self.view.is_member(name)))
                    .and_then(|rank| mask.percentile(rank))
            }
            FactorScale::Bands => None,
        };
        Payload::optional(number)
    }

    /// Technicals by key; empty where none is shown.
    pub(crate) fn technicals(&self, name: NameId) -> Payload {
        if self.context.mask.scale() == FactorScale::Bands {
            return Payload::null();
        }
        let told = self.technicals.iter().map(|(technical, _)| {
            let technical = *technical;
            (self.technical_name(technical), self.technical(name, technical))
        });
        Payload::map(told)
    }

    fn rank(&self, name: NameId, factor: Factor) -> Option<CrossSectionRank> {
        let value = self.view.factor(name, factor)?;
        let (_, section) = self.factors.iter().find(|(of, _)| *of == factor)?;
        section.rank(value, self.view.is_member(name))
    }
}

/// The column of a factor's z-score.
pub(crate) const fn z_name(factor: Factor) -> &'static str {
    match factor {
        Factor::Mom12_1 => "MOM_12_1_z",
        Factor::Rv60 => "RV_60_z",
        Factor::Illiq => "ILLIQ_z",
        Factor::RevOn => "REV_ON_z",
        Factor::MomId => "MOM_ID_z",
        Factor::Skew => "SKEW_z",
        Factor::CorrPv => "CORR_PV_z",
        Factor::High52w => "HIGH_52W_z",
        Factor::CvVol => "CV_VOL_z",
    }
}

const fn percentile_name(factor: Factor) -> &'static str {
    match factor {
        Factor::Mom12_1 => "MOM_12_1_pct",
        Factor::Rv60 => "RV_60_pct",
        Factor::Illiq => "ILLIQ_pct",
        Factor::RevOn => "REV_ON_pct",
        Factor::MomId => "MOM_ID_pct",
        Factor::Skew => "SKEW_pct",
        Factor::CorrPv => "CORR_PV_pct",
        Factor::High52w => "HIGH_52W_pct",
        Factor::CvVol => "CV_VOL_pct",
    }
}

/// The column of a factor's bands.
pub(crate) const fn band_name(factor: Factor) -> &'static str {
    match factor {
        Factor::Mom12_1 => "MOM_12_1_band",
        Factor::Rv60 => "RV_60_band",
        Factor::Illiq => "ILLIQ_band",
        Factor::RevOn => "REV_ON_band",
        Factor::MomId => "MOM_ID_band",
        Factor::Skew => "SKEW_band",
        Factor::CorrPv => "CORR_PV_band",
        Factor::High52w => "HIGH_52W_band",
        Factor::CvVol => "CV_VOL_band",
    }
}

const fn technical_percentile_name(technical: Technical) -> &'static str {
    match technical {
        Technical::Return1d => "return_1d_pct",
        Technical::Return5d => "return_5d_pct",
        Technical::Return20d => "return_20d_pct",
        Technical::Return60d => "return_60d_pct",
        Technical::MaGap20 => "ma_gap_20_pct",
        Technical::MaGap60 => "ma_gap_60_pct",
        Technical::Volatility20 => "volatility_20_pct",
        Technical::AmountRatio5To20 => "amount_ratio_5_20_pct",
        Technical::Rsi14 => "rsi_14_pct",
        Technical::Drawdown60 => "drawdown_60_pct",
        Technical::RangePosition20 => "range_position_20_pct",
        Technical::TrueRange14 => "true_range_14_pct",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_after_what_they_tell() {
        for factor in Factor::ALL {
            assert_eq!(z_name(factor), format!("{}_z", factor.name()));
            assert_eq!(percentile_name(factor), format!("{}_pct", factor.name()));
            assert_eq!(band_name(factor), format!("{}_band", factor.name()));
        }
        for technical in Technical::ALL {
            assert_eq!(
                technical_percentile_name(technical),
                format!("{}_pct", technical.name())
            );
        }
    }
}
