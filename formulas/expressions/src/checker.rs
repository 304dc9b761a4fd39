//! The checker: a text becomes a formula only if its types hold, its windows are possible, and it reads no later day.

use crate::error::{FormulaError, FormulaFault};
use crate::formula::Formula;
use crate::kind::{CellKind, Side, choice, one_sided, two_sided, windowed};
use crate::number::FormulaNumber;
use crate::operator::{FormulaOperator, OperatorShape};
use crate::parser::{MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH, Parsed, Part, parse, too_deep, too_long};
use crate::reach::FormulaReach;

/// Most rows of a window or a shift.
pub const MAX_FORMULA_WINDOW: i64 = 5_000;
/// Most rows that a label may look ahead.
pub const MAX_LABEL_ROWS: u64 = 260;

/// What a formula is for, which decides what it may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormulaRole {
    /// A signal: no later day.
    Alpha,
    /// A signal that is shown where names are masked: no later day, and no code of an instrument.
    MaskedAlpha,
    /// What a signal is compared with: later days, up to [`MAX_LABEL_ROWS`].
    Label,
}

/// A formula that keeps all rules of its role.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFormula {
    formula: Formula,
    canonical: String,
    kind: CellKind,
    reach: FormulaReach,
}

impl CheckedFormula {
    /// The tree.
    #[must_use]
    pub const fn formula(&self) -> &Formula {
        &self.formula
    }

    /// The canonical form: the identity of a formula.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The type of its cells before the last rounding to float32.
    #[must_use]
    pub const fn kind(&self) -> CellKind {
        self.kind
    }

    /// How far it reads.
    #[must_use]
    pub const fn reach(&self) -> FormulaReach {
        self.reach
    }
}

/// Checks a formula against the fields there are, by their names in lower case.
///
/// # Errors
/// The first defect of the text: its code, its place and how to fix it.
pub fn check_formula<F: AsRef<str>>(
    text: &str,
    fields: &[F],
    role: FormulaRole,
) -> Result<CheckedFormula, FormulaError> {
    let parsed = parse(text)?;
    if MAX_FORMULA_DEPTH < depth(&parsed) {
        return Err(too_deep(parsed.at, text));
    }
    let fields: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
    let checker = Checker {
        fields: &fields,
        role,
    };
    let (formula, kind) = checker.series(&parsed)?;
    let reach = FormulaReach::of(&formula);
    let most_rows = if role == FormulaRole::Label {
        MAX_LABEL_ROWS
    } else {
        0
    };
    if most_rows < reach.forward {
        return Err(FormulaError::new(
            FormulaFault::LookAhead,
            first_look_ahead(&parsed).unwrap_or(0),
            &format!("{} rows ahead", reach.forward),
            &format!("at most {most_rows} rows ahead"),
            "use a positive number of rows: Ref(x,1) is the row before",
        ));
    }
    let canonical = formula.to_string();
    if MAX_FORMULA_BYTES < canonical.len() {
        return Err(too_long(canonical.len()));
    }
    Ok(CheckedFormula {
        formula,
        canonical,
        kind,
        reach,
    })
}

fn depth(parsed: &Parsed) -> usize {
    let below = match &parsed.part {
        Part::Apply(_, parts) => parts.iter().map(depth).max().unwrap_or(0),
        Part::Number(_) | Part::Field(_) | Part::Word(_) | Part::Code(_) => 0,
    };
    1 + below
}

/// The place of the first shift that reads a later row.
fn first_look_ahead(parsed: &Parsed) -> Option<usize> {
    let Part::Apply(operator, parts) = &parsed.part else {
        return None;
    };
    let rows = parts.get(1).map(|rows| &rows.part);
    if operator.is_shift() && matches!(rows, Some(Part::Number(FormulaNumber::Integer(rows))) if *rows < 0) {
        return Some(parsed.at);
    }
    parts.iter().find_map(first_look_ahead)
}

struct Checker<'a> {
    fields: &'a [&'a str],
    role: FormulaRole,
}

type Typed = (Formula, CellKind);

