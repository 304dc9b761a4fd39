//! What every level must hold: one alias a name, nothing of the codes, nothing of the calendar.

use crate::{
    CrossSectionRank, EpisodeFrame, FactorScale, Level, Mask, MaskKey, MaskSettings, Numeric, Payload,
    UnknownAlias,
};
use ktd_env::factors::{Factor, Technical};
use ktd_env::{
    AsOf, DateSpan, DayIndex, DaysBack, Decimal, Fen, Market, MarketBuilder, NameId, PanelOptions,
    PriceBasis, RawBar, Shares, Ticker, TradeDate, VolumeBasis,
};
use std::collections::{BTreeMap, BTreeSet};

const CODES: [&str; 12] = [
    "SH600000", "SH600519", "SH601318", "SH688981", "SH689009", "SZ000001", "SZ000333", "SZ002415",
    "SZ300015", "SZ300750", "BJ430047", "BJ920002",
];
/// A week with a weekend inside, and a holiday gap after it.
const DATES: [&str; 8] = [
    "2024-09-26",
    "2024-09-27",
    "2024-09-30",
    "2024-10-08",
    "2024-10-09",
    "2024-10-10",
    "2024-10-11",
    "2024-10-14",
];
const FIRST_STEP_DAY: usize = 3;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn date(text: &str) -> TradeDate {
    TradeDate::parse(text).unwrap()
}

fn market() -> Market {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: false,
        calendar: None,
    });
    for (place, code) in CODES.iter().enumerate() {
        let ticker = Ticker::parse(code).unwrap();
        builder.add_company_name(ticker, &format!("Company {place}"));
        builder.set_sector(ticker, ["Banks", "Spirits", "Chips"][place % 3]);
        builder.add_member(
            ticker,
            DateSpan {
                start: date(DATES[0]),
                end: date(DATES[7]),
            },
        );
        for (day, text) in DATES.iter().enumerate() {
            let price = decimal(&format!("{}.5{day}", 10 + place));
            let bar = RawBar {
                open: Some(price),
                high: Some(price),
                low: Some(price),
                close: Some(price),
                volume: Some(decimal("1000")),
                factor: Some(decimal(if day < 5 { "1" } else { "1.1" })),
                ..RawBar::default()
            };
            builder.add_row("panel", 1, ticker, date(text), &bar).unwrap();
        }
    }
    let levels = DATES
        .iter()
        .map(|text| (date(text), (3000.0, 3100.0)))
        .collect::<BTreeMap<_, _>>();
    builder.add_index("SH000300", levels);
    builder.build().unwrap().0
}

fn window(market: &Market) -> Vec<DayIndex> {
    (FIRST_STEP_DAY..DATES.len())
        .filter_map(|day| market.day_at(day))
        .collect()
}

fn mask(market: &Market, level: Level, numeric: Numeric, episode: &str) -> Mask {
    let key = MaskKey::from_bytes([9; 32]).derive(episode);
    let frame = EpisodeFrame {
        market,
        window: &window(market),
        initial_cash: Fen(100_000_000),
    };
    Mask::new(MaskSettings { level, numeric }, &key, &frame).unwrap()
}

fn names(market: &Market) -> Vec<NameId> {
    market.names().map(|(name, _)| name).collect()
}

fn shown(market: &Market, mask: &Mask) -> Vec<String> {
    names(market)
        .into_iter()
        .map(|name| mask.asset(name).to_inline())
        .collect()
}

#[test]
fn what_is_shown_resolves_to_its_name_at_every_level() {
    let market = market();
    for level in Level::ALL {
        let mask = mask(&market, level, Numeric::Exact, "a");
        for name in names(&market) {
            assert_eq!(
                mask.resolve(&mask.asset(name).to_inline()),
                Ok(name),
                "{}",
                level.label()
            );
        }
        let distinct: BTreeSet<String> = shown(&market, &mask).into_iter().collect();
        assert_eq!(distinct.len(), CODES.len());
    }
}

/// Pinned: a change here changes every alias map ever drawn, and no recorded bundle replays.
#[test]
fn golden_aliases() {
    let market = market();
    let aliases = shown(&market, &mask(&market, Level::Blinded, Numeric::Exact, "golden"));
    let numbers: Vec<&str> = aliases
        .iter()
        .map(|alias| alias.strip_prefix("asset_").unwrap())
        .collect();
    assert_eq!(
        numbers,
        [
            "0007", "0001", "0006", "0004", "0010", "0011", "0003", "0008", "0002", "0009", "0012", "0005"
        ]
    );
}

