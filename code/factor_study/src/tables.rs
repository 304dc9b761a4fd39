//! Tasks, verdicts and counts as tables and documents.

use ktd_factor_code::{
    AccuracyRules, FactorPanels, FactorTask, FactorTasks, FactorVerdict, FailureClass, Funnel, JudgeRule,
    LayersPassed, ScoredRound, TaskGroup, verdict_words,
};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData, visible};
use ktd_view::row_table::RowTable;

/// The list of tasks.
#[must_use]
pub fn task_table(tasks: &[&FactorTask]) -> TableData {
    RowTable::new(format!("{} tasks", tasks.len()), tasks.iter().copied())
        .text("id", |task| &task.id)
        .text("category", |task| task.category.name())
        .count("level", |task| task.level.number())
        .count("warm-up", |task| task.warm_up)
        .text("prompt", |task| &task.prompt)
        .table()
}

/// How many tasks pass each layer in each round, by both rules, and where the others fail.
#[must_use]
pub fn funnel_table(rounds: &[ScoredRound], tasks: &FactorTasks, rules: &AccuracyRules) -> TableData {
    let groups = rounds.iter().flat_map(|round| {
        let judged = round.judged(tasks);
        TaskGroup::levels().map(|group| (round.round, group, Funnel::of(&judged, group, rules)))
    });
    let groups: Vec<(u32, TaskGroup, Funnel)> = groups.collect();
    let rows = groups
        .iter()
        .flat_map(|group| JudgeRule::ALL.map(|rule| (group, rule)));
    let table = RowTable::new("Tasks that pass each layer", rows)
        .count("round", |((round, ..), _)| *round)
        .text("level", |((_, group, _), _)| group.name())
        .text("rule", |(_, rule)| rule.name())
        .count("tasks", |((.., funnel), _)| funnel.tasks);
    let table = LayersPassed::FUNNEL.into_iter().fold(table, |table, layer| {
        table.count(layer.name(), |((.., funnel), rule)| {
            funnel.rate(rule, layer).passed
        })
    });
    let table = FailureClass::ALL.into_iter().fold(table, |table, class| {
        table.column((class.code(), Right), |((.., funnel), rule)| {
            let failed = funnel.failures.get(&class).copied().unwrap_or(0);
            match rule {
                JudgeRule::Strict => TableCell::Text(failed.to_string()),
                JudgeRule::Published => TableCell::Empty,
            }
        })
    });
    table.table()
}

/// A verdict in words, with its evidence; nothing of a foreign message moves a cursor or turns a line.
#[must_use]
pub fn verdict_text(verdict: &FactorVerdict, panels: &FactorPanels, rules: &AccuracyRules) -> String {
    let lines = verdict_words(verdict, panels, rules);
    let shown: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    format!("{}\n", shown.join("\n"))
}
