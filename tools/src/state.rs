//! The state a step opens with: account, universe or candidates, limits, and what the last step did.

use crate::context::ToolContext;
use crate::facts::{Facts, flags, warnings};
use crate::last_step_payload;
use crate::masked_factor_view::MaskedFactorView;
use crate::volume::{mean_volume, volume_like};
use ktd_env::exchange::Holding;
use ktd_env::factors::{Factor, Technical};
use ktd_env::{Board, DaysBack, Fen, NameId};
use ktd_masking::{Count, Mode, Payload, RuleFigures};
use std::collections::BTreeSet;

/// The one line of JSON a user message ends with.
///
/// Keys: `universe` (memory-only), `day`, `as_of`, `step`, `account`, `candidates` (fixed-candidate),
/// `limits` and `last_step`. The universe stands first because it is the same on most days, so that a vendor's prompt
/// cache reads it again. Where `portfolio_state` tells the rest, account and last step are given in brief.
#[must_use]
pub fn state(context: &ToolContext<'_>, mode: Mode) -> Payload {
    let mut entries = Vec::new();
    if mode == Mode::MemoryOnly {
        entries.push(("universe", universe(context)));
    }
    entries.extend([
        ("day", context.mask.step_day(context.step)),
        ("as_of", as_of_day(context)),
        ("step", Count::of(context.step).into()),
    ]);
    match mode {
        Mode::MemoryOnly => entries.push(("account", account(context))),
        Mode::FixedCandidate => {
            entries.push(("account", account(context)));
            entries.push(("candidates", candidates(context)));
        }
        Mode::OpenResearch => entries.push(("account", account_in_brief(context))),
    }
    entries.push(("limits", limits(context)));
    let last_step = match mode {
        Mode::MemoryOnly => last_step_payload::payload(context),
        Mode::FixedCandidate => last_step_payload::beside_index(context),
        Mode::OpenResearch => last_step_payload::in_brief(context),
    };
    entries.push(("last_step", last_step));
    Payload::map(entries)
}

/// The as-of day as shown.
#[must_use]
pub fn as_of_day(context: &ToolContext<'_>) -> Payload {
    context
        .as_of
        .past_day(DaysBack(0))
        .map_or_else(Payload::null, |day| context.mask.day(day))
}

/// Cash, net asset value and holdings in masked order.
#[must_use]
pub fn account(context: &ToolContext<'_>) -> Payload {
    let account = context.account;
    Payload::map([
        ("nav", context.mask.money(account.nav)),
        ("cash", context.mask.money(account.cash)),
        ("holdings", holdings(context)),
    ])
}

/// What a step has to know of the account before anything is asked.
fn account_in_brief(context: &ToolContext<'_>) -> Payload {
    let columns = ["stock_id", "weight", "unrealised_return", "flags"];
    let rows = held(context).map(|(holding, facts)| {
        let name = holding.name;
        vec![
            context.mask.asset(name),
            context.mask.weight(context.weight_of(name)),
            unrealised_return(context, holding, &facts),
            warnings(context, name, &facts),
        ]
    });
    Payload::map([
        ("nav", context.mask.money(context.account.nav)),
        ("cash", context.mask.money(context.account.cash)),
        ("holdings", Payload::sparse_table(&columns, rows)),
    ])
}

fn holdings(context: &ToolContext<'_>) -> Payload {
    let columns = [
        "stock_id",
        "board",
        "weight",
        "value",
        "cost",
        "unrealised_return",
        "shares",
        "stale_days",
        "flags",
    ];
    let rows = held(context).map(|(holding, facts)| {
        let name = holding.name;
        // One amount is enough beside the return; where share counts are hidden it is the rounded value.
        let (value, cost) = if context.mask.shows_shares() {
            (Payload::null(), context.mask.money(holding.cost))
        } else {
            let value = facts.last.close.times(holding.shares);
            (
                value.map_or_else(|_| Payload::null(), |value| context.mask.money(value)),
                Payload::null(),
            )
        };
        vec![
            context.mask.asset(name),
            context.board(name),
            context.mask.weight(context.weight_of(name)),
            value,
            cost,
            unrealised_return(context, holding, &facts),
            // Everything held was bought before the next open, so everything is sellable then.
            context.mask.shares(holding.shares),
            context.mask.stale_days(facts.stale_days),
            warnings(context, name, &facts),
        ]
    });
    Payload::sparse_table(&columns, rows)
}

/// The holdings in masked order.
fn held<'a>(context: &'a ToolContext<'_>) -> impl Iterator<Item = (&'a Holding, Facts)> {
    let mut held: Vec<&Holding> = context.account.holdings.iter().collect();
    held.sort_by_key(|holding| context.mask.order(holding.name));
    held.into_iter()
        .filter_map(|holding| Some((holding, Facts::of(context, holding.name)?)))
}

/// Value of a holding over its cost, minus 1.
pub(crate) fn unrealised_return(context: &ToolContext<'_>, holding: &Holding, facts: &Facts) -> Payload {
    let value = facts.last.close.times(holding.shares);
    let unrealised = value.map_or(f64::NAN, Fen::to_yuan) / holding.cost.to_yuan() - 1.0;
    context.mask.unrealised_return(unrealised)
}

