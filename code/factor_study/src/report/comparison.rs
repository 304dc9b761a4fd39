//! How models compare by their first answers: ranks, and pairs.

use super::cells::{ReportedCell, cohorts};
use super::layers::{INTERVAL_NOTE, bounds, missing, rate_columns};
use ktd_factor_code::{FamilyRate, compared_models};
use ktd_stats::{Confidence, FlippedPair, FlippedRank, FlippedSums};
use ktd_study::StudyError;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{Column, RowCells, TableCell, TableData, p_value};
use ktd_view::row_table::RowTable;
use std::collections::BTreeMap;

/// All cells that have ranks, side by side.
pub(super) struct Comparison<'c, 'r> {
    cells: &'c [ReportedCell<'r>],
    ranked: Vec<&'c ReportedCell<'r>>,
    /// None without a cell that has a rank.
    sums: Option<FlippedSums>,
    /// By the name of a cell, with how many are ranked together.
    ranks: BTreeMap<&'c str, (FlippedRank, usize)>,
}

/// Two cells side by side, with the share of answers by which the first is better.
#[derive(Clone, Copy)]
struct ComparedPair<'c, 'r> {
    one: &'c ReportedCell<'r>,
    other: &'c ReportedCell<'r>,
    found: FlippedPair,
}

impl<'c, 'r> Comparison<'c, 'r> {
    /// Compares the first answers; what is drawn is drawn by `seed`.
    pub(super) fn of(cells: &'c [ReportedCell<'r>], seed: u64) -> Result<Self, StudyError> {
        let ranked: Vec<&ReportedCell<'_>> = cells.iter().filter(|cell| cell.no_rank().is_none()).collect();
        let rates: Vec<FamilyRate<'_>> = ranked.iter().map(|cell| cell.verified()).collect();
        let sums = (!rates.is_empty()).then(|| compared_models(&rates, seed));
        let sums = sums.transpose().map_err(defect)?;
        let mut ranks = BTreeMap::new();
        for cohort in cohorts(cells) {
            let places: Vec<usize> = ranked
                .iter()
                .enumerate()
                .filter(|(_, cell)| cohort.iter().any(|own| own.name() == cell.name()))
                .map(|(place, _)| place)
                .collect();
            let of_cohort = sums.as_ref().map(|sums| sums.ranks(&places, Confidence::P95));
            for (place, rank) in places.iter().zip(of_cohort.into_iter().flatten()) {
                if let Some(cell) = ranked.get(*place) {
                    ranks.insert(cell.name(), (rank, places.len()));
                }
            }
        }
        Ok(Self {
            cells,
            ranked,
            sums,
            ranks,
        })
    }

    /// The best cell, and how many of the other ranked ones are told apart from it.
    pub(super) fn best(&self) -> Option<(&'c ReportedCell<'r>, usize)> {
        let share = |cell: &ReportedCell<'_>| cell.verified().share().unwrap_or(0.0);
        let pool = if self.ranked.is_empty() {
            self.cells.iter().collect()
        } else {
            self.ranked.clone()
        };
        let best = pool
            .into_iter()
            .rev()
            .max_by(|one, other| share(one).total_cmp(&share(other)))?;
        let apart = self.pairs().into_iter().filter(|pair| {
            let is_of = [pair.one, pair.other]
                .iter()
                .any(|cell| cell.name() == best.name());
            is_of && pair.is_apart()
        });
        Some((best, apart.count()))
    }

    /// How many cells have a rank.
    pub(super) fn ranked(&self) -> usize {
        self.ranked.len()
    }

    fn pairs(&self) -> Vec<ComparedPair<'c, 'r>> {
        let mut pairs = Vec::new();
        for (place, one) in self.ranked.iter().enumerate() {
            for (behind, other) in self.ranked.iter().enumerate().skip(place + 1) {
                let found = self.sums.as_ref().and_then(|sums| sums.pair(place, behind));
                pairs.extend(found.map(|found| ComparedPair { one, other, found }));
            }
        }
        pairs
    }

    /// Table 1: ranks, with the places that cannot be excluded.
    pub(super) fn ranks_table(&self) -> TableData {
        let rank = |cell: &ReportedCell<'_>| self.ranks.get(cell.name());
        let mut cells: Vec<&ReportedCell<'_>> = self.cells.iter().collect();
        cells.sort_by_key(|cell| {
            let who = cell.who();
            (
                who.style,
                who.seed,
                rank(cell).map_or(usize::MAX, |(rank, _)| rank.rank),
            )
        });
        let place = |cell: &ReportedCell<'_>, of: fn(&FlippedRank) -> usize| {
            let why = || missing(&cell.no_rank().unwrap_or_else(|| "no task".to_owned()));
            rank(cell).map_or_else(why, |(rank, _)| TableCell::Count(of(rank)))
        };
        let table = RowTable::new("T1. Ranks by strict VAcc in round one, the first answer", cells)
            .text("bundle", ReportedCell::name)
            .text("model", |cell| &cell.found.model)
            .text("style", |cell| cell.who().style.name())
            .column(Column::new("seed", Right).of(RowCells::Text), |cell| {
                TableCell::Text(cell.who().seed.to_string())
            });
        let table = rate_columns(table, "VAcc", |cell| bounds(&cell.verified()));
        table
            .column(("rank", Right), |cell| place(cell, |rank| rank.rank))
            .column(("best", Right), |cell| place(cell, |rank| rank.lower))
            .column(("worst", Right), |cell| place(cell, |rank| rank.upper))
            .column(("of", Right), |cell| {
                rank(cell).map_or(TableCell::Empty, |(_, size)| TableCell::Count(*size))
            })
            .table()
            .with_note("of all samples of all tasks, before any feedback; within one style and seed, where coverage is whole")
            .with_note(INTERVAL_NOTE)
            .with_note("best and worst: the places that cannot be excluded, wrong for any bundle of a report in at most 5 of 100 reports")
    }

    /// Table 1: pairs of cells.
    pub(super) fn pairs_table(&self) -> TableData {
        let pairs = self.pairs();
        let table = RowTable::new("T1. Differences of two bundles in strict VAcc, round one", &pairs)
            .text("bundle", |pair| pair.one.name())
            .text("other", |pair| pair.other.name())
            .count("tasks", |pair| pair.one.funnel().tasks)
            .column(("difference", Right), |pair| TableCell::optional(pair.difference(), TableCell::Change))
            .number("p alone", |pair| pair.found.p, TableCell::P)
            .number("p of all pairs", |pair| pair.found.p_of_all, TableCell::P)
            .text("told apart", |pair| if pair.is_apart() { "yes" } else { "no" })
            .table()
            .with_note(
                "p: the share of turns of signs, of whole families of tasks, that come as far; alone: errs for 5 of 100 equal pairs; \
                 of all pairs: tells any equal pair apart in at most 5 of 100 reports",
            )
            .with_note("bundles without a rank are in no pair");
        let least = self.sums.as_ref().map_or(1.0, FlippedSums::least_p);
        if LARGEST_P < least && !pairs.is_empty() {
            let note = format!(
                "underpowered: of so few families no p is below {}",
                p_value(least)
            );
            return table.with_note(note);
        }
        table
    }
}

/// From here on a pair is told apart.
const LARGEST_P: f64 = 0.05;

impl ComparedPair<'_, '_> {
    fn is_apart(&self) -> bool {
        self.found.p_of_all <= LARGEST_P
    }

    fn difference(&self) -> Option<f64> {
        Some(self.one.verified().share()? - self.other.verified().share()?)
    }
}

pub(super) fn defect(error: impl std::fmt::Display) -> StudyError {
    StudyError::input(error, "this is a defect of the program: report it")
}
