//! How often the audit of signals is right on a panel: formulas that know nothing too early, and leaks that are planted.

use super::bars::{MarketBars, market_bars, unfit};
use super::config::LeakUniverse;
use crate::StudyError;
use ktd_env::Market;
use ktd_expressions::{CheckedFormula, FormulaPrecision};
use ktd_formulas::{
    BuiltInSet, FieldPanel, FormulaRole, FormulasError, SetOfFormulas, ValueSpan, evaluate_each,
    market_fields,
};
use ktd_io::parallel::in_parallel;
use ktd_leakage::{
    BarGrid, KnownAt, LeakKind, PLANTED_SHARES, PlantedLeak, SignalAuditor, SignalGrid, SignalVerdict,
    SuspicionRule,
};
use ktd_stats::binomial_at_most;
use ktd_study::{Audited, Report, Section, Shown};
use ktd_view::draw::{Align, TableCell, TableData, counted};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

/// Sessions of a window: a longer panel is cut into several.
const WINDOW_SESSIONS: usize = 500;
/// The least draws of each leak over all windows.
const LEAST_DRAWS: usize = 8;
/// Sessions that planted leaks read ahead.
const LEAK_SESSIONS: [usize; 5] = [1, 5, 10, 20, 60];
/// Formulas whose values stand in memory together.
const FORMULAS_AT_ONCE: usize = 32;

/// How often the audit of signals was right.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlantedAudit {
    /// Windows of the panel that were audited by themselves.
    pub windows: usize,
    /// The seed of all leaks.
    pub seed: u64,
    /// What became of formulas that know nothing too early.
    pub clean: CleanRates,
    /// What became of leaks, one a kind and number of sessions.
    pub leaks: Vec<PlantedLeakRow>,
}

/// Verdicts on clean formulas.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanRates {
    /// Formulas with a verdict.
    pub formulas: usize,
    /// Verdicts: a formula has one a window.
    pub verdicts: usize,
    /// Those that are `unusual`.
    pub unusual: usize,
    /// Those that are `suspect`, each of which is wrong.
    pub suspect: usize,
    /// Formulas that are suspect in any window.
    pub accused: Vec<String>,
    /// The upper 95 % bound of the share of such formulas (Clopper and Pearson); none without a formula.
    pub bound: Option<f64>,
}

/// Leaks of one kind and number of sessions that are `suspect`, by strength.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlantedLeakRow {
    /// How the future comes in.
    pub kind: LeakKind,
    /// Sessions ahead.
    pub sessions: usize,
    /// Leaks of each strength.
    pub planted: usize,
    /// Those found, from the weakest to the strongest.
    pub found: [usize; PLANTED_SHARES.len()],
}

/// Judges library formulas and planted leaks on a panel.
///
/// # Errors
/// [`StudyError`] for a panel without names.
pub fn audit_planted(market: &Market, seed: u64, threads: usize) -> Result<Audited, StudyError> {
    let all = market_bars(market, LeakUniverse::All)?;
    let fields = market_fields(market);
    let sessions = all.calendar.len();
    let count = (sessions / WINDOW_SESSIONS).max(1);
    let lines = BuiltInSet::ALL.into_iter().flat_map(BuiltInSet::lines).collect();
    let set = SetOfFormulas::check(lines, &fields.fields, FormulaRole::Alpha);
    let (mut clean, mut leaks) = (CleanCount::default(), planted_rows());
    for window in 0..count {
        let range = sessions * window / count..sessions * (window + 1) / count;
        let bars = all.bars.window(range.clone());
        let auditor = SignalAuditor::new(&bars, SuspicionRule::BENCHMARK);
        for chunk in set.checked.chunks(FORMULAS_AT_ONCE) {
            let formulas: Vec<CheckedFormula> = chunk.iter().map(|(_, checked)| checked.clone()).collect();
            let cells = window_cells(&fields, &formulas, &all, &range, threads)?;
            let verdicts = in_parallel(&cells, threads, |cells| verdict(&auditor, &bars, cells));
            for ((line, _), verdict) in chunk.iter().zip(verdicts) {
                clean.add(&line.id, &verdict?);
            }
        }
        let draws = LEAST_DRAWS.div_ceil(count);
        plant(&mut leaks, (&auditor, &bars), (seed, window, draws), threads)?;
    }
    let audit = PlantedAudit {
        windows: count,
        seed,
        clean: clean.rates(),
        leaks,
    };
    Audited::new(&audit, report(&audit), None)
}

