//! The engine: a plan over the rows of one name, step by step, with buffers that are used again.

use crate::cells::{Buffers, Cells};
use crate::element::{
    Column, booleans, choices, comparisons, converted, floats, integers, one_series, prepared, singles_of,
    truths,
};
use crate::kind::CellKind;
use crate::node::{NodeId, Operand, Statistic, Task, WindowState};
use crate::operator::FormulaOperator;
use crate::plan::{FormulaPlan, Node};
use crate::rows::{NamePanel, NameRows};
use crate::shifted::{aligned, field, first, shift};
use crate::windows::WindowScratch;
use thiserror::Error;

/// Why a plan cannot be evaluated on a name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EvaluationError {
    /// Another number of columns than the plan has fields.
    #[error("{given} columns were given for {wanted} fields; give one column a field, in the plan's order")]
    ColumnCount {
        /// The columns there are.
        given: usize,
        /// The fields of the plan.
        wanted: usize,
    },
    /// A code that a formula names and the panel lacks.
    #[error("the instrument {code:?} is unknown; use a code of the panel")]
    UnknownInstrument {
        /// The code.
        code: String,
    },
}

/// An evaluator with its buffers: one a thread. What it answers depends on the plan and the name alone.
#[derive(Debug, Default)]
pub struct FormulaEngine {
    slots: Vec<Cells>,
    buffers: Buffers,
    output: Vec<f32>,
    others: Vec<Vec<Cells>>,
    scratch: WindowScratch,
    asked: Vec<(Statistic, Vec<f64>)>,
}

impl FormulaEngine {
    /// Evaluates a plan on a name and hands over each formula's column, by the formula's place. Missing cells are all
    /// the same NaN. The order of the columns is the plan's, not that of the formulas.
    ///
    /// # Errors
    /// The columns are not those of the plan's fields, or a formula names an instrument that the panel lacks.
    pub fn evaluate(
        &mut self,
        plan: &FormulaPlan,
        name: &NameRows<'_>,
        panel: &dyn NamePanel,
        mut visit: impl FnMut(usize, &[f32]),
    ) -> Result<(), EvaluationError> {
        let mut output = std::mem::take(&mut self.output);
        let result = self.run(plan, name, panel, &mut |formula, cells| {
            output.clear();
            singles_of(cells, &mut output);
            for cell in &mut output {
                *cell = if cell.is_nan() { f32::NAN } else { *cell };
            }
            visit(formula, &output);
        });
        self.output = output;
        result
    }

    fn run(
        &mut self,
        plan: &FormulaPlan,
        name: &NameRows<'_>,
        panel: &dyn NamePanel,
        visit: &mut dyn FnMut(usize, &Cells),
    ) -> Result<(), EvaluationError> {
        if name.columns().len() != plan.fields.len() {
            return Err(EvaluationError::ColumnCount {
                given: name.columns().len(),
                wanted: plan.fields.len(),
            });
        }
        self.read_others(plan, name, panel)?;
        for cells in self.slots.drain(..) {
            self.buffers.give_back(cells);
        }
        self.slots.resize_with(plan.nodes.len(), Cells::default);
        for (id, node) in plan.nodes.iter().enumerate() {
            self.step(plan, name, id, *node);
            let cells = self.slots.get(id).unwrap_or(&Cells::Empty);
            for formula in plan.answers.get(id).into_iter().flatten() {
                visit(*formula, cells);
            }
            for done in plan.done.get(id).into_iter().flatten() {
                if let Some(slot) = self.slots.get_mut(*done) {
                    self.buffers.give_back(std::mem::take(slot));
                }
            }
        }
        Ok(())
    }

    /// What the formulas read of other instruments, on the sessions of this name.
    fn read_others(
        &mut self,
        plan: &FormulaPlan,
        name: &NameRows<'_>,
        panel: &dyn NamePanel,
    ) -> Result<(), EvaluationError> {
        self.others.clear();
        for (code, inner) in &plan.others {
            let other = panel
                .name_rows(code)
                .ok_or_else(|| EvaluationError::UnknownInstrument { code: code.clone() })?;
            let mut read = Vec::new();
            read.resize_with(inner.formulas(), Cells::default);
            let mut engine = Self::default();
            engine.run(inner, &other, panel, &mut |formula, cells| {
                if let Some(slot) = read.get_mut(formula) {
                    *slot = aligned(cells, name, &other);
                }
            })?;
            self.others.push(read);
        }
        Ok(())
    }

    fn slot(&self, id: NodeId) -> &Cells {
        self.slots.get(id).unwrap_or(&Cells::Empty)
    }

    fn fill(&mut self, id: NodeId, cells: Cells) {
        if let Some(slot) = self.slots.get_mut(id) {
            self.buffers.give_back(std::mem::replace(slot, cells));
        }
    }

