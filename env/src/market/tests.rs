//! The panel from rows to bytes and back, and the views that end on a day.

use super::*;
use crate::as_of::DaysBack;
use crate::decimal::Decimal;
use crate::panel_check::{CheckOptions, DataReport, UnsupportedRule, check_panel};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn date(text: &str) -> TradeDate {
    TradeDate::parse(text).unwrap()
}

fn ticker(code: &str) -> Ticker {
    Ticker::parse(code).unwrap()
}

fn some(text: &str) -> Option<Decimal> {
    Decimal::parse(text).ok()
}

fn options() -> PanelOptions {
    PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: false,
        calendar: None,
    }
}

fn bar(close: &str, factor: &str) -> RawBar {
    RawBar {
        open: some(close),
        high: some(close),
        low: some(close),
        close: some(close),
        volume: some("1000"),
        factor: some(factor),
        ..RawBar::default()
    }
}

const DAYS: [&str; 5] = [
    "2024-01-02",
    "2024-01-03",
    "2024-01-04",
    "2024-01-05",
    "2024-01-08",
];

/// Two names; the second lists on the third day and misses the fourth.
fn rows() -> Vec<(&'static str, &'static str, RawBar)> {
    let mut rows: Vec<_> = DAYS
        .iter()
        .enumerate()
        .map(|(place, day)| {
            let close = format!("{}.50", 10 + place);
            (
                "SZ000001",
                *day,
                bar(&close, if place < 3 { "1.25" } else { "1.3" }),
            )
        })
        .collect();
    rows.push(("SH688981", DAYS[2], bar("50", "1")));
    rows.push(("SH688981", DAYS[4], bar("55.01", "1")));
    rows
}

fn built(options: PanelOptions, rows: &[(&str, &str, RawBar)]) -> Result<(Market, BuildReport), DataError> {
    let mut builder = MarketBuilder::new(options);
    for (row, (code, day, bar)) in rows.iter().enumerate() {
        builder.add_row("f.csv", row as u64 + 2, ticker(code), date(day), bar)?;
    }
    builder.add_member(
        ticker("SZ000001"),
        DateSpan {
            start: date("2023-01-01"),
            end: date(DAYS[1]),
        },
    );
    builder.add_member(ticker("SH600837"), DateSpan::ALWAYS);
    builder.add_member(
        ticker("SH600000"),
        DateSpan {
            start: date("2010-01-04"),
            end: date("2012-01-04"),
        },
    );
    builder.add_company_name(ticker("SZ000001"), "平安银行");
    builder.set_sector(ticker("SZ000001"), "银行");
    builder.set_listed(ticker("SH688981"), date(DAYS[2]));
    builder.add_st(ticker("SZ000001"), DateSpan::ALWAYS);
    let levels: BTreeMap<TradeDate, (f64, f64)> = DAYS
        .iter()
        .take(4)
        .map(|day| (date(day), (3000.0, 3001.5)))
        .collect();
    builder.add_index("SH000300", levels);
    builder.build()
}

fn market() -> Market {
    built(options(), &rows()).unwrap().0
}

/// Everything of a market that can be seen, as text; floats to the bit.
fn everything(market: &Market) -> String {
    let mut seen = format!("{:?}", market.to_bytes());
    for (name, info) in market.names() {
        for day in (0..market.calendar().len()).filter_map(|day| market.day_at(day)) {
            write!(
                seen,
                "{:?}{:?}{:?}{:?}",
                market.bar(name, day),
                market.last_bar_day(name, day),
                market.declared_change_percent(name, day),
                market.is_member(name, market.date(day).unwrap()),
            )
            .unwrap();
        }
        write!(seen, "{:?}{:?}", info.last_row, market.first_bar_day(name)).unwrap();
    }
    seen
}

