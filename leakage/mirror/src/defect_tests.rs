//! Each deliberate defect is found at once, and named with its door.

use crate::auditor::{AuditSubject, Auditor};
use crate::doors::{Doors, MarketDay};
use crate::report::{AuditVerdict, CheckReport};
use crate::small_market::small_market;
use crate::{controls, decisions, declared, fills, look_ahead};
use ktd_env::exchange::{
    Account, Decision, Execution, Order, PriceLimits, RejectCode, Rules, Side, StepReport, TradingDay,
    decide, reference_price, step,
};
use ktd_env::factors::FactorConfig;
use ktd_env::{AsOf, Bar, DayIndex, FactorTable, FactorTableError, Market, NameId, Shares};
use ktd_tools::{StepView, Toolbox};
use std::sync::{Arc, LazyLock};

/// The report of a check with these doors, on three days of the small market.
fn report(doors: &dyn Doors, check: impl Fn(&Auditor<'_>) -> CheckReport) -> CheckReport {
    static MARKET: LazyLock<Arc<Market>> = LazyLock::new(|| Arc::new(small_market()));
    let mut subject = AuditSubject::of_market(Arc::clone(&MARKET));
    subject.window = MARKET.day_at(266).zip(MARKET.day_at(268));
    let auditor = Auditor::new(doors, &subject, 2).unwrap();
    assert_eq!(auditor.as_of_days.len(), 3);
    check(&auditor)
}

/// That a defect was found, and by which doors.
fn assert_found(report: &CheckReport, door: &str) {
    assert_eq!(report.verdict, AuditVerdict::Undeclared, "{report:?}");
    assert!(
        report
            .compared
            .findings
            .iter()
            .all(|finding| !finding.day.is_empty())
    );
    let doors: Vec<&str> = report
        .compared
        .findings
        .iter()
        .map(|finding| finding.door.as_str())
        .collect();
    assert!(doors.contains(&door), "{doors:?}");
    let finding = report
        .compared
        .findings
        .iter()
        .find(|finding| finding.door == door)
        .unwrap();
    assert_ne!(finding.answer, finding.other_answer);
    assert!(!finding.call.is_empty() && !finding.change.is_empty());
}

fn next(at: MarketDay<'_>) -> Option<DayIndex> {
    at.market.day_at(at.day.index() + 1)
}

/// A tool that tells the next close.
struct NextClose;

impl Doors for NextClose {
    fn call(
        &self,
        toolbox: &Toolbox,
        view: StepView<'_>,
        (name, arguments): (&str, &str),
        as_of: MarketDay<'_>,
    ) -> String {
        let answer = serde_json::to_string(&toolbox.call(view, name, arguments).payload).unwrap();
        if name != "risk_check" {
            return answer;
        }
        let (first, _) = as_of.market.names().next().unwrap();
        let close = next(as_of).and_then(|day| as_of.market.bar(first, day));
        format!("{answer} {:?}", close.map(|bar| bar.close))
    }
}

#[test]
fn a_tool_that_reads_the_next_close_is_found_and_no_other_door_is() {
    let report = report(&NextClose, look_ahead::look_ahead);
    assert_found(&report, "risk_check");
    assert!(
        report
            .compared
            .findings
            .iter()
            .all(|finding| finding.door == "risk_check")
    );
    let finding = &report.compared.findings[0];
    assert!(
        finding.call.contains("target_weight") && finding.call.contains("bright, exact"),
        "{finding:?}"
    );
}

/// A view that shows the day's own bar before it has traded.
struct OwnBar;

impl Doors for OwnBar {
    fn as_of<'m>(&self, at: MarketDay<'m>) -> AsOf<'m> {
        at.market.as_of(next(at).unwrap_or(at.day))
    }
}

#[test]
fn a_view_that_shows_the_days_own_bar_is_found() {
    assert_found(&report(&OwnBar, look_ahead::look_ahead), "prompt");
}

