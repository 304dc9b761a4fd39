//! From a guess in words to stocks and days of the panel.

use super::guess::{CodeText, Guess};
use ktd_env::{Board, DayIndex, Market, NameId, Ticker, TradeDate};
use ktd_probes::ProbeAnswer;

/// What a guess means on a panel.
///
/// A code that names no stock of the panel, and one that was named before, are wrong guesses that keep their place. A date
/// that is no trading day means the trading day before it, and the last one of the panel when it lies after; before the
/// panel there is none. A sector and a board that the panel does not know are wrong guesses.
#[must_use]
pub fn answer_of(market: &Market, guess: &Guess) -> ProbeAnswer {
    let mut guesses: Vec<Option<NameId>> = Vec::with_capacity(guess.stocks.len());
    for text in &guess.stocks {
        let name = stock(market, text).filter(|name| !guesses.contains(&Some(*name)));
        guesses.push(name);
    }
    ProbeAnswer {
        day: day(market, &guess.date),
        sector: guess.sector.as_deref().and_then(|text| sector(market, text)),
        board: guess.board.as_deref().and_then(board),
        is_same: guess.same_stock,
        confidence: Some(guess.confidence),
        ..ProbeAnswer::of_guesses(&guesses)
    }
}

/// Without an exchange the panel decides: no two stocks of it share their digits.
pub(crate) fn stock(market: &Market, text: &str) -> Option<NameId> {
    let code = CodeText::read(text)?;
    let exchanges = ["SH", "SZ", "BJ"].into_iter();
    let mut tried = exchanges.filter(|exchange| code.exchange.is_none_or(|named| named == *exchange));
    tried.find_map(|exchange| market.find(Ticker::parse(&format!("{exchange}{}", code.digits)).ok()?))
}

fn day(market: &Market, text: &str) -> Option<DayIndex> {
    let date = TradeDate::parse(text).ok()?;
    let until = market.calendar().partition_point(|day| *day <= date);
    market.day_at(until.checked_sub(1)?)
}

fn sector(market: &Market, text: &str) -> Option<u16> {
    let place = market
        .sectors()
        .iter()
        .position(|sector| sector.trim() == text.trim())?;
    u16::try_from(place).ok()
}

fn board(text: &str) -> Option<Board> {
    Board::ALL
        .into_iter()
        .find(|board| board.label().eq_ignore_ascii_case(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn wrong_guesses_keep_their_places_and_dates_fall_back_to_trading_days() {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 8,
            days: 30,
        })
        .unwrap();
        let (name, info) = market.names().nth(3).unwrap();
        let code = info.ticker.reveal();
        let (exchange, digits) = code.split_at(2);
        // The synthetic calendar begins on Tuesday, 2022-01-04.
        let said = |stocks: &[&str], date: &str| {
            answer_of(
                &market,
                &Guess {
                    stocks: stocks.iter().map(|text| (*text).to_owned()).collect(),
                    date: date.to_owned(),
                    sector: Some(format!(" {} ", market.sectors()[0])),
                    board: Some("chinext".to_owned()),
                    ..Guess::default()
                },
            )
        };
        let answer = said(
            &["SH600000", &format!("{digits}.{exchange}"), digits],
            "2022-01-09",
        );
        assert_eq!(answer.guesses(), [None, Some(name), None]);
        assert_eq!((answer.sector, answer.board), (Some(0), Some(Board::ChiNext)));
        let sunday = market.date(answer.day.unwrap()).unwrap().reveal();
        assert_eq!(sunday, "2022-01-07");
        assert_eq!(said(&[], "2022-01-03").day, None);
        assert_eq!(said(&[], "2032-01-03").day.unwrap().index(), 29);
        assert_eq!(said(&[], "").day, None);
        // The right digits at the wrong exchange are no stock.
        let elsewhere = if exchange == "SH" { "BJ" } else { "SH" };
        assert_eq!(said(&[&format!("{elsewhere}{digits}")], "").guesses(), [None]);
    }
}
