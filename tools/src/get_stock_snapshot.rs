//! `get_stock_snapshot`: bars, factors and limits of one name.

use crate::args::SnapshotArguments;
use crate::context::ToolContext;
use crate::facts::{ClosingState, Facts, flags};
use crate::feedback::{Fault, unknown_stock};
use crate::sight::Sight;
use crate::state::count_of;
use crate::statistics::mean;
use ktd_env::exchange::PriceLimits;
use ktd_env::factors::{Factor, Technical};
use ktd_env::{Bar, NameId, PastDay, Price};
use ktd_masking::{Count, Payload, PointerPart, Scale};

const DEFAULT_LOOKBACK: u32 = 10;
/// Bars whose mean volume is the unit of volumes under `rescaled`.
const VOLUME_MEAN_BARS: usize = 20;

pub(crate) fn answer(
    context: &ToolContext<'_>,
    arguments: &SnapshotArguments,
) -> Result<Payload, Vec<Fault>> {
    let lookback = arguments.lookback.unwrap_or(DEFAULT_LOOKBACK);
    if context.limits.max_lookback < lookback {
        let fault = Fault::new(
            "out_of_range",
            "a lookback not above `most`",
            "ask for fewer days",
        )
        .with("most", count_of(context.limits.max_lookback));
        return Err(vec![fault.at([PointerPart::Field("lookback")])]);
    }
    let known = context
        .resolve(&arguments.stock_id)
        .and_then(|name| Some((name, Facts::of(context, name)?)));
    let (name, facts) = known.ok_or_else(|| vec![unknown_stock([PointerPart::Field("stock_id")])])?;
    let price = |adjusted| context.mask.price(context.as_of, name, adjusted);
    let lookback = usize::try_from(lookback).unwrap_or(usize::MAX);
    let limit_state = Some(facts.closing)
        .filter(|closing| *closing != ClosingState::Inside && context.mask.shows_trading())
        .map_or_else(Payload::null, |closing| Payload::label(closing.label()));
    let sight = Sight::of(context, &Factor::ALL, &TECHNICALS);
    // A row of nulls or an object of them would still tell that there was something.
    let (limits, bars) = match context.mask.scale() {
        Scale::Values => (next_limits(context, name, &facts), bars(context, name, lookback)),
        Scale::Percentiles | Scale::Bands => (Payload::null(), Payload::null()),
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
        ("factors", factors(&sight, name)),
        ("technicals", sight.technicals(name)),
    ]))
}

/// The exchange's limit prices of the next open, which hold unless that day is an ex-day; `null` without limits.
fn next_limits(context: &ToolContext<'_>, name: NameId, facts: &Facts) -> Payload {
    let Some(limits) = PriceLimits::of_next_day(context.rules, context.as_of, name) else {
        return Payload::null();
    };
    let price = |limit: Price| {
        context
            .mask
            .price(context.as_of, name, facts.last.adjusted(limit))
    };
    Payload::map([
        ("up", price(limits.exact_up())),
        ("down", price(limits.exact_down())),
    ])
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
            context.mask.volume(volume(bar, &last), mean)
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

/// A bar's volume in terms of the last bar's shares, so that a split shows no jump.
#[expect(clippy::cast_precision_loss, reason = "volumes stay far below 2^53 shares")]
pub(crate) fn volume(bar: &Bar, last: &Bar) -> f64 {
    bar.volume as f64 / bar.factor_value * last.factor_value
}

/// Mean volume of the last 20 bars in terms of the last bar's shares.
pub(crate) fn mean_volume(context: &ToolContext<'_>, name: NameId) -> Option<f64> {
    let bars = context.as_of.bars(name, VOLUME_MEAN_BARS);
    let (_, last) = bars.last()?;
    mean(&bars.iter().map(|(_, bar)| volume(bar, last)).collect::<Vec<_>>())
}

fn factors(sight: &Sight<'_>, name: NameId) -> Payload {
    let columns: Vec<&'static str> = std::iter::once("value")
        .chain(Factor::ALL.map(Factor::name))
        .collect();
    let rows = sight.factor_rows(name).into_iter().map(|(label, cells)| {
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
