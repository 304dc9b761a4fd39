//! Parts of formulas by their places, counted from the top down and from left to right.

use ktd_expressions::Formula;

/// Whether a part can stand wherever another series stands: windows and lags cannot.
pub(super) const fn is_series(part: &Formula) -> bool {
    !matches!(part, Formula::Number(_))
}

/// The parts of a formula that are series, itself the first.
pub(super) fn series(formula: &Formula) -> Vec<&Formula> {
    let mut found = Vec::new();
    let mut ahead = vec![formula];
    while let Some(part) = ahead.pop() {
        if is_series(part) {
            found.push(part);
            ahead.extend(part.parts().iter().rev());
        }
    }
    found
}

/// The formula with one part changed: that at a place among the parts that count.
pub(super) fn changed(
    formula: &Formula,
    place: usize,
    counts: fn(&Formula) -> bool,
    change: &mut dyn FnMut(&Formula) -> Formula,
) -> Formula {
    let mut passed = 0;
    rebuilt(formula, (place, &mut passed), counts, change)
}

fn rebuilt(
    formula: &Formula,
    (place, passed): (usize, &mut usize),
    counts: fn(&Formula) -> bool,
    change: &mut dyn FnMut(&Formula) -> Formula,
) -> Formula {
    if counts(formula) {
        *passed += 1;
        if *passed == place + 1 {
            return change(formula);
        }
    }
    match formula {
        Formula::Number(_) | Formula::Field(_) => formula.clone(),
        Formula::Apply(operator, parts) => {
            let parts = parts
                .iter()
                .map(|part| rebuilt(part, (place, passed), counts, change));
            Formula::Apply(*operator, parts.collect())
        }
        Formula::Elsewhere(operator, code, inner) => {
            let inner = rebuilt(inner, (place, passed), counts, change);
            Formula::Elsewhere(*operator, code.clone(), Box::new(inner))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{changed, is_series, series};
    use ktd_expressions::{Formula, FormulaRole, check_formula};

    #[test]
    fn parts_are_found_and_changed_by_the_same_places() {
        let text = "Corr(Mean($open,5),Sub($high,$low),10)";
        let fields = ["open", "high", "low"];
        let formula = check_formula(text, &fields, FormulaRole::Alpha).unwrap();
        let formula = formula.formula();
        let all: Vec<String> = series(formula).iter().map(ToString::to_string).collect();
        assert_eq!(
            all,
            [text, "Mean($open,5)", "$open", "Sub($high,$low)", "$high", "$low"]
        );
        for (place, part) in all.iter().enumerate() {
            let mut met = String::new();
            let other = changed(formula, place, is_series, &mut |part| {
                met = part.to_string();
                Formula::Field("vwap".to_owned())
            });
            assert_eq!(&met, part);
            assert_eq!(other.to_string(), text.replacen(part, "$vwap", 1));
        }
        let number = changed(formula, 3, |_| true, &mut |part| {
            assert_eq!(part.to_string(), "5");
            part.clone()
        });
        assert_eq!(&number, formula);
    }
}
