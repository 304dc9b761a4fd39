//! Tables of text for a terminal: aligned, as wide as their caller asks, and never broken inside a number.

use super::safe::visible;
use super::text::{display_width, fitted, wrapped};

/// Which side of its column a cell stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: String,
    /// Which side its cells stand on.
    pub align: Align,
    /// What a narrow table leaves out first: the columns with the highest number, the rightmost of equal ones, and
    /// those with 0 only when nothing else is left. The first column always stays.
    pub priority: u8,
}

impl Column {
    /// A column; priority 1.
    pub fn new(head: impl Into<String>, align: Align) -> Self {
        Self {
            head: head.into(),
            align,
            priority: 1,
        }
    }

    /// The column with another priority.
    #[must_use]
    pub fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

impl From<(&str, Align)> for Column {
    fn from((head, align): (&str, Align)) -> Self {
        Self::new(head, align)
    }
}

impl From<(&str, Align, u8)> for Column {
    fn from((head, align, priority): (&str, Align, u8)) -> Self {
        Self::new(head, align).with_priority(priority)
    }
}

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

    /// The table as lines that fit: columns are left out and texts are cut until they do. A last line names the columns
    /// that are missing.
    #[must_use]
    pub fn render_in(&self, layout: Layout<'_>) -> String {
        let widths = self.fitted_widths(layout.width);
        let mut text = String::new();
        if self.columns.iter().any(|column| !column.head.is_empty()) {
            let heads: Vec<&str> = self.columns.iter().map(|column| column.head.as_str()).collect();
            text.push_str(&styled(&self.line(&heads, &widths), "1", layout));
            text.push('\n');
        }
        for row in &self.rows {
            text.push_str(&self.line(row, &widths));
            text.push('\n');
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
        let whole = (0..self.columns.len()).map(|place| Some(self.whole_width(place)));
        let mut widths: Vec<Option<usize>> = whole.collect();
        if let Some(width) = width {
            self.leave_out(&mut widths, width, 1);
            self.cut(&mut widths, width);
            self.leave_out(&mut widths, width, 0);
        }
        widths
    }

    fn whole_width(&self, place: usize) -> usize {
        let head = self.columns.get(place).map(|column| column.head.as_str());
        let cells = self
            .rows
            .iter()
            .filter_map(|row| row.get(place))
            .map(String::as_str);
        head.into_iter()
            .chain(cells)
            .map(display_width)
            .max()
            .unwrap_or(0)
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

    /// Makes the widest column of text narrower, until the line fits or every text is as narrow as it may be.
    fn cut(&self, widths: &mut [Option<usize>], width: usize) {
        while width < total(widths) {
            let texts = self.columns.iter().zip(widths.iter_mut());
            let texts = texts.filter(|(column, _)| column.align == Align::Left);
            let widest = texts.filter_map(|(_, own)| own.as_mut()).max_by_key(|own| **own);
            match widest {
                Some(own) if LEAST_TEXT < *own => *own -= 1,
                _ => return,
            }
        }
    }

    fn line<S: AsRef<str>>(&self, cells: &[S], widths: &[Option<usize>]) -> String {
        let mut line = String::new();
        for (place, (column, width)) in self.columns.iter().zip(widths).enumerate() {
            let Some(width) = *width else { continue };
            let cell = cells.get(place).map_or("", AsRef::as_ref);
            let cell = fitted(cell, width);
            let blanks = " ".repeat(width.saturating_sub(display_width(&cell)));
            if 0 < place {
                line.push_str(&" ".repeat(GAP));
            }
            match column.align {
                Align::Left => line.extend([cell, blanks]),
                Align::Right => line.extend([blanks, cell]),
            }
        }
        line.truncate(line.trim_end().len());
        line
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
