//! `get_market_context`: index, breadth, dispersion and tone at the close of the as-of day.

use crate::context::ToolContext;
use crate::facts::{ClosingState, Facts};
use crate::statistics::{mean, share_above_zero, standard_deviation};
use ktd_env::factors::Technical;
use ktd_env::{Board, DaysBack, NameId};
use ktd_masking::{Count, Payload, Ratio};

const TRADING_DAYS_A_YEAR: f64 = 252.0;
const VOLATILITY_DAYS: usize = 20;
const HIGH_DAYS: usize = 60;

pub(crate) fn answer(context: &ToolContext<'_>) -> Payload {
    let members: Vec<Member> = context
        .members_in_order()
        .into_iter()
        .filter_map(|name| Facts::of(context, name).map(|facts| Member { name, facts }))
        .collect();
    let changes: Vec<f64> = members
        .iter()
        .filter_map(|member| member.facts.change())
        .collect();
    let mut entries = vec![
        ("day", context.mask.step_day(context.step)),
        ("step", Count::of(context.step).into()),
        (
            "steps_left",
            Count::of(context.steps_total.saturating_sub(context.step)).into(),
        ),
        ("index", index(context)),
        ("breadth", breadth(&members)),
        (
            "dispersion",
            Payload::optional(standard_deviation(&changes).map(Ratio::fraction)),
        ),
        ("boards", boards(context, &members)),
    ];
    if 0 < context.as_of.sector_count() {
        entries.push(("sectors", sectors(context, &members)));
    }
    Payload::map(entries)
}

struct Member {
    name: NameId,
    facts: Facts,
}

fn index(context: &ToolContext<'_>) -> Payload {
    // Newest first; a gap in the series ends it, as a return across it would be another one's.
    let levels: Vec<f64> = (0..=60)
        .map_while(|back| context.as_of.index_close(DaysBack(back)))
        .collect();
    let Some(&now) = levels.first() else {
        return Payload::null();
    };
    let over =
        |days: usize| Payload::optional(levels.get(days).map(|before| Ratio::fraction(now / before - 1.0)));
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
        ("return_1d", over(1)),
        ("return_5d", over(5)),
        ("return_20d", over(20)),
        ("return_60d", over(60)),
        (
            "volatility_20d",
            Payload::optional(volatility.map(|sd| Ratio::fraction(sd * TRADING_DAYS_A_YEAR.sqrt()))),
        ),
        ("drawdown_60d", Ratio::fraction(now / high - 1.0).into()),
    ])
}

fn breadth(members: &[Member]) -> Payload {
    let count = |holds: &dyn Fn(&Facts) -> bool| -> Payload {
        Count::of(members.iter().filter(|member| holds(&member.facts)).count()).into()
    };
    Payload::map([
        ("members", Count::of(members.len()).into()),
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

const TONE: [&str; 4] = ["members", "return_1d", "return_20d", "share_up"];

fn boards(context: &ToolContext<'_>, members: &[Member]) -> Payload {
    let rows = Board::ALL.into_iter().filter_map(|board| {
        let of_board: Vec<&Member> = members
            .iter()
            .filter(|member| context.as_of.board(member.name) == board)
            .collect();
        tone(context, Payload::label(board.label()), &of_board)
    });
    let mut columns = vec!["board"];
    columns.extend(TONE);
    Payload::table(&columns, rows)
}

fn sectors(context: &ToolContext<'_>, members: &[Member]) -> Payload {
    let count = u16::try_from(context.as_of.sector_count()).unwrap_or(u16::MAX);
    let mut places: Vec<u16> = (0..count).collect();
    places.sort_by_key(|place| context.mask.sector_order(*place));
    let rows = places.into_iter().filter_map(|place| {
        let of_sector: Vec<&Member> = members
            .iter()
            .filter(|member| context.as_of.sector(member.name) == Some(place))
            .collect();
        tone(context, context.mask.sector(Some(place)), &of_sector)
    });
    let mut columns = vec!["sector"];
    columns.extend(TONE);
    Payload::table(&columns, rows)
}

/// Equally weighted means over the members of a group; `None` for a group without any.
fn tone(context: &ToolContext<'_>, group: Payload, members: &[&Member]) -> Option<Vec<Payload>> {
    if members.is_empty() {
        return None;
    }
    let changes: Vec<f64> = members
        .iter()
        .filter_map(|member| member.facts.change())
        .collect();
    let mean_of = |technical| {
        let values = members
            .iter()
            .filter_map(|member| context.as_of.technical(member.name, technical));
        Payload::optional(mean(&values.collect::<Vec<_>>()).map(Ratio::fraction))
    };
    Some(vec![
        group,
        Count::of(members.len()).into(),
        Payload::optional(mean(&changes).map(Ratio::fraction)),
        mean_of(Technical::Return20d),
        Payload::optional(share_above_zero(&changes).map(Ratio::share)),
    ])
}
