//! `screen_by_expression`: index members ranked by a formula of the model's own.

use crate::args::{ExpressionArguments, Side};
use crate::context::ToolContext;
use crate::fault::Fault;
use crate::state::count_of;
use ktd_env::NameId;
use ktd_expressions::{
    CheckedFormula, FieldCells, FormulaEngine, FormulaError, FormulaFault, FormulaPlan, FormulaPrecision,
    FormulaRole, NameRows, NoOtherNames, RowsBack, check_formula,
};
use ktd_masking::{Count, FormulaReader, Payload, PointerPart, RankedValues};
use std::collections::BTreeSet;

const DEFAULT_TOP_K: u32 = 10;

/// Names that a call returns at most, whatever other screens may.
const MOST_NAMES: u32 = 30;

/// Distinct formulas of a step.
const MOST_FORMULAS: usize = 8;

/// The formulas that have been asked about in a step, by canonical form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedFormulas(BTreeSet<String>);

pub(crate) fn answer(
    context: &ToolContext<'_>,
    arguments: &ExpressionArguments,
    asked: &mut AskedFormulas,
) -> Result<Payload, Vec<Fault>> {
    let Some(reader) = context.mask.formula_reader(context.as_of) else {
        return Err(vec![not_here()]);
    };
    let top_k = top_k(context, arguments)?;
    let formula = checked(&arguments.expression).map_err(|fault| vec![fault])?;
    asked.add(&formula).map_err(|fault| vec![fault])?;
    let members = context.members_in_order();
    let mut values = values(&reader, &formula, &members);
    let section = RankedValues::of(&values, |(_, value)| Some(value));
    // The sort is stable, so names that are equal keep the masked order.
    values.sort_by(|(_, left), (_, right)| match arguments.side {
        Side::High => right.total_cmp(left),
        Side::Low => left.total_cmp(right),
    });
    let counts = [("members", members.len()), ("with_value", values.len())];
    let counts = counts
        .into_iter()
        .filter_map(|(key, count)| Some((key, context.mask.market_count(count)?)));
    let rows = values.iter().take(top_k).filter_map(|(name, value)| {
        let rank = section.rank(*value, true);
        Some(vec![context.mask.asset(*name), reader.percentile(rank?)])
    });
    let candidates = (
        "candidates",
        Payload::sparse_table(&["stock_id", "percentile"], rows),
    );
    Ok(Payload::map(counts.chain([candidates])))
}

/// Where no formula may be asked about: bands and percentiles.
pub(crate) const fn not_here() -> Fault {
    Fault::new(
        "formulas_hidden",
        "another tool",
        "formulas are not answered where no bars are shown",
    )
}

fn top_k(context: &ToolContext<'_>, arguments: &ExpressionArguments) -> Result<usize, Vec<Fault>> {
    let most = MOST_NAMES.min(context.limits.max_candidates);
    let top_k = arguments.top_k.unwrap_or(DEFAULT_TOP_K.min(most));
    if most < top_k {
        let fault = Fault::new("out_of_range", "a top_k not above `most`", "ask for fewer names");
        let fault = fault.with("most", count_of(most));
        return Err(vec![fault.at([PointerPart::Field("top_k")])]);
    }
    Ok(usize::try_from(top_k).unwrap_or(usize::MAX))
}

/// A formula that reads no later day and no other instrument.
fn checked(text: &str) -> Result<CheckedFormula, Fault> {
    let formula =
        check_formula(text, FormulaReader::fields(), FormulaRole::Alpha).map_err(|error| faulty(&error))?;
    match Payload::formula(formula.formula()) {
        Ok(_) => Ok(formula),
        Err(fault) => Err(told(fault).at([PointerPart::Field("expression")])),
    }
}

fn faulty(error: &FormulaError) -> Fault {
    told(error.fault)
        .with("at_byte", Count::of(error.at))
        .at([PointerPart::Field("expression")])
}

