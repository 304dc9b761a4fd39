//! What is worth knowing about a panel before anything is run on it.

mod changed_codes;
mod dividends;

pub use dividends::{DividendCheck, DividendMismatch};

use self::changed_codes::ends_where_beijing_changed;
use crate::day::{DateSpan, TradeDate};
use crate::exchange::{LimitRule, PriceLimits, Rules, reference_price};
use crate::market::{AbsentMember, Bar, DayIndex, Market, NameId, NameInfo};
use crate::money::Price;
use crate::ticker::{Board, Ticker};
use std::collections::BTreeMap;

/// The part of a panel to check, and how much to show.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions {
    /// Days to check, both ends included.
    pub span: DateSpan,
    /// How many examples each finding keeps, the worst first.
    pub examples: usize,
}

/// A count with its worst examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples<T> {
    /// How many there are.
    pub count: usize,
    /// The worst, worst first.
    pub worst: Vec<T>,
    severities: Vec<f64>,
    keep: usize,
}

impl<T> Examples<T> {
    const fn new(keep: usize) -> Self {
        Self {
            count: 0,
            worst: Vec::new(),
            severities: Vec::new(),
            keep,
        }
    }

    /// Counts one; keeps it where it is among the worst. Of equals the earlier stays ahead.
    fn add(&mut self, severity: f64, example: T) {
        self.count += 1;
        let place = self.severities.partition_point(|known| *known >= severity);
        if place < self.keep {
            self.severities.insert(place, severity);
            self.worst.insert(place, example);
            self.severities.truncate(self.keep);
            self.worst.truncate(self.keep);
        }
    }
}

/// Coverage of one calendar year.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct YearCoverage {
    /// The year.
    pub year: i32,
    /// Trading days.
    pub days: usize,
    /// Bars of all names.
    pub bars: usize,
    /// Days x index members of the day, members without any rows included.
    pub member_days: usize,
    /// Member-days that have a bar.
    pub member_days_with_bar: usize,
}

/// A bar whose prices contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllFormedBar {
    /// The name.
    pub ticker: Ticker,
    /// The day.
    pub date: TradeDate,
    /// The bar's open, if it has one.
    pub open: Option<Price>,
    /// High.
    pub high: Price,
    /// Low.
    pub low: Price,
    /// Close.
    pub close: Price,
}

/// A price beyond the exchange's own limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breach {
    /// The name.
    pub ticker: Ticker,
    /// The day.
    pub date: TradeDate,
    /// `high` or `low`.
    pub column: &'static str,
    /// The price.
    pub price: Price,
    /// The reference price of the day.
    pub reference: Price,
    /// The limit it lies beyond.
    pub limit: Price,
}

/// A day whose total return is not what the source itself says the price changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorJump {
    /// The name.
    pub ticker: Ticker,
    /// The day.
    pub date: TradeDate,
    /// Return of close x factor since the last bar, percent.
    pub adjusted_return_percent: f64,
    /// The source's own change, percent.
    pub declared_percent: f64,
}

/// Two sessions far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionGap {
    /// The session before the gap.
    pub before: TradeDate,
    /// The session after it.
    pub after: TradeDate,
    /// Calendar days between them.
    pub days: i32,
}

/// A long run of trading days without a bar inside a name's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// The name.
    pub ticker: Ticker,
    /// The last bar before the hole.
    pub after: TradeDate,
    /// Trading days without a bar.
    pub trading_days: usize,
}

/// An exchange rule or a measure that the panel cannot support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnsupportedRule {
    /// No ST dates.
    StLimit,
    /// No listing dates.
    FirstDays,
    /// No turnover.
    Amount,
    /// No index series.
    PriceIndex,
    /// No declared calendar.
    Calendar,
    /// No factors.
    Factors,
    /// Factors, and no declared % changes.
    FactorCheck,
    /// No company names.
    CompanyNames,
    /// No sectors.
    Sectors,
    /// No dividends.
    DividendTax,
    /// Old codes of Beijing that end where its codes changed.
    ChangedCodes,
}

