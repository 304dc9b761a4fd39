//! `get_stock_snapshot`: bars, factors and limits of one name.

use crate::args::SnapshotArguments;
use crate::context::{ToolContext, ToolLimits};
use crate::facts::{ClosingState, Facts, flags};
use crate::fault::{Fault, unknown_stock};
use crate::masked_factor_view::MaskedFactorView;
use crate::state::count_of;
use crate::volume::{mean_volume, volume_like};
use ktd_env::exchange::PriceLimits;
use ktd_env::factors::{Factor, Technical};
use ktd_env::{NameId, PastDay, Price};
use ktd_masking::{Count, FactorScale, Payload, PointerPart};

const DEFAULT_LOOKBACK: u32 = 10;

pub(crate) fn answer(
    context: &ToolContext<'_>,
    arguments: &SnapshotArguments,
) -> Result<Payload, Vec<Fault>> {
    let lookback = lookback(context.limits, arguments)?;
    let known = context
        .resolve(&arguments.stock_id)
        .and_then(|name| Some((name, Facts::of(context, name)?)));
    let (name, facts) = known.ok_or_else(|| vec![unknown_stock([PointerPart::Field("stock_id")])])?;
    let price = |adjusted| context.mask.price(context.as_of, name, adjusted);
    let limit_state = Some(facts.closing)
        .filter(|closing| *closing != ClosingState::Inside && context.mask.shows_trading())
        .map_or_else(Payload::null, |closing| Payload::label(closing.label()));
    let masked = MaskedFactorView::of(context, &Factor::ALL, &TECHNICALS);
    // A row of nulls or an object of them would still tell that there was something.
    let (limits, bars) = match context.mask.scale() {
        FactorScale::Values => (next_limits(context, name, &facts), bars(context, name, lookback)),
        FactorScale::Percentiles | FactorScale::Bands => (Payload::null(), Payload::null()),
    };
    Ok(Payload::sparse_map([
        ("stock_id", context.mask.asset(name)),
        ("board", context.board(name)),
        ("sector", context.mask.sector(context.as_of.sector(name))),
        ("flags", flags(context, name, &facts)),
        ("stale_days", context.mask.stale_days(facts.stale_days)),
        (
            "previous_close",
            facts
                .before
                .map_or_else(Payload::null, |bar| price(bar.adjusted_close())),
        ),
        ("limit_state", limit_state),
        ("next_open_limits", limits),
        ("bars", bars),
        ("factors", factors(&masked, name)),
        ("technicals", masked.technicals(name)),
    ]))
}

/// How many bars are asked for, if so many may be.
pub(crate) fn lookback(limits: &ToolLimits, arguments: &SnapshotArguments) -> Result<usize, Vec<Fault>> {
    let lookback = arguments.lookback.unwrap_or(DEFAULT_LOOKBACK);
    if limits.max_lookback < lookback {
        let fault = Fault::new(
            "out_of_range",
            "a lookback not above `most`",
            "ask for fewer days",
        )
        .with("most", count_of(limits.max_lookback));
        return Err(vec![fault.at([PointerPart::Field("lookback")])]);
    }
    Ok(usize::try_from(lookback).unwrap_or(usize::MAX))
}

/// Prices from which on the next open does not fill a buy and a sell, by the rule the exchange fills by. They hold unless
/// that day is an ex-day; `null` without limits.
fn next_limits(context: &ToolContext<'_>, name: NameId, facts: &Facts) -> Payload {
    let Some(limits) = PriceLimits::of_next_day(context.rules, context.as_of, name) else {
        return Payload::null();
    };
    let price = |limit: Price| {
        context
            .mask
            .price(context.as_of, name, facts.last.adjusted(limit))
    };
    Payload::map([("up", price(limits.up())), ("down", price(limits.down()))])
}

fn bars(context: &ToolContext<'_>, name: NameId, lookback: usize) -> Payload {
    let shown = context.as_of.bars(name, lookback);
    let last = shown.last().map(|(_, bar)| *bar);
    let mean = mean_volume(context, name);
    let as_of = context.as_of.day().index();
    let days_ago = |day: &PastDay| as_of.saturating_sub(day.index().index());
    // Bars without a gap up to the as-of day need no dates.
    let has_gap = shown
        .iter()
        .rev()
        .enumerate()
        .any(|(place, (day, _))| days_ago(day) != place);
    let rows = shown.iter().map(|(day, bar)| {
        let price = |price| context.mask.price(context.as_of, name, bar.adjusted(price));
        let volume = last.zip(mean).map_or_else(Payload::null, |(last, mean)| {
            context.mask.volume(volume_like(bar, &last), mean)
        });
        vec![
            Payload::optional(has_gap.then(|| Count::of(days_ago(day)))),
            bar.open.map_or_else(Payload::null, price),
            price(bar.high),
            price(bar.low),
            price(bar.close),
            volume,
        ]
    });
    Payload::sparse_table(&["days_ago", "open", "high", "low", "close", "volume"], rows)
}

fn factors(masked: &MaskedFactorView<'_>, name: NameId) -> Payload {
    let columns: Vec<&'static str> = std::iter::once("value")
        .chain(Factor::ALL.map(Factor::name))
        .collect();
    let rows = masked.factor_rows(name).into_iter().map(|(label, cells)| {
        let label = std::iter::once(Payload::label(label));
        label.chain(cells).collect()
    });
    Payload::table(&columns, rows)
}

/// What bars and factors do not tell by themselves; `compare_candidates` has every technical.
const TECHNICALS: [Technical; 8] = [
    Technical::Return5d,
    Technical::Return20d,
    Technical::Return60d,
    Technical::MaGap20,
    Technical::Volatility20,
    Technical::AmountRatio5To20,
    Technical::Rsi14,
    Technical::Drawdown60,
];
