//! The six tools over a roster and a book.

use super::state::{account, code, flags, last_step, result, weight};
use super::{Book, BookOrder, RosterContext};
use crate::args::Asked;
use crate::args::{
    CompareArguments, Dimension, Direction, FactorBound, RiskArguments, ScreenArguments, SnapshotArguments,
};
use crate::compare_candidates::distinct;
use crate::fault::{Fault, unknown_stock};
use crate::feedback_texts;
use crate::masked_factor_view::band_name;
use crate::screen_by_expression::not_here;
use crate::screen_candidates::{check, shows_no_raw};
use crate::state::count_of;
use ktd_env::exchange::{RejectCode, Side, TargetWeight};
use ktd_env::factors::Factor;
use ktd_masking::{Count, Payload, PointerPart, ShownStock};

/// Answers a call.
pub(crate) fn answer(context: &RosterContext<'_>, asked: &Asked) -> Result<Payload, Vec<Fault>> {
    match asked {
        Asked::Context => Ok(Payload::map([
            ("day", context.mask.step_day(context.step)),
            ("step", Count::of(context.step).into()),
        ])),
        Asked::Screen(arguments) => screen(context, arguments),
        Asked::Snapshot(arguments) => snapshot(context, arguments),
        Asked::Compare(arguments) => compare(context, arguments),
        Asked::Portfolio => Ok(Payload::map([
            ("account", account(context)),
            ("last_step", last_step(context)),
        ])),
        Asked::Risk(arguments) => risk(context, arguments),
        Asked::Expression(_) => Err(vec![not_here()]),
    }
}

fn band(context: &RosterContext<'_>, stock: &ShownStock, factor: Factor) -> f64 {
    context.roster.band(stock, factor).value()
}

fn screen(context: &RosterContext<'_>, arguments: &ScreenArguments) -> Result<Payload, Vec<Fault>> {
    let bounds = arguments.bounds.as_deref().unwrap_or_default();
    let top_k = check(context.limits, shows_no_raw, arguments, bounds)?;
    let holds = |stock: &ShownStock, bound: &FactorBound| {
        bound.factor.0.is_some_and(|factor| {
            let band = band(context, stock, factor);
            bound.min.is_none_or(|min| min <= band) && bound.max.is_none_or(|max| band <= max)
        })
    };
    let score = |stock: &ShownStock| -> f64 {
        let parts = arguments.factors.iter().map(|tilt| {
            let band = band(context, stock, tilt.factor.0);
            let signed = match tilt.direction {
                Direction::High => band,
                Direction::Low => -band,
            };
            tilt.weight.unwrap_or(1.0) * signed
        });
        // Adding zero turns -0.0 into 0.0, which `total_cmp` would tell apart.
        parts.sum::<f64>() + 0.0
    };
    let mut ranked: Vec<(f64, &ShownStock)> = context
        .roster
        .stocks()
        .iter()
        .filter(|stock| bounds.iter().all(|bound| holds(stock, bound)))
        .map(|stock| (score(stock), stock))
        .collect();
    // The sort is stable, so equal scores keep the order of the ids.
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0));
    let is_tied = top_k
        .checked_sub(1)
        .and_then(|last| Some(ranked.get(last)?.0.total_cmp(&ranked.get(top_k)?.0).is_eq()))
        .unwrap_or(false);
    let mut columns = vec!["stock_id"];
    columns.extend(arguments.factors.iter().map(|tilt| band_name(tilt.factor.0)));
    columns.push("flags");
    let rows = ranked.into_iter().take(top_k).map(|(_, stock)| {
        let mut row = vec![stock.payload()];
        let factors = arguments.factors.iter().map(|tilt| tilt.factor.0);
        row.extend(factors.map(|factor| context.roster.band(stock, factor).into()));
        row.push(flags(context, stock));
        row
    });
    let candidates = ("candidates", Payload::sparse_table(&columns, rows));
    let note = is_tied.then(|| ("note", Payload::label(TIED)));
    Ok(Payload::map(std::iter::once(candidates).chain(note)))
}

/// What a screen says whose last stock is not told from the first that it leaves out.
const TIED: &str = "more stocks score the same as the last one listed, and equals stand in the order of their ids: another \
                    screen may list the same stocks; use several factors, weights or bounds to tell them apart";

fn snapshot(context: &RosterContext<'_>, arguments: &SnapshotArguments) -> Result<Payload, Vec<Fault>> {
    crate::get_stock_snapshot::lookback(context.limits, arguments)?;
    let stock = context
        .find(&arguments.stock_id)
        .ok_or_else(|| vec![unknown_stock([PointerPart::Field("stock_id")])])?;
    let columns: Vec<&'static str> = std::iter::once("value")
        .chain(Factor::ALL.map(Factor::name))
        .collect();
    let bands = Factor::ALL.map(|factor| context.roster.band(stock, factor).into());
    let row = std::iter::once(Payload::label("band")).chain(bands).collect();
    Ok(Payload::sparse_map([
        ("stock_id", stock.payload()),
        ("flags", flags(context, stock)),
        ("factors", Payload::table(&columns, [row])),
    ]))
}

