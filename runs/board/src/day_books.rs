//! From a bundle's private ledger to days that can be attributed.

use super::day_prices::DayPrices;
use crate::BoardError;
use ktd_attribution::account::{DayBook, HeldName};
use ktd_bundle::ledger::LedgerLine;
use ktd_env::exchange::{CorporateEvent, EventKind, Execution, Fill, Side, StepReport};
use ktd_env::{DayIndex, Fen, Market, NameId, Shares};
use std::collections::BTreeMap;
use std::path::Path;

/// The days of an episode, from its ledger; `initial` is the cash before the first.
///
/// # Errors
/// [`BoardError::File`] when a line is not the window's next day, or names what the panel does not know.
pub(super) fn day_books(
    lines: &[LedgerLine],
    (market, days): (&Market, &[DayIndex]),
    initial: Fen,
    path: &Path,
) -> Result<Vec<(DayBook, StepReport)>, BoardError> {
    if lines.len() != days.len() {
        let what = format!(
            "it has {} trading days, but the window has {}",
            lines.len(),
            days.len()
        );
        return Err(BoardError::damaged(path, what));
    }
    let mut shares: BTreeMap<NameId, Shares> = BTreeMap::new();
    let mut nav = initial;
    let mut books = Vec::with_capacity(lines.len());
    for (place, (line, day)) in lines.iter().zip(days).enumerate() {
        let date = market
            .date(*day)
            .map(ktd_env::TradeDate::reveal)
            .unwrap_or_default();
        if line.step != place + 1 || line.date != date {
            let what = format!(
                "line {} is step {} of {}, but the window's day {} is {date}",
                place + 1,
                line.step,
                line.date,
                place + 1
            );
            return Err(BoardError::damaged(path, what));
        }
        let (_, report) = line.restore(market, path)?;
        books.push((book(market, *day, &shares, nav, &report), report));
        let (_, report) = books
            .last()
            .ok_or_else(|| BoardError::damaged(path, "it is empty"))?;
        nav = report.nav;
        shares = report
            .positions
            .iter()
            .map(|held| (held.name, held.shares))
            .collect();
    }
    Ok(books)
}

/// What happened to one name in a day.
#[derive(Debug, Clone, Copy, Default)]
struct Movement {
    /// Shares at the close before, in that day's shares.
    held: i64,
    /// Shares before the trades, in the day's own shares.
    before: i64,
    /// Signed shares traded.
    traded: i64,
    /// Signed value paid for them, fen.
    paid: i64,
    /// Cash in lieu of a fraction, fen.
    lieu: i64,
    /// What a delisting paid, fen; the shares are gone then.
    delisted: Option<i64>,
}

fn book(
    market: &Market,
    day: DayIndex,
    shares: &BTreeMap<NameId, Shares>,
    nav: Fen,
    report: &StepReport,
) -> DayBook {
    let movements = movements(shares, report);
    let mut book = DayBook {
        day: day.index(),
        nav_before_cny: nav.to_yuan(),
        nav_after_cny: report.nav.to_yuan(),
        held: Vec::with_capacity(movements.len()),
        fees_cny: report.identity.fees.to_yuan(),
        slippage_cny: 0.0,
        corporate_cny: 0.0,
        unmarked_cny: 0.0,
    };
    for (name, movement) in movements {
        add(&mut book, name, &movement, DayPrices::of(market, name, day));
    }
    book
}

fn movements(shares: &BTreeMap<NameId, Shares>, report: &StepReport) -> BTreeMap<NameId, Movement> {
    let mut movements: BTreeMap<NameId, Movement> = shares
        .iter()
        .map(|(name, shares)| {
            let movement = Movement {
                held: shares.0,
                before: shares.0,
                ..Movement::default()
            };
            (*name, movement)
        })
        .collect();
    for CorporateEvent {
        name,
        kind,
        shares_after,
        cash,
        ..
    } in &report.events
    {
        let movement = movements.entry(*name).or_default();
        match kind {
            EventKind::CorporateAction => (movement.before, movement.lieu) = (shares_after.0, cash.0),
            EventKind::DelistingLastClose | EventKind::DelistingZero => movement.delisted = Some(cash.0),
        }
    }
    for Fill {
        name,
        side,
        execution,
        ..
    } in &report.fills
    {
        let (Some(name), Execution::Filled { quantity, value, .. }) = (name, execution) else {
            continue;
        };
        let sign = match side {
            Side::Buy => 1,
            Side::Sell => -1,
        };
        let movement = movements.entry(*name).or_default();
        movement.traded += sign * quantity.0;
        movement.paid += sign * value.0;
    }
    movements
}

#[expect(
    clippy::cast_precision_loss,
    reason = "shares of an account stay far below 2^53"
)]
fn add(book: &mut DayBook, name: NameId, movement: &Movement, quote: DayPrices) {
    let (before, after) = (movement.before as f64, (movement.before + movement.traded) as f64);
    let paid = Fen(movement.paid).to_yuan();
    if let Some(open) = quote.open {
        book.slippage_cny += paid - movement.traded as f64 * open;
    }
    let Some(reference) = quote.reference else {
        // Bought on its first day: there is no mark from which a return could be told.
        let mark = quote.mark.unwrap_or_default();
        book.unmarked_cny += movement.traded as f64 * (mark - quote.open.unwrap_or(mark));
        return;
    };
    let carried = movement.held as f64 * reference * quote.split;
    book.corporate_cny += before * reference + Fen(movement.lieu).to_yuan() - carried;
    if let Some(paid_out) = movement.delisted {
        let mark = quote.mark.unwrap_or(reference);
        book.unmarked_cny += Fen(paid_out).to_yuan() - after * mark;
    }
    book.held.push(HeldName {
        row: name.index(),
        before_cny: before * reference,
        after_cny: after * reference,
    });
}