impl UnsupportedRule {
    /// What is missing and what that turns off.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::StLimit => "no ST dates: no stock has the 5 % limit of ST names",
            Self::FirstDays => "no listing dates: the days without limit after a listing are off",
            Self::Amount => "no turnover: it is approximated as volume x (high + low + close) / 3",
            Self::PriceIndex => "no price index: agents are shown none, and figures against it are missing",
            Self::Calendar => "no declared calendar: the trading days are the union of the rows' dates",
            Self::Factors => "no factors (all are 1): on ex-days prices fall and nothing is paid for it",
            Self::FactorCheck => "no % change from the source: factors cannot be checked",
            Self::CompanyNames => "no company names: the guard cannot look for them",
            Self::Sectors => "no sectors: breadth by sector is off",
            Self::DividendTax => "no dividends by ex-day: they stay untaxed",
            Self::ChangedCodes => {
                "codes of Beijing that end in October 2025, when all of them changed: without --codes these are delistings"
            }
        }
    }
}

/// What a panel holds and what is odd about it.
#[derive(Debug, Clone, PartialEq)]
pub struct DataReport {
    /// First and last trading day checked; `None` where the span holds none.
    pub span: Option<DateSpan>,
    /// Trading days.
    pub days: usize,
    /// Names with a bar.
    pub names: usize,
    /// Names by board.
    pub names_by_board: [(Board, usize); 4],
    /// Bars.
    pub bars: usize,
    /// Coverage year by year.
    pub years: Vec<YearCoverage>,
    /// Members of some day without any rows.
    pub absent_members: Vec<Ticker>,
    /// Bars with low above, or high below, another price.
    pub ill_formed: Examples<IllFormedBar>,
    /// Highs and lows beyond the exact limit, on days with trading: each says that the limit was another one, or a price or
    /// factor is wrong.
    pub breaches: Examples<Breach>,
    /// Those of a day that opened beyond the limit, and so has none by `no_limit_beyond`.
    pub breaches_from_the_open: usize,
    /// Days of names with trading and a limit.
    pub days_with_limit: usize,
    /// Days whose total return differs from the declared change by more than half a percentage point.
    pub factor_jumps: Examples<FactorJump>,
    /// Factor moves.
    pub factor_moves: usize,
    /// Dividends against the factor.
    pub dividends: DividendCheck,
    /// Sessions on Saturday or Sunday.
    pub weekend_sessions: Examples<TradeDate>,
    /// Sessions more than eleven calendar days apart.
    pub session_gaps: Examples<SessionGap>,
    /// Runs of more than twenty trading days without a bar.
    pub holes: Examples<Hole>,
    /// Bars on which nothing traded.
    pub bars_without_trading: usize,
    /// Trading days without a bar between a name's first and last.
    pub days_without_bar: usize,
    /// Names whose rows end before the panel does, with the day of their last row.
    pub names_ended: Examples<(Ticker, TradeDate)>,
    /// Days on which the price index has no close.
    pub price_index_days_missing: usize,
    /// What the panel cannot support.
    pub unsupported: Vec<UnsupportedRule>,
}

impl DataReport {
    /// Member-days and those with a bar, over all years.
    #[must_use]
    pub fn member_days(&self) -> (usize, usize) {
        self.years.iter().fold((0, 0), |(all, covered), year| {
            (all + year.member_days, covered + year.member_days_with_bar)
        })
    }

    /// Whether a run could use the panel: at least two trading days and a member with a bar.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.days >= 2 && self.member_days().1 > 0
    }

    /// Whether anything was found that a user should look at; what is merely absent does not count.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.ill_formed.count > 0
            || self.breaches.count > 0
            || self.factor_jumps.count > 0
            || self.dividends.mismatches.count > 0
            || self.weekend_sessions.count > 0
            || self.session_gaps.count > 0
            || self.holes.count > 0
            || self.price_index_days_missing > 0
            || !self.absent_members.is_empty()
    }
}

/// Largest difference between total return and declared change that is not reported, percentage points.
const FACTOR_TOLERANCE: f64 = 0.5;
/// Longest closure that is ordinary: the Spring Festival of 2020, counted from session to session.
const LONGEST_CLOSURE_DAYS: i32 = 11;
/// Longest run of missing bars that is not reported: the delisting rule's patience.
const LONGEST_HOLE: usize = 20;

