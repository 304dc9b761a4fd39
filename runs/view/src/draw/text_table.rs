//! Tables of text for a terminal: aligned, as wide as their caller asks, and never broken inside a number.

use super::column::{Align, Column};
use super::safe::visible;
use super::text::{display_width, fitted, with_units, wrapped};

/// How a table is laid out. The caller knows the terminal; a table only follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout<'a> {
    /// Terminal cells in a line; without a limit when absent.
    pub width: Option<usize>,
    /// Whether escape sequences set off the heads.
    pub is_coloured: bool,
    /// What makes all columns appear, such as `--wide`.
    pub flag: &'a str,
}

/// A plain table with aligned columns; wide (CJK) characters count as two.
///
/// Cells may come from anyone's file: what could command a terminal is spelled out.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// Blanks between columns.
const GAP: usize = 2;
/// Least width to which a column of text is cut.
const LEAST_TEXT: usize = 8;
/// Lines that a cell or a head takes at most before a column is left out.
const MOST_LINES: usize = 3;

impl Table {
    /// A table with these column heads; the rightmost column is the least important.
    #[must_use]
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self::with_columns(columns.iter().copied().map(Column::from))
    }

    /// A table with these columns.
    pub fn with_columns(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().map(|column| Column {
            head: visible(&column.head).into_owned(),
            ..column
        });
        Self {
            columns: columns.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row<I: IntoIterator<Item = String>>(&mut self, cells: I) {
        let cells = cells.into_iter().map(|cell| visible(&cell).into_owned());
        self.rows.push(cells.collect());
    }

    /// The whole table as lines, each ended by a line feed and without trailing blanks.
    #[must_use]
    pub fn render(&self) -> String {
        self.render_in(Layout::default())
    }

    /// The table as lines that fit: heads and texts go on in a second and a third line at a blank, and where that is not
    /// enough, columns are left out and texts are cut. A last line names the columns that are missing. A text that is the only
    /// column takes as many lines as it needs.
    #[must_use]
    pub fn render_in(&self, layout: Layout<'_>) -> String {
        let widths = self.fitted_widths(layout.width);
        let mut text = String::new();
        if self.columns.iter().any(|column| !column.head.is_empty()) {
            let heads: Vec<&str> = self.columns.iter().map(|column| column.head.as_str()).collect();
            for line in self.lines(&heads, &widths, true) {
                text.push_str(&styled(&line, "1", layout));
                text.push('\n');
            }
        }
        for row in &self.rows {
            for line in self.lines(row, &widths, false) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        for line in self.missing(&widths, layout) {
            text.push_str(&styled(&line, "2", layout));
            text.push('\n');
        }
        text
    }

    /// Whether each column is shown.
    pub(super) fn shown_in(&self, layout: Layout<'_>) -> Vec<bool> {
        let widths = self.fitted_widths(layout.width);
        widths.iter().map(Option::is_some).collect()
    }

    /// The width of each column that is shown.
    fn fitted_widths(&self, width: Option<usize>) -> Vec<Option<usize>> {
        let whole: Vec<usize> = (0..self.columns.len())
            .map(|place| self.width(place, display_width, display_width))
            .collect();
        let Some(width) = width.filter(|width| *width < total(&shown(&whole))) else {
            return shown(&whole);
        };
        if self.is_text_alone() {
            return vec![Some(width)];
        }
        let least: Vec<usize> = (0..self.columns.len())
            .map(|place| self.least_width(place))
            .collect();
        let mut narrow = shown(&least);
        self.leave_out(&mut narrow, width, 1);
        let stays = |own: (&Option<usize>, &usize)| own.0.map(|_| *own.1);
        let mut widths: Vec<Option<usize>> = narrow.iter().zip(&whole).map(stays).collect();
        let least_of = |place: usize| least.get(place).copied();
        let is_text = |place: &usize| {
            self.columns
                .get(*place)
                .is_some_and(|column| column.align == Align::Left)
        };
        let text = |place: usize| Some(place).filter(is_text);
        // A head costs no row a line, and half a break frees nothing: it goes to its least width at once.
        let of_number = |place: usize| least_of(place).filter(|_| !is_text(&place));
        narrower(&mut widths, width, usize::MAX, of_number);
        narrower(&mut widths, width, 1, |place| text(place).and_then(least_of));
        narrower(&mut widths, width, 1, |place| text(place).map(|_| LEAST_TEXT));
        self.leave_out(&mut widths, width, 0);
        widths
    }

    /// Whether nothing stands beside a text, so that no figure is lost to its lines.
    fn is_text_alone(&self) -> bool {
        matches!(self.columns.as_slice(), [only] if only.align == Align::Left)
    }

    /// The widest of a column's head and cells, as each is measured.
    fn width(&self, place: usize, of_head: impl Fn(&str) -> usize, of_cell: impl Fn(&str) -> usize) -> usize {
        let head = self.columns.get(place).map(|column| of_head(&column.head));
        let cells = self.rows.iter().filter_map(|row| row.get(place));
        let cells = cells.map(|cell| of_cell(cell));
        head.into_iter().chain(cells).max().unwrap_or(0)
    }

    /// The width below which a column's words, or its numbers, would be broken, or take too many lines.
    fn least_width(&self, place: usize) -> usize {
        match self.columns.get(place).map(|column| column.align) {
            Some(Align::Left) => self.width(place, narrowest, narrowest),
            _ => self.width(place, narrowest, display_width),
        }
    }

    /// Leaves out columns until the rest fits, those with the highest priority number first, none below `least`.
    fn leave_out(&self, widths: &mut [Option<usize>], width: usize, least: u8) {
        while width < total(widths) {
            let shown = self.columns.iter().zip(widths.iter_mut()).enumerate().skip(1);
            let candidates = shown.filter(|(_, (column, own))| own.is_some() && least <= column.priority);
            let Some((_, (_, own))) = candidates.max_by_key(|(place, (column, _))| (column.priority, *place))
            else {
                return;
            };
            *own = None;
        }
    }

    /// A row, or the heads, which stand on the line of the cells below them.
    fn lines<S: AsRef<str>>(&self, cells: &[S], widths: &[Option<usize>], are_heads: bool) -> Vec<String> {
        let parts = self.columns.iter().zip(widths).enumerate();
        let parts = parts.filter_map(|(place, (column, width))| {
            let cell = cells.get(place).map_or("", AsRef::as_ref);
            let width = (*width)?;
            Some((
                column.align,
                width,
                if self.is_text_alone() && width < display_width(cell) {
                    wrapped(cell, width)
                } else {
                    in_lines(cell, width, are_heads || column.align == Align::Left)
                },
            ))
        });
        let parts: Vec<(Align, usize, Vec<String>)> = parts.collect();
        let height = parts.iter().map(|(_, _, lines)| lines.len()).max().unwrap_or(0);
        let line = |at: usize| {
            let cells = parts.iter().map(|(align, width, lines)| {
                let above = if are_heads { height - lines.len() } else { 0 };
                let cell = at.checked_sub(above).and_then(|at| lines.get(at));
                let cell = fitted(cell.map_or("", String::as_str), *width);
                let blanks = " ".repeat(width.saturating_sub(display_width(&cell)));
                match align {
                    Align::Left => cell + &blanks,
                    Align::Right => blanks + &cell,
                }
            });
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            line.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    /// Lines that name the columns which are not shown, and how to see them.
    fn missing(&self, widths: &[Option<usize>], layout: Layout<'_>) -> Vec<String> {
        let missing = self
            .columns
            .iter()
            .zip(widths)
            .filter(|(_, width)| width.is_none());
        let heads: Vec<&str> = missing.map(|(column, _)| column.head.as_str()).collect();
        if heads.is_empty() {
            return Vec::new();
        }
        let how = if layout.flag.is_empty() {
            String::new()
        } else {
            format!(" ({} shows all)", layout.flag)
        };
        let text = format!("not shown: {}{how}", heads.join(", "));
        wrapped(&text, layout.width.unwrap_or(usize::MAX))
    }
}

fn shown(widths: &[usize]) -> Vec<Option<usize>> {
    widths.iter().copied().map(Some).collect()
}

/// The least width in which a text keeps its words whole and takes few lines.
fn narrowest(text: &str) -> usize {
    let width = display_width(text);
    let word = with_units(text).split(' ').map(display_width).max().unwrap_or(0);
    let least = word.max(width.div_ceil(MOST_LINES)).max(LEAST_TEXT.min(width));
    (least..width)
        .find(|least| wrapped(text, *least).len() <= MOST_LINES)
        .unwrap_or(width)
}

/// A cell as it stands in a column: in lines that break at blanks, or in one that is cut.
fn in_lines(cell: &str, width: usize, breaks: bool) -> Vec<String> {
    if breaks && width < display_width(cell) && narrowest(cell) <= width {
        wrapped(cell, width)
    } else {
        vec![cell.to_owned()]
    }
}

/// Makes the widest column narrower that may be, until the line fits or each is as narrow as `least` says; a column of which
/// it says nothing stays. `step` is by how much at most at a time.
fn narrower(widths: &mut [Option<usize>], width: usize, step: usize, least: impl Fn(usize) -> Option<usize>) {
    while width < total(widths) {
        let own = widths.iter_mut().enumerate();
        let own = own.filter_map(|(place, own)| least(place).zip(own.as_mut()));
        let may = own.filter(|(least, own)| *least < **own);
        let Some((least, widest)) = may.max_by_key(|(_, own)| **own) else {
            return;
        };
        *widest = widest.saturating_sub(step).max(least);
    }
}

/// How wide a line is.
fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

fn styled(line: &str, style: &str, layout: Layout<'_>) -> String {
    if layout.is_coloured && !line.is_empty() {
        format!("\u{1b}[{style}m{line}\u{1b}[0m")
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(width: usize) -> Layout<'static> {
        Layout {
            width: Some(width),
            is_coloured: false,
            flag: "--wide",
        }
    }

    /// An agent's name, then twenty numbers of which the last is the most important.
    fn wide_table() -> Table {
        let numbers = (1..=20_u8).map(|place| {
            Column::new(format!("number {place}"), Align::Right).with_priority(if place == 20 {
                0
            } else {
                place
            })
        });
        let mut table = Table::with_columns(
            std::iter::once(Column::new("agent", Align::Left).with_priority(0)).chain(numbers),
        );
        for agent in [
            "momentum",
            "\u{901a}\u{4e49}\u{5343}\u{95ee}-\u{9ed8}\u{8ba4}",
            "a-model-with-a-long-name",
        ] {
            let cells = (1..=20).map(|place| format!("{}.{place:02} %", 1000 + place));
            table.row(std::iter::once(agent.to_owned()).chain(cells));
        }
        table
    }

    #[test]
    fn columns_align_with_wide_characters() {
        let mut table = Table::new(&[("name", Align::Left), ("close", Align::Right)]);
        table.row(["\u{8d35}\u{5dde}\u{8305}\u{53f0}".to_owned(), "1.50".to_owned()]);
        table.row(["x".to_owned(), "1688.00".to_owned()]);
        assert_eq!(
            table.render(),
            "name        close\n\u{8d35}\u{5dde}\u{8305}\u{53f0}     1.50\nx         1688.00\n"
        );
    }

    #[test]
    fn every_width_is_kept_and_no_number_is_broken() {
        let table = wide_table();
        let mut columns = Vec::new();
        for width in [80, 100, 200] {
            let text = table.render_in(within(width));
            assert!(
                text.lines().all(|line| display_width(line) <= width),
                "{width}:\n{text}"
            );
            let (head, rest) = text.split_once('\n').unwrap();
            assert!(head.starts_with("agent") && head.ends_with("number 20"), "{head}");
            let shown = head.matches("number").count();
            for row in rest.lines().take(3) {
                assert_eq!(row.matches(" %").count(), shown, "{width}: {row}");
                assert!(row.ends_with("1020.20 %"), "{row}");
            }
            assert!(
                rest.contains("\u{901a}\u{4e49}\u{5343}\u{95ee}-\u{9ed8}\u{8ba4}  "),
                "{rest}"
            );
            assert!(
                rest.contains("not shown: number ") && rest.contains("(--wide shows all)"),
                "{rest}"
            );
            assert!(
                !rest.contains("not shown: number 1,"),
                "the least important go first: {rest}"
            );
            columns.push(shown);
        }
        assert_eq!(columns, [5, 6, 16]);
        assert_eq!(table.render_in(within(300)), table.render());
        assert!(!table.render().contains("not shown"));
    }

    #[test]
    fn equal_columns_are_left_out_from_the_right() {
        let mut table = Table::new(&[("a", Align::Left), ("b", Align::Right), ("c", Align::Right)]);
        table.row(["xx", "100", "200"].map(str::to_owned));
        assert_eq!(
            table.render_in(within(9)),
            "a     b\nxx  100\nnot\nshown: c\n(--wide\nshows\nall)\n"
        );
    }

    #[test]
    fn a_long_name_is_cut_before_an_important_number_goes() {
        let mut table = Table::with_columns([
            Column::new("agent", Align::Left),
            Column::new("return", Align::Right).with_priority(0),
        ]);
        table.row(["\u{8d35}".repeat(20), "+12.34 %".to_owned()]);
        assert_eq!(
            table.render_in(within(20)),
            "agent         return\n\u{8d35}\u{8d35}\u{8d35}\u{8d35}\u{2026}   +12.34 %\n"
        );
    }

    #[test]
    fn texts_and_heads_take_more_lines_before_a_number_goes() {
        let mut table = Table::new(&[
            ("planted", Align::Left),
            ("named without an effect", Align::Right),
            ("interval holds", Align::Right),
        ]);
        table.row(["honest, noise 0.7; 16 repetitions", "12.3 %", "94.9 %"].map(str::to_owned));
        let lines = [
            format!("{:29}named", ""),
            format!("{:27}without  interval", ""),
            format!("{:25}an effect     holds", "planted"),
            format!("{:28}12.3 %    94.9 %", "honest, noise 0.7; 16"),
            "repetitions".to_owned(),
        ];
        assert_eq!(table.render_in(within(44)), lines.join("\n") + "\n");
        assert!(
            table.render_in(within(80)).starts_with("planted  "),
            "one line where there is room"
        );
    }

    #[test]
    fn a_text_alone_is_never_cut() {
        let mut table = Table::new(&[("", Align::Left)]);
        table.row([String::from("one two three four five six")]);
        assert_eq!(table.render_in(within(8)), "one two\nthree\nfour\nfive six\n");
        assert_eq!(table.render_in(within(80)), table.render());
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        let mut table = Table::new(&[("a", Align::Left), ("b", Align::Right)]);
        table.row(["\u{1b}[31mx", "1"].map(str::to_owned));
        assert_eq!(table.render(), "a            b\n\\u{1b}[31mx  1\n");
        let layout = Layout {
            is_coloured: true,
            ..within(40)
        };
        assert_eq!(
            table.render_in(layout),
            "\u{1b}[1ma            b\u{1b}[0m\n\\u{1b}[31mx  1\n"
        );
    }
}
