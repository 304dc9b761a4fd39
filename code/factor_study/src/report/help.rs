//! What feedback brought, and what it cost: round by round over all tasks.

use super::cells::ReportedCell;
use super::layers::{missing, share};
use super::money::NO_PRICE;
use crate::run::RoundSpending;
use ktd_experiment::amount::Picodollars;
use ktd_factor_code::{JudgeRule, LayersPassed};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{
    Anchor, Axes, Axis, COLOURS, Canvas, Edges, TableCell, TableData, axis_percent, captioned, grouped,
    percent, real,
};
use ktd_view::row_table::RowTable;
use maud::Markup;

/// A round of a cell, with what was spent in it and up to it.
#[derive(Clone, Copy)]
struct HelpedRound<'c, 'r> {
    cell: &'c ReportedCell<'r>,
    round: u32,
    own: RoundSpending,
    /// Tokens up to the end of this round.
    tokens: u64,
    /// Money up to there: the share of all of it that its tokens have. None without prices.
    cost: Option<Picodollars>,
}

impl<'c, 'r> HelpedRound<'c, 'r> {
    fn all(cell: &'c ReportedCell<'r>) -> Vec<Self> {
        let of = |spent: &RoundSpending| spent.tokens_in + spent.tokens_out;
        let spent = &cell.found.spent_in_rounds;
        let all: u64 = spent.iter().map(of).sum();
        let total = cell.found.spending.total();
        let mut tokens = 0;
        let mut rounds = Vec::new();
        for round in cell.rounds() {
            let nothing = RoundSpending {
                round,
                requests: 0,
                tokens_in: 0,
                tokens_out: 0,
            };
            let own = spent
                .iter()
                .find(|own| own.round == round)
                .copied()
                .unwrap_or(nothing);
            tokens += of(&own);
            let part = |total: Picodollars| {
                let part = u128::from(total.0) * u128::from(tokens) / u128::from(all.max(1));
                Picodollars(u64::try_from(part).unwrap_or(u64::MAX))
            };
            rounds.push(Self {
                cell,
                round,
                own,
                tokens,
                cost: total.map(part),
            });
        }
        rounds
    }

    /// Answers that pass all layers by now.
    fn verified(self) -> u64 {
        self.cell.verified_after(self.round).passed
    }

    /// Answers that pass now and did not after the round before.
    fn newly(self) -> u64 {
        let before = if self.round < 2 {
            0
        } else {
            self.cell.verified_after(self.round - 1).passed
        };
        self.verified().saturating_sub(before)
    }

    fn share(self) -> f64 {
        self.cell.verified_after(self.round).share().unwrap_or(0.0)
    }

    fn tokens_per_verified(self) -> TableCell {
        let each = self.tokens.checked_div(self.verified());
        each.map_or_else(
            || missing("none is verified"),
            |each| TableCell::Count(usize::try_from(each).unwrap_or(usize::MAX)),
        )
    }
}

/// Table 9: what each round of feedback brought and cost.
pub(super) fn table(cells: &[ReportedCell<'_>]) -> TableData {
    let rounds: Vec<HelpedRound<'_, '_>> = cells.iter().flat_map(HelpedRound::all).collect();
    let dollars = |cost: Option<Picodollars>| {
        cost.map_or_else(|| missing(NO_PRICE), |cost| TableCell::Dollars(cost.to_usd()))
    };
    RowTable::new("T9. What feedback brought and cost, over all tasks", &rounds)
        .text("bundle", |own| own.cell.name())
        .count("round", |own| own.round)
        .column(("VAcc, strict", Right), |own| {
            share(own.cell.verified_after(own.round).share())
        })
        .column(("VAcc, published", Right), |own| {
            let funnel = own.cell.funnel_after(own.round);
            share(funnel.rate(JudgeRule::Published, LayersPassed::Verified).share())
        })
        .count("newly verified", |own| own.newly())
        .count("requests", |own| own.own.requests)
        .count("tokens in", |own| own.own.tokens_in)
        .count("tokens out", |own| own.own.tokens_out)
        .column(("tokens so far a verified answer", Right), |own| {
            own.tokens_per_verified()
        })
        .column(("cost so far", Right), |own| dollars(own.cost))
        .column(("cost so far a verified answer", Right), |own| match own.cost {
            Some(cost) if 0 < own.verified() => dollars(Some(Picodollars(cost.0 / own.verified()))),
            Some(_) => missing("none is verified"),
            None => missing(NO_PRICE),
        })
        .table()
        .with_note(
            "a task that passed is not asked again and keeps its verdict; ranks and pairs are of round one",
        )
        .with_note("cost so far: the share of all money that the tokens have, for a record holds no prices")
}

/// The same as a picture: the share that is right, over tokens a task, a dot a round. None of one round.
pub(super) fn picture(cells: &[ReportedCell<'_>]) -> Option<Markup> {
    let lines: Vec<(&ReportedCell<'_>, Vec<HelpedRound<'_, '_>>)> =
        cells.iter().map(|cell| (cell, HelpedRound::all(cell))).collect();
    if lines.iter().all(|(_, rounds)| rounds.len() < 2) {
        return None;
    }
    let tasks = |cell: &ReportedCell<'_>| cell.world.tasks.len().max(1);
    // A program of one's own says nothing of tokens: then rounds stand on the axis.
    let has_tokens = lines
        .iter()
        .all(|(_, rounds)| rounds.first().is_some_and(|own| 0 < own.tokens));
    let along = |own: &HelpedRound<'_, '_>| {
        if has_tokens {
            real(usize::try_from(own.tokens).unwrap_or(usize::MAX)) / real(tasks(own.cell))
        } else {
            f64::from(own.round)
        }
    };
    let most = lines
        .iter()
        .flat_map(|(_, rounds)| rounds)
        .map(along)
        .fold(1.0, f64::max);
    let mut canvas = Canvas::new(680.0, 280.0);
    let whole = |value: f64| format!("{value:.0}");
    let plane = Axes {
        edges: Edges::new(10.0, 14.0, 36.0, 52.0),
        rows: None,
        x: Axis::new(0.0..most * 1.04, 8, &whole),
        y: Axis::new(0.0..1.0, 5, &|value| axis_percent(value, 0.2)),
    }
    .draw(&mut canvas);
    let axis = if has_tokens {
        "tokens a task, up to each round"
    } else {
        "round"
    };
    canvas.text("tk", Anchor::Middle, (364.0, 277.0), axis);
    for (place, (cell, rounds)) in lines.iter().enumerate() {
        let colour = place % COLOURS;
        let points: Vec<_> = rounds
            .iter()
            .map(|own| plane.at(along(own), own.share()))
            .collect();
        canvas.path(&format!("curve c{colour}"), &points);
        for (own, point) in rounds.iter().zip(points) {
            let tokens = grouped(usize::try_from(own.tokens).unwrap_or(usize::MAX));
            let text = format!(
                "{}, round {}: {} right, {tokens} tokens",
                cell.name(),
                own.round,
                percent(own.share())
            );
            canvas.explained(&text, |canvas| canvas.dot(&format!("dots f{colour}"), point, 3.0));
        }
    }
    let title = "Strict VAcc over what was spent";
    let drawing = canvas.figure(
        "wide",
        title,
        "a line a bundle, a dot a round; the first is the headline",
    );
    Some(captioned(
        "Share of all tasks right by the strict rules after each round (T9_help.csv): how far feedback lifts it, and at what cost",
        lines.iter().map(|(cell, _)| cell.name()),
        &drawing,
    ))
}