impl Checker<'_> {
    /// A part that must be a series.
    fn series(&self, parsed: &Parsed) -> Result<Typed, FormulaError> {
        match self.value(parsed)? {
            (formula, Side::Series(kind)) => Ok((formula, kind)),
            (formula, Side::Number(_)) => Err(not_a_series(parsed.at, &formula)),
        }
    }

    /// A part that may be a series or a number.
    fn value(&self, parsed: &Parsed) -> Result<(Formula, Side), FormulaError> {
        let at = parsed.at;
        match &parsed.part {
            Part::Number(number) => Ok((Formula::Number(*number), Side::Number(*number))),
            Part::Field(name) if self.fields.contains(&name.as_str()) => {
                Ok((Formula::Field(name.clone()), Side::Series(CellKind::Single)))
            }
            Part::Field(name) => Err(self.unknown_field(at, &format!("${name}"))),
            Part::Word(word) if matches!(word.as_str(), "True" | "False") => Err(FormulaError::new(
                FormulaFault::Syntax,
                at,
                word,
                "a part of a formula",
                "remove this word of Python",
            )),
            Part::Word(word) => Err(self.unknown_field(at, word)),
            Part::Code(code) => Err(FormulaError::new(
                FormulaFault::Syntax,
                at,
                code,
                "a series",
                "use a code in quotes in ChangeInstrument and Mask alone",
            )),
            Part::Apply(operator, parts) => {
                let (formula, kind) = self.applied(at, *operator, parts)?;
                Ok((formula, Side::Series(kind)))
            }
        }
    }

    fn unknown_field(&self, at: usize, found: &str) -> FormulaError {
        let known = self.fields.join(" $");
        let hint = if self.fields.contains(&found.to_lowercase().as_str()) {
            format!("write ${}", found.to_lowercase())
        } else {
            format!("use one of ${known}")
        };
        FormulaError::new(
            FormulaFault::UnknownField,
            at,
            found,
            "a field of the data",
            &hint,
        )
    }

    fn applied(&self, at: usize, operator: FormulaOperator, parts: &[Parsed]) -> Result<Typed, FormulaError> {
        let arguments = operator.shape().arguments();
        if parts.len() != arguments {
            return Err(FormulaError::new(
                FormulaFault::Arity,
                at,
                &format!("{operator} with {} arguments", parts.len()),
                &format!("{arguments} arguments"),
                "add or remove arguments",
            ));
        }
        match (operator.shape(), parts) {
            (OperatorShape::One, [inner]) => self.one(at, operator, inner),
            (OperatorShape::Two, [left, right]) => self.two(at, operator, left, right),
            (OperatorShape::Choice, [condition, left, right]) => {
                let (condition, _) = self.series(condition)?;
                let (left, left_side) = self.value(left)?;
                let (right, right_side) = self.value(right)?;
                let kind = choice(left_side, right_side);
                Ok((Formula::Apply(operator, vec![condition, left, right]), kind))
            }
            (OperatorShape::Window, [inner, rows]) => {
                let (inner, kind) = self.series(inner)?;
                let rows = window(operator, rows)?;
                let kind = windowed(operator, kind, rows);
                Ok((Formula::Apply(operator, vec![inner, Formula::Number(rows)]), kind))
            }
            (OperatorShape::Quantile, [inner, rows, share]) => {
                let (inner, _) = self.series(inner)?;
                let rows = Formula::Number(window(operator, rows)?);
                let share = Formula::Number(quantile_share(share)?);
                Ok((
                    Formula::Apply(operator, vec![inner, rows, share]),
                    CellKind::Double,
                ))
            }
            (OperatorShape::Pair, [left, right, rows]) => {
                let (left, _) = self.series(left)?;
                let (right, _) = self.series(right)?;
                let rows = Formula::Number(window(operator, rows)?);
                Ok((
                    Formula::Apply(operator, vec![left, right, rows]),
                    CellKind::Double,
                ))
            }
            (OperatorShape::CodeFirst, [code, inner]) | (OperatorShape::CodeLast, [inner, code]) => {
                self.elsewhere(at, operator, code, inner)
            }
            _ => Err(FormulaError::new(
                FormulaFault::Arity,
                at,
                operator.name(),
                "its arguments",
                "add or remove arguments",
            )),
        }
    }

    fn one(&self, at: usize, operator: FormulaOperator, inner: &Parsed) -> Result<Typed, FormulaError> {
        let (inner, kind) = self.series(inner)?;
        let kind = one_sided(operator, kind).map_err(|fault| mistyped(fault, at, operator))?;
        Ok((Formula::Apply(operator, vec![inner]), kind))
    }

    fn two(
        &self,
        at: usize,
        operator: FormulaOperator,
        left: &Parsed,
        right: &Parsed,
    ) -> Result<Typed, FormulaError> {
        let (left, left_side) = self.value(left)?;
        let (right, right_side) = self.value(right)?;
        let kinds = two_sided(operator, left_side, right_side);
        let (_, kind) = kinds.map_err(|fault| mistyped(fault, at, operator))?;
        Ok((Formula::Apply(operator, vec![left, right]), kind))
    }

    fn elsewhere(
        &self,
        at: usize,
        operator: FormulaOperator,
        code: &Parsed,
        inner: &Parsed,
    ) -> Result<Typed, FormulaError> {
        let Part::Code(text) = &code.part else {
            return Err(FormulaError::new(
                FormulaFault::Syntax,
                code.at,
                operator.name(),
                "the code of an instrument in quotes",
                "write a code such as 'SH600000'",
            ));
        };
        if self.role == FormulaRole::MaskedAlpha {
            return Err(FormulaError::new(
                FormulaFault::NamesACode,
                at,
                operator.name(),
                "a formula without the code of an instrument",
                "remove the operator: names are masked here",
            ));
        }
        let (inner, kind) = self.series(inner)?;
        let text = if operator == FormulaOperator::Mask {
            text.to_lowercase()
        } else {
            text.clone()
        };
        Ok((
            Formula::Elsewhere(operator, text, Box::new(inner)),
            kind.shifted(),
        ))
    }
}

