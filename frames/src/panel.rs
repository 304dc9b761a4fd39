//! A panel as a long frame.

use ktd_env::{Bar, DayIndex, Market, NameInfo, TradeDate};
use polars::prelude::{DataFrame, PolarsResult, df};

/// The columns of a long frame, filled row by row.
#[derive(Default)]
struct Rows {
    date: Vec<String>,
    symbol: Vec<String>,
    board: Vec<&'static str>,
    open: Vec<Option<f64>>,
    high: Vec<f64>,
    low: Vec<f64>,
    close: Vec<f64>,
    volume: Vec<u64>,
    amount: Vec<f64>,
    factor: Vec<f64>,
    member: Vec<bool>,
}

impl Rows {
    fn push(&mut self, info: &NameInfo, date: TradeDate, bar: &Bar) {
        self.date.push(date.reveal());
        self.symbol.push(info.ticker.reveal().to_owned());
        self.board.push(info.ticker.board().label());
        self.open.push(bar.open.map(ktd_env::Price::to_yuan));
        self.high.push(bar.high.to_yuan());
        self.low.push(bar.low.to_yuan());
        self.close.push(bar.close.to_yuan());
        self.volume.push(bar.volume);
        self.amount.push(bar.amount_cny);
        self.factor.push(bar.factor_value);
        self.member
            .push(info.member.iter().any(|span| span.contains(date)));
    }
}

/// One row for each name and day with a bar, by code and then by date.
///
/// Columns: `date` (text, 2024-04-01), `symbol` (SH600519), `board`, `open` (null where there is none), `high`, `low`,
/// `close` (yuan, unadjusted), `volume` (shares), `amount` (CNY), `factor` (adjusted price = price x factor), `member`
/// (of the index on that date).
///
/// # Errors
/// Polars' own, should it refuse the columns.
pub fn panel_frame(market: &Market) -> PolarsResult<DataFrame> {
    let mut rows = Rows::default();
    for (name, info) in market.names() {
        let dated = |(day, bar): (DayIndex, Bar)| Some((market.date(day)?, bar));
        for (date, bar) in market.bars_of(name).filter_map(dated) {
            rows.push(info, date, &bar);
        }
    }
    df![
        "date" => rows.date,
        "symbol" => rows.symbol,
        "board" => rows.board,
        "open" => rows.open,
        "high" => rows.high,
        "low" => rows.low,
        "close" => rows.close,
        "volume" => rows.volume,
        "amount" => rows.amount,
        "factor" => rows.factor,
        "member" => rows.member,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::{MarketBuilder, PanelOptions, PriceBasis, RawBar, Ticker, VolumeBasis};

    /// Two days of one name and one of another.
    fn market() -> Market {
        let mut builder = MarketBuilder::new(PanelOptions {
            basis: PriceBasis::Raw,
            volume: VolumeBasis::Real,
            has_factors: false,
            has_amounts: false,
            calendar: None,
        });
        let rows = [
            ("SH600519", "2024-04-01", "10.50"),
            ("SH600519", "2024-04-02", "10.60"),
            ("SZ300750", "2024-04-02", "9.00"),
        ];
        for (row, (code, date, close)) in rows.into_iter().enumerate() {
            let price = RawBar::cell(close).unwrap();
            let bar = RawBar {
                high: price,
                low: price,
                close: price,
                volume: RawBar::cell("100").unwrap(),
                ..RawBar::default()
            };
            let (ticker, date) = (Ticker::parse(code).unwrap(), TradeDate::parse(date).unwrap());
            builder.add_row("rows", row as u64, ticker, date, &bar).unwrap();
        }
        builder.build().unwrap().0
    }

    #[test]
    fn one_row_a_bar_in_real_codes_and_prices() {
        let frame = panel_frame(&market()).unwrap();
        assert_eq!(frame.shape(), (3, 11));
        let text = |column: &str, row| {
            frame
                .column(column)
                .unwrap()
                .str()
                .unwrap()
                .get(row)
                .unwrap()
                .to_owned()
        };
        assert_eq!(text("symbol", 2), "SZ300750");
        assert_eq!(text("board", 2), "CHINEXT");
        assert_eq!(text("date", 2), "2024-04-02");
        assert_eq!(frame.column("close").unwrap().f64().unwrap().get(0), Some(10.5));
        assert_eq!(frame.column("open").unwrap().null_count(), 3);
    }
}