/// The index members of the as-of day, board by board where boards are shown, in masked order.
#[must_use]
pub fn universe(context: &ToolContext<'_>) -> Payload {
    let members = context.members_in_order();
    if !context.mask.shows_boards() {
        return Payload::list(members.iter().map(|name| context.mask.asset(*name)));
    }
    Payload::map(Board::ALL.into_iter().map(|board| {
        let of_board = members.iter().filter(|name| context.as_of.board(**name) == board);
        (
            board.label(),
            Payload::list(of_board.map(|name| context.mask.asset(*name))),
        )
    }))
}

/// The table of the mode `fixed-candidate`: the union of the members with the highest values of each factor, and the
/// names held, in masked order. The top is always the high end, whatever a high value may mean.
#[must_use]
pub fn candidates(context: &ToolContext<'_>) -> Payload {
    let masked = MaskedFactorView::of(context, &Factor::ALL, &SUMMARY);
    let tops = tops(&masked, context);
    let mut names: BTreeSet<NameId> = tops.iter().flatten().copied().collect();
    names.extend(context.account.holdings.iter().map(|holding| holding.name));
    let mut names: Vec<NameId> = names.into_iter().collect();
    names.sort_by_key(|name| context.mask.order(*name));
    let mut columns = vec!["stock_id", "board", "top_of"];
    columns.extend(["open", "high", "low", "close", "volume"]);
    columns.extend(SUMMARY.map(|technical| masked.technical_name(technical)));
    columns.extend(
        Factor::ALL
            .into_iter()
            .flat_map(|factor| masked.factor_columns(factor)),
    );
    columns.push("flags");
    let rows = names.into_iter().filter_map(|name| {
        let facts = Facts::of(context, name)?;
        let top_of = Factor::ALL
            .into_iter()
            .zip(&tops)
            .filter(|(_, top)| top.contains(&name));
        let mut row = vec![
            context.mask.asset(name),
            context.board(name),
            Payload::list(top_of.map(|(factor, _)| Payload::label(factor.name()))),
        ];
        row.extend(last_bar(context, name, &facts));
        row.extend(SUMMARY.map(|technical| masked.technical(name, technical)));
        for factor in Factor::ALL {
            row.extend(masked.factor_cells(name, factor));
        }
        row.push(flags(context, name, &facts));
        Some(row)
    });
    Payload::sparse_table(&columns, rows)
}

/// Columns of a summary of prices besides the last bar's.
const SUMMARY: [Technical; 6] = [
    Technical::Return1d,
    Technical::Return5d,
    Technical::Return20d,
    Technical::Return60d,
    Technical::Volatility20,
    Technical::AmountRatio5To20,
];

fn last_bar(context: &ToolContext<'_>, name: NameId, facts: &Facts) -> [Payload; 5] {
    let bar = facts.last;
    let price = |price| context.mask.price(context.as_of, name, bar.adjusted(price));
    let volume = mean_volume(context, name).map_or_else(Payload::null, |mean| {
        context.mask.volume(volume_like(&bar, &bar), mean)
    });
    [
        bar.open.map_or_else(Payload::null, price),
        price(bar.high),
        price(bar.low),
        price(bar.close),
        volume,
    ]
}

/// For each factor the members with its highest values; ties in masked order.
fn tops(masked: &MaskedFactorView<'_>, context: &ToolContext<'_>) -> Vec<Vec<NameId>> {
    let members = context.members_in_order();
    let count = usize::try_from(context.limits.fixed_candidates_per_factor).unwrap_or(usize::MAX);
    let top = |factor| {
        let mut valued: Vec<(f64, NameId)> = members
            .iter()
            .filter_map(|name| Some((masked.height(*name, factor)?, *name)))
            .collect();
        // The sort is stable, so equal values keep the masked order.
        valued.sort_by(|left, right| right.0.total_cmp(&left.0));
        valued.into_iter().take(count).map(|(_, name)| name).collect()
    };
    Factor::ALL.into_iter().map(top).collect()
}

/// The two limits a plan is sized by, how much room is left, and how fine a target may be where that is coarse. Fees and limits of form stand in the system message.
#[must_use]
pub fn limits(context: &ToolContext<'_>) -> Payload {
    let figures = RuleFigures::of(context.rules);
    let most = usize::try_from(context.rules.max_positions).unwrap_or(usize::MAX);
    let left = most.saturating_sub(context.account.holdings.len());
    Payload::sparse_map([
        ("max_single_weight", figures.max_single_weight()),
        ("max_positions", figures.max_positions()),
        ("positions_left", Count::of(left).into()),
        ("target_weight_step", context.mask.weight_step()),
    ])
}

/// A configured limit as a payload.
pub(crate) fn count_of(limit: u32) -> Payload {
    Count::of(usize::try_from(limit).unwrap_or(usize::MAX)).into()
}
