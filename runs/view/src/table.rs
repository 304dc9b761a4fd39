//! Plain tables for the terminal.

/// Which side of its column a cell stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A plain table with aligned columns; wide (CJK) characters count as two.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    #[must_use]
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|(head, align)| ((*head).to_owned(), *align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row<I: IntoIterator<Item = String>>(&mut self, cells: I) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as lines, each ended by a line feed and without trailing blanks.
    #[must_use]
    pub fn render(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(|(head, _)| head.clone()).collect();
        let has_heads = heads.iter().any(|head| !head.is_empty());
        let lines = has_heads.then_some(&heads).into_iter().chain(&self.rows);
        let width = |place: usize| {
            lines
                .clone()
                .filter_map(|line| line.get(place))
                .map(|cell| display_width(cell))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for line in lines.clone() {
            let mut shown = String::new();
            for (place, ((_, align), width)) in self.columns.iter().zip(&widths).enumerate() {
                let cell = line.get(place).map_or("", String::as_str);
                let blanks = " ".repeat(width.saturating_sub(display_width(cell)));
                let gap = if place == 0 { "" } else { "  " };
                match align {
                    Align::Left => shown.extend([gap, cell, &blanks]),
                    Align::Right => shown.extend([gap, &blanks, cell]),
                }
            }
            text.push_str(shown.trim_end());
            text.push('\n');
        }
        text
    }
}

/// How many terminal cells a text takes: wide East Asian characters take two, combining marks none.
#[must_use]
pub fn display_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// East Asian Width by block, as far as company names, sectors and punctuation need it.
fn char_width(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0x33FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xA000..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// A count with thousands separated by commas: `163,749`.
#[must_use]
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_with_wide_characters() {
        let mut table = Table::new(&[("name", Align::Left), ("close", Align::Right)]);
        table.row(["贵州茅台".to_owned(), "1.50".to_owned()]);
        table.row(["x".to_owned(), "1688.00".to_owned()]);
        assert_eq!(
            table.render(),
            "name        close\n贵州茅台     1.50\nx         1688.00\n"
        );
    }

    #[test]
    fn counts_are_grouped() {
        for (count, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (163_749, "163,749")] {
            assert_eq!(grouped(count), shown);
        }
    }
}