/// Bands by factor values of the day after.
struct TomorrowsFactors;

impl Doors for TomorrowsFactors {
    fn factors(
        &self,
        market: &Market,
        (first, last): (DayIndex, DayIndex),
    ) -> Result<FactorTable, FactorTableError> {
        let tomorrow =
            |name: NameId, day: DayIndex, _: Bar| market.bar(name, market.day_at(day.index() + 1)?);
        let early = market.replaced_from(first, tomorrow, |_, level| level);
        FactorTable::new(&early, &FactorConfig::KTD, first, last)
    }
}

#[test]
fn a_roster_that_is_drawn_by_the_next_day_is_found() {
    assert_found(&report(&TomorrowsFactors, look_ahead::bands), "roster");
}

/// An adjustment with the panel's last factor.
struct LaterFactor;

impl Doors for LaterFactor {
    fn factors(
        &self,
        market: &Market,
        (first, last): (DayIndex, DayIndex),
    ) -> Result<FactorTable, FactorTableError> {
        let latest = |name: NameId| market.bars_of(name).last().map(|(_, bar)| bar);
        let bar = |name: NameId, day: DayIndex, bar: Bar| {
            let later = latest(name).filter(|_| day == last)?;
            Some(Bar {
                factor: later.factor,
                factor_value: later.factor_value,
                ..bar
            })
        };
        let adjusted = market.replaced_from(
            last,
            |name, day, old| bar(name, day, old).or(Some(old)),
            |_, level| level,
        );
        FactorTable::new(&adjusted, &FactorConfig::KTD, first, last)
    }
}

#[test]
fn an_adjustment_with_a_later_factor_is_found() {
    assert_found(&report(&LaterFactor, look_ahead::look_ahead), "factors");
}

/// An exchange that fills at the day's close.
struct FillAtClose;

impl Doors for FillAtClose {
    fn trade(
        &self,
        rules: &Rules,
        account: Account,
        orders: &[Order],
        day: MarketDay<'_>,
    ) -> Option<(Account, StepReport)> {
        let at_close = |_: NameId, at: DayIndex, bar: Bar| {
            let open = if at == day.day { Some(bar.close) } else { bar.open };
            Some(Bar { open, ..bar })
        };
        let market = day.market.replaced_from(day.day, at_close, |_, level| level);
        step(rules, account, orders, &TradingDay::new(&market, day.day)?).ok()
    }
}

#[test]
fn a_fill_at_the_same_close_is_found() {
    let report = report(&FillAtClose, fills::fills);
    assert_found(&report, "exchange step");
    let finding = &report.compared.findings[0];
    assert!(
        finding.call.starts_with("order ") && finding.answer.contains("filled"),
        "{finding:?}"
    );
}

/// An exchange whose price limit looks at the close.
struct LimitOnClose;

impl Doors for LimitOnClose {
    fn trade(
        &self,
        rules: &Rules,
        account: Account,
        orders: &[Order],
        day: MarketDay<'_>,
    ) -> Option<(Account, StepReport)> {
        let (account, mut report) =
            step(rules, account, orders, &TradingDay::new(day.market, day.day)?).ok()?;
        for fill in &mut report.fills {
            let limit = |name: NameId| {
                let bar = day.market.bar(name, day.day)?;
                let before = day
                    .market
                    .bar(name, day.market.last_bar_day(name, day.day.before()?)?)?;
                let reference = reference_price(before.close, before.factor, bar.factor);
                let limits = PriceLimits::of(rules, day.market, name, day.day, reference)?;
                Some(limits.state(bar.close).blocks(fill.side))
            };
            if fill.name.and_then(limit) == Some(true) {
                fill.execution = Execution::Rejected(match fill.side {
                    Side::Buy => RejectCode::LimitUp,
                    Side::Sell => RejectCode::LimitDown,
                });
            }
        }
        Some((account, report))
    }
}

