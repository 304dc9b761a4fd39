//! What the synthetic panel must be: on the grid, within the limits, with the events of a real one, and the same
//! bytes every time.

use super::draws::float;
use super::facts::{SEEDS, days, ids, market, mean};
use super::{INDEX_CODE, MAX_DAYS, MAX_NAMES, SynthConfig, SynthError, generate};
use crate::exchange::{LimitRule, PriceLimits, Rules};
use crate::market::{Bar, DayIndex, Market, NameId};
use crate::money::Price;
use crate::ticker::Board;
use std::collections::BTreeSet;

/// Every bar with the one before it, if any.
fn pairs(market: &Market, name: NameId) -> Vec<(DayIndex, Option<Bar>, Bar)> {
    let mut last = None;
    days(market)
        .into_iter()
        .filter_map(|day| {
            let bar = market.bar(name, day)?;
            Some((day, last.replace(bar), bar))
        })
        .collect()
}

/// Rule 6 of the exchange in exact integers: previous close x F / F', half-up.
fn reference(before: &Bar, bar: &Bar) -> Price {
    let (whole, rest, denominator) = before.factor.scale_count(before.close.0, bar.factor).unwrap();
    Price(whole + i64::from(rest * 2 >= denominator))
}

fn exact() -> Rules {
    Rules {
        limit: LimitRule::Exact,
        ..Rules::default()
    }
}

#[derive(Debug, Default)]
struct LimitDays {
    traded: f64,
    closed_up: f64,
    closed_down: f64,
    one_price: f64,
    unlimited: f64,
    beyond_ten_percent: f64,
}

fn limit_days(market: &Market) -> LimitDays {
    let rules = exact();
    let mut found = LimitDays::default();
    for name in ids(market) {
        for (day, before, bar) in pairs(market, name) {
            let open = bar.open.unwrap();
            assert!(bar.low <= open.min(bar.close) && open.max(bar.close) <= bar.high);
            let Some(before) = before.filter(|_| bar.volume > 0) else {
                continue;
            };
            found.traded += 1.0;
            let reference = reference(&before, &bar);
            let Some(limits) = PriceLimits::of(&rules, market, name, day, reference) else {
                found.unlimited += 1.0;
                let change = bar.close.to_yuan() / reference.to_yuan() - 1.0;
                found.beyond_ten_percent += f64::from(u8::from(change.abs() > 0.101));
                continue;
            };
            assert!(limits.exact_down() <= bar.low && bar.high <= limits.exact_up());
            found.closed_up += f64::from(u8::from(bar.close == limits.exact_up()));
            found.closed_down += f64::from(u8::from(bar.close == limits.exact_down()));
            let is_board = bar.high == bar.low && bar.close == limits.exact_up();
            found.one_price += f64::from(u8::from(is_board));
        }
    }
    found
}

#[test]
fn prices_keep_the_exact_limits_and_sometimes_reach_them() {
    for seed in SEEDS {
        let found = limit_days(&market(seed, 300, 600));
        let share = |count: f64| count / found.traded;
        assert!((0.0008..0.01).contains(&share(found.closed_up)), "{found:?}");
        assert!((0.0004..0.01).contains(&share(found.closed_down)), "{found:?}");
        assert!((0.0001..0.003).contains(&share(found.one_price)), "{found:?}");
        // Five days for each newcomer, but for those of the main board before its reform of April 2023.
        assert!((20.0..=105.0).contains(&found.unlimited), "{found:?}");
        assert!(found.beyond_ten_percent > 0.0, "{found:?}");
    }
}

#[test]
fn st_names_move_within_five_percent() {
    let market = market(19, 300, 600);
    let mut most = 0.0_f64;
    let mut st_days = 0;
    for name in ids(&market) {
        for (day, before, bar) in pairs(&market, name) {
            let Some(before) = before.filter(|_| market.is_st(name, market.date(day).unwrap())) else {
                continue;
            };
            assert_eq!(market.board(name), Board::Main);
            st_days += 1;
            // A fen of rounding counts for more the lower the price.
            let fen = 1.0 / before.close.to_yuan() / 100.0;
            most = most.max((bar.close.to_yuan() / before.close.to_yuan() - 1.0).abs() - fen);
        }
    }
    assert!(st_days > 200, "{st_days}");
    assert!((0.03..=0.05).contains(&most), "{most}");
}

