//! `get_market_context`: index, breadth, dispersion and tone at the close of the as-of day.

use crate::context::ToolContext;
use crate::facts::{ClosingState, Facts};
use crate::statistics::{mean, share_above_zero, standard_deviation};
use ktd_env::factors::Technical;
use ktd_env::{Board, DaysBack, NameId};
use ktd_masking::{Count, FactorScale, Payload};

const TRADING_DAYS_A_YEAR: f64 = 252.0;
const VOLATILITY_DAYS: usize = 20;
const HIGH_DAYS: usize = 60;

pub(crate) fn answer(context: &ToolContext<'_>) -> Payload {
    let mut entries = vec![
        ("day", context.mask.step_day(context.step)),
        ("step", Count::of(context.step).into()),
    ];
    match context.mask.scale() {
        FactorScale::Values => {
            let members = members(context);
            let changes: Vec<f64> = members
                .iter()
                .filter_map(|member| member.facts.change())
                .collect();
            entries.extend([
                ("index", index(context)),
                ("breadth", breadth(context, &members)),
                (
                    "dispersion",
                    context.mask.market_rate(standard_deviation(&changes)),
                ),
            ]);
            entries.extend(tones(context, &members));
        }
        FactorScale::Percentiles => entries.extend(tones(context, &members(context))),
        // How the market stands and how many names it has would tell the day.
        FactorScale::Bands => {}
    }
    Payload::map(entries)
}

struct Member {
    name: NameId,
    facts: Facts,
}

fn members(context: &ToolContext<'_>) -> Vec<Member> {
    let members = context.members_in_order().into_iter();
    members
        .filter_map(|name| Facts::of(context, name).map(|facts| Member { name, facts }))
        .collect()
}

/// The return of the price index on the as-of day.
pub(crate) fn return_1d(context: &ToolContext<'_>) -> Payload {
    let level = |back| context.as_of.index_close(DaysBack(back));
    let change = level(0).zip(level(1)).map(|(now, before)| now / before - 1.0);
    context.mask.market_rate(change)
}

fn index(context: &ToolContext<'_>) -> Payload {
    // Newest first; a gap in the series ends it, as a return across it would be another one's.
    let levels: Vec<f64> = (0..=60)
        .map_while(|back| context.as_of.index_close(DaysBack(back)))
        .collect();
    let Some(&now) = levels.first() else {
        return Payload::null();
    };
    let over = |days: usize| {
        let before = levels.get(days);
        context.mask.market_rate(before.map(|before| now / before - 1.0))
    };
    let daily: Vec<f64> = levels
        .iter()
        .zip(levels.iter().skip(1))
        .take(VOLATILITY_DAYS)
        .map(|(after, before)| after / before - 1.0)
        .collect();
    let volatility = standard_deviation(&daily).filter(|_| daily.len() == VOLATILITY_DAYS);
    let high = levels.iter().take(HIGH_DAYS).copied().fold(now, f64::max);
    Payload::map([
        ("level", context.mask.index_level(context.as_of, now)),
        ("return_1d", return_1d(context)),
        ("return_5d", over(5)),
        ("return_20d", over(20)),
        ("return_60d", over(60)),
        (
            "volatility_20d",
            context
                .mask
                .market_rate(volatility.map(|sd| sd * TRADING_DAYS_A_YEAR.sqrt())),
        ),
        ("drawdown_60d", context.mask.market_rate(Some(now / high - 1.0))),
    ])
}

fn breadth(context: &ToolContext<'_>, members: &[Member]) -> Payload {
    let count = |holds: &dyn Fn(&Facts) -> bool| -> Payload {
        let count = members.iter().filter(|member| holds(&member.facts)).count();
        Payload::optional(context.mask.market_count(count))
    };
    Payload::map([
        ("members", count(&|_| true)),
        (
            "advancers",
            count(&|facts| facts.change().is_some_and(|change| 0.0 < change)),
        ),
        (
            "decliners",
            count(&|facts| facts.change().is_some_and(|change| change < 0.0)),
        ),
        (
            "unchanged",
            count(&|facts| {
                facts
                    .change()
                    .is_some_and(|change| !(change < 0.0 || 0.0 < change))
            }),
        ),
        (
            "at_limit_up",
            count(&|facts| facts.is_at(ClosingState::AtLimitUp)),
        ),
        (
            "at_limit_down",
            count(&|facts| facts.is_at(ClosingState::AtLimitDown)),
        ),
        ("suspended", count(&|facts| facts.is_suspended)),
    ])
}

