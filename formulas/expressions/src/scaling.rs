//! What becomes of a formula when the adjusted columns of an instrument are multiplied by a number.

use crate::formula::Formula;
use crate::operator::FormulaOperator;

/// How a value changes when adjusted prices are multiplied by a positive number, as adjusting from another end does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FormulaScaling {
    /// By a power of that number: 0 is a ratio, which does not change, and 1 a price.
    Power(f64),
    /// So many logarithms of that number are added, as to the logarithm of a price.
    Added(f64),
    /// In another way, as a price plus a number.
    Other,
}

impl FormulaScaling {
    /// What does not change.
    pub const RATIO: Self = Self::Power(0.0);

    /// Whether the value does not depend on where the adjustment begins.
    #[must_use]
    pub fn is_ratio(self) -> bool {
        self.is_same(Self::RATIO)
    }

    /// The scaling of a formula whose fields are powers of the number, by their names.
    #[must_use]
    pub fn of(formula: &Formula, power_of: &dyn Fn(&str) -> f64) -> Self {
        match formula {
            Formula::Number(_) => Self::RATIO,
            Formula::Field(name) => Self::Power(power_of(name)),
            // Another instrument is adjusted by itself: a level of it is no ratio either.
            Formula::Elsewhere(_, _, inner) => Self::of(inner, power_of),
            Formula::Apply(operator, parts) => {
                let sides: Vec<Side> = parts
                    .iter()
                    .map(|part| Side {
                        scaling: Self::of(part, power_of),
                        number: match part {
                            Formula::Number(number) => Some(number.float()),
                            Formula::Field(_) | Formula::Apply(..) | Formula::Elsewhere(..) => None,
                        },
                    })
                    .collect();
                applied(*operator, &sides)
            }
        }
    }

    /// Within what sums of halves and thirds round to.
    fn is_same(self, other: Self) -> bool {
        const NEAR: f64 = 1e-9;
        match (self, other) {
            (Self::Power(left), Self::Power(right)) | (Self::Added(left), Self::Added(right)) => {
                (left - right).abs() < NEAR
            }
            _ => false,
        }
    }

    fn times(self, exponent: f64) -> Self {
        match self {
            Self::Power(power) => Self::Power(power * exponent),
            Self::Added(_) | Self::Other => Self::Other,
        }
    }
}

/// An argument of an operator.
#[derive(Debug, Clone, Copy)]
struct Side {
    scaling: FormulaScaling,
    number: Option<f64>,
}

impl Side {
    /// A 0 scales as whatever stands opposite it.
    fn is_zero(&self) -> bool {
        self.number.is_some_and(|number| number.abs() < f64::MIN_POSITIVE)
    }
}

fn applied(operator: FormulaOperator, sides: &[Side]) -> FormulaScaling {
    use FormulaOperator as Op;
    let (Some(first), second) = (sides.first(), sides.get(1)) else {
        return FormulaScaling::Other;
    };
    let second = second.unwrap_or(first);
    match operator {
        Op::Mean
        | Op::Max
        | Op::Min
        | Op::Med
        | Op::EMA
        | Op::Quantile
        | Op::Ref
        | Op::ChangeInstrument
        | Op::Mask => first.scaling,
        Op::Abs | Op::Sum | Op::WMA => first.scaling.times(1.0),
        Op::Std | Op::Mad | Op::Delta | Op::Slope | Op::Resi => spread(first.scaling, 1.0),
        Op::Var => spread(first.scaling, 2.0),
        Op::Skew | Op::Kurt | Op::Rank | Op::Rsquare | Op::IdxMax | Op::IdxMin => spread(first.scaling, 0.0),
        Op::Sign | Op::Not => first.scaling.times(0.0),
        Op::Count => FormulaScaling::RATIO,
        Op::Corr | Op::Cov => {
            let (left, right) = (spread(first.scaling, 1.0), spread(second.scaling, 1.0));
            let product = multiplied(left, right, 1.0);
            if operator == Op::Corr {
                product.times(0.0)
            } else {
                product
            }
        }
        Op::Log => match first.scaling {
            FormulaScaling::Power(_) if first.scaling.is_ratio() => FormulaScaling::RATIO,
            FormulaScaling::Power(power) => FormulaScaling::Added(power),
            FormulaScaling::Added(_) | FormulaScaling::Other => FormulaScaling::Other,
        },
        Op::Add | Op::Sub | Op::Greater | Op::Less => summed(operator, first, second),
        Op::Gt | Op::Ge | Op::Lt | Op::Le | Op::Eq | Op::Ne => {
            let is_same = first.scaling.is_same(second.scaling) || first.is_zero() || second.is_zero();
            let is_known = first.scaling != FormulaScaling::Other && second.scaling != FormulaScaling::Other;
            if is_same && is_known {
                FormulaScaling::RATIO
            } else {
                FormulaScaling::Other
            }
        }
        Op::And | Op::Or => multiplied(first.scaling, second.scaling, 1.0).times(0.0),
        Op::Mul => multiplied(first.scaling, second.scaling, 1.0),
        Op::Div => multiplied(first.scaling, second.scaling, -1.0),
        Op::Power => match second.number {
            Some(exponent) => first.scaling.times(exponent),
            None if first.scaling.is_ratio() && second.scaling.is_ratio() => FormulaScaling::RATIO,
            None => FormulaScaling::Other,
        },
        Op::If => match sides {
            [condition, left, right] if condition.scaling.is_ratio() => summed(Op::Greater, left, right),
            _ => FormulaScaling::Other,
        },
    }
}