fn planted_rows() -> Vec<PlantedLeakRow> {
    let rows = LeakKind::ALL
        .into_iter()
        .flat_map(|kind| LEAK_SESSIONS.map(|sessions| (kind, sessions)));
    rows.map(|(kind, sessions)| PlantedLeakRow {
        kind,
        sessions,
        planted: 0,
        found: [0; PLANTED_SHARES.len()],
    })
    .collect()
}

/// Plants so many leaks of each kind, number of sessions and strength on a window.
fn plant(
    rows: &mut [PlantedLeakRow],
    (auditor, bars): (&SignalAuditor<'_>, &BarGrid),
    (seed, window, draws): (u64, usize, usize),
    threads: usize,
) -> Result<(), StudyError> {
    let draws: Vec<u64> = (window * draws..(window + 1) * draws)
        .filter_map(|draw| u64::try_from(draw).ok())
        .map(|draw| seed.wrapping_mul(1 << 20).wrapping_add(draw))
        .collect();
    let planted: Vec<(usize, usize, PlantedLeak, u64)> = rows
        .iter()
        .enumerate()
        .flat_map(|(row, own)| {
            let leaks = PLANTED_SHARES.into_iter().enumerate().map(|(strength, share)| {
                let PlantedLeakRow { kind, sessions, .. } = *own;
                let leak = PlantedLeak {
                    kind,
                    sessions,
                    share,
                };
                (strength, leak)
            });
            let each =
                leaks.flat_map(|(strength, leak)| draws.iter().map(move |draw| (strength, leak, *draw)));
            each.map(move |(strength, leak, draw)| (row, strength, leak, draw))
                .collect::<Vec<_>>()
        })
        .collect();
    let verdicts = in_parallel(&planted, threads, |(.., leak, draw)| {
        verdict(auditor, bars, &leak.scores(bars, *draw))
    });
    for ((row, strength, ..), verdict) in planted.iter().zip(verdicts) {
        let is_found = matches!(verdict?, SignalVerdict::Suspect(_));
        let slot = rows.get_mut(*row).and_then(|row| row.found.get_mut(*strength));
        if let Some(found) = slot {
            *found += usize::from(is_found);
        }
    }
    for row in rows {
        row.planted += draws.len();
    }
    Ok(())
}

fn verdict(auditor: &SignalAuditor<'_>, bars: &BarGrid, cells: &[f64]) -> Result<SignalVerdict, StudyError> {
    let signal = SignalGrid::new(bars, cells).map_err(unfit)?;
    Ok(auditor.verdict(&signal, KnownAt::Close))
}

/// The values of formulas on a window, a cell for each name of the first session, then of the second.
fn window_cells(
    fields: &FieldPanel,
    formulas: &[CheckedFormula],
    all: &MarketBars,
    window: &Range<usize>,
    threads: usize,
) -> Result<Vec<Vec<f64>>, StudyError> {
    let day = |session: usize| all.calendar.get(session).copied();
    let span = ValueSpan {
        from: day(window.start),
        to: day(window.end.saturating_sub(1)),
        names: None,
    };
    let names = all.codes.len();
    let mut cells = vec![vec![f64::NAN; window.len() * names]; formulas.len()];
    let precision = FormulaPrecision::Qlib;
    evaluate_each::<FormulasError>(fields, formulas, precision, (&span, threads), |name| {
        let Ok(place) = all.codes.binary_search(&name.code) else {
            return Ok(());
        };
        for (cells, column) in cells.iter_mut().zip(&name.columns) {
            for (session, value) in name.sessions.iter().zip(column) {
                let session = session.checked_sub(window.start);
                let cell = session.and_then(|session| cells.get_mut(session * names + place));
                if let Some(cell) = cell {
                    *cell = f64::from(*value);
                }
            }
        }
        Ok(())
    })?;
    Ok(cells)
}

/// Verdicts on clean formulas that are being counted.
#[derive(Debug, Default)]
struct CleanCount {
    judged: BTreeSet<String>,
    accused: BTreeSet<String>,
    verdicts: usize,
    unusual: usize,
    suspect: usize,
}

impl CleanCount {
    fn add(&mut self, formula: &str, verdict: &SignalVerdict) {
        match verdict {
            SignalVerdict::TooLittle { .. } => return,
            SignalVerdict::Suspect(_) => {
                self.suspect += 1;
                self.accused.insert(formula.to_owned());
            }
            SignalVerdict::Unusual(_) => self.unusual += 1,
            SignalVerdict::NothingSeen => {}
        }
        self.verdicts += 1;
        self.judged.insert(formula.to_owned());
    }

    fn rates(self) -> CleanRates {
        CleanRates {
            formulas: self.judged.len(),
            verdicts: self.verdicts,
            unusual: self.unusual,
            suspect: self.suspect,
            bound: upper_bound(self.accused.len(), self.judged.len()),
            accused: self.accused.into_iter().collect(),
        }
    }
}

/// The largest share of which so few of so many have a chance of 5 %.
fn upper_bound(found: usize, of: usize) -> Option<f64> {
    let (found, of) = (u64::try_from(found).ok()?, u64::try_from(of).ok()?);
    if of <= found {
        return (0 < of).then_some(1.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if binomial_at_most(found, of, middle).ok()? <= 0.05 {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

fn report(audit: &PlantedAudit) -> Report {
    let clean = &audit.clean;
    let bound = clean
        .bound
        .map_or_else(|| "unknown".to_owned(), |bound| format!("{:.1} %", 100.0 * bound));
    let verdict = format!(
        "{} of {} that know nothing too early are suspect in any of {}: with 95 %, at most {bound} of such formulas are.",
        clean.accused.len(),
        counted(clean.formulas, "library formula"),
        counted(audit.windows, "window"),
    );
    let section = Section::new("Planted")
        .table("clean", clean_table(clean), Shown::Everywhere)
        .table("leaks", leak_table(audit), Shown::Everywhere);
    Report {
        title: "How often the audit of signals is right on this panel".to_owned(),
        verdict,
        sections: vec![section],
        ..Report::default()
    }
}

fn clean_table(clean: &CleanRates) -> TableData {
    let table = RowTable::new("Formulas that know nothing too early", [clean])
        .count("formulas", |own| own.formulas)
        .count("verdicts", |own| own.verdicts)
        .count("unusual", |own| own.unusual)
        .count("suspect", |own| own.suspect)
        .column(("upper bound of accused formulas, 95 %", Align::Right), |own| {
            TableCell::optional(own.bound, TableCell::Percent)
        })
        .table();
    if clean.accused.is_empty() {
        table
    } else {
        table.with_note(format!("accused: {}", clean.accused.join(", ")))
    }
}

fn leak_table(audit: &PlantedAudit) -> TableData {
    let title = "Planted leaks that are suspect, by strength";
    let mut table = RowTable::new(title, &audit.leaks)
        .text("kind", |row| row.kind.name())
        .count("sessions", |row| row.sessions)
        .count("planted", |row| row.planted);
    for (strength, share) in PLANTED_SHARES.into_iter().enumerate() {
        table = table.count(&share.to_string(), move |row| {
            row.found.get(strength).copied().unwrap_or(0)
        });
    }
    table.table().with_note(
        "what is not found here is what a verdict without a suspicion would have missed: scales and fits hardly show in returns",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    #[test]
    fn labels_of_every_horizon_are_found_and_no_formula_of_the_library_is_accused() {
        let market = |seed| {
            generate(&SynthConfig {
                seed,
                names: 40,
                days: 400,
            })
            .unwrap()
        };
        let document = |seed| audit_planted(&market(seed), seed, 2).unwrap().document;
        let found = document(5);
        let clean = &found["clean"];
        assert!(500 < clean["formulas"].as_u64().unwrap(), "{clean}");
        assert_eq!(clean["suspect"], 0, "{clean}");
        assert!(clean["bound"].as_f64().unwrap() < 0.015, "{clean}");
        for leak in found["leaks"].as_array().unwrap() {
            let of = |strength: usize| leak["found"][strength].as_u64().unwrap();
            let planted = leak["planted"].as_u64().unwrap();
            match leak["kind"].as_str().unwrap() {
                "label" | "rows" => assert_eq!(of(4), planted, "{leak}"),
                // The spread to come has no direction.
                "scale" => assert_eq!(of(0), 0, "{leak}"),
                _ => assert!(of(0) <= of(4), "{leak}"),
            }
        }
    }

    #[test]
    fn the_upper_bound_of_none_is_the_rule_of_three() {
        // 1 - .05^(1 / 400).
        assert!((0.007_461..0.007_462).contains(&upper_bound(0, 400).unwrap()));
        assert_eq!((upper_bound(3, 3), upper_bound(0, 0)), (Some(1.0), None));
    }
}