    fn step(&mut self, plan: &FormulaPlan, name: &NameRows<'_>, id: NodeId, node: Node) {
        let mut buffers = std::mem::take(&mut self.buffers);
        let cells = match node.task {
            Task::Statistic(state, _) => {
                self.buffers = buffers;
                if matches!(self.slot(id), Cells::Empty) {
                    self.window(plan, state);
                }
                return;
            }
            Task::Missing => {
                let mut out = buffers.doubles();
                out.resize(name.rows(), f64::NAN);
                Cells::Doubles(out)
            }
            Task::Field(place) => field(name.columns().get(place).copied(), node.kind, &mut buffers),
            Task::Convert(inner) => converted(self.slot(inner), node.kind, &mut buffers),
            Task::Prepared(inner) => Cells::Doubles(prepared(self.slot(inner), &mut buffers)),
            Task::Sorted(inner) => {
                let mut sorted = buffers.sorted();
                sorted.fill(self.slot(inner).doubles());
                Cells::Sorted(sorted)
            }
            Task::Joined(left, right) => {
                let mut out = buffers.pairs();
                let (left, right) = (self.slot(left).doubles(), self.slot(right).doubles());
                out.extend(left.iter().zip(right).map(|(left, right)| [*left, *right]));
                Cells::Pairs(out)
            }
            Task::One(operator, inner) => one_series(operator, self.slot(inner), &mut buffers),
            Task::Two(operator, kind, left, right) => self.two(operator, kind, left, right, &mut buffers),
            Task::Truth(inner) => Cells::Booleans(truths(self.slot(inner), &mut buffers)),
            Task::Choice(condition, left, right) => {
                self.choice(node.kind, condition, left, right, &mut buffers)
            }
            Task::Shift(inner, rows) => shift(self.slot(inner), rows, &mut buffers),
            Task::First(inner) => first(self.slot(inner), &mut buffers),
            Task::Elsewhere(other, place) => {
                let read = self.others.get(other).and_then(|read| read.get(place));
                converted(read.unwrap_or(&Cells::Empty), node.kind, &mut buffers)
            }
        };
        self.buffers = buffers;
        self.fill(id, cells);
    }

    fn single(&self, operand: Operand) -> Column<'_, f32> {
        match operand {
            Operand::Node(node) => Column::Many(self.slot(node).singles()),
            Operand::Single(bits) => Column::One(f32::from_bits(bits)),
            Operand::Integer(_) | Operand::Double(_) => Column::One(f32::NAN),
        }
    }

    fn double(&self, operand: Operand) -> Column<'_, f64> {
        match operand {
            Operand::Node(node) => Column::Many(self.slot(node).doubles()),
            Operand::Double(bits) => Column::One(f64::from_bits(bits)),
            Operand::Integer(_) | Operand::Single(_) => Column::One(f64::NAN),
        }
    }

    fn integer(&self, operand: Operand) -> Column<'_, i64> {
        match operand {
            Operand::Node(node) => Column::Many(self.slot(node).integers()),
            Operand::Integer(number) => Column::One(number),
            Operand::Single(_) | Operand::Double(_) => Column::One(0),
        }
    }

    fn boolean(&self, operand: Operand) -> Column<'_, bool> {
        match operand {
            Operand::Node(node) => Column::Many(self.slot(node).booleans()),
            Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) => Column::One(false),
        }
    }

    fn two(
        &self,
        operator: FormulaOperator,
        kind: CellKind,
        left: Operand,
        right: Operand,
        buffers: &mut Buffers,
    ) -> Cells {
        if operator.is_comparison() {
            let mut out = buffers.booleans();
            match kind {
                CellKind::Single => comparisons(operator, self.single(left), self.single(right), &mut out),
                CellKind::Double => comparisons(operator, self.double(left), self.double(right), &mut out),
                CellKind::Integer | CellKind::Boolean => {
                    comparisons(operator, self.integer(left), self.integer(right), &mut out);
                }
            }
            return Cells::Booleans(out);
        }
        match kind {
            CellKind::Boolean => {
                let mut out = buffers.booleans();
                booleans(operator, self.boolean(left), self.boolean(right), &mut out);
                Cells::Booleans(out)
            }
            CellKind::Integer => {
                let mut out = buffers.integers();
                integers(operator, self.integer(left), self.integer(right), &mut out);
                Cells::Integers(out)
            }
            CellKind::Single => {
                let mut out = buffers.singles();
                floats(operator, self.single(left), self.single(right), &mut out);
                Cells::Singles(out)
            }
            CellKind::Double => {
                let mut out = buffers.doubles();
                floats(operator, self.double(left), self.double(right), &mut out);
                Cells::Doubles(out)
            }
        }
    }

    fn choice(
        &self,
        kind: CellKind,
        condition: NodeId,
        left: Operand,
        right: Operand,
        buffers: &mut Buffers,
    ) -> Cells {
        let condition = self.slot(condition).booleans();
        match kind {
            CellKind::Boolean => {
                let mut out = buffers.booleans();
                choices(condition, self.boolean(left), self.boolean(right), &mut out);
                Cells::Booleans(out)
            }
            CellKind::Integer => {
                let mut out = buffers.integers();
                choices(condition, self.integer(left), self.integer(right), &mut out);
                Cells::Integers(out)
            }
            CellKind::Single => {
                let mut out = buffers.singles();
                choices(condition, self.single(left), self.single(right), &mut out);
                Cells::Singles(out)
            }
            CellKind::Double => {
                let mut out = buffers.doubles();
                choices(condition, self.double(left), self.double(right), &mut out);
                Cells::Doubles(out)
            }
        }
    }

    /// Computes all statistics that the plan asks of a window's state.
    fn window(&mut self, plan: &FormulaPlan, state: WindowState) {
        let Some(wanted) = plan.states.get(&state) else {
            return;
        };
        let mut asked = std::mem::take(&mut self.asked);
        asked.clear();
        for (statistic, _) in wanted {
            let answer = self.buffers.doubles();
            asked.push((*statistic, answer));
        }
        self.scratch.answer(state, &self.slots, &mut asked);
        for ((_, answer), (_, id)) in asked.drain(..).zip(wanted) {
            self.fill(*id, Cells::Doubles(answer));
        }
        self.asked = asked;
    }
}
