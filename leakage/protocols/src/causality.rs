//! Whether a column that was computed again on a cut or changed panel is still the same up to the cut.

use crate::instant::SessionInstant;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

/// What was done to the panel behind a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplayKind {
    /// The same panel once more, to its end.
    Repeat,
    /// The panel ended at the cut.
    Prefix,
    /// The sessions after the cut were replaced.
    Suffix,
    /// Of the cut's session nothing but the open was known, and nothing later.
    OpenView,
}

/// A column computed once more.
#[derive(Debug, Clone, Copy)]
pub struct ReplayRun<'a> {
    /// What was done to the panel.
    pub kind: ReplayKind,
    /// The last session that was left as it is; of a repeat the last of all.
    pub cut: usize,
    /// The column, a cell for each name of the first session, then of the second, at least up to the cut; NaN is missing.
    pub values: &'a [f64],
}

/// The first cell that differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstDifference {
    /// Place of the run among those given.
    pub run: usize,
    /// The session.
    pub session: usize,
    /// The name.
    pub name: usize,
    /// The cell on the whole panel.
    pub whole: f64,
    /// The cell of the run.
    pub replayed: f64,
}

/// What cuts say of a column; it is said of what was tested and of no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CausalityVerdict {
    /// No cell up to a cut changed.
    Clean,
    /// Cells change so many sessions before a cut at most, at four of five cuts.
    ReadsAhead {
        /// Sessions.
        sessions: usize,
    },
    /// Changes reach the first fifth of the panel.
    WholeSample,
    /// Cells change where the panel ends earlier, and not where later sessions are replaced.
    LengthOrCalendar,
    /// Two runs on the same panel differ: nothing further can be said.
    NotDeterministic,
    /// A run has fewer cells than the sessions up to its cut.
    Incomplete {
        /// Place of the run among those given.
        run: usize,
    },
}

/// The verdict of a column with what it was drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct CausalityReport {
    /// The verdict.
    pub verdict: CausalityVerdict,
    /// Cuts that were compared.
    pub cuts: usize,
    /// Sessions that were compared, over all cuts.
    pub sessions: usize,
    /// The first cell that differs, in the order of runs.
    pub first: Option<FirstDifference>,
    /// Whether the session's own bar behind its open is read; `None` where no run asked.
    pub reads_own_bar: Option<bool>,
}

/// Verdict on a column by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnVerdict {
    /// No cell up to a cut changed.
    Clean,
    /// Cells up to a cut change with later sessions.
    ReadsAhead,
    /// Changes reach the first fifth.
    WholeSample,
    /// Changes where the panel ends, and not where sessions are replaced.
    LengthOrCalendar,
    /// Two runs on the same panel differ.
    NotDeterministic,
    /// A run gave no column.
    Failed,
}

impl CausalityVerdict {
    /// The verdict by its name.
    #[must_use]
    pub const fn name(self) -> ColumnVerdict {
        match self {
            Self::Clean => ColumnVerdict::Clean,
            Self::ReadsAhead { .. } => ColumnVerdict::ReadsAhead,
            Self::WholeSample => ColumnVerdict::WholeSample,
            Self::LengthOrCalendar => ColumnVerdict::LengthOrCalendar,
            Self::NotDeterministic => ColumnVerdict::NotDeterministic,
            Self::Incomplete { .. } => ColumnVerdict::Failed,
        }
    }

    /// Sessions that are read ahead.
    #[must_use]
    pub const fn sessions_ahead(self) -> Option<usize> {
        match self {
            Self::ReadsAhead { sessions } => Some(sessions),
            Self::Clean
            | Self::WholeSample
            | Self::LengthOrCalendar
            | Self::NotDeterministic
            | Self::Incomplete { .. } => None,
        }
    }
}