#[test]
fn a_panel_holds_what_its_rows_say() {
    let (market, report) = built(options(), &rows()).unwrap();
    assert_eq!(report.bars, 7);
    assert_eq!(report.members_without_rows, [ticker("SH600837")]);
    assert_eq!(market.calendar().len(), 5);
    let name = market.find(ticker("SZ000001")).unwrap();
    let star = market.find(ticker("SH688981")).unwrap();
    let day = |place| market.day_at(place).unwrap();
    let last = market.bar(name, day(4)).unwrap();
    assert_eq!((last.close, last.volume), (Price(1450), 1000));
    assert_eq!(last.factor, some("1.3").unwrap());
    assert!((last.amount_cny - 14_500.0).abs() < 1e-9);
    assert_eq!(market.bar(star, day(1)), None);
    assert_eq!(market.bar(star, day(3)), None);
    assert_eq!(market.last_bar_day(star, day(3)), Some(day(2)));
    assert_eq!(market.last_bar_day(star, day(1)), None);
    assert!(market.is_member(name, date(DAYS[1])) && !market.is_member(name, date(DAYS[2])));
    assert_eq!(market.indices()[0].close[3].to_bits(), 3001.5_f64.to_bits());
    assert!(market.indices()[0].close[4].is_nan());
    assert_eq!(market.sectors(), ["银行"]);
    assert!(market.has_listing_dates() && market.has_st_dates());
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut turned = rows();
    turned.reverse();
    let (turned, _) = built(options(), &turned).unwrap();
    assert_eq!(turned.to_bytes(), market().to_bytes());
}

#[test]
fn rows_that_cannot_be_are_named() {
    let error = |bar: RawBar, options: PanelOptions| {
        let mut rows = rows();
        rows[3].2 = bar;
        built(options, &rows).unwrap_err()
    };
    let good = bar("10.5", "1.3");
    let zero = RawBar {
        close: some("0"),
        ..good
    };
    assert!(matches!(error(zero, options()), DataError::Price { place, .. } if place.row == 5));
    let no_factor = RawBar { factor: None, ..good };
    assert!(matches!(error(no_factor, options()), DataError::Factor { place } if place.row == 5));
    let factor_zero = RawBar {
        factor: some("0"),
        ..good
    };
    assert!(matches!(error(factor_zero, options()), DataError::Factor { .. }));
    let large = RawBar {
        high: some("21474837"),
        ..good
    };
    assert!(matches!(error(large, options()), DataError::PriceTooLarge { .. }));
    let adjusted = PanelOptions {
        basis: PriceBasis::Adjusted,
        ..options()
    };
    // 10.50 / 1.25 = 8.40 is on the grid, 11.50 / 1.25 = 9.20 too; 10.507 / 1.3 = 8.0823 is not.
    assert!(
        matches!(error(bar("10.507", "1.3"), adjusted), DataError::OffGrid { place, .. } if place.row == 5)
    );
    let mut twice = rows();
    twice.push(("SZ000001", DAYS[2], bar("10", "1")));
    assert!(matches!(
        built(options(), &twice).unwrap_err(),
        DataError::Duplicate { place, first } if place.row == 9 && first.row == 4
    ));
    let short_calendar = PanelOptions {
        calendar: Some(DAYS.iter().take(4).map(|day| date(day)).collect()),
        ..options()
    };
    assert!(matches!(
        built(short_calendar, &rows()).unwrap_err(),
        DataError::NotATradingDay { .. }
    ));
    assert!(matches!(built(options(), &[]).unwrap_err(), DataError::Empty));
}

#[test]
fn volumes_and_flags() {
    let mut rows = rows();
    rows[0].2.suspended = true;
    rows[1].2.volume = None;
    rows[2].2.volume = some("0.3");
    rows[3].2.open = some("0");
    let market = built(options(), &rows).unwrap().0;
    let name = market.find(ticker("SZ000001")).unwrap();
    let bar = |place| market.bar(name, market.day_at(place).unwrap()).unwrap();
    assert_eq!((bar(0).volume, bar(1).volume), (0, 0));
    // A positive volume stays positive: 0 would mean that nothing traded.
    assert_eq!(bar(2).volume, 1);
    assert_eq!(bar(3).open, None);
    assert!(!bar(3).trades_at_open() && bar(4).trades_at_open());
    let adjusted = PanelOptions {
        volume: VolumeBasis::Adjusted,
        ..options()
    };
    let market = built(adjusted, &rows).unwrap().0;
    assert_eq!(market.bar(name, market.day_at(4).unwrap()).unwrap().volume, 1300);
}

