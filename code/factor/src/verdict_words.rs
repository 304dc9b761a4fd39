//! What is said of a function in words.

use crate::accuracy::AccuracyRules;
use crate::gate::SafetyVerdict;
use crate::job::PanelChange;
use crate::loops::LoopMeasure;
use crate::panel::FactorPanels;
use crate::verdict::{CodeExecution, FactorVerdict, JudgeRule};

/// A verdict in words, line by line, with its evidence; the panels are those of its source. A message is foreign text: who shows it makes what is no letter visible.
#[must_use]
pub fn verdict_words(verdict: &FactorVerdict, panels: &FactorPanels, rules: &AccuracyRules) -> Vec<String> {
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
        lines.push(format!("vectorised, published: {text}"));
    }
    if let Some(loops) = &verdict.loops {
        lines.push(format!("vectorised, strict: {}", loops_text(loops)));
    }
    let flags: Vec<&str> = verdict.flags.iter().map(|flag| flag.code()).collect();
    if !flags.is_empty() {
        lines.push(format!("flags: {}", flags.join(", ")));
    }
    lines.push(format!(
        "passes: {}",
        verdict.passes(JudgeRule::Strict, rules).name()
    ));
    lines
}

fn loops_text(loops: &LoopMeasure) -> String {
    match loops.fault {
        Some(fault) => format!("no ({})", fault.code()),
        None => format!(
            "{} ({} steps a row, {} more in windows)",
            if loops.is_loop() { "no" } else { "yes" },
            loops.steps_a_row,
            loops.window_steps_a_row
        ),
    }
}

fn safety_text(safety: &SafetyVerdict, panels: &FactorPanels) -> String {
    let leak = match safety {
        SafetyVerdict::Leak(leak) => leak,
        SafetyVerdict::Safe
        | SafetyVerdict::Nondeterministic { .. }
        | SafetyVerdict::PrefixError { .. }
        | SafetyVerdict::NeedsRows { .. }
        | SafetyVerdict::DoesNotRun { .. } => return safety.code().to_owned(),
    };
    let day = panels.bars(leak.panel).days().get(leak.row);
    let day = day.map_or(String::new(), ToString::to_string);
    let how = match leak.change {
        PanelChange::Cut { rows } => format!("rows from {rows} on were removed"),
        PanelChange::Changed { from, .. } => format!("rows from {from} on were replaced"),
        PanelChange::Whole | PanelChange::Moved | PanelChange::Counted { .. } => {
            "nothing else changed".to_owned()
        }
    };
    format!(
        "no: on panel {} row {} ({day}) changed when {how}",
        leak.panel.letter(),
        leak.row
    )
}