impl CausalityReport {
    /// The verdict in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self.verdict {
            CausalityVerdict::Clean => format!("clean (tested {} cuts, {} days)", self.cuts, self.sessions),
            CausalityVerdict::ReadsAhead { sessions } => {
                let days = if sessions == 1 { "day" } else { "days" };
                format!("reads {sessions} {days} ahead")
            }
            CausalityVerdict::WholeSample => "whole-sample fit".to_owned(),
            CausalityVerdict::LengthOrCalendar => "depends on length or calendar".to_owned(),
            CausalityVerdict::NotDeterministic => "not_deterministic".to_owned(),
            CausalityVerdict::Incomplete { .. } => "failed: a run has fewer rows than the panel".to_owned(),
        }
    }

    /// Whether the column reads what is not known at an instant. A column that reads a later session may read its open alone, so
    /// that a declaration of that open is not called broken.
    #[must_use]
    pub fn breaks(&self, known_by: SessionInstant) -> bool {
        match self.verdict {
            CausalityVerdict::Clean => {
                self.reads_own_bar == Some(true) && known_by < SessionInstant::close(0)
            }
            CausalityVerdict::ReadsAhead { sessions } => {
                known_by < SessionInstant::open(i64::try_from(sessions).unwrap_or(i64::MAX / 4))
            }
            CausalityVerdict::WholeSample
            | CausalityVerdict::LengthOrCalendar
            | CausalityVerdict::NotDeterministic => true,
            CausalityVerdict::Incomplete { .. } => false,
        }
    }
}

/// What one run shows of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayComparison {
    kind: ReplayKind,
    cut: usize,
    /// Sessions with a cell that differs; `None` where the run has fewer cells than it must.
    changed: Option<BTreeSet<usize>>,
    first: Option<FirstDifference>,
}

/// Compares a column with one run of it, the `place`th. Missing equals missing; numbers are equal in every bit, or within a
/// relative tolerance above 0.
#[must_use]
pub fn compare_replay(
    whole: &[f64],
    names: usize,
    (place, run): (usize, &ReplayRun<'_>),
    tolerance: f64,
) -> ReplayComparison {
    let names = names.max(1);
    let mut comparison = ReplayComparison {
        kind: run.kind,
        cut: run.cut,
        changed: None,
        first: None,
    };
    let cells = (run.cut + 1).saturating_mul(names);
    let (Some(before), Some(after)) = (whole.get(..cells), run.values.get(..cells)) else {
        return comparison;
    };
    let from = if run.kind == ReplayKind::OpenView {
        run.cut
    } else {
        0
    };
    let pairs = before.iter().zip(after).enumerate().skip(from * names);
    let differing = pairs.filter(|(_, (before, after))| !is_same(**before, **after, tolerance));
    let mut sessions = BTreeSet::new();
    for (cell, (before, after)) in differing {
        sessions.insert(cell / names);
        comparison.first.get_or_insert(FirstDifference {
            run: place,
            session: cell / names,
            name: cell % names,
            whole: *before,
            replayed: *after,
        });
    }
    comparison.changed = Some(sessions);
    comparison
}

/// Compares a column with its replays: see [`compare_replay`].
#[must_use]
pub fn causality_report(
    whole: &[f64],
    names: usize,
    runs: &[ReplayRun<'_>],
    tolerance: f64,
) -> CausalityReport {
    let each = runs.iter().enumerate();
    let each: Vec<ReplayComparison> = each
        .map(|run| compare_replay(whole, names, run, tolerance))
        .collect();
    judge_replays(whole, names, &each)
}

/// The verdict of a column by what its runs show, in their order.
#[must_use]
pub fn judge_replays(whole: &[f64], names: usize, runs: &[ReplayComparison]) -> CausalityReport {
    let mut report = CausalityReport {
        verdict: CausalityVerdict::Clean,
        cuts: 0,
        sessions: 0,
        first: None,
        reads_own_bar: None,
    };
    let names = names.max(1);
    let mut changed: Vec<Changes<'_>> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let Some(sessions) = &run.changed else {
            report.verdict = CausalityVerdict::Incomplete { run: place };
            return report;
        };
        if run.kind != ReplayKind::OpenView && report.first.is_none() {
            report.first = run.first;
        }
        match run.kind {
            ReplayKind::Repeat if !sessions.is_empty() => {
                report.verdict = CausalityVerdict::NotDeterministic;
                return report;
            }
            ReplayKind::Repeat => {}
            ReplayKind::OpenView => {
                *report.reads_own_bar.get_or_insert(false) |= !sessions.is_empty();
            }
            ReplayKind::Prefix | ReplayKind::Suffix => {
                report.cuts += 1;
                report.sessions += run.cut + 1;
                changed.push((run.kind, run.cut, sessions));
            }
        }
    }
    if report.first.is_none() {
        // Nothing later is read: what an open cannot know is the first difference.
        report.first = runs.iter().find_map(|run| run.first);
    }
    let first_present = whole.iter().position(|cell| !cell.is_nan()).unwrap_or(0) / names;
    report.verdict = verdict(&changed, first_present..whole.len() / names);
    report
}

