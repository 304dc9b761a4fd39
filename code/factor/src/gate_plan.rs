//! The runs of the strict gate: drawn with the secret of its panels, so that who reads this knows none of them.

use crate::gate_secret::GatedPanels;
use crate::job::{FactorJob, PanelChange};
use crate::panel::{ChangedColumns, PanelKind};
use ktd_env::KeyedStream;
use std::collections::BTreeSet;

/// Rows of which several draws change all that follows: what warm-ups are filled from stands there.
const EARLY_ROWS: usize = 8;
const EARLY_DRAWS: u8 = 3;
/// Rows from which each column is changed by itself.
const SINGLE_ROWS: usize = 5;
/// Cuts and changes of the long panel, and of each judged one.
const LONG: (usize, usize) = (12, 10);
const JUDGED: (usize, usize) = (2, 1);
/// A column is one of rare events where at most one row in so many is one; so many of them are witnesses on the long panel.
const RARE_IN: usize = 8;
const WITNESSES: usize = 60;

/// The runs in order, panel by panel; those of a panel are shuffled, so that a leak of many rows is seen soon.
pub(crate) fn strict_jobs(panels: &GatedPanels, least_cut: usize) -> Vec<FactorJob> {
    let mut stream = panels.stream("factor-code plan");
    let mut jobs = Vec::new();
    for panel in PanelKind::HIDDEN.into_iter().chain(PanelKind::JUDGED) {
        let rows = panels.panels().bars(panel).rows();
        jobs.push(FactorJob::whole(panel));
        if PanelKind::HIDDEN.contains(&panel) {
            jobs.push(FactorJob {
                repetition: 1,
                ..FactorJob::whole(panel)
            });
        }
        let mut changes: Vec<PanelChange> = match panel {
            PanelKind::X => every_row(rows, least_cut, &mut stream),
            PanelKind::Y => drawn_rows(rows, (least_cut, LONG), &mut stream),
            PanelKind::G | PanelKind::R | PanelKind::Q | PanelKind::E => {
                drawn_rows(rows, (least_cut, JUDGED), &mut stream)
            }
        }
        .into_iter()
        .collect();
        stream.shuffle(&mut changes);
        jobs.extend(
            changes
                .into_iter()
                .map(|change| FactorJob::changed(panel, change)),
        );
    }
    jobs
}

/// What follows each row is removed, or changed where a prefix would be too short to judge.
fn every_row(rows: usize, least_cut: usize, stream: &mut KeyedStream) -> BTreeSet<PanelChange> {
    let columns = ChangedColumns::All;
    let mut changes = BTreeSet::new();
    for from in 1..rows {
        if least_cut <= from {
            changes.insert(PanelChange::Cut { rows: from });
            continue;
        }
        let draws = if from <= EARLY_ROWS { EARLY_DRAWS } else { 1 };
        changes.extend((0..draws).map(|draw| PanelChange::Changed { from, columns, draw }));
    }
    for place in 0..SINGLE_ROWS {
        // half of them early: the middle of the rows, halved again and again
        let below = if place % 2 == 0 { rows >> (1 + place) } else { rows };
        let from = drawn_row(1, below.max(4), stream);
        changes.extend(ChangedColumns::SINGLE.map(|columns| PanelChange::Changed {
            from,
            columns,
            draw: 0,
        }));
    }
    changes
}

fn drawn_rows(
    rows: usize,
    (least_cut, (cuts, changed)): (usize, (usize, usize)),
    stream: &mut KeyedStream,
) -> BTreeSet<PanelChange> {
    let mut changes = BTreeSet::new();
    for _ in 0..cuts {
        let rows = drawn_row(least_cut.min(rows), rows, stream);
        changes.insert(PanelChange::Cut { rows });
    }
    for draw in (0..changed).zip(0..) {
        let below = if draw.0 % 2 == 0 {
            rows
        } else {
            least_cut.min(rows)
        };
        let from = drawn_row(1, below, stream);
        let columns = ChangedColumns::All;
        changes.insert(PanelChange::Changed {
            from,
            columns,
            draw: draw.1,
        });
    }
    changes
}

/// A row from `least` on and below `below`.
fn drawn_row(least: usize, below: usize, stream: &mut KeyedStream) -> usize {
    let bound = u64::try_from(below.saturating_sub(least)).unwrap_or(0);
    least + usize::try_from(stream.below(bound)).unwrap_or(0)
}

/// Cuts of the long panel after rows that are not like the rows before them, where these are few: a decision is a rare event.
pub(crate) fn event_cuts(
    panels: &GatedPanels,
    panel: PanelKind,
    column: &[f64],
    least_cut: usize,
) -> Vec<FactorJob> {
    if panel != PanelKind::Y {
        return Vec::new();
    }
    let rare = column.len() / RARE_IN;
    let is_same = |one: f64, other: f64| one.to_bits() == other.to_bits();
    let pairs = column.windows(2).zip(1..);
    let turns = pairs.filter_map(|(pair, row)| match pair {
        [before, now] if !is_same(*before, *now) => Some(row),
        _ => None,
    });
    let turns: Vec<usize> = turns.collect();
    let stands_out = |(_, cell): &(usize, &f64)| !cell.is_nan() && 0.0 < cell.abs();
    let values: Vec<usize> = column
        .iter()
        .enumerate()
        .filter(stands_out)
        .map(|(row, _)| row)
        .collect();
    let few = [turns, values].into_iter().filter(|rows| rows.len() <= rare);
    let rows: BTreeSet<usize> = few.flatten().flat_map(|row| [row, row + 1]).collect();
    let mut cuts: Vec<usize> = rows.range(least_cut..column.len()).copied().collect();
    panels.stream("factor-code witnesses").shuffle(&mut cuts);
    cuts.truncate(WITNESSES);
    let cut = |rows| FactorJob::changed(panel, PanelChange::Cut { rows });
    cuts.into_iter().map(cut).collect()
}

/// As many places from the middle of the rows on, evenly apart: of five, 50, 60, 70, 80 and 90 % of the rows.
pub(crate) fn even_cuts(rows: usize, cuts: u8) -> BTreeSet<usize> {
    let cuts = usize::from(cuts);
    (cuts..2 * cuts).map(|place| rows * place / (2 * cuts)).collect()
}
