//! With which exposures what was planted is attributed.

/// With which exposures a candidate fits and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateExposures {
    /// Both with those of the market's configuration, which clips.
    Clipped,
    /// Fits on those, and attributes with each name's own.
    Unclipped,
    /// Both with five instead of three absolute deviations.
    FiveDeviations,
    /// Both clipped at the percentiles 1 and 99.
    Percentiles,
    /// Both with each name's own.
    UnclippedFit,
    /// Both clipped, each name by factor returns without it.
    LeftOut,
    /// As [`Self::LeftOut`], by a model that lacks the market's [extra styles](crate::model::ModelConfig::extra_styles).
    WithoutExtra,
}

impl CandidateExposures {
    /// Those of a market without extra styles.
    pub const ALL: [Self; 6] = [
        Self::Clipped,
        Self::Unclipped,
        Self::FiveDeviations,
        Self::Percentiles,
        Self::UnclippedFit,
        Self::LeftOut,
    ];

    /// The words of tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Clipped => "clipped",
            Self::Unclipped => "clipped fit alone",
            Self::FiveDeviations => "MAD 5",
            Self::Percentiles => "percentiles",
            Self::UnclippedFit => "unclipped",
            Self::LeftOut => "clipped, left out",
            Self::WithoutExtra => "clipped, left out, without extra styles",
        }
    }
}