#[test]
fn hidden_names_show_nothing_of_code_name_or_sector() {
    let market = market();
    for level in [Level::StockBlind, Level::Blinded] {
        let mask = mask(&market, level, Numeric::Exact, "a");
        let mut text = shown(&market, &mask).join(" ");
        for place in 0..3 {
            text += &mask.sector(Some(place)).to_inline();
        }
        for code in CODES {
            assert!(!text.contains(code) && !text.contains(&code[2..]), "{text}");
        }
        for word in ["Company", "Banks", "Spirits", "Chips"] {
            assert!(!text.contains(word), "{text}");
        }
    }
}

#[test]
fn hidden_names_are_never_in_the_order_of_the_codes() {
    let market = market();
    let in_code_order = (0..50_usize).filter(|episode| {
        let mask = mask(&market, Level::StockBlind, Numeric::Exact, &episode.to_string());
        let order: Vec<_> = names(&market).into_iter().map(|name| mask.order(name)).collect();
        order.is_sorted()
    });
    assert_eq!(in_code_order.count(), 0);
}

#[test]
fn the_order_is_that_of_the_aliases() {
    let market = market();
    for level in Level::ALL {
        let mask = mask(&market, level, Numeric::Exact, "a");
        let mut ordered = names(&market);
        ordered.sort_by_key(|name| mask.order(*name));
        let texts: Vec<String> = ordered
            .into_iter()
            .map(|name| mask.asset(name).to_inline())
            .collect();
        let by_panel = CODES.len() == texts.len() && !level.hides_stocks();
        assert!(by_panel || texts.is_sorted(), "{texts:?}");
    }
}

#[test]
fn episodes_have_maps_of_their_own() {
    let market = market();
    let maps: BTreeSet<Vec<String>> = (0..20_usize)
        .map(|episode| {
            shown(
                &market,
                &mask(&market, Level::Blinded, Numeric::Exact, &episode.to_string()),
            )
        })
        .collect();
    assert_eq!(maps.len(), 20);
    let again = mask(&market, Level::Blinded, Numeric::Exact, "7");
    assert!(maps.contains(&shown(&market, &again)));
}

#[test]
fn other_spellings_are_refused() {
    let market = market();
    let hidden = mask(&market, Level::Blinded, Numeric::Exact, "a");
    for text in [
        "",
        "asset_",
        "asset_1",
        "asset_01",
        "asset_00001",
        "asset_+001",
        "asset_0000",
        "asset_0013",
        "ASSET_0001",
        " asset_0001",
        "asset_0001 ",
        "asset_٠٠٠١",
        "asset_99999999999999999999",
        "SH600519",
        "600519",
    ] {
        assert_eq!(hidden.resolve(text), Err(UnknownAlias), "{text:?}");
    }
    assert!(hidden.resolve("asset_0001").is_ok());
    let open = mask(&market, Level::DateBlind, Numeric::Exact, "a");
    for text in ["", "600519", "sh600519", "SH600519 ", "asset_0001", "SH600001"] {
        assert_eq!(open.resolve(text), Err(UnknownAlias), "{text:?}");
    }
    assert!(open.resolve("SH600519").is_ok());
}

#[test]
fn day_labels_count_trading_days_across_weekends_and_holidays() {
    let market = market();
    for (level, expected) in [
        (
            Level::Blinded,
            [
                "day_-3", "day_-2", "day_-1", "day_+0", "day_+1", "day_+2", "day_+3", "day_+4",
            ],
        ),
        (
            Level::DateBlind,
            [
                "day_-3", "day_-2", "day_-1", "day_+0", "day_+1", "day_+2", "day_+3", "day_+4",
            ],
        ),
        (Level::StockBlind, DATES),
        (Level::Bright, DATES),
    ] {
        let mask = mask(&market, level, Numeric::Exact, "a");
        let as_of = market.as_of(market.day_at(7).unwrap());
        let labels: Vec<String> = (0..8)
            .rev()
            .map(|back| mask.day(as_of.past_day(DaysBack(back)).unwrap()).to_inline())
            .collect();
        assert_eq!(labels, expected, "{}", level.label());
        assert_eq!(mask.step_day(1).to_inline(), expected[FIRST_STEP_DAY]);
        assert_eq!(mask.step_day(5).to_inline(), expected[7]);
    }
}

