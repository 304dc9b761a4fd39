//! What a word tells of the world outside the numbers that a model was shown.

use schemars::JsonSchema;
use serde::Serialize;

/// A kind of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Category {
    /// Products and the names that people call their makers by.
    Brand,
    /// Company names and codes.
    Company,
    /// Sectors and industries.
    Sector,
    /// Dates of the calendar, feasts included.
    RealDate,
    /// Crashes, rescues, epidemics, crackdowns: what happened, by the name that people give it.
    Event,
    /// Announcements, earnings, policies, what analysts say.
    News,
    /// Central banks, rates, prices, trade.
    Macro,
    /// Indices, by name or code.
    Index,
    /// Markets of a country, a city, an exchange.
    Market,
    /// Levels of an index, in points.
    Level,
}

impl Category {
    /// All, in the order tables show them.
    pub const ALL: [Self; 10] = [
        Self::Brand,
        Self::Company,
        Self::Sector,
        Self::RealDate,
        Self::Event,
        Self::News,
        Self::Macro,
        Self::Index,
        Self::Market,
        Self::Level,
    ];

    /// The name in tables and JSON, and of its list files.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}
