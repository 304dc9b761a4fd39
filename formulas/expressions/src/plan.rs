//! The plan of a set of formulas: every distinct part once, in a fixed order.

use crate::casts::{count_of, single_of};
use crate::checker::CheckedFormula;
use crate::formula::Formula;
use crate::kind::{CellKind, Side, choice, one_sided, two_sided, windowed};
use crate::node::{NodeId, Operand, Statistic, Task, WindowState};
use crate::number::FormulaNumber;
use crate::operator::{FormulaOperator, OperatorShape};
use std::collections::{BTreeMap, BTreeSet};

/// In which precision columns and elements are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormulaPrecision {
    /// As Qlib does: columns and elements in float32, windows in float64.
    #[default]
    Qlib,
    /// Everything in float64, rounded once at the end.
    Float64,
}

/// A step with the type of its cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) task: Task,
    pub(crate) kind: CellKind,
}

/// A set of formulas, ready to be evaluated name by name.
#[derive(Debug, Clone)]
pub struct FormulaPlan {
    pub(crate) fields: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    /// The node of each formula.
    pub(crate) roots: Vec<NodeId>,
    /// The formulas of each node.
    pub(crate) answers: Vec<Vec<usize>>,
    /// All statistics asked of a state, with their nodes.
    pub(crate) states: BTreeMap<WindowState, Vec<(Statistic, NodeId)>>,
    /// The nodes whose cells nothing reads after a node.
    pub(crate) done: Vec<Vec<NodeId>>,
    /// Other instruments by code, with what is read of them.
    pub(crate) others: Vec<(String, Self)>,
}

impl FormulaPlan {
    /// The plan of some formulas. Their values do not depend on which others stand with them.
    #[must_use]
    pub fn of(formulas: &[CheckedFormula], precision: FormulaPrecision) -> Self {
        let mut fields = Vec::new();
        for formula in formulas {
            collect_fields(formula.formula(), &mut fields);
        }
        let trees: Vec<&Formula> = formulas.iter().map(CheckedFormula::formula).collect();
        Self::built(&trees, &fields, precision)
    }

    fn built(trees: &[&Formula], fields: &[String], precision: FormulaPrecision) -> Self {
        let mut builder = Builder {
            fields,
            precision,
            nodes: Vec::new(),
            places: BTreeMap::new(),
            others: BTreeMap::new(),
        };
        let roots: Vec<NodeId> = trees.iter().map(|tree| builder.series(tree)).collect();
        let Builder { nodes, others, .. } = builder;
        let mut answers = vec![Vec::new(); nodes.len()];
        for (formula, root) in roots.iter().enumerate() {
            if let Some(answers) = answers.get_mut(*root) {
                answers.push(formula);
            }
        }
        let mut states: BTreeMap<WindowState, Vec<(Statistic, NodeId)>> = BTreeMap::new();
        for (id, node) in nodes.iter().enumerate() {
            if let Task::Statistic(state, statistic) = node.task {
                states.entry(state).or_default().push((statistic, id));
            }
        }
        let mut ordered: Vec<(usize, (String, Vec<&Formula>))> = others
            .into_iter()
            .map(|(code, (place, inner))| (place, (code, inner)))
            .collect();
        ordered.sort_by_key(|(place, _)| *place);
        let others = ordered
            .into_iter()
            .map(|(_, (code, inner))| (code, Self::built(&inner, fields, precision)))
            .collect();
        Self {
            fields: fields.to_vec(),
            done: done_after(&nodes),
            nodes,
            roots,
            answers,
            states,
            others,
        }
    }

    /// The fields that the formulas read, in the order in which a name's columns are given.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The number of formulas.
    #[must_use]
    pub const fn formulas(&self) -> usize {
        self.roots.len()
    }

    /// The number of distinct steps, those on other instruments among them.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.nodes.len() + self.others.iter().map(|(_, plan)| plan.steps()).sum::<usize>()
    }
}