#[test]
fn prices_off_the_grid_are_counted() {
    let mut rows = rows();
    rows[0].2.close = some("10.505");
    let market = built(options(), &rows).unwrap().0;
    assert_eq!(
        market.price_grid(),
        PriceGrid {
            prices: 28,
            off_grid: 1
        }
    );
}

#[test]
fn bytes_round_trip() {
    let market = market();
    let bytes = market.to_bytes();
    let read = Market::from_bytes(&bytes).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    assert_eq!(read.content_hash(), market.content_hash());
    assert_eq!(everything(&read), everything(&market));
    assert_eq!(
        blake3::hash(&bytes[..bytes.len() - 32]).as_bytes(),
        &market.content_hash()
    );
}

fn dated(start: &str, end: &str, sector: u16) -> DatedSector {
    let (start, end) = (date(start), date(end));
    DatedSector {
        span: DateSpan { start, end },
        sector,
    }
}

/// A panel of the second format: a name that changes its sector, and a total-return index.
fn dated_market() -> Market {
    let mut builder = MarketBuilder::new(options());
    for (row, (code, day, bar)) in rows().iter().enumerate() {
        builder
            .add_row("f.csv", row as u64 + 2, ticker(code), date(day), bar)
            .unwrap();
    }
    builder.set_sector(ticker("SH688981"), "Banks");
    let mut add = |start: &str, end: &str, sector: &str| {
        let (start, end) = (date(start), date(end));
        builder.add_dated_sector(ticker("SZ000001"), DateSpan { start, end }, sector);
    };
    add(DAYS[3], "9999-12-31", "Media");
    add(DAYS[0], "9999-12-31", "Banks");
    let levels = |level: f64| DAYS.iter().map(|day| (date(day), (level, level))).collect();
    builder.add_index("SH000300", levels(3000.0));
    builder.add_index("SH000905", levels(5000.0));
    builder.set_total_return_index("H00300", levels(4000.0));
    builder.build().unwrap().0
}

#[test]
fn a_dated_sector_is_that_of_the_day_and_not_of_a_later_one() {
    let market = dated_market();
    assert_eq!(market.sectors(), ["Banks", "Media"]);
    let name = market.find(ticker("SZ000001")).unwrap();
    let other = market.find(ticker("SH688981")).unwrap();
    let info = market.name(name).unwrap();
    // The earlier span stays open in the source; it ends where the next begins.
    let spans = [dated(DAYS[0], "2024-01-04", 0), dated(DAYS[3], "9999-12-31", 1)];
    assert_eq!(
        (info.dated_sectors.as_slice(), info.sector),
        (&spans[..], Some(1))
    );
    let seen = |place| market.as_of(market.day_at(place).unwrap()).sector(name);
    assert_eq!([seen(0), seen(2), seen(3)], [Some(0), Some(0), Some(1)]);
    assert_eq!(info.sector_on(date("2024-01-01")), None);
    assert_eq!(market.name(other).unwrap().sector_on(date("2024-01-01")), Some(0));
}

#[test]
fn the_second_format_round_trips_and_the_first_is_kept_where_it_is_enough() {
    let version = |market: &Market| market.to_bytes()[8];
    assert_eq!((version(&market()), version(&dated_market())), (1, 2));
    let market = dated_market();
    let read = Market::from_bytes(&market.to_bytes()).unwrap();
    assert_eq!(read.to_bytes(), market.to_bytes());
    assert_eq!(everything(&read), everything(&market));
    let codes: Vec<&str> = read.indices().iter().map(|index| index.code.as_str()).collect();
    assert_eq!(codes, ["SH000300", "SH000905"]);
    let index = read.total_return_index().unwrap();
    assert_eq!((index.code.as_str(), index.close.len()), ("H00300", 5));
    let cut = market.cut_after(market.day_at(1).unwrap());
    let closes = &cut.total_return_index().unwrap().close;
    assert!(closes[1].is_finite() && closes[2].is_nan());
    let mut fourth = market.to_bytes();
    fourth[8] = 4;
    let error = Market::from_bytes(&fourth).unwrap_err();
    assert_eq!(
        error.to_string(),
        "panel format 4, but this program reads formats 1 to 3"
    );
}

