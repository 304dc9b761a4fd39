//! Which episodes stand side by side, and which of their steps.

use super::SideOptions;
use super::real::{PanelCache, RevealedNames};
use super::record::{
    MarkedText, MaskColumn, MaskComparison, OrderCell, OrderRow, SideBySide, StepCell, StepComparison,
};
use crate::ReasonsError;
use crate::{EpisodeReasons, Hit, REASONS_FORMAT, ReasonSet};
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::event::OrderRecord;
use ktd_experiment::window_config::WindowDates;
use std::collections::{BTreeMap, BTreeSet};

/// Lays episodes side by side that differ in their mask alone.
///
/// # Errors
/// [`ReasonsError::Input`] when nothing has a counterpart, a step is not in the window, days differ, or real stocks are asked
/// for and a private part or panel is missing.
pub fn side_by_side(reasons: &ReasonSet, options: &SideOptions) -> Result<SideBySide, ReasonsError> {
    let mut notes = reasons.notes.clone();
    let mut groups: BTreeMap<Key<'_>, Vec<&EpisodeReasons>> = BTreeMap::new();
    for one in &reasons.episodes {
        groups.entry(key(one)).or_default().push(one);
    }
    let alone = groups.values().filter(|group| group.len() < 2).count();
    if alone == groups.len() {
        return Err(ReasonsError::input(
            "no two of these episodes differ in their mask alone",
            "name bundles of one agent, window, mode and seed under two masks or more",
        ));
    }
    if 0 < alone {
        notes.push(format!(
            "episodes that no other mask stands beside are left out: {alone}"
        ));
    }
    let mut real = PanelCache::new(options);
    let matches = groups
        .into_values()
        .filter(|group| 1 < group.len())
        .map(|group| match_of(group, options, &mut real))
        .collect::<Result<_, _>>()?;
    Ok(SideBySide {
        format: REASONS_FORMAT,
        ktd: env!("CARGO_PKG_VERSION").to_owned(),
        matches,
        notes,
    })
}

/// Agent, window with its steps, mode, seed and panel.
type Key<'h> = (&'h str, &'h str, usize, &'h str, u64, &'h str);

fn key(heard: &EpisodeReasons) -> Key<'_> {
    let header = &heard.stated.opened.bundle.header;
    (
        &header.agent.id,
        &header.window.id,
        header.window.steps,
        header.mode.label(),
        header.seed,
        &header.data.panel_blake3,
    )
}

fn match_of(
    mut group: Vec<&EpisodeReasons>,
    options: &SideOptions,
    real: &mut PanelCache,
) -> Result<MaskComparison, ReasonsError> {
    group.sort_by_key(|heard| {
        let mask = &heard.stated.opened.bundle.header.mask;
        (mask.level, mask.instruction, mask.numeric.label())
    });
    check_dates(&group)?;
    let names: Vec<Option<RevealedNames>> = group
        .iter()
        .map(|heard| real.of(&heard.stated.opened))
        .collect::<Result<_, _>>()?;
    let Some(first) = group.first() else {
        return Err(ReasonsError::input(
            "a match has no episode",
            "report this defect",
        ));
    };
    let header = &first.stated.opened.bundle.header;
    let column = |heard: &&EpisodeReasons| {
        let found = &heard.stated.opened.bundle;
        MaskColumn {
            level: found.header.mask.level,
            instruction: found.header.mask.instruction,
            numeric: found.header.mask.numeric,
            bundle: found.root.display().to_string(),
        }
    };
    let steps = chosen(&group, options, header.window.steps)?;
    Ok(MaskComparison {
        agent: header.agent.id.clone(),
        window: header.window.id.clone(),
        mode: header.mode,
        seed: header.seed,
        masks: group.iter().map(column).collect(),
        steps: steps
            .into_iter()
            .map(|step| step_of(step, &group, &names))
            .collect(),
    })
}

/// Refuses episodes whose days are known to differ.
fn check_dates(group: &[&EpisodeReasons]) -> Result<(), ReasonsError> {
    let mut known: Option<(&BundleRef, WindowDates)> = None;
    for opened in group.iter().map(|heard| &heard.stated.opened) {
        let Some(dates) = opened.dates() else { continue };
        let found = &opened.bundle;
        match &known {
            Some((other, theirs)) if *theirs != dates => {
                return Err(ReasonsError::input(
                    format!(
                        "window {:?} is not the same days in {} and {}",
                        found.header.window.id,
                        other.root.display(),
                        found.root.display()
                    ),
                    "name bundles of one experiment",
                ));
            }
            Some(_) => {}
            None => known = Some((found, dates)),
        }
    }
    Ok(())
}