fn compare(context: &RosterContext<'_>, arguments: &CompareArguments) -> Result<Payload, Vec<Fault>> {
    let stocks = compared(context, &arguments.stock_ids)?;
    let dimensions: Vec<Dimension> = match &arguments.dimensions {
        Some(dimensions) => distinct(dimensions)?,
        None => Factor::ALL.map(Dimension::Factor).to_vec(),
    };
    let mut columns = vec!["stock_id"];
    columns.extend(dimensions.iter().map(|dimension| match dimension {
        Dimension::Factor(factor) => band_name(*factor),
        Dimension::Technical(_) | Dimension::Close | Dimension::Weight | Dimension::UnrealisedReturn => {
            dimension.name()
        }
    }));
    columns.push("flags");
    let rows = stocks.into_iter().map(|stock| {
        let mut row = vec![stock.payload()];
        row.extend(dimensions.iter().map(|dimension| match dimension {
            Dimension::Factor(factor) => context.roster.band(stock, *factor).into(),
            Dimension::Weight => weight(context.book.weight_millionths(stock.id())),
            Dimension::Technical(_) | Dimension::Close | Dimension::UnrealisedReturn => Payload::null(),
        }));
        row.push(flags(context, stock));
        row
    });
    Ok(Payload::sparse_table(&columns, rows))
}

/// The stocks in the order asked for.
fn compared<'a>(context: &RosterContext<'a>, ids: &[String]) -> Result<Vec<&'a ShownStock>, Vec<Fault>> {
    let most = usize::try_from(context.limits.max_compare).unwrap_or(usize::MAX);
    if most < ids.len() {
        let fault = Fault::new("too_many", "a shorter list", "compare fewer names at once")
            .with("most", count_of(context.limits.max_compare));
        return Err(vec![fault.at([PointerPart::Field("stock_ids")])]);
    }
    let (mut stocks, mut faults) = (Vec::with_capacity(ids.len()), Vec::new());
    for (place, id) in ids.iter().enumerate() {
        let pointer = [PointerPart::Field("stock_ids"), PointerPart::Index(place)];
        let held = context.book.find(id).map(|position| &position.stock);
        match held.or_else(|| context.roster.find(id)) {
            None => faults.push(unknown_stock(pointer)),
            Some(_) if ids.iter().take(place).any(|other| other == id) => faults
                .push(Fault::new("duplicate", "different stock ids", "name each stock once").at(pointer)),
            Some(stock) => stocks.push(stock),
        }
    }
    if faults.is_empty() {
        Ok(stocks)
    } else {
        Err(faults)
    }
}

/// A plan held against the rules by what was ordered before: nothing that the exchange will make of it is told.
fn risk(context: &RosterContext<'_>, arguments: &RiskArguments) -> Result<Payload, Vec<Fault>> {
    let targets = crate::risk_check::weights(context.limits, context.mask, &arguments.targets, |id| {
        context.find(id).is_some()
    })?;
    let planned = planned(context, &targets);
    let columns = [
        "stock_id",
        "side",
        "weight_now",
        "target_weight",
        "weight_after",
        "result",
        "code",
    ];
    let after = book_after(context, &planned);
    let rows = planned.iter().filter_map(|plan| {
        let order = &plan.order;
        Some(vec![
            context.find(&order.id)?.payload(),
            Payload::optional(plan.decision.map(|_| Payload::label(order.side.label()))),
            weight(context.book.weight_millionths(&order.id)),
            Payload::echoed_weight(order.target),
            weight(after.weight_millionths(&order.id)),
            plan.decision.map_or_else(|| Payload::label("no_trade"), result),
            plan.decision.map_or_else(Payload::null, code),
        ])
    });
    let reasons = planned
        .iter()
        .filter_map(|plan| plan.decision.and_then(Result::err));
    Ok(Payload::sparse_map([
        ("plan", Payload::sparse_table(&columns, rows)),
        ("reasons", feedback_texts::explained_in_book(reasons)),
        ("projected", projected(context, &planned, &after)),
    ]))
}

/// One target of a plan.
struct Planned {
    order: BookOrder,
    /// `None` where the target is the weight in the book: that is no order.
    decision: Option<Result<(), RejectCode>>,
}

fn planned(context: &RosterContext<'_>, targets: &[(&str, TargetWeight)]) -> Vec<Planned> {
    let now = |id: &str| context.book.weight_millionths(id);
    let orders = targets.iter().map(|(id, target)| BookOrder {
        id: (*id).to_owned(),
        side: if now(id) < target.millionths() {
            Side::Buy
        } else {
            Side::Sell
        },
        target: *target,
    });
    let orders: Vec<BookOrder> = orders.collect();
    let is_order = |order: &BookOrder| now(&order.id) != order.target.millionths();
    let asked: Vec<BookOrder> = orders.iter().filter(|order| is_order(order)).cloned().collect();
    let mut decisions = context
        .book
        .decide(context.roster, context.rules, &asked)
        .into_iter();
    let planned = orders.into_iter().map(|order| Planned {
        decision: is_order(&order).then(|| decisions.next()).flatten(),
        order,
    });
    planned.collect()
}

fn book_after(context: &RosterContext<'_>, planned: &[Planned]) -> Book {
    let accepted = planned.iter().filter(|plan| plan.decision == Some(Ok(())));
    let mut after = context.book.clone();
    after.take(
        context.roster,
        context.rules,
        accepted.map(|plan| plan.order.clone()).collect(),
    );
    after
}

fn projected(context: &RosterContext<'_>, planned: &[Planned], after: &Book) -> Payload {
    let accepted = planned.iter().filter(|plan| plan.decision == Some(Ok(())));
    let traded = accepted.map(|plan| {
        let now = context.book.weight_millionths(&plan.order.id);
        now.abs_diff(plan.order.target.millionths())
    });
    let largest = after
        .positions()
        .map(|position| position.target.millionths())
        .max();
    let most = usize::try_from(context.rules.max_positions).unwrap_or(usize::MAX);
    let positions = after.positions().len();
    Payload::sparse_map([
        ("cash_weight", weight(after.cash_millionths())),
        ("turnover", weight(traded.sum())),
        ("positions", Count::of(positions).into()),
        ("positions_left", Count::of(most.saturating_sub(positions)).into()),
        ("largest_weight", weight(largest.unwrap_or(0))),
    ])
}
