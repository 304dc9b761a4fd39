//! The operators of the language, by name, with what each takes.

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A value of each row.
    Series,
    /// Rows of a window, a written whole number of at least this.
    Window(usize),
    /// Rows back, a written whole number from 0 on.
    Lag,
    /// A written number.
    Number,
    /// A written number of at least 1.
    Span,
    /// A written number above 0 and up to 1.
    Weight,
    /// A written number from 0 to 1.
    Share,
    /// `'W'` or `'M'`.
    Period,
    /// What is taken of a completed period.
    PastReduction,
    /// What is taken of a period so far.
    Reduction,
    /// A list of written numbers, or `fdw(d,n)`.
    Weights,
}

/// What is computed of one value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Abs,
    Log,
    Exp,
    Sqrt,
    Sign,
    ZeroIfMissing,
    TimesLog,
}

/// What is computed of two values of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Larger,
    Smaller,
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
}

/// What is computed of a straight line through a full window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineStatistic {
    Slope,
    RSquared,
    Residual,
    ResidualError,
}

/// What is computed of a full window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistic {
    Sum,
    Mean,
    Variance,
    Deviation,
    Max,
    Min,
    Median,
    Count,
    MeanDeviation,
    MedianDeviation,
    Skew,
    Kurtosis,
    Rank,
    DaysSinceMax,
    DaysSinceMin,
    Line(LineStatistic),
    LinearMean,
    Curve,
    MaxDrawdown,
    TimeRank,
}

/// What is computed of a full window and a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShareStatistic {
    Quantile,
    TailMean,
}

/// What is computed of two full windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairStatistic {
    Covariance,
    Correlation,
    Beta,
}

/// How the weight of a recursion follows from its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Smoothing {
    /// 2 / (n + 1).
    Exponential,
    /// 1 / n.
    Wilder,
    /// The number itself.
    Weight,
}

/// What is computed of the whole past, one value a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    Sum,
    Product,
    Max,
    Min,
}

/// What is computed of all rows so far that have values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expanding {
    Mean,
    Deviation,
    Beta,
    Rank,
}

/// What remembers an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    DaysSince,
    Last,
    SumSince,
    Run,
    RunSum,
    Latch,
}

/// What an operator computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Unary(Unary),
    Binary(Binary),
    All,
    Any,
    When,
    Lag,
    Delta,
    Return,
    Rolling(Statistic),
    Share(ShareStatistic),
    Pair(PairStatistic),
    Weighted,
    FractionalWeights,
    Smoothed(Smoothing),
    Running(Running),
    Expanding(Expanding),
    State(State),
    PastPeriod,
    PeriodSoFar,
    SameWeekday,
}

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    pub(crate) operation: Operation,
    /// Its arguments; of an operator over any number of series, the first alone.
    pub(crate) slots: &'static [Slot],
}

impl Operator {
    pub(crate) fn named(name: &str) -> Option<Self> {
        OPERATORS.into_iter().find(|operator| operator.name == name)
    }

    /// Whether it takes any number of series.
    pub(crate) const fn is_variadic(&self) -> bool {
        matches!(self.operation, Operation::All | Operation::Any)
    }
}

const ONE: &[Slot] = &[Slot::Series];
const TWO: &[Slot] = &[Slot::Series, Slot::Series];
const THREE: &[Slot] = &[Slot::Series, Slot::Series, Slot::Series];
const LAGGED: &[Slot] = &[Slot::Series, Slot::Lag];
const FROM_1: &[Slot] = &[Slot::Series, Slot::Window(1)];
const FROM_2: &[Slot] = &[Slot::Series, Slot::Window(2)];
const FROM_3: &[Slot] = &[Slot::Series, Slot::Window(3)];
const FROM_4: &[Slot] = &[Slot::Series, Slot::Window(4)];
const PAIR: &[Slot] = &[Slot::Series, Slot::Series, Slot::Window(2)];
const SHARED: &[Slot] = &[Slot::Series, Slot::Window(1), Slot::Share];
const SPANNED: &[Slot] = &[Slot::Series, Slot::Span];

const fn operator(name: &'static str, operation: Operation, slots: &'static [Slot]) -> Operator {
    Operator {
        name,
        operation,
        slots,
    }
}

const fn unary(name: &'static str, unary: Unary) -> Operator {
    operator(name, Operation::Unary(unary), ONE)
}

const fn binary(name: &'static str, binary: Binary) -> Operator {
    operator(name, Operation::Binary(binary), TWO)
}

const fn rolling(name: &'static str, statistic: Statistic, slots: &'static [Slot]) -> Operator {
    operator(name, Operation::Rolling(statistic), slots)
}

const fn state(name: &'static str, state: State, slots: &'static [Slot]) -> Operator {
    operator(name, Operation::State(state), slots)
}