/// Checks a panel. `rules` gives the exact limits; its `limit` key is not looked at.
#[must_use]
pub fn check_panel(market: &Market, rules: &Rules, options: CheckOptions) -> DataReport {
    let days = market.days_within(options.span);
    let date = |day: Option<&DayIndex>| day.and_then(|day| market.date(*day));
    let span = date(days.first())
        .zip(date(days.last()))
        .map(|(start, end)| DateSpan { start, end });
    let mut check = Check {
        market,
        rules: Rules {
            limit: LimitRule::Exact,
            ..rules.clone()
        },
        span: options.span,
        report: DataReport {
            span,
            days: days.len(),
            names: 0,
            names_by_board: Board::ALL.map(|board| (board, 0)),
            bars: 0,
            years: Vec::new(),
            absent_members: market
                .absent_members()
                .iter()
                .filter(|absent| touches(absent, options.span))
                .map(|absent| absent.ticker)
                .collect(),
            ill_formed: Examples::new(options.examples),
            breaches: Examples::new(options.examples),
            breaches_from_the_open: 0,
            days_with_limit: 0,
            factor_jumps: Examples::new(options.examples),
            factor_moves: 0,
            dividends: DividendCheck::new(options.examples),
            weekend_sessions: Examples::new(options.examples),
            session_gaps: Examples::new(options.examples),
            holes: Examples::new(options.examples),
            bars_without_trading: 0,
            days_without_bar: 0,
            names_ended: Examples::new(options.examples),
            price_index_days_missing: 0,
            unsupported: unsupported_rules(market),
        },
        years: BTreeMap::new(),
    };
    check.calendar(&days);
    for (name, info) in market.names() {
        check.name(name, info);
    }
    check.members(&days);
    check.report.years = check.years.into_values().collect();
    check.report
}

fn touches(absent: &AbsentMember, span: DateSpan) -> bool {
    absent
        .member
        .iter()
        .any(|member| member.start <= span.end && span.start <= member.end)
}

/// What a panel cannot support.
#[must_use]
pub fn unsupported_rules(market: &Market) -> Vec<UnsupportedRule> {
    let has_company_names = market.names().any(|(_, info)| !info.company_names.is_empty());
    [
        (market.has_st_dates(), UnsupportedRule::StLimit),
        (market.has_listing_dates(), UnsupportedRule::FirstDays),
        (market.amount_declared(), UnsupportedRule::Amount),
        (!market.indices().is_empty(), UnsupportedRule::PriceIndex),
        (market.calendar_declared(), UnsupportedRule::Calendar),
        (market.has_factors(), UnsupportedRule::Factors),
        (
            market.has_declared_changes() || !market.has_factors(),
            UnsupportedRule::FactorCheck,
        ),
        (has_company_names, UnsupportedRule::CompanyNames),
        (!market.sectors().is_empty(), UnsupportedRule::Sectors),
        (market.has_dividends(), UnsupportedRule::DividendTax),
        (!ends_where_beijing_changed(market), UnsupportedRule::ChangedCodes),
    ]
    .into_iter()
    .filter(|(supported, _)| !supported)
    .map(|(_, rule)| rule)
    .collect()
}

struct Check<'m> {
    market: &'m Market,
    rules: Rules,
    span: DateSpan,
    report: DataReport,
    years: BTreeMap<i32, YearCoverage>,
}

