//! Tables of how many tasks pass each layer.

use super::cells::ReportedCell;
use super::layers::{INTERVAL_NOTE, bound, bounded_layers, bounds, layers, missing, rate_columns, share};
use ktd_factor_code::{
    FactorCategory, Funnel, JudgeRule, JudgedTask, LayersPassed, TaskGroup, level_weighted,
};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{Column, RowCells, TableCell, TableData};
use ktd_view::row_table::RowTable;

/// Counts of a cell, by what they are of.
struct Counted<'c, 'r> {
    cell: &'c ReportedCell<'r>,
    of: String,
    funnel: Funnel,
}

/// Both rules on each of these counts.
fn by_rule<'t, 'c, 'r>(
    counted: &'t [Counted<'c, 'r>],
) -> impl Iterator<Item = (&'t Counted<'c, 'r>, JudgeRule)> {
    let rules = |counted| JudgeRule::ALL.map(|rule| (counted, rule));
    counted.iter().flat_map(rules)
}

/// The counts of groups of tasks, cell by cell.
fn counted<'c, 'r, G>(
    cells: &'c [ReportedCell<'r>],
    groups: impl Fn(&'c ReportedCell<'r>) -> Vec<(String, G)>,
    of: impl Fn(&'c ReportedCell<'r>, G) -> Funnel,
) -> Vec<Counted<'c, 'r>> {
    let of_cell = |cell: &'c ReportedCell<'r>| {
        let counted = |(name, group)| Counted {
            cell,
            of: name,
            funnel: of(cell, group),
        };
        groups(cell).into_iter().map(counted).collect::<Vec<_>>()
    };
    cells.iter().flat_map(of_cell).collect()
}

fn of_first(cell: &ReportedCell<'_>, group: TaskGroup) -> Funnel {
    Funnel::of(&cell.first(), group, &cell.rules)
}

/// A row of the first table: a group of tasks, or the levels weighted.
#[derive(Clone, Copy)]
struct LevelRow<'t> {
    cell: &'t ReportedCell<'t>,
    judged: &'t [JudgedTask<'t>],
    rule: JudgeRule,
    group: Option<&'t (TaskGroup, Funnel)>,
}

impl LevelRow<'_> {
    fn share(self, layer: LayersPassed) -> TableCell {
        match self.group {
            Some((_, funnel)) => share(funnel.rate(self.rule, layer).share()),
            None => level_weighted(self.judged, self.rule, layer, &self.cell.rules)
                .map_or_else(|| missing("a level has no task"), TableCell::Percent),
        }
    }

    fn bound(self, layer: LayersPassed, end: fn(ktd_stats::Interval) -> f64) -> TableCell {
        self.group.map_or(TableCell::Empty, |(_, funnel)| {
            bound(bounds(&funnel.rate(self.rule, layer)), end)
        })
    }

    fn count(self, count: fn(&Funnel) -> u64) -> TableCell {
        self.group.map_or(TableCell::Empty, |(_, funnel)| {
            TableCell::Count(usize::try_from(count(funnel)).unwrap_or(usize::MAX))
        })
    }
}

