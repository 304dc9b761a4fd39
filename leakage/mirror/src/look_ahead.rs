//! M1 and M9: whatever a model is shown stays when what comes later is cut or replaced.

use crate::auditor::Auditor;
use crate::counterfactual::other_future;
use crate::doors::MarketDay;
use crate::report::{CheckReport, Compared, count};
use crate::scene::Scene;
use crate::shown::{AskedStocks, Questions, all_masks, factor_values};
use ktd_env::{DayIndex, FactorTable, Market};
use ktd_masking::{MaskSettings, Numeric};

/// Steps before the questions of M1, so that account and last step have something to tell.
const TRADED: usize = 2;
/// Steps before the questions of M9: the roster of the next period has just been drawn, or is a step old.
const TRADED_BANDS: [usize; 2] = [5, 6];

/// M1: tools, prompts, account and factors under every mask.
pub(crate) fn look_ahead(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M1",
        "do tools, prompts, account or factors change when later bars are cut or replaced?",
    );
    let masks = all_masks();
    report.figure("masks", count(masks.len()));
    for compared in auditor.each(&auditor.as_of_days, |day| {
        with_other_futures(auditor, *day, (TRADED, &masks), true)
    }) {
        report.add(compared);
    }
    report
        .notes
        .push("the system message is a text of the rules and limits alone: it takes no market".to_owned());
    report.judged_clean()
}

/// M9: rosters, bands and the days on which they are drawn anew.
pub(crate) fn bands(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M9",
        "do bands or rosters, on the day they are drawn anew or after it, change with what comes later?",
    );
    let is_banded = |mask: &MaskSettings| matches!(mask.numeric, Numeric::Banded | Numeric::BandedFive);
    let masks: Vec<MaskSettings> = all_masks().into_iter().filter(is_banded).collect();
    for compared in auditor.each(&auditor.as_of_days, |day| {
        let each = TRADED_BANDS.map(|traded| with_other_futures(auditor, *day, (traded, &masks), false));
        each.into_iter().fold(Compared::default(), Compared::join)
    }) {
        report.add(compared);
    }
    report.notes.push(
        "attribution, luck bands and ranks are after the fact: they read the whole panel, and nothing that a model is shown can \
         name them"
            .to_owned(),
    );
    report.judged_clean()
}

fn with_other_futures(
    auditor: &Auditor<'_>,
    as_of: DayIndex,
    (traded, masks): (usize, &[MaskSettings]),
    with_factors: bool,
) -> Compared {
    let cut = auditor.market.cut_after(as_of);
    let replaced = other_future(auditor.market, as_of, seed(as_of));
    let twins = [
        ("cut after the as-of day", Some(cut)),
        ("later bars replaced", replaced),
    ];
    let mut compared = Compared::default();
    for (change, twin) in &twins {
        if let Some(twin) = twin {
            let pair = (auditor.market, &auditor.table, twin);
            compared = compared.join(compare(
                auditor,
                pair,
                (as_of, traded, masks),
                (change, with_factors),
            ));
        }
    }
    compared
}

/// What is shown on a panel against what is shown on another, whose factor values are made of itself.
pub(crate) fn compare(
    auditor: &Auditor<'_>,
    (market, table, twin): (&Market, &FactorTable, &Market),
    (as_of, traded, masks): (DayIndex, usize, &[MaskSettings]),
    (change, with_factors): (&str, bool),
) -> Compared {
    let Some(first) = as_of
        .index()
        .checked_sub(traded)
        .and_then(|place| twin.day_at(place))
    else {
        return Compared::skipped();
    };
    let Ok(twin_table) = auditor.doors.factors(twin, (first, as_of)) else {
        return Compared::skipped();
    };
    let scene = |market, table| {
        Scene::played(
            auditor.doors,
            &auditor.rules,
            MarketDay { market, day: as_of },
            (table, traded),
        )
    };
    let (Some(own), Some(other)) = (scene(market, table), scene(twin, &twin_table)) else {
        return Compared::skipped();
    };
    let questions = Questions {
        doors: auditor.doors,
        toolbox: &auditor.toolbox,
        rules: &auditor.rules,
        limits: &auditor.limits,
        asked: AskedStocks::on(own.at),
    };
    let day = auditor.date(as_of);
    let mut compared = Compared::default();
    if with_factors {
        let (one, two) = (
            factor_values(auditor.doors, &own),
            factor_values(auditor.doors, &other),
        );
        compared = compared.join(Compared::of(&one, &two, (&day, change)));
    }
    for settings in masks {
        let (one, two) = (
            questions.shown(&own, *settings),
            questions.shown(&other, *settings),
        );
        compared = compared.join(Compared::of(
            &one.unwrap_or_default(),
            &two.unwrap_or_default(),
            (&day, change),
        ));
    }
    compared
}

fn seed(day: DayIndex) -> u64 {
    u64::try_from(day.index()).unwrap_or(0)
}
