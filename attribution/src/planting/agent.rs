//! Who is planted.

/// A planted account.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlantedAgent {
    /// It foresees specific returns: its score correlates with them by this much across names (information coefficient).
    Skill {
        /// The correlation.
        information: f64,
        /// Over which days.
        foresight: SkillHorizon,
    },
    /// As [`Self::Skill`] over the whole holding, among so many names of the largest regression weight: those that are traded most.
    FamousSkill {
        /// The correlation.
        information: f64,
        /// Names among which it chooses.
        among: usize,
    },
    /// It foresees the shocks of sectors over the whole holding, with such a correlation across names.
    SectorSkill {
        /// The correlation.
        information: f64,
    },
    /// It throws dice among the names of so many sectors, which it draws once.
    SectorDice(usize),
    /// It throws dice among all names and is invested whole where it expects the market to rise over the holding, and by half where it
    /// does not.
    MarketTimer {
        /// The share of its forecasts that are right, above those that are wrong.
        information: f64,
    },
    /// It throws dice.
    Luck,
    /// It holds the highest exposures to a style, by place in the model, among names within the limits of winsorising.
    Style(usize),
    /// It holds the highest exposures to a style, beyond the limits as well.
    Tail(usize),
}

impl PlantedAgent {
    /// Whether nothing but chance decides what it holds of specific returns: its selection lies outside a 95 % band of luck in 5 %.
    #[must_use]
    pub const fn is_dice(self) -> bool {
        matches!(self, Self::Luck | Self::SectorDice(_) | Self::MarketTimer { .. })
    }
}

/// Which specific returns a skilled account foresees, from the open at which it trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillHorizon {
    /// Up to the close of the same day.
    FirstDay,
    /// Up to the open at which it trades again.
    Holding,
}