/// The nodes that are read for the last time, by the node that does so.
fn done_after(nodes: &[Node]) -> Vec<Vec<NodeId>> {
    let mut last: Vec<NodeId> = (0..nodes.len()).collect();
    let mut states = BTreeSet::new();
    for (id, node) in nodes.iter().enumerate() {
        // all statistics of a state are computed with its first
        if matches!(node.task, Task::Statistic(state, _) if !states.insert(state)) {
            continue;
        }
        for read in node.task.reads().into_iter().flatten() {
            if let Some(last) = last.get_mut(read) {
                *last = id;
            }
        }
    }
    let mut done = vec![Vec::new(); nodes.len()];
    for (id, last) in last.into_iter().enumerate() {
        if let Some(done) = done.get_mut(last) {
            done.push(id);
        }
    }
    done
}

fn collect_fields(formula: &Formula, fields: &mut Vec<String>) {
    if let Formula::Field(name) = formula
        && !fields.contains(name)
    {
        fields.push(name.clone());
    }
    for part in formula.parts() {
        collect_fields(part, fields);
    }
}

struct Builder<'a> {
    fields: &'a [String],
    precision: FormulaPrecision,
    nodes: Vec<Node>,
    places: BTreeMap<(Task, CellKind), NodeId>,
    others: BTreeMap<String, (usize, Vec<&'a Formula>)>,
}

impl<'a> Builder<'a> {
    /// The node of a task: the one there is, or a new one.
    fn node(&mut self, task: Task, kind: CellKind) -> NodeId {
        let next = self.nodes.len();
        let place = *self.places.entry((task, kind)).or_insert(next);
        if place == next {
            self.nodes.push(Node { task, kind });
        }
        place
    }

    fn kind(&self, node: NodeId) -> CellKind {
        self.nodes.get(node).map_or(CellKind::Double, |node| node.kind)
    }

    /// The type as the precision has it.
    const fn precise(&self, kind: CellKind) -> CellKind {
        match (kind, self.precision) {
            (CellKind::Single, FormulaPrecision::Float64) => CellKind::Double,
            _ => kind,
        }
    }

    fn converted(&mut self, node: NodeId, kind: CellKind) -> NodeId {
        if self.kind(node) == kind {
            node
        } else {
            self.node(Task::Convert(node), kind)
        }
    }

    fn prepared(&mut self, node: NodeId) -> NodeId {
        self.node(Task::Prepared(node), CellKind::Double)
    }

    fn side(&mut self, formula: &'a Formula) -> (Side, Option<NodeId>) {
        if let Formula::Number(number) = formula {
            return (Side::Number(*number), None);
        }
        let node = self.series(formula);
        (Side::Series(self.kind(node)), Some(node))
    }

    /// A side in the type of its step.
    fn operand(&mut self, side: Side, node: Option<NodeId>, kind: CellKind) -> Operand {
        match (side, node) {
            (_, Some(node)) => Operand::Node(self.converted(node, kind)),
            (Side::Number(FormulaNumber::Integer(number)), None) if kind == CellKind::Integer => {
                Operand::Integer(number)
            }
            (Side::Number(number), None) if kind == CellKind::Single => {
                Operand::Single(single_of(number.float()).to_bits())
            }
            (Side::Number(number), None) => Operand::Double(number.float().to_bits()),
            (Side::Series(_), None) => Operand::Double(f64::NAN.to_bits()),
        }
    }

    /// The node of a series. The checker has seen the formula, so that every shape below is one of its own.
    fn series(&mut self, formula: &'a Formula) -> NodeId {
        match formula {
            // refused by the checker
            Formula::Number(_) => self.node(Task::Missing, CellKind::Double),
            Formula::Field(name) => {
                let place = self
                    .fields
                    .iter()
                    .position(|field| field == name)
                    .unwrap_or(self.fields.len());
                let kind = self.precise(CellKind::Single);
                self.node(Task::Field(place), kind)
            }
            Formula::Elsewhere(_, code, inner) => self.elsewhere(code, inner),
            Formula::Apply(operator, parts) => self.applied(*operator, parts),
        }
    }

    fn elsewhere(&mut self, code: &str, inner: &'a Formula) -> NodeId {
        let kind = self.precise(formula_kind(inner).shifted());
        let next = self.others.len();
        let (other, wanted) = self
            .others
            .entry(code.to_lowercase())
            .or_insert_with(|| (next, Vec::new()));
        let place = wanted
            .iter()
            .position(|wanted| *wanted == inner)
            .unwrap_or(wanted.len());
        if place == wanted.len() {
            wanted.push(inner);
        }
        let task = Task::Elsewhere(*other, place);
        self.node(task, kind)
    }

