//! What a model is given to decide on.

/// Decision mode of an episode (docs/spec/episode.md#modes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Identifiers of the universe and the account; no price, no factor, no tool.
    MemoryOnly,
    /// A table of summaries and factors over a fixed list of candidates.
    FixedCandidate,
    /// The account and the constraints; everything else through tools.
    OpenResearch,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::MemoryOnly, Self::FixedCandidate, Self::OpenResearch];

    /// The name in configurations, prompts and reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::MemoryOnly => "memory-only",
            Self::FixedCandidate => "fixed-candidate",
            Self::OpenResearch => "open-research",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.label() == text)
    }
}
