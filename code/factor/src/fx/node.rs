//! A checked definition: steps in the order of their evaluation, equal ones once.

use super::operator::{Binary, Expanding, PairStatistic, Running, ShareStatistic, State, Statistic, Unary};
use super::script::Arithmetic;

/// The place of a step.
pub(crate) type NodeId = usize;

/// A series of the bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarSeries {
    Open,
    High,
    Low,
    Close,
    Volume,
}

impl BarSeries {
    /// The series of a letter.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "O" => Some(Self::Open),
            "H" => Some(Self::High),
            "L" => Some(Self::Low),
            "C" => Some(Self::Close),
            "V" => Some(Self::Volume),
            _ => None,
        }
    }
}

/// A part of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    Week,
    Month,
}

/// What is taken of the rows of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    First,
    Last,
    Max,
    Min,
    Mean,
    Sum,
}

/// One step; what it reads are earlier steps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    Missing,
    Bars(BarSeries),
    Negated(NodeId),
    Between(Arithmetic, NodeId, NodeId),
    Unary(Unary, NodeId),
    Binary(Binary, NodeId, NodeId),
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    When(NodeId, NodeId, NodeId),
    Lag(NodeId, usize),
    Delta(NodeId, usize),
    Return(NodeId, usize),
    Scan(Scan),
}

/// A step that reads several rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scan {
    Rolling(Statistic, NodeId, usize),
    Share(ShareStatistic, NodeId, usize, f64),
    Pair(PairStatistic, NodeId, NodeId, usize),
    /// The weight of each lag, from 0 on.
    Weighted(NodeId, Vec<f64>),
    /// A recursion's weight of today, and where it stands in the text.
    Smoothed {
        of: NodeId,
        weight: f64,
        at: usize,
    },
    Running(Running, NodeId),
    /// One series, or the two of a slope, and the rows that it needs.
    Expanding(Expanding, Vec<NodeId>, usize),
    /// One series or two.
    State(State, Vec<NodeId>),
    PastPeriod(NodeId, Period, Reduction),
    PeriodSoFar(NodeId, Period, Reduction),
    SameWeekday(NodeId, usize),
}
