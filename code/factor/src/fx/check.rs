//! From the tree of a definition to its steps: names, operators and numbers are checked, and equal parts become one step.

use super::node::{BarSeries, Node, NodeId, Period, Reduction, Scan};
use super::operator::{Operation, Operator, Slot, Smoothing};
use super::script::{Located, Part, Script};
use crate::casts::{float, whole};
use crate::fx_error::{FxError, FxFault};
use std::collections::BTreeMap;

/// The most rows of a window, a lag or a count.
pub const MAX_FX_WINDOW: usize = 10_000;

/// The steps of a definition; the last of the list may be used by none, so the result has a place of its own.
pub(crate) fn check(script: &Script) -> Result<(Vec<Node>, NodeId), FxError> {
    let mut checker = Checker::default();
    for assignment in &script.assignments {
        let name = assignment.name.as_str();
        let taken = BarSeries::named(name).is_some() || name == "nan" || checker.names.contains_key(name);
        if taken {
            let hint = "this name stands for something already; choose another";
            return Err(FxError::new(FxFault::NameTaken, assignment.at, name, hint));
        }
        let value = checker.series(&assignment.value)?;
        checker.names.insert(name.to_owned(), value);
    }
    let result = checker.series(&script.result)?;
    Ok((checker.nodes, result))
}

#[derive(Default)]
struct Checker {
    nodes: Vec<Node>,
    names: BTreeMap<String, NodeId>,
}

/// An argument after its check.
enum Argument {
    Series(NodeId),
    Rows(usize),
    Number(f64),
    Period(Period),
    Reduction(Reduction),
    Weights(Vec<f64>),
}

impl Checker {
    fn series(&mut self, located: &Located) -> Result<NodeId, FxError> {
        let at = located.at;
        let node = match &located.part {
            Part::Number(value) => Node::Number(*value),
            Part::Name(name) => return self.name(name, at),
            Part::Text(text) => {
                return Err(argument(
                    at,
                    text,
                    "a series or a number must stand here, not a text",
                ));
            }
            Part::List(_) => {
                return Err(argument(
                    at,
                    "[",
                    "a list of weights stands in fir(x, weights) alone",
                ));
            }
            Part::Negated(inner) => Node::Negated(self.series(inner)?),
            Part::Between(sign, left, right) => Node::Between(*sign, self.series(left)?, self.series(right)?),
            Part::Call(name, arguments) => self.call(name, arguments, at)?,
        };
        Ok(self.placed(node))
    }

