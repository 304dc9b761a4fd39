//! M5: what is accepted at decision knows nothing of the trading day.

use crate::auditor::Auditor;
use crate::counterfactual::other_day;
use crate::doors::MarketDay;
use crate::orders::{batches, decided};
use crate::report::{Answer, CheckReport, Compared};
use ktd_env::{DayIndex, Market};

/// M5: all of the trading day, factors and volumes too.
pub(crate) fn decisions(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M5",
        "does what is accepted at decision change with the bars of the trading day?",
    );
    let compared = auditor.each(&auditor.trading_days(), |day| {
        let Some(other) = other_day(auditor.market, *day, 0) else {
            return Compared::skipped();
        };
        let (own, others) = (
            answers(auditor, auditor.market, *day),
            answers(auditor, &other, *day),
        );
        Compared::of(
            &own,
            &others,
            (&auditor.date(*day), "all of the trading day replaced"),
        )
    });
    for compared in compared {
        report.add(compared);
    }
    report.judged_clean()
}

/// The decisions on the batches of a day, under the experiment's own limits.
fn answers(auditor: &Auditor<'_>, market: &Market, day: DayIndex) -> Vec<Answer> {
    let mut answers = Vec::new();
    for (account, orders) in batches(auditor.market, day) {
        let decisions = auditor
            .doors
            .decide(&auditor.rules, &account, &orders, MarketDay { market, day });
        answers.extend(decided(auditor.market, &orders, &decisions));
    }
    answers
}
