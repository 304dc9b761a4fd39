//! Verdicts and counts as tables and JSON.

use crate::scored::ScoredRound;
use ktd_factor_code::{
    AccuracyRules, CodeExecution, FactorLevel, FactorPanels, FactorTask, FactorTasks, FactorVerdict,
    FailureClass, Funnel, JudgeRule, LayersPassed, NearMiss, PanelChange, PanelKind, SafetyVerdict,
    TaskGroup,
};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, visible};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The list of tasks.
#[must_use]
pub fn task_table(tasks: &[&FactorTask]) -> TableData {
    let heads = [
        ("id", Left),
        ("category", Left),
        ("level", Right),
        ("warm-up", Right),
        ("prompt", Left),
    ];
    let rows = tasks.iter().map(|task| {
        vec![
            TableCell::Text(task.id.to_string()),
            TableCell::Text(task.category.name().to_owned()),
            TableCell::Count(usize::from(task.level.number())),
            TableCell::Count(task.warm_up),
            TableCell::Text(task.prompt.clone()),
        ]
    });
    TableData::new(format!("{} tasks", tasks.len()), heads).with_rows(rows)
}

/// How many tasks pass each layer in each round, by both rules, and where the others fail.
#[must_use]
pub fn funnel_table(rounds: &[ScoredRound], tasks: &FactorTasks, rules: &AccuracyRules) -> TableData {
    let mut heads = vec![
        ("round", Right),
        ("level", Left),
        ("rule", Left),
        ("tasks", Right),
    ];
    heads.extend(LayersPassed::FUNNEL.map(|layer| (layer.name(), Right)));
    heads.extend(FailureClass::ALL.map(|class| (class.code(), Right)));
    let mut rows = Vec::new();
    for round in rounds {
        let judged = round.judged(tasks);
        for group in groups() {
            let funnel = Funnel::of(&judged, group, rules);
            for rule in JudgeRule::ALL {
                let mut row = vec![
                    TableCell::Text(round.round.to_string()),
                    TableCell::Text(group.name()),
                    TableCell::Text(rule_name(rule).to_owned()),
                    TableCell::Text(funnel.tasks.to_string()),
                ];
                row.extend(
                    LayersPassed::FUNNEL
                        .map(|layer| TableCell::Text(funnel.rate(rule, layer).passed.to_string())),
                );
                row.extend(FailureClass::ALL.map(|class| match rule {
                    JudgeRule::Strict => {
                        TableCell::Text(funnel.failures.get(&class).copied().unwrap_or(0).to_string())
                    }
                    JudgeRule::Published => TableCell::Empty,
                }));
                rows.push(row);
            }
        }
    }
    TableData::new("Tasks that pass each layer", heads).with_rows(rows)
}

fn groups() -> Vec<TaskGroup> {
    let levels = FactorLevel::ALL.map(TaskGroup::Level);
    levels.into_iter().chain([TaskGroup::All]).collect()
}

pub(crate) const fn rule_name(rule: JudgeRule) -> &'static str {
    match rule {
        JudgeRule::Published => "published",
        JudgeRule::Strict => "strict",
    }
}

/// The verdicts of all rounds.
#[must_use]
pub fn scored_json(rounds: &[ScoredRound], tasks: &FactorTasks, rules: &AccuracyRules) -> Value {
    let rounds = rounds.iter().map(|round| {
        let judged = round.judged(tasks);
        let verdicts = judged.iter().map(|judged| {
            let id = judged.id.to_owned();
            json!({
                "id": id,
                "carried": round.carried.contains(&id),
                "verdict": judged.verdict.map(|verdict| verdict_json(verdict, rules)),
            })
        });
        json!({
            "round": round.round,
            "counts": counts_json(round, tasks, rules),
            "verdicts": verdicts.collect::<Vec<_>>(),
        })
    });
    json!({"rounds": rounds.collect::<Vec<_>>()})
}

/// The counts of a round by level and over all tasks.
pub(crate) fn counts_json(
    round: &ScoredRound,
    tasks: &FactorTasks,
    rules: &AccuracyRules,
) -> BTreeMap<String, Value> {
    let judged = round.judged(tasks);
    let counts = groups()
        .into_iter()
        .map(|group| (group.name(), funnel_json(&Funnel::of(&judged, group, rules))));
    counts.collect()
}