    /// The place of a step, of an equal one where there is one.
    fn placed(&mut self, node: Node) -> NodeId {
        if let Some(place) = self.nodes.iter().position(|known| *known == node) {
            return place;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn name(&mut self, name: &str, at: usize) -> Result<NodeId, FxError> {
        if let Some(place) = self.names.get(name) {
            return Ok(*place);
        }
        if name == "nan" {
            return Ok(self.placed(Node::Missing));
        }
        match BarSeries::named(name) {
            Some(series) => Ok(self.placed(Node::Bars(series))),
            None => Err(FxError::new(
                FxFault::UnknownName,
                at,
                name,
                "use O, H, L, C, V, nan, or a name that is defined before",
            )),
        }
    }

    fn call(&mut self, name: &str, written: &[Located], at: usize) -> Result<Node, FxError> {
        let Some(operator) = Operator::named(name) else {
            let hint = "the language has no operator of this name";
            return Err(FxError::new(FxFault::UnknownOperator, at, name, hint));
        };
        let fits = if operator.is_variadic() {
            !written.is_empty()
        } else {
            written.len() == operator.slots.len()
        };
        if !fits {
            return Err(FxError::new(
                FxFault::Arity,
                at,
                name,
                format!(
                    "it takes {} arguments, not {}",
                    operator.slots.len(),
                    written.len()
                ),
            ));
        }
        let mut arguments = Vec::with_capacity(written.len());
        let slots = operator.slots.iter().chain(std::iter::repeat(&Slot::Series));
        for (located, slot) in written.iter().zip(slots) {
            arguments.push(self.argument(located, *slot)?);
        }
        node_of(&operator, &arguments, at)
    }

    fn argument(&mut self, located: &Located, slot: Slot) -> Result<Argument, FxError> {
        let at = located.at;
        match slot {
            Slot::Series => self.series(located).map(Argument::Series),
            Slot::Window(least) => rows(located, least).map(Argument::Rows),
            Slot::Lag => rows(located, 0).map(Argument::Rows),
            Slot::Number => number(located, f64::MIN, f64::MAX).map(Argument::Number),
            Slot::Span => number(located, 1.0, f64::MAX).map(Argument::Number),
            Slot::Weight => number(located, f64::MIN_POSITIVE, 1.0).map(Argument::Number),
            Slot::Share => number(located, 0.0, 1.0).map(Argument::Number),
            Slot::Period => match text_of(located) {
                "W" => Ok(Argument::Period(Period::Week)),
                "M" => Ok(Argument::Period(Period::Month)),
                other => Err(argument(at, other, "the period is 'W' or 'M'")),
            },
            Slot::PastReduction => match reduction(text_of(located)) {
                Some(kind) if !matches!(kind, Reduction::First | Reduction::Sum) => {
                    Ok(Argument::Reduction(kind))
                }
                _ => Err(argument(
                    at,
                    text_of(located),
                    "use 'last', 'max', 'min' or 'mean'",
                )),
            },
            Slot::Reduction => reduction(text_of(located))
                .map(Argument::Reduction)
                .ok_or_else(|| {
                    let hint = "use 'first', 'last', 'max', 'min', 'mean' or 'sum'";
                    argument(at, text_of(located), hint)
                }),
            Slot::Weights => weights(located).map(Argument::Weights),
        }
    }
}

fn argument(at: usize, found: &str, hint: &str) -> FxError {
    FxError::new(FxFault::Argument, at, found, hint)
}

fn text_of(located: &Located) -> &str {
    if let Part::Text(text) | Part::Name(text) = &located.part {
        return text;
    }
    ""
}

fn reduction(text: &str) -> Option<Reduction> {
    match text {
        "first" => Some(Reduction::First),
        "last" => Some(Reduction::Last),
        "max" => Some(Reduction::Max),
        "min" => Some(Reduction::Min),
        "mean" => Some(Reduction::Mean),
        "sum" => Some(Reduction::Sum),
        _ => None,
    }
}

/// A written number; a window that follows from data could look at any row.
fn written(located: &Located) -> Result<f64, FxError> {
    if let Part::Number(value) = &located.part {
        return Ok(*value);
    }
    Err(argument(located.at, text_of(located), "write a number here"))
}

fn number(located: &Located, least: f64, most: f64) -> Result<f64, FxError> {
    let value = written(located)?;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(FxError::new(
        FxFault::Window,
        located.at,
        &value.to_string(),
        "the operator takes no such number",
    ))
}

fn rows(located: &Located, least: usize) -> Result<usize, FxError> {
    let value = written(located)?;
    match whole(value) {
        Some(rows) if (least..=MAX_FX_WINDOW).contains(&rows) => Ok(rows),
        _ => Err(FxError::new(
            FxFault::Window,
            located.at,
            &value.to_string(),
            format!("write a whole number from {least} to {MAX_FX_WINDOW}"),
        )),
    }
}

fn weights(located: &Located) -> Result<Vec<f64>, FxError> {
    if let Part::List(items) = &located.part
        && !items.is_empty()
    {
        return items.iter().map(written).collect();
    }
    if let Part::Call(name, arguments) = &located.part
        && name == "fdw"
    {
        let [order, terms] = arguments.as_slice() else {
            return Err(FxError::new(
                FxFault::Arity,
                located.at,
                name,
                "it takes 2 arguments",
            ));
        };
        return Ok(fractional_weights(written(order)?, rows(terms, 1)?));
    }
    let hint = "give a list of weights such as [0.5, 0.5], or fdw(d,n)";
    Err(argument(located.at, text_of(located), hint))
}

/// 1, then each weight from the one before: -w (d - k + 1) / k.
fn fractional_weights(order: f64, terms: usize) -> Vec<f64> {
    let mut last = 1.0;
    let mut weights = vec![last];
    for place in 1..terms {
        last = -last * (order - float(place) + 1.0) / float(place);
        weights.push(last);
    }
    weights
}

fn node_of(operator: &Operator, arguments: &[Argument], at: usize) -> Result<Node, FxError> {
    use Argument::{Rows, Series};
    let node = match (operator.operation, arguments) {
        (Operation::Unary(unary), [Series(of)]) => Node::Unary(unary, *of),
        (Operation::Binary(binary), [Series(left), Series(right)]) => Node::Binary(binary, *left, *right),
        (Operation::All, all) => Node::All(series_of(all)),
        (Operation::Any, all) => Node::Any(series_of(all)),
        (Operation::When, [Series(condition), Series(chosen), Series(other)]) => {
            Node::When(*condition, *chosen, *other)
        }
        (Operation::Lag, [Series(of), Rows(lag)]) => Node::Lag(*of, *lag),
        (Operation::Delta, [Series(of), Rows(lag)]) => Node::Delta(*of, *lag),
        (Operation::Return, [Series(of), Rows(lag)]) => Node::Return(*of, *lag),
        (operation, arguments) => Node::Scan(
            scan_of(operation, arguments, at)
                .ok_or_else(|| argument(at, operator.name, "weights stand in fir(x, weights) alone"))?,
        ),
    };
    Ok(node)
}

/// A step that reads several rows; `None` for weights alone.
fn scan_of(operation: Operation, arguments: &[Argument], at: usize) -> Option<Scan> {
    use Argument::{Number, Period, Reduction, Rows, Series, Weights};
    Some(match (operation, arguments) {
        (Operation::State(state), all) => Scan::State(state, series_of(all)),
        (Operation::Rolling(statistic), [Series(of), Rows(window)]) => Scan::Rolling(statistic, *of, *window),
        (Operation::Share(statistic), [Series(of), Rows(window), Number(share)]) => {
            Scan::Share(statistic, *of, *window, *share)
        }
        (Operation::Pair(statistic), [Series(left), Series(right), Rows(window)]) => {
            Scan::Pair(statistic, *left, *right, *window)
        }
        (Operation::Weighted, [Series(of), Weights(weights)]) => Scan::Weighted(*of, weights.clone()),
        (Operation::Smoothed(smoothing), [Series(of), Number(number)]) => Scan::Smoothed {
            of: *of,
            weight: match smoothing {
                Smoothing::Exponential => 2.0 / (number + 1.0),
                Smoothing::Wilder => 1.0 / number,
                Smoothing::Weight => *number,
            },
            at,
        },
        (Operation::Running(running), [Series(of)]) => Scan::Running(running, *of),
        (Operation::Expanding(expanding), [series @ .., Rows(least)]) => {
            Scan::Expanding(expanding, series_of(series), *least)
        }
        (Operation::PastPeriod, [Series(of), Period(period), Reduction(kind)]) => {
            Scan::PastPeriod(*of, *period, *kind)
        }
        (Operation::PeriodSoFar, [Series(of), Period(period), Reduction(kind)]) => {
            Scan::PeriodSoFar(*of, *period, *kind)
        }
        (Operation::SameWeekday, [Series(of), Rows(least)]) => Scan::SameWeekday(*of, *least),
        _ => return None,
    })
}

fn series_of(arguments: &[Argument]) -> Vec<NodeId> {
    let series = arguments.iter().filter_map(|argument| {
        if let Argument::Series(place) = argument {
            return Some(*place);
        }
        None
    });
    series.collect()
}
