//! Documents in Markdown as text that fits a terminal.

use ktd_view::draw::wrapped;
use ktd_view::table::{Align, Column, Layout, Table, display_width};

/// What code blocks are set in by.
const CODE: &str = "    ";

/// The document in lines of at most `width` terminal cells: paragraphs and lists broken at blanks, tables in columns or, where
/// these do not fit, as `name: value`, links as their text. Lines of code stay whole, four blanks in.
pub(super) fn laid_out(markdown: &str, width: usize) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let follows_blank = shown.last().is_none_or(String::is_empty);
        if follows_blank && line.starts_with(CODE) {
            shown.push(line.to_owned());
            while let Some(line) = lines.next_if(|line| line.starts_with(CODE)) {
                shown.push(line.to_owned());
            }
        } else if body.starts_with("```") {
            let code = lines
                .by_ref()
                .take_while(|line| !line.trim_start().starts_with("```"));
            shown.extend(code.map(|line| format!("{CODE}{line}").trim_end().to_owned()));
        } else if body.starts_with('|') {
            let mut rows = vec![cells(body)];
            while let Some(row) = lines.next_if(|line| line.trim_start().starts_with('|')) {
                rows.push(cells(row.trim_start()));
            }
            shown.extend(table(&rows, width));
        } else {
            let mut text = body.to_owned();
            let is_open = !body.is_empty() && !body.starts_with('#');
            while let Some(next) = lines.next_if(|next| is_open && !starts_block(next.trim_start())) {
                text = format!("{text} {}", next.trim());
            }
            shown.extend(paragraph(&text, indent, width));
        }
    }
    shown.join("\n") + "\n"
}

/// Whether a line begins something of its own, or nothing.
fn starts_block(line: &str) -> bool {
    line.is_empty() || line.starts_with(['#', '|']) || line.starts_with("```") || 0 < marker(line)
}

/// Bytes of what marks an item of a list or a quotation.
fn marker(line: &str) -> usize {
    let digits = line.len()
        - line
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let rest = line.get(digits..).unwrap_or_default();
    match digits {
        0 if ["- ", "* ", "> "].iter().any(|mark| rest.starts_with(mark)) => 2,
        1..=2 if rest.starts_with(". ") => digits + 2,
        _ => 0,
    }
}

/// Text in lines, those after the first as far in as the text after its marker.
fn paragraph(text: &str, indent: usize, width: usize) -> Vec<String> {
    let (mark, text) = text.split_at_checked(marker(text)).unwrap_or(("", text));
    let hang = indent + mark.len();
    let lines = wrapped(&plain(text), width.saturating_sub(hang))
        .into_iter()
        .enumerate();
    let lines = lines.map(|(place, line)| {
        let mark = if place == 0 { mark } else { "" };
        format!("{mark:>hang$}{line}").trim_end().to_owned()
    });
    lines.collect()
}

/// Cells of a line of a table.
fn cells(line: &str) -> Vec<String> {
    const BAR: &str = "\u{0}";
    let line = line.trim().replace("\\|", BAR);
    let line = line.strip_prefix('|').unwrap_or(&line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|')
        .map(|cell| plain(cell.trim()).replace(BAR, "|"))
        .collect()
}

/// A table whose second row says on which side its columns stand.
fn table(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let [heads, sides, rows @ ..] = rows else {
        return rows
            .iter()
            .flat_map(|row| wrapped(&row.join(" "), width))
            .collect();
    };
    let columns = heads.iter().zip(sides).map(|(head, side)| {
        let align = if side.ends_with(':') {
            Align::Right
        } else {
            Align::Left
        };
        Column::new(head, align)
    });
    let mut table = Table::with_columns(columns);
    for row in rows {
        table.row(row.iter().cloned());
    }
    let text = table.render_in(Layout {
        width: Some(width),
        ..Layout::default()
    });
    let is_whole = |line: &str| {
        display_width(line) <= width && !line.starts_with("not shown:") && !line.contains('\u{2026}')
    };
    if text.lines().all(is_whole) {
        return text.lines().map(str::to_owned).collect();
    }
    let mut shown = Vec::new();
    for row in rows {
        let named = heads.iter().zip(row).filter(|(_, value)| !value.is_empty());
        for (place, (head, value)) in named.enumerate() {
            let mark = if place == 0 { "- " } else { "" };
            let gap = if head.is_empty() { "" } else { ": " };
            shown.extend(paragraph(
                &format!("{mark}{head}{gap}{value}"),
                2 - mark.len(),
                width,
            ));
        }
    }
    shown
}

/// Text without the marks of links, pictures and bold type; what stands in backticks stays.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest
        .find(['`', '[', '*'])
        .and_then(|at| rest.split_at_checked(at))
    {
        shown.push_str(before);
        let mut letters = from.chars();
        let first = letters.next();
        let after = letters.as_str();
        rest = after;
        if let (Some('`'), Some((code, after))) = (first, after.split_once('`')) {
            shown.extend(["`", code, "`"]);
            rest = after;
        } else if let (Some('['), Some((label, after))) = (first, link(after)) {
            shown.truncate(shown.trim_end_matches('!').len());
            shown.push_str(&plain(label));
            rest = after;
        } else if let (Some('*'), Some(after)) = (first, after.strip_prefix('*')) {
            rest = after;
        } else {
            shown.extend(first);
        }
    }
    shown + rest
}

/// The label of a link whose bracket is open, and what follows the link.
fn link(text: &str) -> Option<(&str, &str)> {
    let (label, rest) = text
        .split_once("](")
        .filter(|(label, _)| !label.contains(['[', ']']))?;
    rest.split_once(')').map(|(_, after)| (label, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_laid_out() {
        let text = "# A [title](x.md#y)\n\nOne **bold** `[a](b)` two\nthree\n- an item that\n  goes on\n\n```sh\nktd run a-long-file.toml --out results\n```\n\
                    | a | n |\n|---|--:|\n| [x](y) | 1 |\n| z \\| w | 20 |\n";
        assert_eq!(
            laid_out(text, 20),
            "# A title\n\nOne bold `[a](b)`\ntwo three\n- an item that goes\n  on\n\n    ktd run a-long-file.toml --out results\n\
             a       n\nx       1\nz | w  20\n"
        );
        let wide = "| name | first | second |\n|---|---|---|\n| k | several long words here | and as many of them there |\n";
        assert_eq!(
            laid_out(wide, 20),
            "- name: k\n  first: several\n  long words here\n  second: and as\n  many of them there\n"
        );
    }
}