    fn applied(&mut self, operator: FormulaOperator, parts: &'a [Formula]) -> NodeId {
        match (operator.shape(), parts) {
            (OperatorShape::One, [inner]) => {
                let inner = self.series(inner);
                let kind = one_sided(operator, self.kind(inner)).unwrap_or(CellKind::Double);
                let kind = self.precise(kind);
                let inner = self.converted(
                    inner,
                    if operator == FormulaOperator::Abs {
                        self.kind(inner)
                    } else {
                        kind
                    },
                );
                self.node(Task::One(operator, inner), kind)
            }
            (OperatorShape::Two, [left, right]) => self.two(operator, left, right),
            (OperatorShape::Choice, [condition, left, right]) => {
                let condition = self.series(condition);
                let condition = if self.kind(condition) == CellKind::Boolean {
                    condition
                } else {
                    self.node(Task::Truth(condition), CellKind::Boolean)
                };
                let ((left, left_node), (right, right_node)) = (self.side(left), self.side(right));
                let kind = choice(left, right);
                let left = self.operand(left, left_node, kind);
                let right = self.operand(right, right_node, kind);
                self.node(Task::Choice(condition, left, right), kind)
            }
            (OperatorShape::Window, [inner, Formula::Number(rows)]) => {
                let inner = self.series(inner);
                self.window(operator, inner, *rows)
            }
            (OperatorShape::Quantile, [inner, Formula::Number(rows), Formula::Number(share)]) => {
                let inner = self.series(inner);
                let statistic = Statistic::Quantile(share.float().to_bits());
                self.ordered(inner, rows_of(*rows), statistic)
            }
            (OperatorShape::Pair, [left, right, Formula::Number(rows)]) => {
                let (left, right) = (self.series(left), self.series(right));
                self.pair(operator, left, right, rows_of(*rows))
            }
            _ => self.node(Task::Missing, CellKind::Double),
        }
    }

    fn two(&mut self, operator: FormulaOperator, left: &'a Formula, right: &'a Formula) -> NodeId {
        let ((left, left_node), (right, right_node)) = (self.side(left), self.side(right));
        let double = (CellKind::Double, CellKind::Double);
        let (computed, kind) = two_sided(operator, left, right).unwrap_or(double);
        let left = self.operand(left, left_node, computed);
        let right = self.operand(right, right_node, computed);
        self.node(Task::Two(operator, computed, left, right), kind)
    }

    fn window(&mut self, operator: FormulaOperator, inner: NodeId, rows: FormulaNumber) -> NodeId {
        let kind = self.precise(windowed(operator, self.kind(inner), rows));
        let count = rows_of(rows);
        match (operator, rows) {
            (FormulaOperator::Ref | FormulaOperator::Delta, FormulaNumber::Integer(rows)) => {
                self.shift(operator, inner, rows, kind)
            }
            (_, FormulaNumber::Float(share)) => self.exponential(inner, share),
            (FormulaOperator::EMA, FormulaNumber::Integer(0)) => {
                let cells = self.prepared(inner);
                self.statistic(WindowState::ExponentialAll(cells), Statistic::Value)
            }
            (FormulaOperator::EMA, FormulaNumber::Integer(_)) => {
                self.exponential(inner, 2.0 / (1.0 + count_of(count)))
            }
            (FormulaOperator::Slope | FormulaOperator::Resi | FormulaOperator::Rsquare, _) => {
                self.line(operator, inner, count)
            }
            (FormulaOperator::Rank, _) => self.ordered(inner, count, Statistic::Rank),
            (FormulaOperator::Med, _) => self.ordered(inner, count, Statistic::Quantile(0.5_f64.to_bits())),
            (FormulaOperator::Count, _) => {
                let cells = self.converted(inner, CellKind::Double);
                self.statistic(WindowState::Present(cells, count), Statistic::Value)
            }
            _ => self.plain(operator, inner, count),
        }
    }

