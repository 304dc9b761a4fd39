//! Which replays of a panel show whether a column reads ahead.

use crate::causality::ReplayKind;
use crate::replay_panel::{ReplayPanel, SessionDay, SuffixReplacement};
use std::collections::BTreeSet;

/// One more run on a panel that was cut or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedReplay {
    /// What is done to the panel.
    pub kind: ReplayKind,
    /// The last session that is left as it is.
    pub cut: usize,
    /// What stands behind the cut of a suffix.
    pub replacement: SuffixReplacement,
}

/// Ends of the panel at these hundredths of its sessions.
const SHARES: [usize; 5] = [50, 60, 70, 80, 90];
/// Each weekday once, searched from these hundredths on, Monday first.
const WEEKDAYS: [usize; 5] = [52, 62, 72, 82, 88];
/// Ends of months and the sessions after them; two early ones show a fit on the first sessions.
const MONTH_ENDS: [usize; 6] = [10, 25, 55, 65, 75, 85];
/// The sessions after the longest pauses.
const PAUSES: usize = 2;
/// Cuts behind which all is replaced, each in both ways.
const SUFFIXES: [usize; 8] = [15, 40, 52, 60, 68, 76, 85, 94];
/// Days of which the open alone is known.
const OPEN_VIEWS: [usize; 12] = [30, 40, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95];
/// Draws of what is replaced.
const SEED: u64 = 1;

/// The runs of an audit: the whole panel once more, 24 ends, eight cuts behind which all is replaced in two ways, and twelve
/// views at an open. A short panel, or one without long pauses, has fewer; what was tested is counted.
#[must_use]
pub fn replay_plan(days: &[SessionDay]) -> Vec<PlannedReplay> {
    let last = days.len().saturating_sub(1);
    let run = |kind, cut| PlannedReplay {
        kind,
        cut,
        replacement: SuffixReplacement::Paths,
    };
    let mut plan = vec![run(ReplayKind::Repeat, last)];
    let within = |cut: &usize| 0 < *cut && *cut < last;
    let ends = ends(days);
    plan.extend(
        ends.into_iter()
            .filter(within)
            .map(|cut| run(ReplayKind::Prefix, cut)),
    );
    let distinct = |hundredths: &[usize]| -> BTreeSet<usize> {
        let sessions = hundredths.iter().map(|share| share * days.len() / 100);
        sessions.filter(within).collect()
    };
    for cut in distinct(&SUFFIXES) {
        for replacement in [SuffixReplacement::Paths, SuffixReplacement::Stretch] {
            plan.push(PlannedReplay {
                replacement,
                ..run(ReplayKind::Suffix, cut)
            });
        }
    }
    plan.extend(
        distinct(&OPEN_VIEWS)
            .into_iter()
            .map(|session| run(ReplayKind::OpenView, session)),
    );
    plan
}

impl PlannedReplay {
    /// The panel of this run.
    #[must_use]
    pub fn panel(&self, whole: &ReplayPanel) -> ReplayPanel {
        match self.kind {
            ReplayKind::Repeat => whole.clone(),
            ReplayKind::Prefix => whole.prefix(self.cut),
            ReplayKind::Suffix => whole.replaced(self.cut, self.replacement, SEED),
            ReplayKind::OpenView => whole.open_view(self.cut),
        }
    }
}

fn ends(days: &[SessionDay]) -> BTreeSet<usize> {
    let at = |hundredths: usize| hundredths * days.len() / 100;
    let from = |hundredths: usize, is_found: &dyn Fn(usize) -> bool| {
        (at(hundredths)..days.len()).find(|session| is_found(*session))
    };
    let mut cuts: BTreeSet<usize> = SHARES.iter().map(|share| at(*share).saturating_sub(1)).collect();
    for (weekday, share) in (0..).zip(WEEKDAYS) {
        let is_weekday = |session: usize| {
            days.get(session)
                .is_some_and(|day| day.number.rem_euclid(7) == weekday)
        };
        cuts.extend(from(share, &is_weekday));
    }
    let ends_month = |session: usize| match (days.get(session), days.get(session + 1)) {
        (Some(day), Some(next)) => day.month != next.month,
        _ => false,
    };
    for share in MONTH_ENDS {
        let end = from(share, &ends_month);
        cuts.extend(end.into_iter().flat_map(|end| [end, end + 1]));
    }
    let pairs = days.iter().zip(days.iter().skip(1)).enumerate();
    let mut pauses: Vec<(i64, usize)> = pairs
        .map(|(place, (before, day))| (day.number - before.number, place + 1))
        .filter(|(_, session)| at(50) <= *session)
        .collect();
    // The longest first, and of equal ones the latest.
    pauses.sort_unstable();
    cuts.extend(pauses.iter().rev().take(PAUSES).map(|(_, session)| *session));
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay_panel::tests::traded;

    #[test]
    fn a_plan_holds_ends_of_every_kind_suffixes_in_two_ways_and_views_at_the_open() {
        let panel = traded(500, 3, 1);
        let plan = replay_plan(panel.days());
        let of = |kind| -> Vec<usize> {
            plan.iter()
                .filter(|run| run.kind == kind)
                .map(|run| run.cut)
                .collect()
        };
        assert_eq!(of(ReplayKind::Repeat), [499]);
        let prefixes = of(ReplayKind::Prefix);
        assert!((20..=24).contains(&prefixes.len()), "{prefixes:?}");
        let weekday = |cut: &usize| panel.days()[*cut].number.rem_euclid(7);
        for day in 0..5 {
            assert!(prefixes.iter().any(|cut| weekday(cut) == day), "{day}");
        }
        // A week without a session lies before session 480.
        assert!(prefixes.contains(&480), "{prefixes:?}");
        assert_eq!(of(ReplayKind::Suffix).len(), 16);
        assert_eq!(of(ReplayKind::OpenView).len(), 12);
        for run in &plan {
            let made = run.panel(&panel);
            assert_eq!(
                made.sessions() == 500,
                matches!(run.kind, ReplayKind::Repeat | ReplayKind::Suffix)
            );
            assert!(run.kind == ReplayKind::Repeat || (1..499).contains(&run.cut));
        }
    }

    #[test]
    fn a_panel_of_a_session_has_a_repeat_and_nothing_else() {
        for sessions in 1..4 {
            let panel = traded(sessions, 3, 1);
            let plan = replay_plan(panel.days());
            assert!(
                plan.iter()
                    .all(|run| run.kind == ReplayKind::Repeat || run.cut == 1)
            );
        }
        assert_eq!(replay_plan(traded(1, 3, 1).days()).len(), 1);
    }
}