/// A spread of a window: what is added to all of it is taken off again.
fn spread(scaling: FormulaScaling, exponent: f64) -> FormulaScaling {
    match scaling {
        FormulaScaling::Power(_) => scaling.times(exponent),
        FormulaScaling::Added(_) => FormulaScaling::RATIO,
        FormulaScaling::Other => FormulaScaling::Other,
    }
}

fn multiplied(left: FormulaScaling, right: FormulaScaling, sign: f64) -> FormulaScaling {
    match (left, right) {
        (FormulaScaling::Power(left), FormulaScaling::Power(right)) => {
            FormulaScaling::Power(left + sign * right)
        }
        _ => FormulaScaling::Other,
    }
}

fn summed(operator: FormulaOperator, left: &Side, right: &Side) -> FormulaScaling {
    if right.is_zero() {
        return left.scaling;
    }
    if left.is_zero() {
        return right.scaling;
    }
    let (one, other) = (left.scaling, right.scaling);
    match (one, other, operator) {
        (FormulaScaling::Added(one), FormulaScaling::Added(other), FormulaOperator::Sub) => {
            ratio_or_added(one - other)
        }
        (FormulaScaling::Added(one), FormulaScaling::Added(other), FormulaOperator::Add) => {
            ratio_or_added(one + other)
        }
        (FormulaScaling::Added(_), FormulaScaling::Power(_), FormulaOperator::Add | FormulaOperator::Sub)
            if other.is_ratio() =>
        {
            one
        }
        (FormulaScaling::Power(_), FormulaScaling::Added(_), FormulaOperator::Add) if one.is_ratio() => other,
        _ if one.is_same(other) => one,
        _ => FormulaScaling::Other,
    }
}

fn ratio_or_added(added: f64) -> FormulaScaling {
    let scaling = FormulaScaling::Added(added);
    if scaling.is_same(FormulaScaling::Added(0.0)) {
        FormulaScaling::RATIO
    } else {
        scaling
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FormulaRole, check_formula};

    fn scaling(text: &str) -> FormulaScaling {
        let fields = ["open", "high", "close", "volume", "amount"];
        let power = |field: &str| match field {
            "volume" => -1.0,
            "amount" => 0.0,
            _ => 1.0,
        };
        let formula = check_formula(text, &fields, FormulaRole::Alpha).unwrap();
        FormulaScaling::of(formula.formula(), &power)
    }

    #[test]
    fn ratios_do_not_change() {
        for text in [
            "$close/Ref($close,1)-1",
            "$volume/Mean($volume,20)",
            "Std($close/Ref($close,1)-1,20)",
            "Log($close)-Log(Ref($close,5))",
            "Delta(Log($close),5)",
            "Std(Log($close),20)",
            "Corr($close,$volume,20)",
            "Corr($close,Log($volume),20)",
            "Rank($close,20)",
            "$amount",
            "Log($amount)",
            "$close*$volume/Mean($amount,5)",
            "Mean(Greater($high-$open,0),5)/$close",
            "If($close>$open,1,0)",
            "If(Delta($close,1)>0,$volume,0)/Mean($volume,5)",
            "Power($close,2)/Var($close,10)",
            "Skew($close,20)+Rsquare($close,10)",
            "Slope($close,5)/$close",
            "Cov($close,$volume,10)",
            "Sign($close-$open)",
            "Count($close,5)",
            "($close-Min($close,9))/(Max($high,9)-Min($close,9))",
        ] {
            assert!(scaling(text).is_ratio(), "{text}: {:?}", scaling(text));
        }
    }

    #[test]
    fn levels_change_by_a_power_by_an_addition_or_otherwise() {
        assert_eq!(scaling("Mean($close,5)-$open"), FormulaScaling::Power(1.0));
        assert_eq!(scaling("Var($close,5)"), FormulaScaling::Power(2.0));
        assert_eq!(scaling("$close/$volume"), FormulaScaling::Power(2.0));
        assert_eq!(scaling("Mean(Log($close),5)+1"), FormulaScaling::Added(1.0));
        assert_eq!(scaling("Log($close)+Log($volume)"), FormulaScaling::RATIO);
        for text in [
            "$close+1",
            "Log($close+1)",
            "$close>10",
            "If($close>10,1,0)",
            "$close+$volume",
            "Sign($close-10)",
            "Rank($close-10,20)",
            "Sum(Log($close),5)",
            "2-Log($close)",
            "Power($close/$open,$close)",
            "1/($close+1)",
        ] {
            assert_eq!(scaling(text), FormulaScaling::Other, "{text}");
        }
    }
}
