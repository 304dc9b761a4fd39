//! Formulas that show how a judge judges: equal ones of other lengths, and ones without meaning.

use ktd_expressions::{Formula, FormulaNumber, FormulaOperator};

/// Formulas that mean nothing: a judge of logic scores them low.
pub const NONSENSE_FORMULAS: [&str; 5] = [
    "Sub(Log(Sign($volume)),$factor)",
    "Add(Mul(IdxMax($factor,5),Skew($open,60)),Sign($vwap))",
    "Sub(Power($volume,Rank($low,3)),Corr($factor,$high,7))",
    "Div(Count($open,13),Resi(Sign($close),11))",
    "Sub(Mul(Kurt($vwap,9),$volume),Power(IdxMin($volume,4),$low))",
];

fn number(value: i64) -> Formula {
    Formula::Number(FormulaNumber::Integer(value))
}

/// A longer formula with the same values: a lag is split in two, and the whole stands in a mean over one row, times 1.
///
/// Equal means equal where a value is present: a mean takes an infinity for a missing value, as every metric does.
#[must_use]
pub fn longer_formula(formula: &Formula) -> Formula {
    let mean = Formula::Apply(FormulaOperator::Mean, vec![with_split_lag(formula).0, number(1)]);
    Formula::Apply(FormulaOperator::Mul, vec![mean, number(1)])
}

/// The formula with its first lag of two rows or more split in two, and whether there was one.
fn with_split_lag(formula: &Formula) -> (Formula, bool) {
    let Formula::Apply(operator, parts) = formula else {
        return (formula.clone(), false);
    };
    if let (FormulaOperator::Ref, [inner, Formula::Number(FormulaNumber::Integer(rows))]) =
        (operator, parts.as_slice())
        && 2 <= *rows
    {
        let first = Formula::Apply(FormulaOperator::Ref, vec![inner.clone(), number(1)]);
        let rest = number(rows.saturating_sub(1));
        return (Formula::Apply(FormulaOperator::Ref, vec![first, rest]), true);
    }
    let mut is_split = false;
    let parts = parts.iter().map(|part| {
        if is_split {
            return part.clone();
        }
        let (part, found) = with_split_lag(part);
        is_split = found;
        part
    });
    let parts = parts.collect();
    (Formula::Apply(*operator, parts), is_split)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FormulaGrowth;
    use ktd_env::KeyedStream;
    use ktd_expressions::{
        FieldCells, FormulaEngine, FormulaPlan, FormulaPrecision, FormulaRole, NameRows, NoOtherNames,
        check_formula,
    };

    const FIELDS: [&str; 7] = ["open", "high", "low", "close", "volume", "vwap", "factor"];

    #[test]
    fn formulas_without_meaning_are_formulas() {
        for text in NONSENSE_FORMULAS {
            let checked = check_formula(text, &FIELDS, FormulaRole::MaskedAlpha).unwrap();
            assert_eq!(checked.canonical(), text);
        }
    }

    #[test]
    fn a_lag_is_split_once() {
        let longer = |text: &str| {
            let checked = check_formula(text, &FIELDS, FormulaRole::Alpha).unwrap();
            longer_formula(checked.formula()).to_string()
        };
        assert_eq!(
            longer("Sub(Ref($close,3),Ref($open,2))"),
            "Mul(Mean(Sub(Ref(Ref($close,1),2),Ref($open,2)),1),1)"
        );
        assert_eq!(longer("Ref($close,1)"), "Mul(Mean(Ref($close,1),1),1)");
    }

    #[test]
    fn a_longer_formula_has_the_same_values() {
        let mut stream = KeyedStream::for_purpose(5, "cells of a test");
        let columns: Vec<Vec<f64>> = FIELDS
            .iter()
            .map(|_| (0..90).map(|_| 10.0 + stream.normal()).collect())
            .collect();
        let mut texts = vec![
            "Div(Ref($close,5),$close)".to_owned(),
            "Gt($open,$close)".to_owned(),
        ];
        texts.extend((0..40).map(|_| FormulaGrowth::default().formula(&mut stream).to_string()));
        let mut compared = 0;
        for text in texts {
            let short = check_formula(&text, &FIELDS, FormulaRole::Alpha).unwrap();
            let longer = longer_formula(short.formula()).to_string();
            let Ok(longer) = check_formula(&longer, &FIELDS, FormulaRole::Alpha) else {
                continue;
            };
            assert!(short.formula().nodes() + 4 <= longer.formula().nodes());
            let plan = FormulaPlan::of(&[short, longer], FormulaPrecision::Qlib);
            let column = |field: &String| &columns[FIELDS.iter().position(|known| known == field).unwrap()];
            let cells = plan
                .fields()
                .iter()
                .map(|field| FieldCells::Doubles(column(field)))
                .collect();
            let mut values: Vec<Vec<f32>> = Vec::new();
            FormulaEngine::default()
                .evaluate(
                    &plan,
                    &NameRows::new(0, cells),
                    &NoOtherNames,
                    |_, cells: &[f32]| {
                        values.push(cells.to_vec());
                    },
                )
                .unwrap();
            for (short, longer) in values[0].iter().zip(&values[1]) {
                if short.is_finite() || longer.is_finite() {
                    assert_eq!(short.to_bits(), longer.to_bits(), "{text}");
                    compared += 1;
                }
            }
        }
        assert!(1_000 < compared, "{compared}");
    }
}