/// A fault in words of this program alone: those of the checker hold the model's text.
fn told(fault: FormulaFault) -> Fault {
    let (expected, hint) = match fault {
        FormulaFault::Syntax => ("a whole formula", "see the example: Mean($close,5)/$close"),
        FormulaFault::UnknownOperator => (
            "an operator of the language",
            "use Mean, Std, Ref, Delta, Corr, Rank, If and their like",
        ),
        FormulaFault::UnknownField => (
            "a field of a stock's bars",
            "use $open, $high, $low, $close, $vwap, $volume, $amount or $change",
        ),
        FormulaFault::Unsupported => ("bars alone", "leave point-in-time reports out"),
        FormulaFault::Arity => (
            "as many arguments as the operator takes",
            "a window takes a series and a number of rows",
        ),
        FormulaFault::KeywordArgument => ("arguments without names", "write Mean($close,5)"),
        FormulaFault::Window => ("a whole number of rows", "give 1 or more rows"),
        FormulaFault::NotASeries => ("a series", "let an operator begin with a field"),
        FormulaFault::BooleanArithmetic => ("numbers", "turn conditions into numbers by If(condition,1,0)"),
        FormulaFault::NotBoolean => ("a condition", "compare two series first"),
        FormulaFault::ChainedComparison => ("one comparison", "set brackets and join two by &"),
        FormulaFault::PythonLogic => ("& and |", "write (a>b)&(c>d)"),
        FormulaFault::PythonOperator => ("operators of the language", "use + - * / ** and brackets"),
        FormulaFault::TooLong => ("a shorter formula", "write at most 8192 bytes"),
        FormulaFault::TooDeep => ("fewer levels", "write at most 32 levels"),
        FormulaFault::TooLarge => ("fewer parts", "write at most 256 parts"),
        FormulaFault::Number => ("a number in range", "write a smaller number"),
        FormulaFault::LookAhead => (
            "no later day",
            "use a positive number of rows: Ref(x,1) is the row before",
        ),
        FormulaFault::NamesACode => ("the stock's own bars", "leave ChangeInstrument and Mask out"),
    };
    Fault::new(fault.code(), expected, hint)
}

impl AskedFormulas {
    /// Counts a formula, if it is another one.
    fn add(&mut self, formula: &CheckedFormula) -> Result<(), Fault> {
        let canonical = formula.canonical();
        if self.0.contains(canonical) {
            return Ok(());
        }
        if MOST_FORMULAS <= self.0.len() {
            let fault = Fault::new(
                "too_many_formulas",
                "one of the formulas that were asked about in this step",
                "decide by the answers that there are",
            );
            return Err(fault.with("most", Count::of(MOST_FORMULAS)));
        }
        self.0.insert(canonical.to_owned());
        Ok(())
    }
}

/// Finite values on the as-of day, in the order of the names.
fn values(reader: &FormulaReader<'_>, formula: &CheckedFormula, names: &[NameId]) -> Vec<(NameId, f64)> {
    let plan = FormulaPlan::of(std::slice::from_ref(formula), FormulaPrecision::Qlib);
    let rows = match formula.reach().back {
        RowsBack::Rows(back) => usize::try_from(back).map_or(usize::MAX, |back| back.saturating_add(1)),
        RowsBack::All => usize::MAX,
    };
    let mut engine = FormulaEngine::default();
    let mut value = |name: NameId| {
        let columns = reader.columns(name, plan.fields(), rows)?;
        let cells = columns.iter().map(|column| FieldCells::Doubles(column));
        let cells = NameRows::new(0, cells.collect());
        let mut last = None;
        let evaluated = engine.evaluate(&plan, &cells, &NoOtherNames, |_, cells| {
            last = cells.last().copied();
        });
        evaluated.ok()?;
        last.map(f64::from).filter(|value| value.is_finite())
    };
    names
        .iter()
        .filter_map(|name| Some((*name, value(*name)?)))
        .collect()
}