/// The kind and the cut of a run, and the sessions that changed.
type Changes<'a> = (ReplayKind, usize, &'a BTreeSet<usize>);

fn is_same(before: f64, after: f64, tolerance: f64) -> bool {
    if before.is_nan() || after.is_nan() {
        return before.is_nan() == after.is_nan();
    }
    let apart = (before - after).abs();
    before.to_bits() == after.to_bits()
        || (0.0 < tolerance && apart <= tolerance * before.abs().max(after.abs()))
}

fn verdict(changed: &[Changes<'_>], present: Range<usize>) -> CausalityVerdict {
    let moved = || changed.iter().filter(|(_, _, sessions)| !sessions.is_empty());
    if moved().next().is_none() {
        return CausalityVerdict::Clean;
    }
    let has_suffixes = changed.iter().any(|(kind, ..)| *kind == ReplayKind::Suffix);
    if has_suffixes && moved().all(|(kind, ..)| *kind == ReplayKind::Prefix) {
        return CausalityVerdict::LengthOrCalendar;
    }
    // Behind an early cut the first fifth is near: from the middle on it is far from every cut.
    let late = moved().filter(|(_, cut, _)| present.len() <= 2 * (cut + 1).saturating_sub(present.start));
    let first = late.filter_map(|(_, _, sessions)| sessions.first()).min();
    if first.is_some_and(|first| first.saturating_sub(present.start) * 5 < present.len()) {
        return CausalityVerdict::WholeSample;
    }
    let reach = |(_, cut, sessions): &Changes<'_>| sessions.first().map(|first| cut + 1 - first);
    let mut reaches: Vec<usize> = changed.iter().filter_map(reach).collect();
    reaches.sort_unstable();
    // The smallest reach that four of five cuts keep within.
    let place = (4 * reaches.len()).div_ceil(5).saturating_sub(1);
    let sessions = reaches.get(place).copied().unwrap_or(0);
    CausalityVerdict::ReadsAhead { sessions }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_stats::SplitMix64;
    use ktd_stats::moments::{count, mean};

    const SESSIONS: usize = 100;

    fn prices(seed: u64) -> Vec<f64> {
        let mut stream = SplitMix64::new(seed);
        (0..SESSIONS).map(|_| 10.0 + stream.uniform()).collect()
    }

    /// Replays a function of one name's prices at some cuts.
    fn judge(of: &dyn Fn(&[f64]) -> Vec<f64>) -> CausalityReport {
        let (whole, other) = (prices(1), prices(2));
        let cuts = [45, 55, 62, 70, 77, 85, 91];
        let prefixes = cuts.map(|cut| (ReplayKind::Prefix, cut, of(&whole[..=cut])));
        let suffixes = cuts.map(|cut| {
            let mut changed = whole.clone();
            changed[cut + 1..].copy_from_slice(&other[cut + 1..]);
            (ReplayKind::Suffix, cut, of(&changed))
        });
        let all: Vec<_> = prefixes.into_iter().chain(suffixes).collect();
        let runs: Vec<ReplayRun<'_>> = all
            .iter()
            .map(|(kind, cut, values)| ReplayRun {
                kind: *kind,
                cut: *cut,
                values,
            })
            .collect();
        causality_report(&of(&whole), 1, &runs, 0.0)
    }

    #[test]
    fn what_reads_the_past_is_clean_and_what_reads_ahead_is_measured() {
        let lag = judge(&|prices| {
            (0..prices.len())
                .map(|t| t.checked_sub(3).map_or(f64::NAN, |past| prices[past]))
                .collect()
        });
        assert_eq!(
            (lag.verdict, lag.cuts, lag.first),
            (CausalityVerdict::Clean, 14, None)
        );
        assert_eq!(lag.sessions, 2 * (46 + 56 + 63 + 71 + 78 + 86 + 92));
        for ahead in [1, 3] {
            let lead = judge(&|prices| {
                (0..prices.len())
                    .map(|t| prices.get(t + ahead).copied().unwrap_or(f64::NAN))
                    .collect()
            });
            assert_eq!(lead.verdict, CausalityVerdict::ReadsAhead { sessions: ahead });
            let first = lead.first.unwrap();
            assert_eq!((first.run, first.session), (0, 46 - ahead));
        }
    }

    #[test]
    fn whole_samples_and_lengths_are_told_apart() {
        let centred = judge(&|prices| {
            let mean = mean(prices).unwrap();
            prices.iter().map(|price| price - mean).collect()
        });
        assert_eq!(centred.verdict, CausalityVerdict::WholeSample);
        let by_length = judge(&|prices| prices.iter().map(|price| price / count(prices.len())).collect());
        assert_eq!(by_length.verdict, CausalityVerdict::LengthOrCalendar);
    }

    #[test]
    fn a_column_that_begins_late_is_judged_from_its_first_cell() {
        // Missing up to session 40, it reads three sessions ahead: a cut in the middle of the panel is near its first cell.
        let late = judge(&|prices| {
            (0..prices.len())
                .map(|t| prices.get(t + 3).copied().filter(|_| 40 <= t).unwrap_or(f64::NAN))
                .collect()
        });
        assert_eq!(late.verdict, CausalityVerdict::ReadsAhead { sessions: 3 });
        let centred = judge(&|prices| {
            let mean = mean(prices).unwrap();
            let of = |t: usize| if t < 40 { f64::NAN } else { prices[t] - mean };
            (0..prices.len()).map(of).collect()
        });
        assert_eq!(centred.verdict, CausalityVerdict::WholeSample);
    }

    #[test]
    fn repeats_tolerances_and_views_at_the_open() {
        let (whole, other) = (prices(1), prices(2));
        let run = |kind, cut, values| ReplayRun { kind, cut, values };
        let last = SESSIONS - 1;
        let random = causality_report(&whole, 1, &[run(ReplayKind::Repeat, last, &other)], 0.0);
        assert_eq!(random.verdict, CausalityVerdict::NotDeterministic);
        let near: Vec<f64> = whole.iter().map(|price| price * (1.0 + 1e-12)).collect();
        let prefix = [run(ReplayKind::Prefix, 50, &near[..])];
        assert_eq!(
            causality_report(&whole, 1, &prefix, 1e-9).verdict,
            CausalityVerdict::Clean
        );
        assert_ne!(
            causality_report(&whole, 1, &prefix, 0.0).verdict,
            CausalityVerdict::Clean
        );
        let view = causality_report(&whole, 1, &[run(ReplayKind::OpenView, 50, &other)], 0.0);
        assert_eq!(
            (view.reads_own_bar, view.verdict),
            (Some(true), CausalityVerdict::Clean)
        );
        let same = causality_report(&whole, 1, &[run(ReplayKind::OpenView, 50, &whole)], 0.0);
        assert_eq!(same.reads_own_bar, Some(false));
        let short = causality_report(&whole, 1, &[run(ReplayKind::Prefix, 50, &whole[..50])], 0.0);
        assert_eq!(short.verdict, CausalityVerdict::Incomplete { run: 0 });
    }
}
