//! M8: what a look-ahead of one day would be worth in this exchange, with its lots, limits, T+1 and fees.
//!
//! Two models of the one-switch benchmark trade at the same opens: with the scores of the close before, and with those of the
//! day's own bar. No experiment can name the second view; it exists here alone.

use crate::auditor::Auditor;
use crate::doors::MarketDay;
use crate::orders::wide;
use crate::report::{AuditVerdict, CheckReport, count};
use ktd_env::exchange::{Account, Order, Quantity, Side, TargetWeight};
use ktd_env::{DayIndex, NameId, Ticker};
use ktd_leakage::{
    LeakageBench, LeakageError, LeakageSettings, ModelFamily, RunKey, SessionScores, Switch,
    default_test_years,
};
use ktd_leakage_study::{LeakUniverse, MarketBars, market_bars};
use ktd_stats::Undefined;
use ktd_stats::moments::Moments;
use std::collections::BTreeMap;

/// Sessions of the label that the models learn.
const HORIZON: usize = 5;
/// Test years that are traded at most, the latest.
const YEARS: usize = 3;
/// Models with the gain that is expected of them at least.
const MODELS: [(ModelFamily, f64); 2] = [(ModelFamily::Ridge, 5.0), (ModelFamily::Momentum, 1.0)];

/// M8: the gain of a view that ends a day later.
pub(crate) fn switches(auditor: &Auditor<'_>) -> CheckReport {
    let report = CheckReport::new(
        "M8",
        "what would a look-ahead of one day be worth here, through lots, limits, T+1 and fees?",
    );
    let Ok(bars) = market_bars(auditor.market, LeakUniverse::Members) else {
        return report.not_possible("the panel has no members");
    };
    let mut years = default_test_years(bars.bars.months());
    years.drain(..years.len().saturating_sub(YEARS));
    if years.is_empty() {
        return report.not_possible("no whole year has two whole years before it, to fit the models on");
    }
    let settings = LeakageSettings::BENCHMARK;
    let bench = LeakageBench::new(bars.bars.clone(), settings, &[HORIZON], bars.eligible.as_deref());
    let measured = bench.and_then(|bench| measured(auditor, (&bars, &bench), &years));
    match measured {
        Ok(gains) => told(report, &gains, &years),
        Err(error) => report.not_possible(error.to_string()),
    }
}

/// A model's ratios with the true view and with the later one.
struct Gain {
    family: ModelFamily,
    least: f64,
    clean: Option<f64>,
    later: Option<f64>,
    days: usize,
}

fn measured(
    auditor: &Auditor<'_>,
    (bars, bench): (&MarketBars, &LeakageBench),
    years: &[i32],
) -> Result<Vec<Gain>, LeakageError> {
    let names: Vec<Option<NameId>> = bars
        .codes
        .iter()
        .map(|code| auditor.market.find(Ticker::parse(code).ok()?))
        .collect();
    let mut gains = Vec::new();
    for (family, least) in MODELS {
        let held = |switch| -> Result<Held, LeakageError> {
            let mut held = Held::new();
            for year in years {
                let key = RunKey {
                    family,
                    switch,
                    horizon: HORIZON,
                    year: *year,
                    seed: 1,
                };
                held.extend(
                    key.scores(bench)?
                        .iter()
                        .map(|day| (day.session, wanted(day, &names))),
                );
            }
            Ok(held)
        };
        let (clean, later) = (held(Switch::Clean)?, held(Switch::ExecOpen)?);
        // The same trading days for both: those whose day before and whose own bar have scores.
        let is_both = |day: &usize| {
            day.checked_sub(1)
                .is_some_and(|before| clean.contains_key(&before))
        };
        let days: Vec<usize> = later.keys().copied().filter(is_both).collect();
        gains.push(Gain {
            family,
            least,
            clean: traded(auditor, &clean, (&days, 1)),
            later: traded(auditor, &later, (&days, 0)),
            days: days.len(),
        });
    }
    Ok(gains)
}

/// The names to hold by signal day.
type Held = BTreeMap<usize, Vec<NameId>>;

fn wanted(day: &SessionScores, names: &[Option<NameId>]) -> Vec<NameId> {
    let picks = day.best_tenth();
    picks
        .iter()
        .filter_map(|pick| names.get(*pick).copied().flatten())
        .collect()
}

/// The annual ratio of an account that holds, on each trading day, what was wanted so many days before in equal weights.
fn traded(auditor: &Auditor<'_>, held: &Held, (days, back): (&[usize], usize)) -> Option<f64> {
    let rules = wide(&auditor.rules);
    let mut account = Account::with_cash(rules.initial_cash);
    let mut returns = Vec::with_capacity(days.len());
    for place in days {
        let day = auditor.market.day_at(*place)?;
        let wanted = place.checked_sub(back).and_then(|signal| held.get(&signal))?;
        let orders = rebalance(auditor, &account, wanted, day)?;
        let before = account.nav.to_yuan();
        let at = MarketDay {
            market: auditor.market,
            day,
        };
        let (after, _) = auditor.doors.trade(&rules, account, &orders, at)?;
        account = after;
        returns.push(account.nav.to_yuan() / before - 1.0);
    }
    Moments::of(&returns)?.annual_ratio(Undefined::ZeroVariance).ok()
}

/// Sells of what is not wanted, then each wanted name to its share.
fn rebalance(
    auditor: &Auditor<'_>,
    account: &Account,
    wanted: &[NameId],
    day: DayIndex,
) -> Option<Vec<Order>> {
    let view = auditor.market.as_of(day.before()?);
    let share = 1_000_000 / u32::try_from(wanted.len().max(1)).ok()?;
    let target = TargetWeight::from_millionths(share)?;
    let order = |name, side, target| Order {
        name: Some(name),
        side,
        quantity: Quantity::TargetWeight(target),
    };
    let nothing = TargetWeight::from_millionths(0)?;
    let given_up = account
        .holdings
        .iter()
        .filter(|held| !wanted.contains(&held.name));
    let mut orders: Vec<Order> = given_up
        .map(|held| order(held.name, Side::Sell, nothing))
        .collect();
    for name in wanted {
        let Some((_, bar)) = view.last_bar(*name) else {
            continue;
        };
        let value = bar.close.times(account.shares(*name)).ok()?.to_yuan();
        let is_more = value < account.nav.to_yuan() * f64::from(share) / 1e6;
        orders.push(order(*name, if is_more { Side::Buy } else { Side::Sell }, target));
    }
    Some(orders)
}

fn told(mut report: CheckReport, gains: &[Gain], years: &[i32]) -> CheckReport {
    report.verdict = AuditVerdict::Measured;
    for gain in gains {
        let name = gain.family.name();
        report.compared.compared += gain.days;
        let worth = gain.clean.zip(gain.later).map(|(clean, later)| later - clean);
        let figures = [
            ("annual ratio with the true view", gain.clean),
            ("annual ratio with a view that ends a day later", gain.later),
            ("gain of the later view", worth),
        ];
        for (what, value) in figures {
            if let Some(value) = value {
                report.figure(&format!("{name}: {what}"), value);
            }
        }
        if worth.is_none_or(|worth| worth <= gain.least) {
            report.notes.push(format!(
                "the gain of {name} is not above {}, which was expected",
                gain.least
            ));
        }
    }
    report.figure("test years", count(years.len()));
    report
        .notes
        .push("the account may hold any number of names at any weight; lots, limits, T+1 and fees are those of the rules".to_owned());
    report
}
