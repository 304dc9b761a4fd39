//! From a bundle's private ledger to days that can be attributed.

use super::day_prices::DayPrices;
use ktd_attribution::account::{DayBook, HeldName};
use ktd_bundle::ledger::LedgerLine;
use ktd_env::exchange::{CorporateEvent, EventKind, Execution, Fill, Side, StepReport};
use ktd_env::{DayIndex, Fen, Market, NameId, Shares};
use ktd_record::RecordError;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The days of an episode, made of its ledger line by line.
pub(super) struct LedgerDays<'m> {
    market: &'m Market,
    days: &'m [DayIndex],
    path: PathBuf,
    /// Lines that were taken.
    taken: usize,
    /// Shares and net asset value at the close before.
    shares: BTreeMap<NameId, Shares>,
    nav: Fen,
}

impl<'m> LedgerDays<'m> {
    /// The days of the ledger at `path`; `initial` is the cash before the first.
    pub(super) fn new((market, days): (&'m Market, &'m [DayIndex]), initial: Fen, path: PathBuf) -> Self {
        Self {
            market,
            days,
            path,
            taken: 0,
            shares: BTreeMap::new(),
            nav: initial,
        }
    }

    /// Says what the cash before the first day was.
    pub(super) const fn begin(&mut self, initial: Fen) {
        self.nav = initial;
    }

    /// The next day: its place in the window, its book, and what the exchange reported.
    ///
    /// # Errors
    /// [`RecordError::File`] when the line is not the window's next day, or names what the panel does not know.
    pub(super) fn take(&mut self, line: &LedgerLine) -> Result<(DayIndex, DayBook, StepReport), RecordError> {
        let number = self.taken + 1;
        let Some(day) = self.days.get(self.taken).copied() else {
            return Err(self.too_many_or_few("more"));
        };
        let date = self.market.date(day).map(ktd_env::TradeDate::reveal);
        let date = date.unwrap_or_default();
        if line.step != number || line.date != date {
            let what = format!(
                "line {number} is step {} of {}, but the window's day {number} is {date}",
                line.step, line.date
            );
            return Err(RecordError::damaged(&self.path, what));
        }
        let (_, report) = line.restore(self.market, &self.path)?;
        let movements = movements(&self.shares, &report);
        let held = report.positions.iter();
        let held: BTreeMap<NameId, Shares> = held.map(|held| (held.name, held.shares)).collect();
        if !carries(&movements, &held) {
            let what = format!(
                "line {number}: its holdings are not those of the day before with its events and fills"
            );
            return Err(RecordError::damaged(&self.path, what));
        }
        let book = book(self.market, day, movements, self.nav, &report);
        (self.nav, self.shares) = (report.nav, held);
        self.taken = number;
        Ok((day, book, report))
    }

    /// Checks at the end that there was a line for every day.
    ///
    /// # Errors
    /// [`RecordError::File`].
    pub(super) fn check_complete(&self) -> Result<(), RecordError> {
        if self.taken == self.days.len() {
            Ok(())
        } else {
            Err(self.too_many_or_few("fewer"))
        }
    }

    fn too_many_or_few(&self, which: &str) -> RecordError {
        let what = format!(
            "it has {which} trading days than the {} of the window",
            self.days.len()
        );
        RecordError::damaged(&self.path, what)
    }
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

/// Whether what is held at a close follows from what moved.
fn carries(movements: &BTreeMap<NameId, Movement>, held: &BTreeMap<NameId, Shares>) -> bool {
    let after = |movement: &Movement| match movement.delisted {
        Some(_) => 0,
        None => movement.before + movement.traded,
    };
    let left = movements.iter().map(|(name, movement)| (*name, after(movement)));
    let left: BTreeMap<NameId, i64> = left.filter(|(_, shares)| *shares != 0).collect();
    left.len() == held.len()
        && held
            .iter()
            .all(|(name, shares)| left.get(name) == Some(&shares.0))
}

fn book(
    market: &Market,
    day: DayIndex,
    movements: BTreeMap<NameId, Movement>,
    nav: Fen,
    report: &StepReport,
) -> DayBook {
    let mut book = DayBook {
        day: day.index(),
        nav_before_cny: nav.to_yuan(),
        nav_after_cny: report.nav.to_yuan(),
        held: Vec::with_capacity(movements.len()),
        fees_cny: report.identity.fees.to_yuan() + report.identity.dividend_tax.to_yuan(),
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
            EventKind::DividendTax => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn holdings_follow_from_what_was_held_and_what_moved() {
        let market = generate(&SynthConfig {
            seed: 5,
            names: 90,
            days: 60,
        })
        .unwrap();
        let names: Vec<NameId> = market.names().map(|(name, _)| name).take(3).collect();
        let moved = |before: i64, traded: i64, delisted: Option<i64>| Movement {
            before,
            traded,
            delisted,
            ..Movement::default()
        };
        let movements = BTreeMap::from([
            (names[0], moved(500, -200, None)),
            (names[1], moved(100, -100, None)),
            (names[2], moved(700, 0, Some(9_000))),
        ]);
        let held = |shares: i64| BTreeMap::from([(names[0], Shares(shares))]);
        assert!(carries(&movements, &held(300)));
        assert!(!carries(&movements, &held(301)));
        assert!(!carries(&movements, &BTreeMap::new()));
        // Bought by nobody, sold by nobody.
        let mut swapped = held(300);
        swapped.insert(names[1], Shares(100));
        assert!(!carries(&movements, &swapped));
    }
}
