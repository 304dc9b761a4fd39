//! M2: what a panel knows of later days beside its rows. These facts are declared in the data card; nothing else may show.

use crate::auditor::Auditor;
use crate::counterfactual::{LaterFacts, as_known};
use crate::look_ahead::compare;
use crate::report::{AuditVerdict, CheckReport, Compared, count};
use ktd_env::{DataError, DayIndex, Market, TradeDate};
use ktd_masking::{Level, MaskSettings, Numeric};

/// The steps by which the panel as it was known becomes the cut panel: what is added, under its name in the report.
const STEPS: [(LaterFacts, &str); 3] = [
    (LaterFacts::Names, "answers that change with names listed later"),
    (LaterFacts::Members, "answers that change with later membership"),
    (LaterFacts::LastRows, "answers that change with last rows"),
];

/// Steps before the questions.
const TRADED: usize = 2;

/// What of one day the report counts.
#[derive(Debug, Default)]
struct Declared {
    /// Differences by what was added.
    by_step: [usize; 3],
    /// All answers against the panel as it was known.
    all: Compared,
    /// What is left when all declared facts are added.
    undeclared: Compared,
    facts: LaterCounts,
}

/// The facts of later days that a panel holds on a day.
#[derive(Debug, Default, Clone, Copy)]
struct LaterCounts {
    names: usize,
    members: usize,
    last_rows: usize,
    sessions: usize,
}

/// M2: declared facts, under the level that hides nothing.
pub(crate) fn declared(auditor: &Auditor<'_>) -> CheckReport {
    let mut report = CheckReport::new(
        "M2",
        "what does the panel know of later days beside its rows, and does any answer show it?",
    );
    let each = auditor.each(&auditor.as_of_days, |day| of_day(auditor, *day));
    let (mut by_step, mut undeclared, mut most) = ([0; 3], 0, LaterCounts::default());
    let (mut shown, mut failing) = (Compared::default(), Compared::default());
    for day in each {
        let Ok(day) = day else {
            report.add(Compared::skipped());
            continue;
        };
        for (sum, own) in by_step.iter_mut().zip(day.by_step) {
            *sum += own;
        }
        most = most.most(day.facts);
        undeclared += day.undeclared.differing;
        shown = shown.join(day.all);
        failing = failing.join(day.undeclared);
    }
    if 0 < undeclared {
        // What is declared is counted, and what is not is told.
        shown.findings = failing.findings;
    }
    report.add(shown);
    report.figure("names listed later, at most", count(most.names));
    report.figure(
        "spans of membership that begin or end later, at most",
        count(most.members),
    );
    report.figure(
        "last rows that lie later and before the panel's end, at most",
        count(most.last_rows),
    );
    report.figure("later sessions of the calendar, at most", count(most.sessions));
    for ((_, name), differing) in STEPS.iter().zip(by_step) {
        report.figure(name, count(differing));
    }
    report.figure("answers that change with anything else", count(undeclared));
    report.notes.push(
        "at the rungs of bands a roster is as large as the thinnest day of the index allows, later days of the panel included"
            .to_owned(),
    );
    report.verdict = match (report.compared.compared, undeclared) {
        (0, _) => AuditVerdict::NotPossible,
        (_, 0) => AuditVerdict::AsDeclared,
        (_, _) => AuditVerdict::Undeclared,
    };
    report
}

fn of_day(auditor: &Auditor<'_>, as_of: DayIndex) -> Result<Declared, DataError> {
    let masks = Numeric::ALL.map(|numeric| MaskSettings {
        level: Level::Bright,
        numeric,
    });
    let against = |twin: &Market, change: &str| {
        let pair = (auditor.market, &auditor.table, twin);
        compare(auditor, pair, (as_of, TRADED, &masks), (change, true))
    };
    let mut declared = Declared {
        facts: LaterCounts::of(auditor.market, as_of),
        ..Declared::default()
    };
    let Some(known) = as_known(auditor.market, as_of, LaterFacts::None)? else {
        return Ok(declared);
    };
    declared.all = against(&known, "the panel as it was known");
    let mut before = declared.all.differing;
    if before == 0 {
        return Ok(declared);
    }
    for ((facts, name), differing) in STEPS.iter().zip(&mut declared.by_step) {
        let Some(twin) = as_known(auditor.market, as_of, *facts)? else {
            continue;
        };
        let left = against(&twin, name);
        *differing = before.saturating_sub(left.differing);
        before = left.differing;
        declared.undeclared = left;
    }
    Ok(declared)
}

impl LaterCounts {
    fn of(market: &Market, day: DayIndex) -> Self {
        let Some(date) = market.date(day) else {
            return Self::default();
        };
        let last = market.calendar().last().copied().unwrap_or(date);
        let is_later = |other: TradeDate| date < other && other < last;
        let end = market.calendar().len().saturating_sub(1);
        let mut counts = Self {
            sessions: end.saturating_sub(day.index()),
            ..Self::default()
        };
        for (name, info) in market.names() {
            counts.names += usize::from(market.first_bar_day(name).is_some_and(|first| day < first));
            let spans = info.member.iter();
            counts.members += spans
                .filter(|span| is_later(span.start) || is_later(span.end))
                .count();
            counts.last_rows += usize::from(day < info.last_row && info.last_row.index() < end);
        }
        counts
    }

    fn most(self, other: Self) -> Self {
        Self {
            names: self.names.max(other.names),
            members: self.members.max(other.members),
            last_rows: self.last_rows.max(other.last_rows),
            sessions: self.sessions.max(other.sessions),
        }
    }
}