#[test]
fn prices_and_sizes_spread_over_orders_of_magnitude() {
    for seed in SEEDS {
        let market = market(seed, 300, 300);
        let first: Vec<Bar> = ids(&market)
            .into_iter()
            .filter_map(|name| market.bar(name, market.day_at(20)?))
            .collect();
        let within = |low: f64, high: f64| {
            first
                .iter()
                .filter(|bar| (low..high).contains(&bar.close.to_yuan()))
                .count()
        };
        assert!((1..=3).contains(&within(0.0, 1.0)), "{}", within(0.0, 1.0));
        assert!(
            (1..=3).contains(&within(300.0, 2500.0)),
            "{}",
            within(300.0, 2500.0)
        );
        assert!(within(2.0, 200.0) > 260);
        assert!(within(5.0, 10.0) > 20 && within(40.0, 100.0) > 20);
        let mut amounts: Vec<f64> = first
            .iter()
            .map(|bar| bar.amount_cny)
            .filter(|a| *a > 0.0)
            .collect();
        amounts.sort_by(f64::total_cmp);
        assert!(amounts[amounts.len() * 95 / 100] > 10.0 * amounts[amounts.len() / 20]);
        for bar in &first {
            let mean_price = bar.amount_cny / float(i64::try_from(bar.volume.max(1)).unwrap());
            let is_between =
                bar.low.to_yuan() <= mean_price + 0.01 && mean_price <= bar.high.to_yuan() + 0.01;
            assert!(bar.volume == 0 || is_between);
        }
    }
}

#[test]
fn halts_come_with_rows_and_without_for_a_day_and_for_weeks() {
    let market = market(19, 300, 800);
    let mut lengths: [BTreeSet<usize>; 2] = [BTreeSet::new(), BTreeSet::new()];
    for name in ids(&market) {
        let all = pairs(&market, name);
        for stretch in all.chunk_by(|left, right| (left.2.volume == 0) == (right.2.volume == 0)) {
            if stretch[0].2.volume == 0 {
                lengths[0].insert(stretch.len());
            }
            for (_, before, bar) in stretch.iter().filter(|(_, _, bar)| bar.volume == 0) {
                let before = before.unwrap();
                assert_eq!((bar.close, bar.factor), (before.close, before.factor));
                assert_eq!([bar.open.unwrap(), bar.high, bar.low], [bar.close; 3]);
                assert!(bar.amount_cny == 0.0);
            }
        }
        for pair in all.windows(2) {
            lengths[1].insert(pair[1].0.index() - pair[0].0.index() - 1);
        }
    }
    for lengths in lengths {
        assert!(
            lengths.contains(&1) && lengths.iter().any(|length| *length > 5),
            "{lengths:?}"
        );
    }
}

#[test]
fn ex_dates_lower_the_price_and_leave_the_return_alone() {
    let market = market(19, 300, 800);
    let (mut cash, mut bonus, mut gaps) = (0, 0, Vec::new());
    for name in ids(&market) {
        for (_, before, bar) in pairs(&market, name) {
            let Some(before) = before.filter(|before| before.factor != bar.factor) else {
                continue;
            };
            assert!(bar.volume > 0 && bar.factor > before.factor);
            let growth = bar.factor.to_f64() / before.factor.to_f64();
            if growth > 1.15 {
                bonus += 1;
            } else {
                cash += 1;
                assert!(growth < 1.04);
            }
            assert!(growth < 2.1);
            gaps.push(libm::log(bar.close.to_yuan() * growth / before.close.to_yuan()));
        }
    }
    // Three names in four pay each of three seasons; one in ten gives shares.
    assert!(
        (500..800).contains(&cash) && (50..140).contains(&bonus),
        "{cash} {bonus}"
    );
    assert!(mean(&gaps).abs() < 0.005, "{}", mean(&gaps));
}

#[test]
fn names_are_listed_and_delisted_on_the_way() {
    let market = generate(&SynthConfig::default()).unwrap();
    let (mut listed, mut delisted) = (0, 0);
    for (name, info) in market.names() {
        let first = market.first_bar_day(name).unwrap();
        if first.index() > 0 {
            listed += 1;
            assert_eq!(info.listed, market.date(first));
            assert_eq!(
                market.bar(name, first).unwrap().factor.to_f64().to_bits(),
                1.0_f64.to_bits()
            );
        } else {
            assert!(info.listed.unwrap() < market.calendar()[0]);
        }
        if info.last_row.index() < 799 {
            delisted += 1;
            assert!(market.is_st(name, market.date(info.last_row).unwrap()));
            assert!(market.bar(name, info.last_row).unwrap().volume > 0);
        }
        assert_eq!(info.company_names.len(), 2);
        assert!(info.sector.is_some());
    }
    assert_eq!((listed, delisted), (21, 2));
    assert_eq!(market.sectors().len(), 10);
}