/// Boards, and sectors where the panel has them.
fn tones(context: &ToolContext<'_>, members: &[Member]) -> Vec<(&'static str, Payload)> {
    let mut tones = vec![("boards", table(context, "board", &boards(context, members)))];
    if 0 < context.as_of.sector_count() {
        tones.push(("sectors", table(context, "sector", &sectors(context, members))));
    }
    tones
}

/// A board or a sector: equally weighted means over its members.
struct Group {
    label: Payload,
    members: usize,
    return_1d: Option<f64>,
    return_20d: Option<f64>,
    share_up: Option<f64>,
}

impl Group {
    /// `None` for a group without members.
    fn of(context: &ToolContext<'_>, label: Payload, members: &[&Member]) -> Option<Self> {
        if members.is_empty() {
            return None;
        }
        let changes: Vec<f64> = members
            .iter()
            .filter_map(|member| member.facts.change())
            .collect();
        let month = members
            .iter()
            .filter_map(|member| context.as_of.technical(member.name, Technical::Return20d));
        Some(Self {
            label,
            members: members.len(),
            return_1d: mean(&changes),
            return_20d: mean(&month.collect::<Vec<_>>()),
            share_up: share_above_zero(&changes),
        })
    }
}

fn boards(context: &ToolContext<'_>, members: &[Member]) -> Vec<Group> {
    let group = |board: Board| {
        let of_board: Vec<&Member> = members
            .iter()
            .filter(|member| context.as_of.board(member.name) == board)
            .collect();
        Group::of(context, Payload::label(board.label()), &of_board)
    };
    Board::ALL.into_iter().filter_map(group).collect()
}

fn sectors(context: &ToolContext<'_>, members: &[Member]) -> Vec<Group> {
    let count = u16::try_from(context.as_of.sector_count()).unwrap_or(u16::MAX);
    let mut places: Vec<u16> = (0..count).collect();
    places.sort_by_key(|place| context.mask.sector_order(*place));
    let group = |place: u16| {
        let of_sector: Vec<&Member> = members
            .iter()
            .filter(|member| context.as_of.sector(member.name) == Some(place))
            .collect();
        Group::of(context, context.mask.sector(Some(place)), &of_sector)
    };
    places.into_iter().filter_map(group).collect()
}

/// The groups' means, or only how they rank by them.
fn table(context: &ToolContext<'_>, kind: &'static str, groups: &[Group]) -> Payload {
    let mask = context.mask;
    let members = |group: &Group| Payload::optional(mask.market_count(group.members));
    if mask.scale() == FactorScale::Values {
        let columns = [kind, "members", "return_1d", "return_20d", "share_up"];
        let rows = groups.iter().map(|group| {
            vec![
                group.label.clone(),
                members(group),
                mask.market_rate(group.return_1d),
                mask.market_rate(group.return_20d),
                mask.market_share(group.share_up),
            ]
        });
        return Payload::table(&columns, rows);
    }
    let columns = [kind, "members", "return_1d_rank", "return_20d_rank"];
    let rows = groups.iter().map(|group| {
        vec![
            group.label.clone(),
            members(group),
            mask.market_rank(higher(groups, group, |group| group.return_1d)),
            mask.market_rank(higher(groups, group, |group| group.return_20d)),
        ]
    });
    Payload::table(&columns, rows)
}

/// How many groups have a higher value; `None` for a group without one.
fn higher(groups: &[Group], group: &Group, value: impl Fn(&Group) -> Option<f64>) -> Option<usize> {
    let own = value(group)?;
    Some(
        groups
            .iter()
            .filter_map(value)
            .filter(|other| own < *other)
            .count(),
    )
}