pub(super) fn levels(cells: &[ReportedCell<'_>]) -> TableData {
    let judged: Vec<_> = cells.iter().map(|cell| (cell, cell.first())).collect();
    let groups = judged.iter().map(|(cell, judged)| {
        TaskGroup::levels().map(|group| (group, Funnel::of(judged, group, &cell.rules)))
    });
    let groups: Vec<[(TaskGroup, Funnel); 4]> = groups.collect();
    let mut rows = Vec::new();
    for ((cell, judged), groups) in judged.iter().zip(&groups) {
        for rule in JudgeRule::ALL {
            let groups = groups.iter().map(Some).chain([None]);
            rows.extend(groups.map(|group| LevelRow {
                cell,
                judged,
                rule,
                group,
            }));
        }
    }
    let table = RowTable::new("T1. Share of first answers that pass each layer, by level", rows)
        .text("bundle", |row| row.cell.name())
        .text("rule", |row| row.rule.name())
        .text("tasks of", |row| {
            row.group
                .map_or_else(|| "avg_pw".to_owned(), |(group, _)| group.name())
        })
        .column(("tasks", Right), |row| row.count(|funnel| funnel.tasks))
        .column(("uncovered", Right), |row| row.count(|funnel| funnel.uncovered));
    let table = LayersPassed::FUNNEL.into_iter().fold(table, |table, layer| {
        table
            .column((layer.name(), Right), |row| row.share(layer))
            .column(("low", Right), |row| row.bound(layer, |found| found.lower))
            .column(("high", Right), |row| row.bound(layer, |found| found.upper))
    });
    table
        .table()
        .with_note(INTERVAL_NOTE)
        .with_note("avg_pw: levels weighted 0.2, 0.2, 0.6")
}

fn seed(cell: &ReportedCell<'_>) -> TableCell {
    TableCell::Text(cell.who().seed.to_string())
}

pub(super) fn pass_at(cells: &[ReportedCell<'_>]) -> TableData {
    let mut rows = Vec::new();
    for cell in cells {
        for pass in &cell.found.pass_at {
            rows.extend(
                pass.shares
                    .iter()
                    .map(|(rule, shares)| (cell, pass, rule, shares)),
            );
        }
    }
    let table = RowTable::new("T1. Pass@k: the chance that one of k first answers passes", rows)
        .text("bundle", |(cell, ..)| cell.name())
        .text("rule", |(_, _, rule, _)| rule)
        .count("k", |(_, pass, ..)| pass.k)
        .count("round", |(_, pass, ..)| pass.round)
        .count("samples", |(cell, ..)| cell.samples)
        .column(("temperature", Right), |(cell, ..)| {
            cell.temperature
                .map_or_else(|| missing("the provider's default"), TableCell::Ratio)
        })
        .count("tasks", |(_, pass, ..)| pass.tasks);
    let table = LayersPassed::FUNNEL.into_iter().fold(table, |table, layer| {
        table.column((layer.name(), Right), |(.., shares)| {
            share(shares.get(layer.name()).copied().flatten())
        })
    });
    table.table()
}

pub(super) fn categories(cells: &[ReportedCell<'_>]) -> TableData {
    let all = |_: &_| FactorCategory::ALL.map(|of| (of.name().to_owned(), of)).into();
    let counted = counted(cells, all, |cell, of| of_first(cell, TaskGroup::Category(of)));
    let table = RowTable::new(
        "T2. Share of first answers that pass each layer, by category",
        by_rule(&counted),
    )
    .text("bundle", |(row, _)| row.cell.name())
    .text("category", |(row, _)| &row.of);
    ruled(table).table()
}

/// The table with the rule, the number of tasks and the share of them that pass each layer.
fn ruled<'t, 'c: 't, 'r: 't>(
    table: RowTable<(&'t Counted<'c, 'r>, JudgeRule)>,
) -> RowTable<(&'t Counted<'c, 'r>, JudgeRule)> {
    let table = table
        .text("rule", |(_, rule)| rule.name())
        .count("tasks", |(row, _)| row.funnel.tasks);
    layers(table, |(row, rule)| (&row.funnel, rule))
}

pub(super) fn causal(cells: &[ReportedCell<'_>]) -> TableData {
    let all = |_: &_| vec![(String::new(), TaskGroup::Category(FactorCategory::Causal))];
    let counted = counted(cells, all, of_first);
    let table = RowTable::new(
        "T3. Causal tasks, first answers: what runs, and what does not look ahead",
        &counted,
    )
    .text("bundle", |row| row.cell.name())
    .count("tasks", |row| row.funnel.tasks);
    let table = rate_columns(table, "Pass@1", |row| {
        bounds(&row.funnel.rate(JudgeRule::Strict, LayersPassed::Runs))
    });
    let table = rate_columns(table, "Safe, published", |row| {
        bounds(&row.funnel.rate(JudgeRule::Published, LayersPassed::Safe))
    });
    let table = rate_columns(table, "Safe, strict", |row| {
        bounds(&row.funnel.rate(JudgeRule::Strict, LayersPassed::Safe))
    });
    table.table().with_note(INTERVAL_NOTE)
}

/// Table 9: round by round.
pub(super) fn rounds(cells: &[ReportedCell<'_>]) -> TableData {
    let counted = counted(
        cells,
        |cell| cell.rounds().map(|round| (round.to_string(), round)).collect(),
        |cell, round| cell.funnel_after(round).clone(),
    );
    let table = RowTable::new(
        "T9. Share of all answers that pass each layer, after each round",
        by_rule(&counted),
    )
    .text("bundle", |(row, _)| row.cell.name())
    .column(Column::new("round", Right).of(RowCells::Text), |(row, _)| {
        TableCell::Text(row.of.clone())
    });
    ruled(table).table()
}

/// Table 10: the styles of each model beside each other.
pub(super) fn styles(cells: &[ReportedCell<'_>]) -> TableData {
    let all = |_: &_| vec![(String::new(), TaskGroup::All)];
    let mut counted = counted(cells, all, of_first);
    counted.sort_by_key(|row| {
        let who = row.cell.who();
        (&who.agent, who.seed, who.style)
    });
    let table = RowTable::new(
        "T10. Share of first answers that pass each layer, by style",
        by_rule(&counted),
    )
    .text("agent", |(row, _)| &row.cell.who().agent)
    .column(Column::new("seed", Right).of(RowCells::Text), |(row, _)| {
        seed(row.cell)
    })
    .text("style", |(row, _)| row.cell.who().style.name())
    .text("rule", |(_, rule)| rule.name())
    .count("tasks", |(row, _)| row.funnel.tasks);
    bounded_layers(table, |(row, rule)| (&row.funnel, rule))
        .table()
        .with_note(INTERVAL_NOTE)
}
