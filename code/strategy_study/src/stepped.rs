//! The contract `step`: a run bar by bar, each bar in a process that was given no later one.

use crate::run_outcome::{LogsOutcome, RunFault};
use ktd_sandbox::{BoxLimits, SourceFault, SourceText, SyntaxNode};
use ktd_strategy_code::{CandidateLogs, CandidateTable};

/// The class that hands a program its bars.
pub(crate) const CLASS: &str = "KtdSteps";
/// Its source, which comes after that of the program.
const STEPS: &str = include_str!("steps.py");
/// What it adds to a source, kilobytes.
const STEPS_KB: u32 = 4;

/// A source with what hands it its bars.
pub(crate) fn with_steps(source: &SourceText) -> Result<SourceText, SourceFault> {
    let text = format!("{}\n\n{STEPS}", source.text());
    SourceText::read(text.as_bytes(), BoxLimits::STRATEGIES.source_kb + STEPS_KB)
}

/// The syntax tree of a source without what was added to it, which comes last.
pub(crate) fn without_steps(nodes: Vec<SyntaxNode>, source: &SourceText) -> Vec<SyntaxNode> {
    let is_added = |node: &SyntaxNode| {
        node.kind == "ClassDef" && node.parent == Some(0) && node.text.as_deref() == Some(CLASS)
    };
    let lines = u64::try_from(source.text().lines().count()).unwrap_or(u64::MAX);
    let is_after = |node: &SyntaxNode| is_added(node) && node.line.is_some_and(|line| lines < line);
    let end = nodes.iter().position(is_after).unwrap_or(nodes.len());
    nodes.into_iter().take(end).collect()
}

/// The logs of a run of which each part holds what was said of one bar.
pub(crate) fn joined(parts: Vec<LogsOutcome>) -> LogsOutcome {
    let mut trades = Vec::with_capacity(parts.len());
    let mut bars = Vec::with_capacity(parts.len());
    for (bar, part) in parts.into_iter().enumerate() {
        let part = part.map_err(|fault| RunFault {
            message: format!("bar {bar}: {}", fault.message),
            ..fault
        })?;
        if part.bars.len() != 1 {
            let what = format!(
                "bar {bar}: `step` gives one row of the log of bars, not {}",
                part.bars.len()
            );
            return Err(RunFault::new("tables", what));
        }
        trades.push(part.trades);
        bars.push(part.bars);
    }
    Ok(CandidateLogs {
        trades: CandidateTable::joined(&trades),
        bars: CandidateTable::joined(&bars),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_keeps_its_lines_and_its_tree() {
        let source = SourceText::read(b"x = 1\n", 1).unwrap();
        let text = with_steps(&source).unwrap();
        assert!(
            text.text().starts_with("x = 1\n\n\nclass KtdSteps:"),
            "{}",
            text.text()
        );
        assert!(STEPS.len() < usize::try_from(STEPS_KB).unwrap() << 10);
        let node = |kind: &str, line, text: Option<&str>| SyntaxNode {
            parent: (kind != "Module").then_some(0),
            field: None,
            place: None,
            kind: kind.to_owned(),
            line: Some(line),
            last_line: None,
            text: text.map(str::to_owned),
            detail: None,
        };
        // A class of that name of the program's own stays.
        let own = vec![
            node("Module", 1, None),
            node("ClassDef", 1, Some(CLASS)),
            node("Assign", 1, None),
        ];
        let all = [
            own.clone(),
            vec![node("ClassDef", 4, Some(CLASS)), node("Pass", 5, None)],
        ]
        .concat();
        assert_eq!(without_steps(all, &source), own);
    }

    #[test]
    fn parts_are_joined_in_order_and_the_first_fault_ends_them() {
        let fault = |code: &str| Err(RunFault::new(code, "x"));
        let error = joined(vec![fault("KeyError"), fault("cpu")]).unwrap_err();
        assert_eq!(error.to_string(), "KeyError: bar 0: x");
        let none = joined(vec![Ok(CandidateLogs::default())]).unwrap_err();
        assert_eq!(
            none.to_string(),
            "tables: bar 0: `step` gives one row of the log of bars, not 0"
        );
        assert_eq!(joined(Vec::new()).unwrap(), CandidateLogs::default());
    }
}