/// The steps that were asked for, or those with the most hits; without a hit the first of all.
fn chosen(
    group: &[&EpisodeReasons],
    options: &SideOptions,
    window_steps: usize,
) -> Result<BTreeSet<usize>, ReasonsError> {
    if let Some(step) = options
        .steps
        .iter()
        .find(|step| !(1..=window_steps).contains(*step))
    {
        return Err(ReasonsError::input(
            format!("there is no step {step}"),
            format!("the episodes have the steps 1 to {window_steps}"),
        ));
    }
    if !options.steps.is_empty() {
        return Ok(options.steps.iter().copied().collect());
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for hit in group
        .iter()
        .flat_map(|heard| &heard.hits)
        .filter(|hit| !hit.is_shown)
    {
        *counts.entry(hit.step).or_insert(0) += 1;
    }
    let mut by_count: Vec<(usize, usize)> = counts.into_iter().collect();
    by_count.sort_by_key(|(step, count)| (std::cmp::Reverse(*count), *step));
    let most = by_count
        .into_iter()
        .take(options.most.max(1))
        .map(|(step, _)| step);
    let steps: BTreeSet<usize> = most.collect();
    Ok(if steps.is_empty() { [1].into() } else { steps })
}

fn step_of(step: usize, group: &[&EpisodeReasons], names: &[Option<RevealedNames>]) -> StepComparison {
    let columns = || group.iter().map(|heard| (*heard, heard.stated.step(step)));
    let hits_in = |heard: &EpisodeReasons| {
        heard
            .hits
            .iter()
            .filter(|hit| hit.step == step && !hit.is_shown)
            .count()
    };
    let cells = columns().map(|(heard, spoken)| StepCell {
        day: spoken.map(|spoken| spoken.day.clone()),
        outcome: spoken.map(|spoken| spoken.outcome),
        overall: spoken
            .and_then(|spoken| spoken.overall.as_deref())
            .map(|text| MarkedText::of(text, hits_of(heard, step, None))),
    });
    let mut rows: BTreeMap<Place, Vec<Option<OrderCell>>> = BTreeMap::new();
    for (column, (heard, spoken)) in columns().enumerate() {
        let real = names.get(column).and_then(Option::as_ref);
        for (place, order) in spoken.iter().flat_map(|spoken| spoken.orders.iter().enumerate()) {
            let stock = real.and_then(|real| real.stock(&order.stock_id));
            let row = free_row(&mut rows, stock, (place, column), group.len());
            if let Some(cell) = row.get_mut(column) {
                *cell = Some(order_cell(place, order, heard, step));
            }
        }
    }
    StepComparison {
        step,
        real_date: names.iter().flatten().find_map(|real| real.date(step)),
        hits: group.iter().map(|heard| hits_in(heard)).sum(),
        cells: cells.collect(),
        orders: rows
            .into_iter()
            .map(|(place, cells)| OrderRow {
                real: place.stock,
                cells,
            })
            .collect(),
    }
}

/// Where a row stands: known stocks first, by their codes, then orders by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_unknown: bool,
    stock: Option<String>,
    order: usize,
}

/// The row of an order: that of its stock, or of its number. A stock that is ordered twice has two rows.
fn free_row(
    rows: &mut BTreeMap<Place, Vec<Option<OrderCell>>>,
    stock: Option<String>,
    (order, column): (usize, usize),
    columns: usize,
) -> &mut Vec<Option<OrderCell>> {
    let mut place = Place {
        is_unknown: stock.is_none(),
        order: if stock.is_none() { order } else { 0 },
        stock,
    };
    while rows
        .get(&place)
        .is_some_and(|row| row.get(column).is_some_and(Option::is_some))
    {
        place.order += 1;
    }
    rows.entry(place).or_insert_with(|| vec![None; columns])
}

fn order_cell(place: usize, order: &OrderRecord, heard: &EpisodeReasons, step: usize) -> OrderCell {
    OrderCell {
        order: place + 1,
        stock_id: order.stock_id.clone(),
        side: order.side.clone(),
        target_weight_millionths: order.target_weight_millionths,
        shares: order.shares,
        confidence: order.confidence,
        reason: MarkedText::of(&order.reason, hits_of(heard, step, Some(place + 1))),
    }
}

fn hits_of(heard: &EpisodeReasons, step: usize, order: Option<usize>) -> impl Iterator<Item = &Hit> {
    heard
        .hits
        .iter()
        .filter(move |hit| hit.step == step && hit.order == order)
}
