//! Tables of how many tasks pass each layer.

use super::cells::{ReportedCell, cohorts};
use super::rates::{bounded, count, invalid, missing, share, text};
use crate::tables::rule_name;
use ktd_factor_code::{
    FactorCategory, FactorLevel, Funnel, JudgeRule, JudgedTask, LayersPassed, PairedTasks, TaskGroup,
    level_weighted,
};
use ktd_stats::competition_ranks;
use ktd_study::StudyError;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};

/// A table whose last columns are the layers.
struct LayerTable {
    heads: Vec<(&'static str, Align)>,
    rows: Vec<Vec<TableCell>>,
    /// Whether each share has its bounds beside it.
    is_bounded: bool,
}

impl LayerTable {
    fn new(first: &[(&'static str, Align)], is_bounded: bool) -> Self {
        let mut heads = first.to_vec();
        for layer in LayersPassed::FUNNEL {
            heads.push((layer.name(), Right));
            if is_bounded {
                heads.extend([("low", Right), ("high", Right)]);
            }
        }
        Self {
            heads,
            rows: Vec::new(),
            is_bounded,
        }
    }

    fn add(&mut self, first: Vec<TableCell>, funnel: &Funnel, rule: JudgeRule) {
        let mut row = first;
        for layer in LayersPassed::FUNNEL {
            let rate = funnel.rate(rule, layer);
            if self.is_bounded {
                row.extend(bounded(rate));
            } else {
                row.push(share(rate));
            }
        }
        self.rows.push(row);
    }

    fn titled(self, title: &'static str) -> TableData {
        TableData::new(title, self.heads).with_rows(self.rows)
    }
}

pub(super) fn levels(cells: &[ReportedCell<'_>]) -> TableData {
    let first = [
        ("bundle", Left),
        ("rule", Left),
        ("tasks of", Left),
        ("tasks", Right),
        ("uncovered", Right),
    ];
    let mut table = LayerTable::new(&first, true);
    for reported in cells {
        let judged = reported.last();
        for rule in JudgeRule::ALL {
            for group in FactorLevel::ALL
                .map(TaskGroup::Level)
                .into_iter()
                .chain([TaskGroup::All])
            {
                let funnel = Funnel::of(&judged, group, &reported.rules);
                let first = vec![
                    text(reported.name()),
                    text(rule_name(rule)),
                    text(&group.name()),
                    count(funnel.tasks),
                    count(funnel.uncovered),
                ];
                table.add(first, &funnel, rule);
            }
            table.rows.push(weighted(reported, &judged, rule));
        }
    }
    table
        .titled("T1. Share of tasks that pass each layer, by level")
        .with_note("low and high: Wilson's 95 % bounds; avg_pw: levels weighted 0.2, 0.2, 0.6")
}

fn weighted(reported: &ReportedCell<'_>, judged: &[JudgedTask<'_>], rule: JudgeRule) -> Vec<TableCell> {
    let mut row = vec![
        text(reported.name()),
        text(rule_name(rule)),
        text("avg_pw"),
        TableCell::Empty,
        TableCell::Empty,
    ];
    for layer in LayersPassed::FUNNEL {
        let mean = level_weighted(judged, rule, layer, &reported.rules);
        row.push(mean.map_or_else(|| missing("a level has no task"), TableCell::Percent));
        row.extend([TableCell::Empty, TableCell::Empty]);
    }
    row
}

/// The share of all tasks that pass all layers by the strict rules.
fn verified(reported: &ReportedCell<'_>) -> Option<f64> {
    let funnel = Funnel::of(&reported.last(), TaskGroup::All, &reported.rules);
    funnel.rate(JudgeRule::Strict, LayersPassed::Verified).share()
}

pub(super) fn ranks(cells: &[ReportedCell<'_>]) -> Result<TableData, StudyError> {
    let heads = [
        ("bundle", Left),
        ("model", Left),
        ("style", Left),
        ("seed", Right),
        ("VAcc", Right),
        ("rank", Right),
        ("of", Right),
    ];
    let mut rows = Vec::new();
    for cohort in cohorts(cells) {
        let ranked = |reported: &&ReportedCell<'_>| match reported.no_rank() {
            None => verified(reported),
            Some(_) => None,
        };
        let shares: Vec<Option<f64>> = cohort.iter().map(ranked).collect();
        let ranks = competition_ranks(&shares).map_err(invalid)?;
        for (reported, rank) in cohort.iter().zip(ranks) {
            let who = reported.who();
            let why = reported.no_rank().unwrap_or_else(|| "no task".to_owned());
            rows.push(vec![
                text(reported.name()),
                text(&reported.found.model),
                text(who.style.name()),
                TableCell::Text(who.seed.to_string()),
                verified(reported).map_or_else(|| missing("no task"), TableCell::Percent),
                rank.map_or_else(|| missing(&why), TableCell::Count),
                TableCell::Count(cohort.len()),
            ]);
        }
    }
    Ok(TableData::new("T1. Ranks by strict VAcc", heads)
        .with_rows(rows)
        .with_note("within one style and seed, where coverage is whole"))
}

pub(super) fn pairs(cells: &[ReportedCell<'_>]) -> TableData {
    let heads = [
        ("bundle", Left),
        ("other", Left),
        ("layer", Left),
        ("tasks", Right),
        ("alone", Right),
        ("other alone", Right),
        ("p", Right),
    ];
    let mut rows = Vec::new();
    for (place, one) in cells.iter().enumerate() {
        for other in cells.iter().skip(place + 1) {
            rows.extend(LayersPassed::FUNNEL.map(|layer| pair(one, other, layer)));
        }
    }
    TableData::new("T1. Differences of two cells on the same tasks, strict", heads)
        .with_rows(rows)
        .with_note("p: exact test of McNemar; alone: tasks that one of the two passes and the other does not")
}

fn pair(one: &ReportedCell<'_>, other: &ReportedCell<'_>, layer: LayersPassed) -> Vec<TableCell> {
    let passes = |reported: &ReportedCell<'_>, task: &str| {
        let verdict = reported.verdict(task)?;
        Some(layer <= verdict.passes(JudgeRule::Strict, &reported.rules))
    };
    let both = one.world.tasks.iter();
    let both = both.filter_map(|task| Some((passes(one, &task.id)?, passes(other, &task.id)?)));
    let (first, second): (Vec<bool>, Vec<bool>) = both.unzip();
    let paired = PairedTasks::of(&first, &second);
    vec![
        text(one.name()),
        text(other.name()),
        text(layer.name()),
        TableCell::Count(first.len()),
        count(paired.first_alone),
        count(paired.second_alone),
        TableCell::P(paired.p),
    ]
}

pub(super) fn pass_at(cells: &[ReportedCell<'_>]) -> TableData {
    let first = [
        ("bundle", Left),
        ("rule", Left),
        ("k", Right),
        ("samples", Right),
        ("tasks", Right),
    ];
    let mut table = LayerTable::new(&first, false);
    for reported in cells {
        for pass in &reported.found.pass_at {
            for (rule, shares) in &pass.shares {
                let mut row = vec![
                    text(reported.name()),
                    text(rule),
                    count(pass.k),
                    count(reported.samples),
                    TableCell::Count(pass.tasks),
                ];
                row.extend(LayersPassed::FUNNEL.map(|layer| {
                    let share = shares.get(layer.name()).copied().flatten();
                    share.map_or_else(|| missing("no task"), TableCell::Percent)
                }));
                table.rows.push(row);
            }
        }
    }
    table.titled("T1. The chance that one of k samples passes")
}

pub(super) fn categories(cells: &[ReportedCell<'_>]) -> TableData {
    let first = [
        ("bundle", Left),
        ("category", Left),
        ("rule", Left),
        ("tasks", Right),
    ];
    let mut table = LayerTable::new(&first, false);
    for reported in cells {
        let judged = reported.last();
        for category in FactorCategory::ALL {
            let funnel = Funnel::of(&judged, TaskGroup::Category(category), &reported.rules);
            add_rules(
                &mut table,
                (text(reported.name()), text(category.name())),
                &funnel,
            );
        }
    }
    table.titled("T2. Share of tasks that pass each layer, by category")
}

/// The rows of both rules.
fn add_rules(table: &mut LayerTable, (name, of): (TableCell, TableCell), funnel: &Funnel) {
    for rule in JudgeRule::ALL {
        let first = vec![
            name.clone(),
            of.clone(),
            text(rule_name(rule)),
            count(funnel.tasks),
        ];
        table.add(first, funnel, rule);
    }
}

pub(super) fn causal(cells: &[ReportedCell<'_>]) -> TableData {
    let mut heads = vec![("bundle", Left), ("tasks", Right)];
    for head in ["Pass@1", "Safe, published", "Safe, strict"] {
        heads.extend([(head, Right), ("low", Right), ("high", Right)]);
    }
    let rows = cells.iter().map(|reported| {
        let group = TaskGroup::Category(FactorCategory::Causal);
        let funnel = Funnel::of(&reported.last(), group, &reported.rules);
        let mut row = vec![text(reported.name()), count(funnel.tasks)];
        row.extend(bounded(funnel.rate(JudgeRule::Strict, LayersPassed::Runs)));
        row.extend(bounded(funnel.rate(JudgeRule::Published, LayersPassed::Safe)));
        row.extend(bounded(funnel.rate(JudgeRule::Strict, LayersPassed::Safe)));
        row
    });
    TableData::new("T3. Causal tasks: what runs, and what does not look ahead", heads).with_rows(rows)
}

/// Table 9: round by round.
pub(super) fn rounds(cells: &[ReportedCell<'_>]) -> TableData {
    let first = [
        ("bundle", Left),
        ("round", Right),
        ("rule", Left),
        ("tasks", Right),
    ];
    let mut table = LayerTable::new(&first, false);
    for reported in cells {
        for round in &reported.rounds {
            let funnel = Funnel::of(&reported.judged(round), TaskGroup::All, &reported.rules);
            let named = (text(reported.name()), text(&round.round.to_string()));
            add_rules(&mut table, named, &funnel);
        }
    }
    table.titled("T9. Share of tasks that pass each layer, by round")
}

/// Table 10: the styles of each model beside each other.
pub(super) fn styles(cells: &[ReportedCell<'_>]) -> TableData {
    let first = [
        ("agent", Left),
        ("seed", Right),
        ("style", Left),
        ("rule", Left),
        ("tasks", Right),
    ];
    let mut sorted: Vec<&ReportedCell<'_>> = cells.iter().collect();
    sorted.sort_by_key(|reported| {
        let who = reported.who();
        (&who.agent, who.seed, who.style)
    });
    let mut table = LayerTable::new(&first, true);
    for reported in sorted {
        let who = reported.who();
        let funnel = Funnel::of(&reported.last(), TaskGroup::All, &reported.rules);
        for rule in JudgeRule::ALL {
            let first = vec![
                text(&who.agent),
                text(&who.seed.to_string()),
                text(who.style.name()),
                text(rule_name(rule)),
                count(funnel.tasks),
            ];
            table.add(first, &funnel, rule);
        }
    }
    table.titled("T10. Share of tasks that pass each layer, by style")
}
