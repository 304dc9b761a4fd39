//! On which weights a day's return is split.

/// On which weights a day's return is split, and where the return of the day's own trades goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeightBasis {
    /// Weights before the day's trades (KTD-Fin's pre-return weights); what trades earn from the open to the close
    /// is execution.
    Pre,
    /// Weights after them; what trades missed from the mark to the open is execution, as in implementation shortfall.
    Post,
    /// The overnight leg on weights before, the intraday leg on weights after: nothing is execution.
    Two,
}

impl WeightBasis {
    /// The basis of ranks.
    pub const HEADLINE: Self = Self::Two;

    /// All bases.
    pub const ALL: [Self; 3] = [Self::Pre, Self::Post, Self::Two];

    /// The stable word for files and programs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pre => "pre",
            Self::Post => "post",
            Self::Two => "two",
        }
    }

    /// The basis of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.label() == text)
    }

    /// Its place in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
