//! M3 and M4: an open knows of its day nothing but the open, the factor and whether anything trades.

use crate::auditor::Auditor;
use crate::counterfactual::{other_close, other_volume};
use crate::doors::MarketDay;
use crate::orders::{batches, outcomes, wide};
use crate::report::{Answer, AuditVerdict, CheckReport, Compared, count};
use ktd_env::{DayIndex, Market};

/// Other closes that each trading day is given.
const OTHER_CLOSES: u64 = 2;

/// M3: high, low, close, amount and index of the trading day.
pub(crate) fn fills(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M3",
        "do fills, fees or rejections at the open change with the day's high, low, close, amount or index?",
    );
    let compared = auditor.each(&auditor.trading_days(), |day| {
        (0..OTHER_CLOSES).fold(Compared::default(), |compared, seed| {
            let other = other_close(auditor.market, *day, seed);
            compared.join(compare(
                auditor,
                &other,
                *day,
                "the day's high, low, close, amount and index replaced",
            ))
        })
    });
    for compared in compared {
        report.add(compared);
    }
    report.judged_clean()
}

/// M4: the volume of the trading day.
pub(crate) fn volume(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M4",
        "do fills change with the day's volume, other than by whether there was any?",
    );
    let each = auditor.each(&auditor.trading_days(), |day| {
        let other = other_volume(
            auditor.market,
            *day,
            |volume| if volume == 0 { 0 } else { volume / 3 + 1 },
        );
        let same = compare(auditor, &other, *day, "another positive volume");
        let none = other_volume(auditor.market, *day, |_| 0);
        (same, without_volume(auditor, &none, *day))
    });
    let mut suspended = 0;
    for (same, none) in each {
        report.add(same);
        if let Some((by_rule, otherwise)) = none {
            suspended += by_rule;
            report.add(otherwise);
        }
    }
    report.figure("orders that a day without volume suspends", count(suspended));
    let mut report = report.judged_clean();
    if report.verdict == AuditVerdict::Clean && 0 < suspended {
        report.verdict = AuditVerdict::AsDeclared;
        report.notes.push(
            "an order at the open knows whether the day has any volume: a suspension, known before the open"
                .to_owned(),
        );
    }
    report
}

/// The outcomes of the batches of a day on a panel; `None` on the panel's first day.
fn traded(auditor: &Auditor<'_>, market: &Market, day: DayIndex) -> Option<Vec<Answer>> {
    let rules = wide(&auditor.rules);
    let mut answers = Vec::new();
    // The batches are those of the true panel: they rest on the day before alone.
    for (account, orders) in batches(auditor.market, day) {
        let (account, report) = auditor
            .doors
            .trade(&rules, account, &orders, MarketDay { market, day })?;
        answers.extend(outcomes(auditor.market, &report));
        answers.push(Answer {
            door: "exchange step",
            call: "cash after the open".to_owned(),
            text: account.cash.0.to_string(),
        });
    }
    Some(answers)
}

fn compare(auditor: &Auditor<'_>, other: &Market, day: DayIndex, change: &str) -> Compared {
    let pair = traded(auditor, auditor.market, day).zip(traded(auditor, other, day));
    let Some((own, others)) = pair else {
        return Compared::skipped();
    };
    Compared::of(&own, &others, (&auditor.date(day), change))
}

/// How many orders a day without volume suspends, and those that it changes in another way.
fn without_volume(auditor: &Auditor<'_>, none: &Market, day: DayIndex) -> Option<(usize, Compared)> {
    let own = traded(auditor, auditor.market, day)?;
    let others = traded(auditor, none, day)?;
    let by_rule = |(own, other): &(&Answer, &Answer)| {
        own.text != other.text && (other.text == "rejected suspended" || own.call == "cash after the open")
    };
    let pairs = || own.iter().zip(&others);
    let suspended =
        pairs().filter(|(own, other)| own.text != other.text && other.text == "rejected suspended");
    let suspended = suspended.count();
    let (kept, kept_others): (Vec<Answer>, Vec<Answer>) = pairs()
        .filter(|pair| !by_rule(pair))
        .map(|(own, other)| (own.clone(), other.clone()))
        .unzip();
    let otherwise = Compared::of(&kept, &kept_others, (&auditor.date(day), "no volume"));
    Some((suspended, otherwise))
}
