//! Import and check of the real CSI300 panel, where it lies beside the repository (`$KTD_DATA`, default `../shared/data`).

#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ktd_data::{ImportOptions, import};
use ktd_env::exchange::Rules;
use ktd_env::{CheckOptions, DateSpan, Market, PriceBasis, TradeDate, UnsupportedRule, check_panel};
use ktd_kit::Need;
use ktd_kit::need::data_root;

fn date(text: &str) -> TradeDate {
    TradeDate::parse(text).unwrap()
}

#[test]
fn the_known_defects_are_found_and_nothing_is_lost() {
    if !Need::RealPanels.is_met() {
        return;
    }
    let data = data_root();
    let options = ImportOptions {
        sources: vec![data.join("cn_csi300_window_2023_2026.parquet")],
        basis: Some(PriceBasis::Raw),
        universe: Some(data.join("cn_csi300_members.csv")),
        indices: vec![format!(
            "{}:SH000300",
            data.join("cn_index_daily_2010_2026.parquet").display()
        )],
        names: Some(data.join("cn_csi300_members.csv")),
        ..ImportOptions::default()
    };
    let imported = import(&options, &mut ()).unwrap();
    let market = imported.market;
    assert_eq!((market.names().len(), imported.report.build.bars), (346, 277_861));
    let span = DateSpan {
        start: date("2024-01-02"),
        end: date("2026-04-10"),
    };
    let report = check_panel(&market, &Rules::default(), CheckOptions { span, examples: 10 });
    assert_eq!(report.days, 548);
    assert_eq!(report.member_days(), (164_400, 163_749));
    let mut jumps: Vec<(String, String)> = report
        .factor_jumps
        .worst
        .iter()
        .map(|jump| (jump.ticker.reveal().to_owned(), jump.date.reveal()))
        .collect();
    jumps.sort();
    let known = [("SZ000002", "2025-01-09"), ("SZ302132", "2025-02-18")];
    assert_eq!(jumps, known.map(|(code, day)| (code.to_owned(), day.to_owned())));
    let absent: Vec<&str> = report
        .absent_members
        .iter()
        .map(ktd_env::Ticker::reveal)
        .collect();
    assert_eq!(absent, ["SH600837", "SH601989"]);
    assert_eq!(report.ill_formed.count, 0);
    assert_eq!(report.price_index_days_missing, 0);
    assert!(report.unsupported.contains(&UnsupportedRule::StLimit));
    let bytes = market.to_bytes();
    let read = Market::from_bytes(&bytes).unwrap();
    assert_eq!(
        (read.content_hash(), read.to_bytes() == bytes),
        (market.content_hash(), true)
    );
}
