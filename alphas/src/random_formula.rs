//! Random formulas: what a search must beat.

use ktd_env::KeyedStream;
use ktd_expressions::{Formula, FormulaNumber, FormulaOperator};

/// Levels of operators above a field, at most.
const MAX_LEVELS: usize = 4;

const FIELDS: [&str; 6] = ["open", "high", "low", "close", "volume", "vwap"];
const WINDOWS: [i64; 5] = [5, 10, 20, 30, 60];

const UNARY: [FormulaOperator; 3] = [FormulaOperator::Abs, FormulaOperator::Sign, FormulaOperator::Log];
const BINARY: [FormulaOperator; 6] = [
    FormulaOperator::Add,
    FormulaOperator::Sub,
    FormulaOperator::Mul,
    FormulaOperator::Div,
    FormulaOperator::Greater,
    FormulaOperator::Less,
];
const WINDOWED: [FormulaOperator; 20] = [
    FormulaOperator::Ref,
    FormulaOperator::Delta,
    FormulaOperator::Mean,
    FormulaOperator::Sum,
    FormulaOperator::Std,
    FormulaOperator::Var,
    FormulaOperator::Skew,
    FormulaOperator::Kurt,
    FormulaOperator::Max,
    FormulaOperator::Min,
    FormulaOperator::Med,
    FormulaOperator::Mad,
    FormulaOperator::IdxMax,
    FormulaOperator::IdxMin,
    FormulaOperator::Rank,
    FormulaOperator::Slope,
    FormulaOperator::Rsquare,
    FormulaOperator::Resi,
    FormulaOperator::WMA,
    FormulaOperator::EMA,
];
const PAIRED: [FormulaOperator; 2] = [FormulaOperator::Corr, FormulaOperator::Cov];

fn picked<T: Copy>(stream: &mut KeyedStream, of: &[T], default: T) -> T {
    let place = stream.below(u64::try_from(of.len()).unwrap_or(0));
    usize::try_from(place)
        .ok()
        .and_then(|place| of.get(place))
        .copied()
        .unwrap_or(default)
}

fn window(stream: &mut KeyedStream) -> Formula {
    Formula::Number(FormulaNumber::Integer(picked(stream, &WINDOWS, 5)))
}

fn field(stream: &mut KeyedStream) -> Formula {
    Formula::Field(picked(stream, &FIELDS, "close").to_owned())
}

/// Draws a formula: at each level a field with probability 0.2, else an operator on one series (0.15), on two (0.35),
/// with a window (0.43) or on a pair with a window (0.07); below four levels of operators fields alone.
#[must_use]
pub fn random_formula(stream: &mut KeyedStream) -> Formula {
    grown(stream, 0)
}

/// Draws a part that begins at a level.
pub(crate) fn grown(stream: &mut KeyedStream, level: usize) -> Formula {
    if MAX_LEVELS <= level || stream.uniform() < 0.2 {
        return field(stream);
    }
    let kind = stream.uniform();
    if kind < 0.15 {
        let operator = picked(stream, &UNARY, FormulaOperator::Abs);
        return Formula::Apply(operator, vec![grown(stream, level + 1)]);
    }
    if kind < 0.50 {
        let operator = picked(stream, &BINARY, FormulaOperator::Sub);
        let left = grown(stream, level + 1);
        return Formula::Apply(operator, vec![left, grown(stream, level + 1)]);
    }
    if kind < 0.93 {
        let operator = picked(stream, &WINDOWED, FormulaOperator::Mean);
        let inner = grown(stream, level + 1);
        return Formula::Apply(operator, vec![inner, window(stream)]);
    }
    let operator = picked(stream, &PAIRED, FormulaOperator::Corr);
    let left = grown(stream, level + 1);
    let right = grown(stream, level + 1);
    Formula::Apply(operator, vec![left, right, window(stream)])
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, random_formula};
    use ktd_env::KeyedStream;
    use ktd_expressions::{FormulaFault, FormulaRole, check_formula};
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_decides_its_formulas() {
        let drawn = |seed| -> Vec<String> {
            let mut stream = KeyedStream::for_purpose(seed, "random formulas");
            (0..50).map(|_| random_formula(&mut stream).to_string()).collect()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn draws_are_formulas_of_many_shapes() {
        let mut stream = KeyedStream::for_purpose(7, "random formulas");
        let mut operators = BTreeSet::new();
        let mut kept = 0;
        for _ in 0..2_000 {
            let text = random_formula(&mut stream).to_string();
            match check_formula(&text, &FIELDS, FormulaRole::Alpha) {
                Ok(checked) => {
                    assert_eq!(checked.canonical(), text);
                    kept += 1;
                }
                Err(error) => assert_eq!(error.fault, FormulaFault::TooLarge, "{text}: {error}"),
            }
            operators.extend(
                text.split(['(', ','])
                    .filter(|part| part.starts_with(char::is_uppercase))
                    .map(str::to_owned),
            );
        }
        assert!(1_990 < kept, "{kept}");
        assert_eq!(operators.len(), 31, "{operators:?}");
    }
}