fn funnel_json(funnel: &Funnel) -> Value {
    let layers = |rule: JudgeRule| {
        let counts = LayersPassed::FUNNEL
            .map(|layer| (layer.name().to_owned(), json!(funnel.rate(rule, layer).passed)));
        Value::Object(counts.into_iter().collect())
    };
    let failures = funnel
        .failures
        .iter()
        .map(|(class, count)| (class.code().to_owned(), json!(count)));
    json!({
        "tasks": funnel.tasks,
        "uncovered": funnel.uncovered,
        "published": layers(JudgeRule::Published),
        "strict": layers(JudgeRule::Strict),
        "robust": funnel.robust,
        "failures": failures.collect::<serde_json::Map<String, Value>>(),
        "reasons": funnel.execution_reasons,
        "near_misses": funnel.near_misses,
        "flags": funnel.flags,
    })
}

/// A verdict with its evidence.
#[must_use]
pub fn verdict_json(verdict: &FactorVerdict, rules: &AccuracyRules) -> Value {
    let panels = verdict.accuracy.iter().map(|(panel, figures)| {
        let figures = json!({
            "golden_rows": figures.golden_rows,
            "common_rows": figures.common_rows,
            "correlation": figures.correlation,
            "error": figures.error,
            "mask_agreement": figures.mask_agreement,
            "early_rows": figures.early_rows,
            "published": figures.is_published_right(rules),
            "strict": figures.is_right(rules),
        });
        (panel.letter().to_owned(), figures)
    });
    let structure = verdict.structure.as_ref().map(|report| {
        let lines = report
            .violations
            .iter()
            .map(|(kind, lines)| (kind.code().to_owned(), json!(lines)));
        Value::Object(lines.collect())
    });
    let denser = verdict.denser_safety.iter();
    let denser: BTreeMap<String, Value> = denser
        .map(|(cuts, safety)| (cuts.to_string(), safety_json(safety)))
        .collect();
    json!({
        "published": verdict.passes(JudgeRule::Published, rules).name(),
        "strict": verdict.passes(JudgeRule::Strict, rules).name(),
        "failure": verdict.failure(rules).map(FailureClass::code),
        "execution": execution_json(&verdict.execution),
        "published_safety": verdict.published_safety.as_ref().map(safety_json),
        "published_safety_by_cuts": denser,
        "safety": verdict.safety.as_ref().map(safety_json),
        "accuracy": panels.collect::<serde_json::Map<String, Value>>(),
        "near_miss": verdict.near_miss.as_ref().map(NearMiss::code),
        "structure": structure,
        "flags": verdict.flags.iter().map(|flag| flag.code()).collect::<Vec<_>>(),
        "robust": verdict.is_robust(rules),
        "scale_error": verdict.is_scale_error(rules),
        "date_dependent": verdict.is_date_dependent,
        "price_memory": verdict.has_price_memory(rules),
    })
}

fn execution_json(execution: &CodeExecution) -> Value {
    match execution {
        CodeExecution::Ran => json!("ran"),
        CodeExecution::NoSource(fault) => json!({"reason": fault.code()}),
        CodeExecution::Failed { panel, failure } => json!({
            "reason": failure.reason.code(),
            "panel": panel.map(PanelKind::letter),
            "class": failure.class,
            "message": failure.message,
            "line": failure.line,
        }),
    }
}

fn safety_json(safety: &SafetyVerdict) -> Value {
    let change = |change: &PanelChange| match change {
        PanelChange::Whole => json!("whole"),
        PanelChange::Moved => json!("moved"),
        PanelChange::Cut { rows } => json!({"cut": rows}),
        PanelChange::Perturbed { from, upward } => json!({"perturbed": from, "upward": upward}),
    };
    let evidence = match safety {
        SafetyVerdict::Safe | SafetyVerdict::DoesNotRun { .. } => Value::Null,
        SafetyVerdict::Nondeterministic { panel, row } => json!({"panel": panel.letter(), "row": row}),
        SafetyVerdict::Leak(leak) => {
            json!({"panel": leak.panel.letter(), "change": change(&leak.change), "row": leak.row})
        }
        SafetyVerdict::PrefixError {
            panel,
            change: at,
            failure,
        } => json!({"panel": panel.letter(), "change": change(at), "reason": failure.reason.code()}),
    };
    json!({"verdict": safety.code(), "evidence": evidence})
}