fn not_a_series(at: usize, formula: &Formula) -> FormulaError {
    FormulaError::new(
        FormulaFault::NotASeries,
        at,
        &formula.to_string(),
        "a series",
        "use at least one field, such as $close",
    )
}

fn mistyped(fault: FormulaFault, at: usize, operator: FormulaOperator) -> FormulaError {
    let (expected, hint) = if fault == FormulaFault::NotBoolean {
        (
            "conditions",
            "set brackets: & and | bind tighter than comparisons",
        )
    } else if fault == FormulaFault::NotASeries {
        ("a series", "use at least one field, such as $close")
    } else {
        ("numbers", "use + for or, * for and, or If(condition,1,0)")
    };
    FormulaError::new(fault, at, operator.name(), expected, hint)
}

/// The window of an operator: a whole number of rows, or the weight of an exponential mean.
fn window(operator: FormulaOperator, rows: &Parsed) -> Result<FormulaNumber, FormulaError> {
    let number = match rows.part {
        Part::Number(number) => Some(number),
        Part::Field(_) | Part::Word(_) | Part::Code(_) | Part::Apply(..) => None,
    };
    let is_pair = operator.shape() == OperatorShape::Pair;
    let is_possible = match number {
        Some(FormulaNumber::Integer(0)) => !is_pair,
        Some(FormulaNumber::Integer(rows)) if operator.is_shift() => {
            rows.unsigned_abs() <= MAX_FORMULA_WINDOW.unsigned_abs()
        }
        Some(FormulaNumber::Integer(rows)) => (operator.least_window()..=MAX_FORMULA_WINDOW).contains(&rows),
        Some(FormulaNumber::Float(share)) => operator.takes_a_share() && 0.0 < share && share < 1.0,
        None => false,
    };
    if let (true, Some(number)) = (is_possible, number) {
        return Ok(number);
    }
    let found = number.map_or_else(|| "no number".to_owned(), |number| number.to_string());
    let least = operator.least_window();
    Err(FormulaError::new(
        FormulaFault::Window,
        rows.at,
        &found,
        &format!("a whole number of rows from {least} to {MAX_FORMULA_WINDOW}"),
        "write the window as an integer such as 5",
    ))
}

fn quantile_share(share: &Parsed) -> Result<FormulaNumber, FormulaError> {
    if let Part::Number(number) = share.part
        && (0.0..=1.0).contains(&number.float())
    {
        return Ok(number);
    }
    Err(FormulaError::new(
        FormulaFault::Window,
        share.at,
        "no share",
        "a share from 0 to 1",
        "write the share as a number such as 0.8",
    ))
}