#[test]
fn four_fifths_are_members_by_size_and_reviews_change_some() {
    let market = market(19, 300, 800);
    let on = |day: usize| -> BTreeSet<NameId> {
        let date = market.calendar()[day];
        ids(&market)
            .into_iter()
            .filter(|name| market.is_member(*name, date))
            .collect()
    };
    let mut changes = Vec::new();
    for day in 1..800 {
        let (before, after) = (on(day - 1), on(day));
        let entered = after.difference(&before).count();
        assert!((215..=245).contains(&after.len()), "{}", after.len());
        if entered > 0 {
            changes.push((day, entered));
        }
    }
    assert_eq!(changes.len(), 6, "two reviews a year: {changes:?}");
    assert!(changes.iter().all(|(_, entered)| *entered < 40), "{changes:?}");
    let amount = |is_member: bool| {
        let members = on(400);
        let day = market.day_at(400).unwrap();
        let of = ids(&market)
            .into_iter()
            .filter(|name| members.contains(name) == is_member);
        mean(
            &of.filter_map(|name| market.bar(name, day))
                .map(|bar| bar.amount_cny)
                .collect::<Vec<_>>(),
        )
    };
    assert!(amount(true) > 2.0 * amount(false));
}

#[test]
fn the_index_covers_the_calendar() {
    let market = market(1, 60, 300);
    let index = &market.indices()[0];
    assert_eq!((index.code.as_str(), index.open.len()), (INDEX_CODE, 300));
    for (open, close) in index.open.iter().zip(&index.close) {
        assert!(open.is_finite() && *close > 500.0 && *close < 20_000.0);
        assert!(libm::log(open / close).abs() < 0.12);
    }
    assert!(market.notes()[0].contains("invented"));
}

/// A hash of what the panel says, free of the panel file's own format.
fn spoken_hash(market: &Market) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, info) in market.names() {
        hasher.update(&info.ticker.bytes());
        hasher.update(info.company_names.join(" ").as_bytes());
        for span in info.member.iter().chain(&info.st) {
            hasher.update(&span.start.days_since_epoch().to_le_bytes());
            hasher.update(&span.end.days_since_epoch().to_le_bytes());
        }
        for (day, _, bar) in pairs(market, name) {
            hasher.update(&market.date(day).unwrap().days_since_epoch().to_le_bytes());
            for price in [bar.open.unwrap(), bar.high, bar.low, bar.close] {
                hasher.update(&price.0.to_le_bytes());
            }
            hasher.update(&bar.volume.to_le_bytes());
            hasher.update(&bar.amount_cny.to_bits().to_le_bytes());
            hasher.update(bar.factor.to_string().as_bytes());
        }
    }
    for level in market
        .indices()
        .iter()
        .flat_map(|index| index.open.iter().chain(&index.close))
    {
        hasher.update(&level.to_bits().to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Pinned: a change here changes every result on the embedded market.
#[test]
fn one_seed_one_market() {
    let small = market(7, 30, 300);
    assert_eq!(small.to_bytes(), market(7, 30, 300).to_bytes());
    assert_ne!(small.content_hash(), market(8, 30, 300).content_hash());
    assert_eq!(
        spoken_hash(&small),
        "77de8e0a50d3670d2032a4f83f90954c2dad27be55d2d5a45416f8a688ea9f9b"
    );
}

#[test]
fn the_panel_file_brings_it_back() {
    let small = market(7, 30, 300);
    let read = Market::from_bytes(&small.to_bytes()).unwrap();
    assert_eq!(read.content_hash(), small.content_hash());
    assert_eq!(spoken_hash(&read), spoken_hash(&small));
}

#[test]
fn every_size_in_range_makes_a_market() {
    for (names, days) in [
        (1, 2),
        (1, 300),
        (2, 60),
        (7, 251),
        (19, 400),
        (20, 250),
        (61, 333),
    ] {
        let market = market(3, names, days);
        assert_eq!(market.names().len(), usize::try_from(names).unwrap());
        assert_eq!(market.calendar().len(), usize::try_from(days).unwrap());
    }
}

#[test]
fn sizes_out_of_range_are_refused_with_a_hint() {
    let with = |names, days| generate(&SynthConfig { seed: 1, names, days }).map(|_| ());
    for names in [0, MAX_NAMES + 1, u32::MAX] {
        let error = with(names, 100).unwrap_err();
        assert_eq!(error, SynthError::Names { names });
        assert!(error.hint().contains("names"));
    }
    for days in [0, 1, MAX_DAYS + 1, u32::MAX] {
        let error = with(10, days).unwrap_err();
        assert_eq!(error, SynthError::Days { days });
        assert!(error.hint().contains("days"));
    }
}
