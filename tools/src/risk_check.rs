//! `risk_check`: what a plan of target weights would break and cost, at the closes of the as-of day.

use crate::args::{RiskArguments, WeightTarget};
use crate::context::{ToolContext, ToolLimits};
use crate::fault::{Fault, unknown_stock};
use crate::feedback_texts;
use crate::order::OrderProblem;
use crate::state::count_of;
use ktd_env::exchange::{ChargedTrade, Decision, Order, Quantity, Side, TargetWeight, decide, fee};
use ktd_env::{AmountTooLarge, Fen, NameId, Price, Shares};
use ktd_masking::{Count, Mask, Payload, PointerPart};
use std::collections::BTreeMap;

pub(crate) fn answer(context: &ToolContext<'_>, arguments: &RiskArguments) -> Result<Payload, Vec<Fault>> {
    let targets = targets(context, &arguments.targets)?;
    // A target that equals the current weight is no order.
    let orders: Vec<Order> = targets.iter().filter_map(Target::order).collect();
    let mut decisions = decide(context.rules, context.account, &orders, context.as_of).into_iter();
    let planned: Vec<Planned> = targets
        .into_iter()
        .map(|target| Planned {
            decision: target.side.and_then(|_| decisions.next()),
            target,
        })
        .collect();
    let projection = Projection::of(context, &planned).map_err(|AmountTooLarge| {
        let fault = Fault::new(
            "out_of_range",
            "amounts that an account counts",
            "plan smaller orders",
        );
        vec![fault.at([PointerPart::Field("targets")])]
    })?;
    let codes = planned.iter().filter_map(|planned| match planned.decision {
        Some(Decision::Rejected { code, .. }) => Some(code),
        Some(Decision::Accepted { .. }) | None => None,
    });
    Ok(Payload::sparse_map([
        ("plan", plan(context, &planned, &projection)),
        ("reasons", feedback_texts::explained(context.mask, codes)),
        ("projected", projection.payload(context)),
    ]))
}

/// One target, resolved.
struct Target {
    name: NameId,
    weight: TargetWeight,
    held: Shares,
    close: Price,
    /// `None` when the target is the current weight.
    side: Option<Side>,
}

impl Target {
    fn order(&self) -> Option<Order> {
        Some(Order {
            name: Some(self.name),
            side: self.side?,
            quantity: Quantity::TargetWeight(self.weight),
        })
    }
}

struct Planned {
    target: Target,
    decision: Option<Decision>,
}

impl Planned {
    /// Shares that an accepted order trades.
    fn accepted(&self) -> Option<(Side, Shares)> {
        match self.decision? {
            Decision::Accepted { requested, .. } => Some((self.target.side?, requested)),
            Decision::Rejected { .. } => None,
        }
    }

    fn shares_after(&self) -> Result<Shares, AmountTooLarge> {
        match self.accepted() {
            Some((Side::Buy, shares)) => self.target.held.plus(shares),
            Some((Side::Sell, shares)) => self.target.held.minus(shares),
            None => Ok(self.target.held),
        }
    }
}

fn targets(context: &ToolContext<'_>, asked: &[WeightTarget]) -> Result<Vec<Target>, Vec<Fault>> {
    let known = |id: &str| {
        let name = context.resolve(id)?;
        Some((name, context.as_of.last_bar(name)?.1.close))
    };
    let weights = weights(context.limits, context.mask, asked, |id| known(id).is_some())?;
    let target = |(id, weight): (&str, TargetWeight)| {
        let (name, close) = known(id)?;
        Some(resolved(context, name, close, weight))
    };
    Ok(weights.into_iter().filter_map(target).collect())
}

/// The targets asked about, if every one names a stock and a weight that may be ordered.
pub(crate) fn weights<'a>(
    limits: &ToolLimits,
    mask: &Mask,
    asked: &'a [WeightTarget],
    is_known: impl Fn(&str) -> bool,
) -> Result<Vec<(&'a str, TargetWeight)>, Vec<Fault>> {
    let most = usize::try_from(limits.max_orders).unwrap_or(usize::MAX);
    if most < asked.len() {
        let fault = Fault::new("too_many", "a shorter list", "plan fewer names at once")
            .with("most", count_of(limits.max_orders));
        return Err(vec![fault.at([PointerPart::Field("targets")])]);
    }
    let (mut targets, mut faults) = (Vec::with_capacity(asked.len()), Vec::new());
    for (place, target) in asked.iter().enumerate() {
        let at = |field| {
            [
                PointerPart::Field("targets"),
                PointerPart::Index(place),
                PointerPart::Field(field),
            ]
        };
        match (is_known(&target.stock_id), target.target_weight.weight()) {
            (false, _) => faults.push(unknown_stock(at("stock_id"))),
            (true, None) => {
                let expected = "a number from 0 to 1 with at most 6 decimal places";
                let fault = Fault::new("out_of_range", expected, "round the weight");
                faults.push(fault.at(at("target_weight")));
            }
            (true, Some(weight)) if !mask.takes(weight) => {
                let problem = OrderProblem::OffStep;
                let fault = Fault::new(problem.code(), "a multiple of `step`", problem.hint());
                faults.push(fault.with("step", mask.weight_step()).at(at("target_weight")));
            }
            (true, Some(weight)) => targets.push((target.stock_id.as_str(), weight)),
        }
    }
    if faults.is_empty() {
        Ok(targets)
    } else {
        Err(faults)
    }
}