#[test]
fn a_limit_on_the_close_is_found() {
    let report = report(&LimitOnClose, fills::fills);
    assert_found(&report, "exchange step");
    assert!(
        report
            .compared
            .findings
            .iter()
            .all(|finding| { finding.answer.contains("limit") || finding.other_answer.contains("limit") })
    );
}

/// An exchange that fills a hundredth of the day's volume at most.
struct VolumeCap;

impl Doors for VolumeCap {
    fn trade(
        &self,
        rules: &Rules,
        account: Account,
        orders: &[Order],
        day: MarketDay<'_>,
    ) -> Option<(Account, StepReport)> {
        let (account, mut report) =
            step(rules, account, orders, &TradingDay::new(day.market, day.day)?).ok()?;
        for fill in &mut report.fills {
            let volume = fill
                .name
                .and_then(|name| day.market.bar(name, day.day))
                .map_or(0, |bar| bar.volume);
            if let Execution::Filled { quantity, .. } = &mut fill.execution {
                *quantity = (*quantity).min(Shares(i64::try_from(volume / 10_000).unwrap()));
            }
        }
        Some((account, report))
    }
}

#[test]
fn a_fill_that_knows_the_days_volume_is_found() {
    assert_found(&report(&VolumeCap, fills::volume), "exchange step");
}

/// Checks at decision that size by the trading day's close.
struct SizedByTheDay;

impl Doors for SizedByTheDay {
    fn decide(
        &self,
        rules: &Rules,
        account: &Account,
        orders: &[Order],
        day: MarketDay<'_>,
    ) -> Vec<Decision> {
        decide(rules, account, orders, &day.market.as_of(day.day))
    }
}

#[test]
fn a_decision_that_reads_the_trading_day_is_found() {
    assert_found(&report(&SizedByTheDay, decisions::decisions), "exchange decision");
}

/// Tools that tell how many names the panel has, and which of them will be under special treatment.
struct LaterFacts {
    tells_st: bool,
}

impl Doors for LaterFacts {
    fn call(
        &self,
        toolbox: &Toolbox,
        view: StepView<'_>,
        (name, arguments): (&str, &str),
        as_of: MarketDay<'_>,
    ) -> String {
        let answer = serde_json::to_string(&toolbox.call(view, name, arguments).payload).unwrap();
        let names = as_of.market.names();
        let st: usize = as_of.market.names().map(|(_, info)| info.st.len()).sum();
        format!("{answer} {} {}", names.len(), if self.tells_st { st } else { 0 })
    }
}

#[test]
fn an_answer_that_shows_a_later_fact_is_counted_and_one_that_is_not_declared_fails() {
    let figure = |report: &CheckReport, name: &str| {
        let mut figures = report.figures.iter();
        figures.find(|figure| figure.name == name).unwrap().value
    };
    let declared_alone = report(&LaterFacts { tells_st: false }, declared::declared);
    assert_eq!(
        declared_alone.verdict,
        AuditVerdict::AsDeclared,
        "{declared_alone:?}"
    );
    assert!(0.0 < figure(&declared_alone, "answers that change with names listed later"));
    let undeclared = report(&LaterFacts { tells_st: true }, declared::declared);
    assert_found(&undeclared, "get_market_context");
    assert!(0.0 < figure(&undeclared, "answers that change with anything else"));
}

/// The same doors leave the other checks alone: a finding names what is broken, and nothing else.
#[test]
fn a_defect_of_one_door_is_no_finding_of_another() {
    assert_eq!(
        report(&FillAtClose, decisions::decisions).verdict,
        AuditVerdict::Clean
    );
    assert_eq!(report(&SizedByTheDay, fills::fills).verdict, AuditVerdict::Clean);
    assert_eq!(
        report(&NextClose, controls::controls).verdict,
        AuditVerdict::Found
    );
    assert_eq!(
        report(&FillAtClose, look_ahead::look_ahead).verdict,
        AuditVerdict::Clean
    );
}