impl Check<'_> {
    fn year(&mut self, date: TradeDate) -> &mut YearCoverage {
        let year = date.year();
        self.years.entry(year).or_insert(YearCoverage {
            year,
            ..YearCoverage::default()
        })
    }

    fn calendar(&mut self, days: &[DayIndex]) {
        let dates: Vec<TradeDate> = days.iter().filter_map(|day| self.market.date(*day)).collect();
        for date in &dates {
            self.year(*date).days += 1;
            if date.is_weekend() {
                self.report.weekend_sessions.add(0.0, *date);
            }
        }
        for pair in dates.windows(2) {
            let [before, after] = *pair else { continue };
            let days = after.days_since_epoch() - before.days_since_epoch();
            if days > LONGEST_CLOSURE_DAYS {
                let gap = SessionGap { before, after, days };
                self.report.session_gaps.add(f64::from(days), gap);
            }
        }
        if let Some(index) = self.market.indices().first() {
            let is_missing =
                |day: &&DayIndex| index.close.get(day.index()).is_none_or(|level| level.is_nan());
            self.report.price_index_days_missing = days.iter().filter(is_missing).count();
        }
    }

    fn name(&mut self, name: NameId, info: &NameInfo) {
        let mut previous: Option<(DayIndex, Bar)> = None;
        let mut has_bar = false;
        for (day, bar) in self.market.bars_of(name) {
            let Some(date) = self.market.date(day) else {
                continue;
            };
            if self.span.contains(date) {
                has_bar = true;
                self.report.bars += 1;
                self.year(date).bars += 1;
                self.bar(info.ticker, date, &bar);
                if let Some((last, before)) = &previous {
                    self.hole(info.ticker, *last, day);
                    self.factor(info.ticker, name, day, before, &bar);
                    self.limits(name, day, before, &bar);
                    self.dividends(name, [*last, day], before, &bar);
                }
            }
            previous = Some((day, bar));
        }
        if has_bar {
            self.report.names += 1;
            for (board, count) in &mut self.report.names_by_board {
                *count += usize::from(*board == info.ticker.board());
            }
            if let (Some(last), Some(span)) = (self.market.date(info.last_row), self.report.span)
                && last < span.end
            {
                self.report.names_ended.add(0.0, (info.ticker, last));
            }
        }
    }

    fn bar(&mut self, ticker: Ticker, date: TradeDate, bar: &Bar) {
        self.report.bars_without_trading += usize::from(bar.volume == 0);
        let lowest = bar.open.map_or(bar.close, |open| open.min(bar.close));
        let highest = bar.open.map_or(bar.close, |open| open.max(bar.close));
        if bar.low <= lowest && highest <= bar.high {
            return;
        }
        let beyond = (bar.low.0 - lowest.0).max(highest.0 - bar.high.0);
        let severity = Price(beyond).to_yuan() / bar.close.to_yuan();
        let example = IllFormedBar {
            ticker,
            date,
            open: bar.open,
            high: bar.high,
            low: bar.low,
            close: bar.close,
        };
        self.report.ill_formed.add(severity, example);
    }

    fn hole(&mut self, ticker: Ticker, last: DayIndex, day: DayIndex) {
        let trading_days = day.index().saturating_sub(last.index()).saturating_sub(1);
        self.report.days_without_bar += trading_days;
        if trading_days > LONGEST_HOLE
            && let Some(after) = self.market.date(last)
        {
            let hole = Hole {
                ticker,
                after,
                trading_days,
            };
            let severity = u32::try_from(trading_days).unwrap_or(u32::MAX);
            self.report.holes.add(f64::from(severity), hole);
        }
    }

    fn factor(&mut self, ticker: Ticker, name: NameId, day: DayIndex, before: &Bar, bar: &Bar) {
        self.report.factor_moves += usize::from(before.factor != bar.factor);
        let (Some(declared_percent), Some(date)) = (
            self.market.declared_change_percent(name, day),
            self.market.date(day),
        ) else {
            return;
        };
        let adjusted_return_percent = (bar.adjusted_close() / before.adjusted_close() - 1.0) * 100.0;
        let difference = (adjusted_return_percent - declared_percent).abs();
        if difference > FACTOR_TOLERANCE {
            let jump = FactorJump {
                ticker,
                date,
                adjusted_return_percent,
                declared_percent,
            };
            self.report.factor_jumps.add(difference, jump);
        }
    }

    fn limits(&mut self, name: NameId, day: DayIndex, before: &Bar, bar: &Bar) {
        if bar.volume == 0 {
            return;
        }
        let reference = reference_price(before.close, before.factor, bar.factor);
        let limits = PriceLimits::of(&self.rules, self.market, name, day, reference);
        let (Some(limits), Some(info), Some(date)) = (limits, self.market.name(name), self.market.date(day))
        else {
            return;
        };
        let (up, down) = (limits.exact_up(), limits.exact_down());
        self.report.days_with_limit += 1;
        // A source's high may be below its close: such bars are findings of their own.
        let (high, low) = (bar.high.max(bar.close), bar.low.min(bar.close));
        for (column, price, limit, is_beyond) in
            [("high", high, up, up < high), ("low", low, down, low < down)]
        {
            if !is_beyond {
                continue;
            }
            let opened = bar.open.is_some_and(|open| up < open || open < down);
            self.report.breaches_from_the_open += usize::from(opened);
            let severity = (price.to_yuan() / limit.to_yuan() - 1.0).abs();
            let breach = Breach {
                ticker: info.ticker,
                date,
                column,
                price,
                reference,
                limit,
            };
            self.report.breaches.add(severity, breach);
        }
    }

    fn members(&mut self, days: &[DayIndex]) {
        for day in days {
            let Some(date) = self.market.date(*day) else {
                continue;
            };
            let (mut all, mut with_bar) = (0, 0);
            for (name, info) in self.market.names() {
                if info.member.iter().any(|span| span.contains(date)) {
                    all += 1;
                    with_bar += usize::from(self.market.bar(name, *day).is_some());
                }
            }
            all += self
                .market
                .absent_members()
                .iter()
                .filter(|absent| absent.member.iter().any(|span| span.contains(date)))
                .count();
            let year = self.year(date);
            year.member_days += all;
            year.member_days_with_bar += with_bar;
        }
    }
}
