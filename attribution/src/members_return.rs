//! Total return of the index's members: what a benchmark of total return is made of.

use ktd_env::{DateSpan, Market};

/// Daily total returns of the members in equal weights: a value for each day of the calendar, NaN where no member is known.
#[derive(Debug, Clone, PartialEq)]
pub struct MembersReturns {
    /// Since the close before.
    pub since_close: Vec<f64>,
    /// Since the open of the day: what who buys at its open can earn on it.
    pub since_open: Vec<f64>,
}

/// The members' total returns.
///
/// The return of day *t* is the mean, over the members of the day before, of adjusted close over the last adjusted close
/// on or before that day, less 1. So dividends are reinvested at the close of the ex-day and a split moves nothing; a member
/// that does not trade earns 0 and is still counted, and the day on which it trades again holds the whole move; a name that
/// leaves the index is sold at the close of its first day outside. Members, weights and last closes are those of the day
/// before: nothing looks ahead. The weights are made equal again at every close, at no cost. Since the open it is the mean of close
/// over open of the same members; one whose open is not known counts from its last close.
#[must_use]
pub fn members_total_returns(market: &Market) -> MembersReturns {
    let days = market.calendar().len();
    let (mut sums, mut counts) = (vec![[0.0; 2]; days], vec![0.0; days]);
    for (name, info) in market.names() {
        let is_member = membership(market, &info.member);
        let mut bars = vec![[f64::NAN; 2]; days];
        for (day, bar) in market.bars_of(name) {
            if let Some(prices) = bars.get_mut(day.index()) {
                *prices = [
                    bar.open.map_or(f64::NAN, |open| bar.adjusted(open)),
                    bar.adjusted_close(),
                ];
            }
        }
        let mut last = f64::NAN;
        let days_before = is_member.into_iter().zip(bars.iter().copied());
        let today = bars.iter().copied().skip(1);
        let sums = sums.iter_mut().skip(1).zip(counts.iter_mut().skip(1));
        for (((is_member, [_, before]), [open, close]), ([whole, by_day], count)) in
            days_before.zip(today).zip(sums)
        {
            last = if before.is_nan() { last } else { before };
            if is_member && last.is_finite() {
                let since = |price: f64| if close.is_nan() { 0.0 } else { close / price - 1.0 };
                *whole += since(last);
                *by_day += since(if open.is_nan() { last } else { open });
                *count += 1.0;
            }
        }
    }
    let of = |leg: usize| {
        let means = sums.iter().zip(&counts);
        means
            .map(|(sums, count)| sums.get(leg).copied().unwrap_or(f64::NAN) / count)
            .collect()
    };
    MembersReturns {
        since_close: of(0),
        since_open: of(1),
    }
}

