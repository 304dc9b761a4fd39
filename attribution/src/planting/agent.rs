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
    /// It throws dice.
    Luck,
    /// It holds the highest exposures to a style, by place in the model, among names within the limits of winsorising.
    Style(usize),
    /// It holds the highest exposures to a style, beyond the limits as well.
    Tail(usize),
}

/// Which specific returns a skilled account foresees, from the open at which it trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillHorizon {
    /// Up to the close of the same day.
    FirstDay,
    /// Up to the open at which it trades again.
    Holding,
}
