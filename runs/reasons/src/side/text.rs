//! Reasons side by side, for a terminal.

use super::record::{MarkedText, MaskComparison, SideBySide, StepComparison, TextPart};
use crate::shown;
use ktd_experiment::mask_arm::arm_label;
use ktd_view::draw::{display_width, wrapped};
use std::fmt::Write;

/// Cells of the column of labels.
const LABEL_CELLS: usize = 8;
/// A column is no narrower.
const COLUMN_CELLS_MIN: usize = 14;
const BAR: &str = " | ";

/// The whole as text of about `width` terminal cells.
#[must_use]
pub fn text(sides: &SideBySide, width: usize) -> String {
    let matches = sides.matches.iter().map(|one| match_text(one, width));
    let mut text = matches.collect::<Vec<_>>().join("\n");
    text.push_str("\n«word»: named without being shown\n");
    for note in &sides.notes {
        // Writing to a string cannot fail.
        writeln!(text, "note: {note}").ok();
    }
    text
}

fn match_text(one: &MaskComparison, width: usize) -> String {
    let columns = one.masks.len().max(1);
    let column = (width.saturating_sub(LABEL_CELLS) / columns)
        .saturating_sub(BAR.len())
        .max(COLUMN_CELLS_MIN);
    let mut text = format!(
        "{}, window {}, {}, seed {}\n",
        shown(&one.agent),
        shown(&one.window),
        one.mode.label(),
        one.seed
    );
    for step in &one.steps {
        step_text(&mut text, one, step, column);
    }
    text
}

fn step_text(text: &mut String, one: &MaskComparison, step: &StepComparison, column: usize) {
    let date = step
        .real_date
        .as_ref()
        .map(|date| format!(", {date}"))
        .unwrap_or_default();
    // Writing to a string cannot fail.
    writeln!(text, "\nstep {}{date}: {} hits", step.step, step.hits).ok();
    let mut row = |label: &str, cells: Vec<Vec<String>>| write_row(text, label, &cells, column);
    let heads = one.masks.iter().map(|mask| {
        format!(
            "{}/{}",
            arm_label(mask.level, mask.instruction),
            mask.numeric.label()
        )
    });
    row("", heads.map(|head| wrapped(&head, column)).collect());
    row("", one.masks.iter().map(|_| vec!["-".repeat(column)]).collect());
    let days = step.cells.iter().map(|cell| cell.day.as_deref().unwrap_or("-"));
    row("day", days.map(|day| wrapped(&shown(day), column)).collect());
    let overall = step.cells.iter().map(|cell| {
        let said = cell.overall.as_ref().map(marked).unwrap_or_default();
        let parts = [cell.remark(), &said];
        let parts = parts.iter().filter(|part| !part.is_empty());
        parts.flat_map(|part| wrapped(part, column)).collect()
    });
    row("overall", overall.collect());
    for order in &step.orders {
        let cells = order.cells.iter().map(|cell| {
            let Some(cell) = cell else {
                return vec!["-".to_owned()];
            };
            let mut lines = wrapped(&shown(&cell.head()), column);
            lines.extend(wrapped(&marked(&cell.reason), column));
            lines
        });
        row(&order.label(), cells.collect());
    }
}

/// One row of cells, each of several lines, under a blank line.
fn write_row(text: &mut String, label: &str, cells: &[Vec<String>], column: usize) {
    let label = wrapped(&shown(label), LABEL_CELLS);
    let height = cells.iter().map(Vec::len).chain([label.len()]).max().unwrap_or(0);
    for place in 0..height {
        let padded = |cell: &str, width: usize| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(display_width(cell))))
        };
        let line_of = |lines: &Vec<String>| lines.get(place).cloned().unwrap_or_default();
        let mut line = padded(&line_of(&label), LABEL_CELLS);
        for cell in cells {
            line.push_str(BAR);
            line.push_str(&padded(&line_of(cell), column));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// A reason on one line with its words in brackets.
fn marked(reason: &MarkedText) -> String {
    let part = |part: TextPart<'_>| match part {
        TextPart::Marked(word, mark) if !mark.is_shown => format!("«{word}»"),
        TextPart::Marked(word, _) | TextPart::Plain(word) => word.to_owned(),
    };
    shown(&reason.parts().into_iter().map(part).collect::<String>())
}