/// Whether a name is a member, day by day.
fn membership(market: &Market, spans: &[DateSpan]) -> Vec<bool> {
    let days = market.calendar().iter();
    days.map(|date| spans.iter().any(|span| span.contains(*date)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::{Decimal, MarketBuilder, PanelOptions, PriceBasis, RawBar, Ticker, TradeDate, VolumeBasis};

    const DAYS: [&str; 5] = [
        "2024-01-02",
        "2024-01-03",
        "2024-01-04",
        "2024-01-05",
        "2024-01-08",
    ];

    fn date(text: &str) -> TradeDate {
        TradeDate::parse(text).unwrap()
    }

    /// A code, its closes and factors day by day, and its first and last day in the index.
    type NameRows<'a> = (&'a str, [&'a str; 5], [&'a str; 5], (&'a str, &'a str));

    /// Closes and factors day by day; a dash is a day without a bar.
    fn market(names: &[NameRows<'_>]) -> Market {
        let mut builder = MarketBuilder::new(PanelOptions {
            basis: PriceBasis::Raw,
            volume: VolumeBasis::Real,
            has_factors: true,
            has_amounts: false,
            calendar: Some(DAYS.map(date).to_vec()),
        });
        for (code, closes, factors, (start, end)) in names {
            let ticker = Ticker::parse(code).unwrap();
            for ((day, close), factor) in DAYS.iter().zip(closes).zip(factors) {
                let close = Decimal::parse(close).ok();
                let bar = RawBar {
                    open: close,
                    high: close,
                    low: close,
                    close,
                    volume: Decimal::parse("1000").ok(),
                    factor: Decimal::parse(factor).ok(),
                    ..RawBar::default()
                };
                builder.add_row("f", 1, ticker, date(day), &bar).unwrap();
            }
            let (start, end) = (date(start), date(end));
            builder.add_member(ticker, DateSpan { start, end });
        }
        builder.build().unwrap().0
    }

    const ONE: [&str; 5] = ["1"; 5];
    const ALL: (&str, &str) = ("2020-01-01", "9999-12-31");

    /// Four names by hand:
    ///
    /// | name | day 1 | day 2 | day 3 | day 4 | day 5 |
    /// |---|---|---|---|---|---|
    /// | dividend of 0.50 on day 2, factor 10.00 / 9.50 | 10.00 | 9.50: 0 % | 9.50 | 10.45: +10 % | 10.45 |
    /// | two for one on day 2, factor 2 | 20.00 | 10.50: +5 % | 10.50 | 10.50 | 10.50 |
    /// | suspended on days 2 and 3 | 8.00 | 0 % | 0 % | 10.00: +25 % | 10.00 |
    /// | last a member on day 3 | 5.00 | 5.00 | 5.50: +10 % | 4.95: -10 %, sold | 9.90: not held |
    fn by_hand() -> Market {
        let ex = "1.052631578947368421";
        market(&[
            (
                "SH600001",
                ["10.00", "9.50", "9.50", "10.45", "10.45"],
                ["1", ex, ex, ex, ex],
                ALL,
            ),
            (
                "SH600002",
                ["20.00", "10.50", "10.50", "10.50", "10.50"],
                ["1", "2", "2", "2", "2"],
                ALL,
            ),
            ("SH600003", ["8.00", "-", "-", "10.00", "10.00"], ONE, ALL),
            (
                "SH600004",
                ["5.00", "5.00", "5.50", "4.95", "9.90"],
                ONE,
                ("2020-01-01", DAYS[2]),
            ),
        ])
    }

    #[test]
    fn dividend_split_suspension_and_leaving_by_hand() {
        let found = members_total_returns(&by_hand()).since_close;
        let wanted = [0.05 / 4.0, 0.10 / 4.0, (0.10 + 0.25 - 0.10) / 4.0, 0.0];
        assert!(found[0].is_nan(), "there is no day before the first");
        for (day, (found, wanted)) in found.iter().skip(1).zip(wanted).enumerate() {
            assert!(
                (found - wanted).abs() < 1e-12,
                "day {}: {found} {wanted}",
                day + 2
            );
        }
    }

    #[test]
    fn nothing_looks_ahead() {
        let market = by_hand();
        let all = members_total_returns(&market).since_close;
        for last in 0..DAYS.len() {
            let cut = members_total_returns(&market.cut_after(market.day_at(last).unwrap())).since_close;
            let bits = |returns: &[f64]| {
                returns[..=last]
                    .iter()
                    .map(|daily| daily.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&cut), bits(&all), "cut after day {}", last + 1);
        }
        // Who joins on a day is held from its close: its rise on that day is not earned.
        let joins = (
            "SH600009",
            ["1.00", "1.00", "3.00", "3.30", "3.30"],
            ONE,
            (DAYS[2], "9999-12-31"),
        );
        let stays = ("SH600001", ["10.00"; 5], ONE, ALL);
        let found = members_total_returns(&market_of_two(stays, joins)).since_close;
        assert!(
            found[2].abs() < 1e-12 && (found[3] - 0.05).abs() < 1e-12,
            "{found:?}"
        );
    }

    type Name<'a> = (&'a str, [&'a str; 5], [&'a str; 5], (&'a str, &'a str));

    fn market_of_two(first: Name<'_>, second: Name<'_>) -> Market {
        market(&[first, second])
    }

    #[test]
    fn days_without_a_known_member_have_no_return() {
        let found = members_total_returns(&market(&[("SH600001", ["10.00"; 5], ONE, (DAYS[2], DAYS[2]))]))
            .since_close;
        let is_known: Vec<bool> = found.iter().map(|daily| daily.is_finite()).collect();
        assert_eq!(is_known, [false, false, false, true, false]);
    }
}