/// Marks of the exchange and dividends make the third format; a delisting period ends the other marks.
#[test]
fn the_third_format_holds_marks_and_dividends() {
    let mut builder = MarketBuilder::new(options());
    for (row, (code, day, bar)) in rows().iter().enumerate() {
        builder
            .add_row("f.csv", row as u64 + 2, ticker(code), date(day), bar)
            .unwrap();
    }
    let name = ticker("SZ000001");
    let span = |from: usize, to: usize| DateSpan {
        start: date(DAYS[from]),
        end: date(DAYS[to]),
    };
    builder.add_st(name, span(1, 4));
    for (status, span) in [
        (TradingStatus::DelistingPeriod, span(3, 4)),
        (TradingStatus::Unreformed, span(0, 4)),
    ] {
        builder.add_status(name, DatedStatus { span, status });
    }
    for (day, yuan) in [(2, "0.123456"), (0, "0"), (1, "1.5")] {
        let dividend = CashDividend {
            ex_day: date(DAYS[day]),
            yuan_per_share: Decimal::parse(yuan).unwrap(),
        };
        builder.set_dividend(name, dividend);
    }
    let market = builder.build().unwrap().0;
    let bytes = market.to_bytes();
    let read = Market::from_bytes(&bytes).unwrap();
    assert_eq!((bytes[8], read.to_bytes()), (3, bytes.clone()));
    let id = read.find(name).unwrap();
    let marks = DAYS.map(|day| (read.is_st(id, date(day)), read.is_unreformed(id, date(day))));
    assert_eq!(
        marks,
        [
            (false, true),
            (true, true),
            (true, true),
            (false, false),
            (false, false)
        ]
    );
    let dividends = &read.name(id).unwrap().dividends;
    let paid: Vec<String> = dividends
        .iter()
        .map(|dividend| dividend.yuan_per_share.to_string())
        .collect();
    assert_eq!(
        (paid, read.has_dividends()),
        (vec!["1.5".to_owned(), "0.123456".to_owned()], true)
    );
    for at in 0..bytes.len() {
        assert!(Market::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn every_flipped_byte_and_every_truncation_is_refused() {
    let bytes = market().to_bytes();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x55;
        assert!(Market::from_bytes(&flipped).is_err(), "byte {at}");
        assert!(Market::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(Market::from_bytes(&longer).is_err());
}

/// Bytes whose hash is right although their sections are not: what a wilful hand could make.
#[test]
fn a_flipped_byte_under_a_right_hash_never_panics() {
    for bytes in [market().to_bytes(), dated_market().to_bytes()] {
        flip_under_a_right_hash(&bytes);
    }
}

fn flip_under_a_right_hash(bytes: &[u8]) {
    let body = bytes.len() - 32;
    for at in 8..body {
        for mask in [0x01, 0x80, 0xFF] {
            let mut flipped = bytes[..body].to_vec();
            flipped[at] ^= mask;
            let hash = *blake3::hash(&flipped).as_bytes();
            flipped.extend_from_slice(&hash);
            let Ok(market) = Market::from_bytes(&flipped) else {
                continue;
            };
            everything(&market);
            for day in (0..market.calendar().len()).filter_map(|day| market.day_at(day)) {
                let cut = market.cut_after(day);
                let view = cut.as_of(day);
                for name in view.names() {
                    assert!(view.bars(name, 3).len() <= 3);
                    view.bar_before_last(name).iter().count();
                }
            }
            let options = CheckOptions {
                span: DateSpan::ALWAYS,
                examples: 3,
            };
            let report = check_panel(&market, &crate::exchange::Rules::default(), options);
            assert!(report.bars <= 10, "two names of at most five days");
        }
    }
}

#[test]
fn a_view_ends_on_its_day() {
    let market = market();
    let day = |place| market.day_at(place).unwrap();
    let (name, star) = (
        market.find(ticker("SZ000001")).unwrap(),
        market.find(ticker("SH688981")).unwrap(),
    );
    let early = market.as_of(day(1));
    assert_eq!(early.names().collect::<Vec<_>>(), [name]);
    assert!(!early.is_known(star) && early.last_bar(star).is_none() && early.first_bar(star).is_none());
    assert_eq!(early.bar(name, DaysBack(0)).unwrap().close, Price(1150));
    assert_eq!(early.bar(name, DaysBack(1)).unwrap().close, Price(1050));
    assert_eq!(early.bar(name, DaysBack(2)), None);
    assert_eq!(early.bars(name, 10).len(), 2);
    assert_eq!(early.members().collect::<Vec<_>>(), [name]);
    let later = market.as_of(day(3));
    assert_eq!(later.last_bar(star).unwrap().0.index(), day(2));
    assert_eq!(later.bar_before_last(star), None);
    assert_eq!(later.members().count(), 0);
    assert_eq!(later.index_close(DaysBack(0)), Some(3001.5));
    assert_eq!(market.as_of(day(4)).index_close(DaysBack(0)), None);
    // A day of another, longer view is answered by this one's end.
    let past = market.as_of(day(4)).past_day(DaysBack(0)).unwrap();
    assert_eq!(later.last_bar_by(name, past), later.bar(name, DaysBack(0)));
}

#[test]
fn cutting_changes_nothing_before_the_cut() {
    let market = market();
    for place in 0..market.calendar().len() {
        let day = market.day_at(place).unwrap();
        let cut = market.cut_after(day);
        for (name, info) in market.names() {
            for before in (0..=place).filter_map(|place| market.day_at(place)) {
                assert_eq!(cut.bar(name, before), market.bar(name, before));
            }
            for after in (place + 1..5).filter_map(|place| market.day_at(place)) {
                assert_eq!(cut.bar(name, after), None);
            }
            assert_eq!(cut.name(name).unwrap().last_row, info.last_row);
        }
        assert_eq!(
            Market::from_bytes(&cut.to_bytes()).unwrap().content_hash(),
            cut.content_hash()
        );
    }
}

#[test]
fn where_rows_end_is_declared_not_seen() {
    let mut builder = MarketBuilder::new(options());
    for (row, (code, day, bar)) in rows().iter().enumerate() {
        builder
            .add_row("f.csv", row as u64 + 2, ticker(code), date(day), bar)
            .unwrap();
    }
    builder.declare_last_row(ticker("SZ000001"), date("2030-01-01"));
    builder.declare_last_row(ticker("SH688981"), date("2024-01-07"));
    builder.declare_all_members();
    let (market, _) = builder.build().unwrap();
    let last = |code| {
        market
            .name(market.find(ticker(code)).unwrap())
            .unwrap()
            .last_row
            .index()
    };
    assert_eq!(last("SZ000001"), 4);
    // The last trading day on or before a declared Sunday.
    assert_eq!(last("SH688981"), 3);
    assert_eq!(market.as_of(market.day_at(4).unwrap()).members().count(), 2);
}

mod report {
    use super::*;

    fn check(rows: &[(&str, &str, RawBar)]) -> DataReport {
        let market = built(options(), rows).unwrap().0;
        let options = CheckOptions {
            span: DateSpan::ALWAYS,
            examples: 2,
        };
        check_panel(&market, &crate::exchange::Rules::default(), options)
    }

    #[test]
    fn coverage_counts_members_without_rows() {
        let report = check(&rows());
        // Two days of the first name, five of the member without rows.
        assert_eq!(report.member_days(), (7, 2));
        assert_eq!((report.names, report.bars, report.days), (2, 7, 5));
        assert_eq!(report.absent_members, [ticker("SH600837")]);
        assert_eq!(report.price_index_days_missing, 1);
        assert_eq!(report.days_without_bar, 1);
        assert!(report.unsupported.contains(&UnsupportedRule::Amount));
        assert!(!report.unsupported.contains(&UnsupportedRule::StLimit));
        assert!(!report.unsupported.contains(&UnsupportedRule::Factors));
        let mut without = rows();
        for (_, _, bar) in &mut without {
            bar.factor = some("1");
        }
        without.pop();
        let without = check(&without);
        assert!(without.unsupported.contains(&UnsupportedRule::Factors));
        assert!(!without.unsupported.contains(&UnsupportedRule::FactorCheck));
        let ended = [(ticker("SH688981"), date(DAYS[2]))];
        assert_eq!(
            (report.names_ended.count, without.names_ended.worst.as_slice()),
            (0, ended.as_slice())
        );
        assert!(report.is_usable());
    }

    #[test]
    fn findings_are_found_and_the_worst_comes_first() {
        let mut rows = rows();
        // ST since forever, so the limit is 5 % for the first name: 10.50, 11.50, 12.50 ... breach it each day.
        rows[1].2.low = some("11.60");
        rows[2].2.high = some("1.00");
        rows[4].2.change_percent = Some(0.0);
        let report = check(&rows);
        assert_eq!(report.ill_formed.count, 2);
        assert_eq!(report.ill_formed.worst[0].date, date(DAYS[2]));
        assert_eq!((report.breaches.count, report.breaches_from_the_open), (4, 4));
        assert_eq!(report.breaches.worst.len(), 2);
        assert_eq!(report.factor_moves, 1);
        assert_eq!(report.factor_jumps.count, 1);
        assert_eq!(report.factor_jumps.worst[0].date, date(DAYS[4]));
        assert!(report.has_findings());
    }

    #[test]
    fn odd_calendars_are_found() {
        let mut rows = rows();
        rows.push(("SZ000001", "2024-01-06", bar("14", "1.3")));
        rows.push(("SZ000001", "2024-01-31", bar("14", "1.3")));
        let report = check(&rows);
        assert_eq!(report.weekend_sessions.count, 1);
        assert_eq!(report.session_gaps.worst[0].days, 23);
    }
}

proptest! {
    /// Any rows either build or are refused with a place; what is built reads back.
    #[test]
    fn arbitrary_rows_build_or_are_refused(
        cells in prop::collection::vec((0..3_usize, 0..5_usize, 0..3000_u64, 0..4_u64, any::<bool>()), 0..30),
        adjusted in any::<bool>(),
    ) {
        let codes = ["SZ000001", "SZ300750", "BJ430047"];
        let rows: Vec<(&str, &str, RawBar)> = cells
            .iter()
            .map(|(code, day, fen, factor, suspended)| {
                let close = format!("{fen}e-2");
                let mut bar = bar(&close, &factor.to_string());
                bar.suspended = *suspended;
                (codes[*code], DAYS[*day], bar)
            })
            .collect();
        let basis = if adjusted { PriceBasis::Adjusted } else { PriceBasis::Raw };
        if let Ok((market, report)) = built(PanelOptions { basis, ..options() }, &rows) {
            prop_assert_eq!(report.bars, rows.len());
            let read = Market::from_bytes(&market.to_bytes()).unwrap();
            prop_assert_eq!(everything(&read), everything(&market));
        }
    }

    /// Arbitrary bytes behind the right head are refused without a panic.
    #[test]
    fn arbitrary_bytes_are_no_panel(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut file = b"KTDPANEL\x01\0\0\0".to_vec();
        file.extend_from_slice(&bytes);
        let hash = *blake3::hash(&file).as_bytes();
        file.extend_from_slice(&hash);
        prop_assert!(Market::from_bytes(&file).is_err());
    }
}