#[test]
fn rescaled_prices_are_100_at_the_origin() {
    let market = market();
    let mask = mask(&market, Level::Blinded, Numeric::Rescaled, "a");
    let origin = market.as_of(market.day_at(FIRST_STEP_DAY - 1).unwrap());
    let later = market.as_of(market.day_at(7).unwrap());
    for name in names(&market) {
        let close = |view: &AsOf<'_>| view.last_bar(name).unwrap().1.adjusted_close();
        assert_eq!(mask.price(&origin, name, close(&origin)).to_json(), "100");
        // The origin's base stays: a later view shows the origin's close as 100 too.
        assert_eq!(mask.price(&later, name, close(&origin)).to_json(), "100");
        assert_ne!(mask.price(&later, name, close(&later)).to_json(), "100");
    }
    assert_eq!(mask.index_level(&origin, 3100.0).to_json(), "100");
}

#[test]
fn exact_prices_are_in_terms_of_the_as_of_day() {
    let market = market();
    let mask = mask(&market, Level::Bright, Numeric::Exact, "a");
    let name = market.find(Ticker::parse("SH600000").unwrap()).unwrap();
    let as_of = market.as_of(market.day_at(7).unwrap());
    let bars = as_of.bars(name, 8);
    assert_eq!(
        mask.price(&as_of, name, bars[7].1.adjusted_close()).to_json(),
        "10.57"
    );
    // Before the ex-day: 10.50 / 1.1.
    assert_eq!(
        mask.price(&as_of, name, bars[0].1.adjusted_close()).to_json(),
        "9.55"
    );
}

#[test]
fn rescaled_numbers_tell_no_scale() {
    let market = market();
    let mask = mask(&market, Level::Blinded, Numeric::Rescaled, "a");
    assert!(!mask.shows_shares());
    assert_eq!(mask.shares(Shares(1200)), Payload::null());
    assert_eq!(mask.volume(3000.0, 1500.0).to_json(), "2");
    assert_eq!(mask.volume(3000.0, 0.0), Payload::null());
    assert_eq!(mask.money(Fen(1_234_567)).to_json(), "12300");
    assert_eq!(mask.money(Fen(-1_234_567)).to_json(), "-12300");
    assert_eq!(mask.weight(0.123_456).to_json(), "0.1235");
    assert_eq!(mask.factor(Factor::Illiq, -3.3), None);
    assert_eq!(Payload::optional(mask.factor(Factor::Rv60, 0.3)).to_json(), "0.3");
}

/// One line a rung: the same numbers as each shows them.
#[test]
fn each_rung_tells_less_of_the_same_numbers() {
    let market = market();
    let as_of = market.as_of(market.day_at(7).unwrap());
    let name = names(&market)[0];
    let told = Numeric::ALL.map(|numeric| {
        let mask = mask(&market, Level::Blinded, numeric, "a");
        let rank = CrossSectionRank::new(2, 0, 3).unwrap();
        let cells = [
            mask.price(&as_of, name, 11.0),
            mask.index_level(&as_of, 3200.0),
            mask.volume(2350.0, 1000.0),
            Payload::optional(mask.factor(Factor::Mom12_1, 0.123_456)),
            Payload::optional(mask.factor(Factor::RevOn, -0.001_26)),
            Payload::optional(mask.score(-1.234_5)),
            Payload::optional(mask.technical(Technical::Rsi14, 47.62)),
            Payload::optional(mask.percentile(rank)),
            mask.market_rate(Some(0.012_34)),
            mask.market_share(Some(0.333)),
            Payload::optional(mask.market_count(300)),
            mask.market_rank(Some(2)),
            mask.stale_days(3),
            mask.money(Fen(1_234_567)),
            mask.fee(Fen(512)),
            mask.weight(0.123_456),
            mask.unrealised_return(0.0749),
            mask.nav_return(-0.0149),
            mask.weight_step(),
        ];
        let cells: Vec<String> = cells.iter().map(Payload::to_json).collect();
        format!("{}: {}", numeric.label(), cells.join(" "))
    });
    assert_eq!(
        told,
        [
            "exact: 10 3200 2.35 0.1235 -0.00126 -1.235 47.62 null 0.0123 0.33 300 null 3 12345.67 5.12 0.1235 0.0749 -0.0149 null",
            "rescaled: 53.61 103.23 2.35 0.1235 -0.00126 -1.235 47.62 null 0.0123 0.33 300 null 3 12300 0 0.1235 0.0749 -0.0149 null",
            "rounded-0.1: 53.6 103.25 2.4 0.123 -0.0013 -1.2 48 null 0.012 0.35 300 null 3 12000 null 0.123 0.075 -0.015 0.001",
            "rounded-0.5: 53.61 103.04 2.5 0.125 -0.001 -1 50 null 0.01 0.3 300 null 3 10000 null 0.125 0.075 -0.015 0.005",
            "ranked: null null null null null null null 66.7 null null 300 3 3 10000 null 0.12 0.05 -0.01 0.005",
            "banded-5: null null null null null null null null null null null null null null null 0.12 null null 0.01",
            "banded: null null null null null null null null null null null null null null null 0.12 null null 0.01"
        ]
    );
}

