//! When all that a formula reads is known.

use crate::formula::Formula;
use crate::number::FormulaNumber;
use crate::operator::FormulaOperator;

/// Opens and closes from the open of a row to the latest cell that its value reads, by the formula's structure alone: 0
/// where the row's own open is the latest, 1 where its close is, 3 where the next close is. `is_known_at_open` says of a
/// field, by its name, whether its cell is known at the open of its row; any other is known at the close. `None` for a
/// formula that reads no field.
#[must_use]
pub fn known_at(formula: &Formula, is_known_at_open: &dyn Fn(&str) -> bool) -> Option<i64> {
    let Formula::Apply(operator, parts) = formula else {
        return match formula {
            Formula::Field(name) => Some(i64::from(!is_known_at_open(name))),
            Formula::Number(_) | Formula::Apply(..) => None,
            Formula::Elsewhere(_, _, inner) => known_at(inner, is_known_at_open),
        };
    };
    let inner = parts
        .iter()
        .filter_map(|part| known_at(part, is_known_at_open))
        .max()?;
    let rows = match parts.get(1) {
        Some(Formula::Number(FormulaNumber::Integer(rows))) if operator.is_shift() => *rows,
        _ => 0,
    };
    // A difference with an earlier row still reads its own; a first row is none that can be counted from here.
    let is_later = rows < 0 || *operator == FormulaOperator::Ref;
    let moved = if is_later { rows.saturating_mul(2) } else { 0 };
    Some(inner.saturating_sub(moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FormulaRole, check_formula};

    #[test]
    fn a_leaf_is_moved_by_every_lag_and_lead_above_it() {
        let fields = ["open", "close", "factor", "volume"];
        for (text, instant) in [
            ("$open", 0),
            ("$close", 1),
            ("$open*$factor", 0),
            ("$open/Ref($close,1)-1", 0),
            ("$close/Ref($close,1)-1", 1),
            ("Ref($close,-3)/$close-1", 7),
            ("Ref(Mean($close,5),-3)", 7),
            ("Mean(Ref($close,1),5)", -1),
            ("Ref(Ref($close,-3),3)", 1),
            ("Ref(Ref($open,2),-1)", -2),
            ("Delta($open,4)", 0),
            ("Delta($close,-2)", 5),
            ("Ref($close,0)", 1),
            ("If($open>Ref($close,1),$open,$volume)", 1),
            ("Corr($open,Ref($volume,1),10)", 0),
            ("EMA($close,0.1)", 1),
            ("ChangeInstrument('SH000300',Ref($close,-1))", 3),
        ] {
            let formula = check_formula(text, &fields, FormulaRole::Label).unwrap();
            let found = known_at(formula.formula(), &|field| matches!(field, "open" | "factor"));
            assert_eq!(found, Some(instant), "{text}");
        }
    }
}