fn resolved(context: &ToolContext<'_>, name: NameId, close: Price, weight: TargetWeight) -> Target {
    const MILLION: i128 = 1_000_000;
    let held = context.account.shares(name);
    let wanted = i128::from(weight.millionths()) * i128::from(context.account.nav.0);
    let current = i128::from(close.0) * i128::from(held.0) * MILLION;
    let side = match wanted.cmp(&current) {
        std::cmp::Ordering::Less => Some(Side::Sell),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(Side::Buy),
    };
    Target {
        name,
        weight,
        held,
        close,
        side,
    }
}

fn plan(context: &ToolContext<'_>, planned: &[Planned], projection: &Projection) -> Payload {
    let columns = [
        "stock_id",
        "side",
        "weight_now",
        "target_weight",
        "weight_after",
        "result",
        "code",
        "shares_to_trade",
    ];
    let rows = planned.iter().map(|planned| {
        let target = &planned.target;
        let (result, code) = match planned.decision {
            None => ("no_trade", Payload::null()),
            Some(Decision::Accepted { .. }) => ("accepted", Payload::null()),
            Some(Decision::Rejected { code, .. }) => ("rejected", feedback_texts::code(context.mask, code)),
        };
        let shares = planned.accepted().map(|(_, shares)| context.mask.shares(shares));
        vec![
            context.mask.asset(target.name),
            target
                .side
                .map_or_else(Payload::null, |side| Payload::label(side.label())),
            context.mask.weight(context.weight_of(target.name)),
            Payload::echoed_weight(target.weight),
            context.mask.weight(projection.weight_of(target.name)),
            Payload::label(result),
            code,
            shares.unwrap_or_else(Payload::null),
        ]
    });
    Payload::sparse_table(&columns, rows)
}

/// The account after every accepted order filled in full at the as-of closes.
struct Projection {
    cash: Fen,
    fees: Fen,
    traded: Fen,
    nav: Fen,
    nav_before: Fen,
    hhi_before: f64,
    /// Values of the names held afterwards.
    values: BTreeMap<NameId, Fen>,
}

impl Projection {
    fn of(context: &ToolContext<'_>, planned: &[Planned]) -> Result<Self, AmountTooLarge> {
        let account = context.account;
        let held = account.holdings.iter().filter_map(|holding| {
            let (_, bar) = context.as_of.last_bar(holding.name)?;
            Some(bar.close.times(holding.shares).map(|value| (holding.name, value)))
        });
        let values: BTreeMap<NameId, Fen> = held.collect::<Result<_, _>>()?;
        let mut after = Self {
            cash: account.cash,
            fees: Fen::ZERO,
            traded: Fen::ZERO,
            nav: account.nav,
            nav_before: account.nav,
            hhi_before: concentration(&values, account.nav),
            values,
        };
        for planned in planned {
            let Some((side, shares)) = planned.accepted() else {
                continue;
            };
            let target = &planned.target;
            let trade = ChargedTrade::of_next_day(context.as_of, target.name, side, shares, target.close)?;
            let (value, fee) = (trade.value, fee(context.rules, &trade)?);
            let before_fee = match side {
                Side::Buy => after.cash.minus(value)?,
                Side::Sell => after.cash.plus(value)?,
            };
            after.cash = before_fee.minus(fee)?;
            after.fees = after.fees.plus(fee)?;
            after.traded = after.traded.plus(value)?;
            let left = planned.shares_after()?;
            if left.0 <= 0 {
                after.values.remove(&planned.target.name);
            } else {
                let value = planned.target.close.times(left)?;
                after.values.insert(planned.target.name, value);
            }
        }
        after.nav = account.nav.minus(after.fees)?;
        Ok(after)
    }

    fn weight(&self, value: Fen) -> f64 {
        value.to_yuan() / self.nav.to_yuan()
    }

    fn weight_of(&self, name: NameId) -> f64 {
        self.weight(self.values.get(&name).copied().unwrap_or(Fen::ZERO))
    }

    fn payload(&self, context: &ToolContext<'_>) -> Payload {
        // With one the last buys would be cut down or rejected with `cash`.
        let shortfall = (self.cash.0 < 0).then(|| context.mask.money(Fen(-self.cash.0)));
        let most = usize::try_from(context.rules.max_positions).unwrap_or(usize::MAX);
        let left = most.saturating_sub(self.values.len());
        Payload::sparse_map([
            ("cash", context.mask.money(self.cash)),
            ("cash_weight", context.mask.weight(self.weight(self.cash))),
            ("cash_shortfall", shortfall.unwrap_or_else(Payload::null)),
            ("fees", context.mask.fee(self.fees)),
            (
                "turnover",
                context
                    .mask
                    .weight(self.traded.to_yuan() / self.nav_before.to_yuan()),
            ),
            ("positions", Count::of(self.values.len()).into()),
            ("positions_left", Count::of(left).into()),
            ("hhi_now", context.mask.weight(self.hhi_before)),
            (
                "hhi_after",
                context.mask.weight(concentration(&self.values, self.nav)),
            ),
            ("largest_weight", context.mask.weight(self.largest_weight())),
        ])
    }

    fn largest_weight(&self) -> f64 {
        let largest = self.values.values().copied().max().unwrap_or(Fen::ZERO);
        self.weight(largest)
    }
}

/// Sum of squared weights over NAV; 0 for cash alone.
fn concentration(values: &BTreeMap<NameId, Fen>, nav: Fen) -> f64 {
    let weights = values.values().map(|value| value.to_yuan() / nav.to_yuan());
    weights.map(|weight| weight * weight).sum()
}