#[test]
fn rosters_are_shown_at_their_rungs_alone_and_no_id_without_one() {
    let market = market();
    let as_of = market.as_of(market.day_at(2).unwrap());
    for numeric in Numeric::ALL {
        let mask = mask(&market, Level::Blinded, numeric, "a");
        let is_banded = numeric.scale() == FactorScale::Bands;
        assert_eq!(mask.roster(&as_of).is_some(), is_banded);
        for name in names(&market) {
            assert_eq!(mask.asset(name) == Payload::null(), is_banded);
        }
        assert_eq!(mask.resolve("asset_0001").is_err(), is_banded);
    }
}

#[test]
fn periods_begin_on_the_origin_and_every_so_many_days() {
    let market = market();
    let mask = mask(&market, Level::Blinded, Numeric::Banded, "a");
    let since = (0..8)
        .filter_map(|day| market.day_at(day))
        .map(|day| mask.since_period(&market.as_of(day)).0);
    // Days before the origin have no period; they are their own.
    assert_eq!(since.collect::<Vec<_>>(), [0, 0, 0, 1, 2, 3, 4, 0]);
}

#[test]
fn an_empty_window_or_one_without_an_as_of_day_has_no_mask() {
    let market = market();
    let settings = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Exact,
    };
    let key = MaskKey::from_bytes([1; 32]);
    let empty = EpisodeFrame {
        market: &market,
        window: &[],
        initial_cash: Fen(1),
    };
    assert!(Mask::new(settings, &key, &empty).is_none());
    let window: Vec<DayIndex> = market.day_at(0).into_iter().collect();
    let first = EpisodeFrame {
        market: &market,
        window: &window,
        initial_cash: Fen(1),
    };
    assert!(Mask::new(settings, &key, &first).is_none());
}

/// A panel has at least one name by construction, so the smallest is a panel of one.
#[test]
fn the_smallest_panel_has_one_alias() {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: false,
        has_amounts: false,
        calendar: None,
    });
    let ticker = Ticker::parse("SH600519").unwrap();
    for text in &DATES[..2] {
        let bar = RawBar {
            close: Some(decimal("10")),
            volume: Some(decimal("1")),
            ..RawBar::default()
        };
        builder.add_row("panel", 1, ticker, date(text), &bar).unwrap();
    }
    let market = builder.build().unwrap().0;
    let window: Vec<DayIndex> = market.day_at(1).into_iter().collect();
    let frame = EpisodeFrame {
        market: &market,
        window: &window,
        initial_cash: Fen(1),
    };
    let settings = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Rescaled,
    };
    let mask = Mask::new(settings, &MaskKey::from_bytes([1; 32]), &frame).unwrap();
    let name = mask.resolve("asset_0001").unwrap();
    assert_eq!(mask.asset(name).to_inline(), "asset_0001");
    assert_eq!(mask.sector(None), Payload::null());
    assert_eq!(mask.resolve("asset_0002"), Err(UnknownAlias));
    let as_of = market.as_of(market.day_at(1).unwrap());
    assert_eq!(mask.index_level(&as_of, 1.0), Payload::null());
    assert!(as_of.past_day(DaysBack(2)).is_none());
}

#[test]
fn debug_text_of_a_mask_shows_its_settings_alone() {
    let market = market();
    let text = format!("{:?}", mask(&market, Level::Blinded, Numeric::Exact, "a"));
    assert!(!text.contains("600519") && !text.contains("2024"), "{text}");
}