/// A verdict in words, with its evidence.
#[must_use]
pub fn verdict_text(verdict: &FactorVerdict, panels: &FactorPanels, rules: &AccuracyRules) -> String {
    let mut lines = Vec::new();
    match &verdict.execution {
        CodeExecution::Ran => lines.push("runs: yes".to_owned()),
        CodeExecution::NoSource(fault) => lines.push(format!("runs: no ({})", fault.code())),
        CodeExecution::Failed { panel, failure } => {
            let place = panel.map_or(String::new(), |panel| format!(" on panel {}", panel.letter()));
            let line = failure
                .line
                .map_or(String::new(), |line| format!(", line {line}"));
            let class = failure.class.as_deref().unwrap_or("no exception");
            let message = failure.message.as_deref().unwrap_or("no message");
            lines.push(format!(
                "runs: no ({}{place}{line}: {class}: {message})",
                failure.reason.code()
            ));
        }
    }
    let gates = [
        ("published", &verdict.published_safety),
        ("strict", &verdict.safety),
    ];
    for (rule, safety) in gates {
        if let Some(safety) = safety {
            lines.push(format!("safe, {rule}: {}", safety_text(safety, panels)));
        }
    }
    for (panel, figures) in &verdict.accuracy {
        let yes = |holds: bool| if holds { "yes" } else { "no" };
        let error = figures
            .error
            .map_or("n/a".to_owned(), |error| format!("{error:.1e}"));
        lines.push(format!(
            "right on {}: published {}, strict {} (error {error}, {} early rows)",
            panel.letter(),
            yes(figures.is_published_right(rules)),
            yes(figures.is_right(rules)),
            figures.early_rows
        ));
    }
    if let Some(miss) = &verdict.near_miss {
        lines.push(format!("nearest wrong factor: {}", miss.code()));
    }
    if let Some(report) = &verdict.structure {
        let found = report.violations.iter().map(|(kind, at)| {
            let at: Vec<String> = at.iter().map(u64::to_string).collect();
            format!("{} (line {})", kind.code(), at.join(", "))
        });
        let found: Vec<String> = found.collect();
        let text = if found.is_empty() {
            "yes".to_owned()
        } else {
            found.join(", ")
        };
        lines.push(format!("vectorised: {text}"));
    }
    let flags: Vec<&str> = verdict.flags.iter().map(|flag| flag.code()).collect();
    if !flags.is_empty() {
        lines.push(format!("flags: {}", flags.join(", ")));
    }
    lines.push(format!(
        "passes: {}",
        verdict.passes(JudgeRule::Strict, rules).name()
    ));
    // A message is foreign text: it makes no line of its own, and nothing of it moves a cursor or turns a line.
    let shown: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    format!("{}\n", shown.join("\n"))
}

fn safety_text(safety: &SafetyVerdict, panels: &FactorPanels) -> String {
    let leak = match safety {
        SafetyVerdict::Leak(leak) => leak,
        SafetyVerdict::Safe
        | SafetyVerdict::Nondeterministic { .. }
        | SafetyVerdict::PrefixError { .. }
        | SafetyVerdict::DoesNotRun { .. } => return safety.code().to_owned(),
    };
    let day = panels.bars(leak.panel).days().get(leak.row);
    let day = day.map_or(String::new(), ToString::to_string);
    let how = match leak.change {
        PanelChange::Cut { rows } => format!("rows from {rows} on were removed"),
        PanelChange::Perturbed { from, .. } => format!("rows from {from} on were replaced"),
        PanelChange::Whole | PanelChange::Moved => "nothing else changed".to_owned(),
    };
    format!(
        "no: on panel {} row {} ({day}) changed when {how}",
        leak.panel.letter(),
        leak.row
    )
}