const OPERATORS: [Operator; 70] = [
    unary("abs", Unary::Abs),
    unary("log", Unary::Log),
    unary("exp", Unary::Exp),
    unary("sqrt", Unary::Sqrt),
    unary("sign", Unary::Sign),
    binary("max2", Binary::Larger),
    binary("min2", Binary::Smaller),
    binary("gt", Binary::Above),
    binary("ge", Binary::AtLeast),
    binary("lt", Binary::Below),
    binary("le", Binary::AtMost),
    binary("eq", Binary::Equal),
    operator("both", Operation::All, ONE),
    operator("either", Operation::Any, ONE),
    operator("when", Operation::When, THREE),
    unary("nan0", Unary::ZeroIfMissing),
    unary("xlogx", Unary::TimesLog),
    operator("lag", Operation::Lag, LAGGED),
    operator("delta", Operation::Delta, LAGGED),
    operator("ret", Operation::Return, LAGGED),
    rolling("sum", Statistic::Sum, FROM_1),
    rolling("mean", Statistic::Mean, FROM_1),
    rolling("var", Statistic::Variance, FROM_1),
    rolling("std", Statistic::Deviation, FROM_1),
    rolling("max", Statistic::Max, FROM_1),
    rolling("min", Statistic::Min, FROM_1),
    rolling("median", Statistic::Median, FROM_1),
    rolling("count", Statistic::Count, FROM_1),
    rolling("mad", Statistic::MeanDeviation, FROM_1),
    rolling("medad", Statistic::MedianDeviation, FROM_1),
    rolling("skew", Statistic::Skew, FROM_3),
    rolling("kurt", Statistic::Kurtosis, FROM_4),
    rolling("rank", Statistic::Rank, FROM_1),
    rolling("argmax", Statistic::DaysSinceMax, FROM_1),
    rolling("argmin", Statistic::DaysSinceMin, FROM_1),
    rolling("slope", Statistic::Line(LineStatistic::Slope), FROM_2),
    rolling("rsq", Statistic::Line(LineStatistic::RSquared), FROM_2),
    rolling("resid", Statistic::Line(LineStatistic::Residual), FROM_2),
    rolling("rse", Statistic::Line(LineStatistic::ResidualError), FROM_3),
    rolling("wma", Statistic::LinearMean, FROM_1),
    rolling("curve", Statistic::Curve, FROM_3),
    rolling("maxdd", Statistic::MaxDrawdown, FROM_1),
    rolling("timerank", Statistic::TimeRank, FROM_2),
    operator("quantile", Operation::Share(ShareStatistic::Quantile), SHARED),
    operator("tailmean", Operation::Share(ShareStatistic::TailMean), SHARED),
    operator("cov", Operation::Pair(PairStatistic::Covariance), PAIR),
    operator("corr", Operation::Pair(PairStatistic::Correlation), PAIR),
    operator("beta", Operation::Pair(PairStatistic::Beta), PAIR),
    operator("fir", Operation::Weighted, &[Slot::Series, Slot::Weights]),
    operator(
        "fdw",
        Operation::FractionalWeights,
        &[Slot::Number, Slot::Window(1)],
    ),
    operator("ema", Operation::Smoothed(Smoothing::Exponential), SPANNED),
    operator("wilder", Operation::Smoothed(Smoothing::Wilder), SPANNED),
    operator(
        "ewa",
        Operation::Smoothed(Smoothing::Weight),
        &[Slot::Series, Slot::Weight],
    ),
    operator("cumsum", Operation::Running(Running::Sum), ONE),
    operator("cumprod", Operation::Running(Running::Product), ONE),
    operator("cummax", Operation::Running(Running::Max), ONE),
    operator("cummin", Operation::Running(Running::Min), ONE),
    operator("emean", Operation::Expanding(Expanding::Mean), FROM_1),
    operator("estd", Operation::Expanding(Expanding::Deviation), FROM_1),
    operator("ebeta", Operation::Expanding(Expanding::Beta), PAIR),
    operator("erank", Operation::Expanding(Expanding::Rank), FROM_1),
    state("since", State::DaysSince, ONE),
    state("last", State::Last, TWO),
    state("sumsince", State::SumSince, TWO),
    state("run", State::Run, ONE),
    state("runsum", State::RunSum, TWO),
    state("latch", State::Latch, TWO),
    operator(
        "prevp",
        Operation::PastPeriod,
        &[Slot::Series, Slot::Period, Slot::PastReduction],
    ),
    operator(
        "sofar",
        Operation::PeriodSoFar,
        &[Slot::Series, Slot::Period, Slot::Reduction],
    ),
    operator("samedow", Operation::SameWeekday, FROM_1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_a_name_of_its_own() {
        for operator in OPERATORS {
            assert_eq!(Operator::named(operator.name), Some(operator));
        }
    }
}
