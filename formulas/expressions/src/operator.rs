//! Operators of the language, their names and the shapes of their arguments.

use std::fmt;

/// What stands between an operator's brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperatorShape {
    /// One series.
    One,
    /// Two series, or a series and a number.
    Two,
    /// A condition and two values.
    Choice,
    /// A series and a window.
    Window,
    /// A series, a window and a share.
    Quantile,
    /// Two series and a window.
    Pair,
    /// A code of another instrument, then a series.
    CodeFirst,
    /// A series, then a code of another instrument.
    CodeLast,
}

impl OperatorShape {
    /// How many arguments there are.
    #[must_use]
    pub const fn arguments(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two | Self::Window | Self::CodeFirst | Self::CodeLast => 2,
            Self::Choice | Self::Quantile | Self::Pair => 3,
        }
    }
}

macro_rules! operators {
    ($($name:ident $shape:ident $doc:literal,)*) => {
        /// An operator of the language, by Qlib's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FormulaOperator {
            $(#[doc = $doc] $name,)*
        }

        impl FormulaOperator {
            /// Every operator, elements before windows.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in a formula.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// What stands between the brackets.
            #[must_use]
            pub const fn shape(self) -> OperatorShape {
                match self {
                    $(Self::$name => OperatorShape::$shape,)*
                }
            }

            /// The operator of this name, in its own upper and lower case.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

operators! {
    Abs One "Absolute value.",
    Sign One "Sign: -1, 0 or 1.",
    Log One "Natural logarithm.",
    Not One "Logical not.",
    Add Two "Sum.",
    Sub Two "Difference.",
    Mul Two "Product.",
    Div Two "Quotient.",
    Power Two "Power.",
    Greater Two "The larger of two values.",
    Less Two "The smaller of two values.",
    Gt Two "Greater than: 1 or 0.",
    Ge Two "Greater or equal: 1 or 0.",
    Lt Two "Less than: 1 or 0.",
    Le Two "Less or equal: 1 or 0.",
    Eq Two "Equal: 1 or 0.",
    Ne Two "Not equal: 1 or 0.",
    And Two "Logical and.",
    Or Two "Logical or.",
    If Choice "The second where the first is not 0, else the third.",
    Ref Window "The value some rows before.",
    Delta Window "The value less the one some rows before.",
    Mean Window "Mean.",
    Sum Window "Sum.",
    Max Window "Largest cell.",
    Min Window "Smallest cell.",
    Std Window "Standard deviation, with one degree of freedom less.",
    Var Window "Variance, with one degree of freedom less.",
    Skew Window "Skewness, unbiased.",
    Kurt Window "Excess kurtosis, unbiased.",
    Med Window "Median.",
    Mad Window "Mean absolute deviation from the mean.",
    Rank Window "Share of the window at or below today's value.",
    Count Window "Number of present cells.",
    IdxMax Window "Place of the largest cell, counted from the oldest row.",
    IdxMin Window "Place of the smallest cell, counted from the oldest row.",
    WMA Window "Linearly weighted mean over the number of present cells: Qlib's habit.",
    EMA Window "Exponentially weighted mean.",
    Slope Window "Slope of the line through the window.",
    Resi Window "Today's distance from the line through the window.",
    Rsquare Window "Share of the variance that the line through the window explains.",
    Quantile Quantile "Quantile.",
    Corr Pair "Correlation.",
    Cov Pair "Covariance, with one degree of freedom less.",
    ChangeInstrument CodeFirst "A series of another instrument.",
    Mask CodeLast "A series of another instrument, written the other way round.",
}

impl FormulaOperator {
    /// Whether it compares two values.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Gt | Self::Ge | Self::Lt | Self::Le | Self::Eq | Self::Ne
        )
    }

    /// The comparison with its sides exchanged.
    pub(crate) const fn mirrored(self) -> Self {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other operators have no other side"
        )]
        match self {
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            same => same,
        }
    }

    /// Whether a share between 0 and 1 in the window's place is read as the weight of an exponential mean.
    pub(crate) const fn takes_a_share(self) -> bool {
        matches!(
            self,
            Self::EMA
                | Self::Mean
                | Self::Sum
                | Self::Std
                | Self::Var
                | Self::Max
                | Self::Min
                | Self::Med
                | Self::Count
        )
    }

    /// The shortest window that is not 0.
    pub(crate) const fn least_window(self) -> i64 {
        if matches!(self, Self::Skew) {
            3
        } else if matches!(self, Self::Kurt) {
            4
        } else {
            1
        }
    }

    /// Whether it shifts a series, and so may look ahead.
    #[must_use]
    pub const fn is_shift(self) -> bool {
        matches!(self, Self::Ref | Self::Delta)
    }
}

impl fmt::Display for FormulaOperator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