    /// Windows on prepared cells alone.
    fn plain(&mut self, operator: FormulaOperator, inner: NodeId, count: usize) -> NodeId {
        let cells = self.prepared(inner);
        let moments = WindowState::Moments(cells, count);
        let largest = WindowState::Largest(cells, count);
        let smallest = WindowState::Smallest(cells, count);
        #[expect(clippy::wildcard_enum_match_arm, reason = "the last of the windows")]
        let (state, statistic) = match operator {
            FormulaOperator::Max => (largest, Statistic::Value),
            FormulaOperator::IdxMax => (largest, Statistic::Place),
            FormulaOperator::Min => (smallest, Statistic::Value),
            FormulaOperator::IdxMin => (smallest, Statistic::Place),
            FormulaOperator::WMA => (WindowState::Linear(cells, count), Statistic::Value),
            FormulaOperator::Mean => (moments, Statistic::Mean),
            FormulaOperator::Sum => (moments, Statistic::Sum),
            FormulaOperator::Std => (moments, Statistic::Std),
            FormulaOperator::Var => (moments, Statistic::Var),
            FormulaOperator::Skew => (WindowState::Shape(cells, count), Statistic::Skew),
            FormulaOperator::Kurt => (WindowState::Shape(cells, count), Statistic::Kurt),
            _ => (WindowState::Deviations(cells, count), Statistic::Value),
        };
        self.statistic(state, statistic)
    }

    fn statistic(&mut self, state: WindowState, statistic: Statistic) -> NodeId {
        self.node(Task::Statistic(state, statistic), CellKind::Double)
    }

    fn exponential(&mut self, inner: NodeId, share: f64) -> NodeId {
        let cells = self.prepared(inner);
        self.statistic(WindowState::Exponential(cells, share.to_bits()), Statistic::Value)
    }

    fn shift(&mut self, operator: FormulaOperator, inner: NodeId, rows: i64, kind: CellKind) -> NodeId {
        let inner = self.converted(inner, kind);
        let before = if rows == 0 {
            self.node(Task::First(inner), kind)
        } else {
            self.node(Task::Shift(inner, rows), kind)
        };
        if operator == FormulaOperator::Ref {
            return before;
        }
        let difference = Task::Two(
            FormulaOperator::Sub,
            kind,
            Operand::Node(inner),
            Operand::Node(before),
        );
        self.node(difference, kind)
    }

    fn ordered(&mut self, inner: NodeId, count: usize, statistic: Statistic) -> NodeId {
        let cells = self.prepared(inner);
        let sorted = self.node(Task::Sorted(cells), CellKind::Double);
        self.statistic(WindowState::Ordered(sorted, count), statistic)
    }

    fn line(&mut self, operator: FormulaOperator, inner: NodeId, count: usize) -> NodeId {
        let raw = self.converted(inner, CellKind::Double);
        let cells = self.prepared(inner);
        let state = WindowState::Line(raw, cells, count);
        #[expect(clippy::wildcard_enum_match_arm, reason = "the third of the three")]
        match operator {
            FormulaOperator::Slope => self.statistic(state, Statistic::Slope),
            FormulaOperator::Resi => self.statistic(state, Statistic::Residual),
            _ => self.statistic(state, Statistic::Explained),
        }
    }

    fn pair(&mut self, operator: FormulaOperator, left: NodeId, right: NodeId, count: usize) -> NodeId {
        let (left_cells, right_cells) = (self.prepared(left), self.prepared(right));
        let joined = self.node(Task::Joined(left_cells, right_cells), CellKind::Double);
        let state = WindowState::Pair(joined, count);
        let is_covariance = operator == FormulaOperator::Cov;
        let statistic = if is_covariance {
            Statistic::Covariance
        } else {
            Statistic::Correlation
        };
        self.statistic(state, statistic)
    }
}

/// The rows of a window; a shift's sign and a share are read elsewhere.
fn rows_of(rows: FormulaNumber) -> usize {
    match rows {
        FormulaNumber::Integer(rows) => usize::try_from(rows).unwrap_or(0),
        FormulaNumber::Float(_) => 0,
    }
}

/// The type of a formula in Qlib's precision.
fn formula_kind(formula: &Formula) -> CellKind {
    let mut fields = Vec::new();
    collect_fields(formula, &mut fields);
    let mut builder = Builder {
        fields: &fields,
        precision: FormulaPrecision::Qlib,
        nodes: Vec::new(),
        places: BTreeMap::new(),
        others: BTreeMap::new(),
    };
    let root = builder.series(formula);
    builder.kind(root)
}
