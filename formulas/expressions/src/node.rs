//! The steps of a plan: what each computes, from which other steps.

use crate::kind::CellKind;
use crate::operator::FormulaOperator;

/// The place of a node in its plan: larger than those of all nodes that it reads.
pub(crate) type NodeId = usize;

/// One side of an element-wise step: another node, or a number in the type of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operand {
    Node(NodeId),
    Integer(i64),
    /// The bits of a float32.
    Single(u32),
    /// The bits of a float64.
    Double(u64),
}

/// What a step computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    /// Missing cells.
    Missing,
    /// A field, by its place in the plan's list.
    Field(usize),
    /// The same cells in another type.
    Convert(NodeId),
    /// The cells as float64, infinities missing: what most windows read.
    Prepared(NodeId),
    /// The places of prepared cells in their own order.
    Sorted(NodeId),
    /// The cells of two series, row by row.
    Joined(NodeId, NodeId),
    /// An operator on one series, in the type of the node.
    One(FormulaOperator, NodeId),
    /// An operator on two sides, computed in the type that stands with it.
    Two(FormulaOperator, CellKind, Operand, Operand),
    /// Whether a cell is not 0; a missing one is not.
    Truth(NodeId),
    /// One of two sides, by a condition.
    Choice(NodeId, Operand, Operand),
    /// The cells of so many rows before, or after where it is negative.
    Shift(NodeId, i64),
    /// The first cell on all rows.
    First(NodeId),
    /// A statistic of a window, computed with the others of its state.
    Statistic(WindowState, Statistic),
    /// A series of another instrument: its plan and place in it.
    Elsewhere(usize, usize),
}

/// The state of a window, from which several statistics are taken. A window of 0 rows is all rows so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WindowState {
    /// Sums of prepared cells and of their squares.
    Moments(NodeId, usize),
    /// Sums of the first four powers of prepared cells.
    Shape(NodeId, usize),
    /// Distances of prepared cells from their mean.
    Deviations(NodeId, usize),
    /// Present cells of float64 cells, infinities among them.
    Present(NodeId, usize),
    /// The line through prepared cells; float64 cells beside them show infinities.
    Line(NodeId, NodeId, usize),
    /// Sums over joined cells.
    Pair(NodeId, usize),
    /// The largest prepared cell.
    Largest(NodeId, usize),
    /// The smallest prepared cell.
    Smallest(NodeId, usize),
    /// Sorted cells in the window.
    Ordered(NodeId, usize),
    /// Linear weights on prepared cells.
    Linear(NodeId, usize),
    /// Exponential weights on prepared cells; the bits of the weight of today's.
    Exponential(NodeId, u64),
    /// Exponential weights over all rows so far.
    ExponentialAll(NodeId),
}

/// A statistic of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Statistic {
    Mean,
    Sum,
    Std,
    Var,
    Skew,
    Kurt,
    Value,
    Place,
    Slope,
    Residual,
    Explained,
    Covariance,
    Correlation,
    Rank,
    /// The bits of the share.
    Quantile(u64),
}

impl WindowState {
    /// The nodes that it reads.
    pub(crate) fn reads(self) -> [Option<NodeId>; 2] {
        match self {
            Self::Moments(cells, _)
            | Self::Shape(cells, _)
            | Self::Deviations(cells, _)
            | Self::Present(cells, _)
            | Self::Pair(cells, _)
            | Self::Largest(cells, _)
            | Self::Smallest(cells, _)
            | Self::Ordered(cells, _)
            | Self::Linear(cells, _)
            | Self::Exponential(cells, _)
            | Self::ExponentialAll(cells) => [Some(cells), None],
            Self::Line(raw, cells, _) => [Some(raw), Some(cells)],
        }
    }
}

impl Operand {
    const fn node(self) -> Option<NodeId> {
        match self {
            Self::Node(node) => Some(node),
            Self::Integer(_) | Self::Single(_) | Self::Double(_) => None,
        }
    }
}

impl Task {
    /// The nodes that it reads.
    pub(crate) fn reads(self) -> [Option<NodeId>; 3] {
        match self {
            Self::Missing | Self::Field(_) | Self::Elsewhere(..) => [None; 3],
            Self::Convert(node)
            | Self::Prepared(node)
            | Self::Sorted(node)
            | Self::One(_, node)
            | Self::Truth(node)
            | Self::Shift(node, _)
            | Self::First(node) => [Some(node), None, None],
            Self::Joined(left, right) => [Some(left), Some(right), None],
            Self::Two(_, _, left, right) => [left.node(), right.node(), None],
            Self::Choice(condition, left, right) => [Some(condition), left.node(), right.node()],
            Self::Statistic(state, _) => {
                let [first, second] = state.reads();
                [first, second, None]
            }
        }
    }
}
