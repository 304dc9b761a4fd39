//! Codes that end where an exchange changed them, and were not joined with what they became.

use crate::day::TradeDate;
use crate::market::{Market, NameInfo};

/// Heads of Beijing's first codes, of which none was left by the end of October 2025.
const BEIJING_BEFORE: [&[u8]; 4] = [b"BJ43", b"BJ83", b"BJ87", b"BJ88"];
/// The first and the last day between which rows of an old code end at the change.
const BEIJING_CHANGED: [TradeDate; 2] = [TradeDate::of(2025, 9, 22), TradeDate::of(2025, 10, 31)];

/// Whether rows of an old code of Beijing end at the change while the panel goes on: its later rows stand under another code.
pub(super) fn ends_where_beijing_changed(market: &Market) -> bool {
    let [from, until] = BEIJING_CHANGED;
    let is_unjoined = |info: &NameInfo| {
        let code = info.ticker.bytes();
        let last = market.date(info.last_row);
        BEIJING_BEFORE.iter().any(|head| code.starts_with(head))
            && last.is_some_and(|last| from <= last && last <= until)
    };
    let goes_on = market.calendar().last().is_some_and(|last| until < *last);
    goes_on && market.names().any(|(_, info)| is_unjoined(info))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::Decimal;
    use crate::market::{MarketBuilder, PanelOptions, PriceBasis, RawBar, VolumeBasis};
    use crate::ticker::Ticker;

    fn says(code: &str, last: &str) -> bool {
        let mut builder = MarketBuilder::new(PanelOptions {
            basis: PriceBasis::Raw,
            volume: VolumeBasis::Real,
            has_factors: false,
            has_amounts: false,
            calendar: None,
        });
        let bar = RawBar {
            close: Decimal::parse("10").ok(),
            volume: Decimal::parse("100").ok(),
            ..RawBar::default()
        };
        let rows = [(code, "2025-09-01"), (code, last), ("SZ000001", "2025-12-01")];
        for (row, (code, day)) in (2..).zip(rows) {
            let ticker = Ticker::parse(code).unwrap();
            let date = TradeDate::parse(day).unwrap();
            builder.add_row("f.csv", row, ticker, date, &bar).unwrap();
        }
        builder.declare_all_members();
        ends_where_beijing_changed(&builder.build().unwrap().0)
    }

    #[test]
    fn an_old_code_of_beijing_that_ends_at_the_change_is_told() {
        assert!(says("BJ430047", "2025-09-30") && says("BJ872925", "2025-10-08"));
        // Delisted long before, on the new code, and of another exchange.
        assert!(!says("BJ430047", "2025-09-02") && !says("BJ920047", "2025-09-30"));
        assert!(!says("SZ300114", "2025-09-30"));
    }
}
