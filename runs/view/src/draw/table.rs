//! Tables of a page: the same cells as in the terminal, with reasons for what is missing.

use super::cell::{TableCell, footnote};
use super::column::Align;
use super::table_data::TableData;
use maud::{Markup, html};

/// A table and how it stands on the page.
#[derive(Debug, Clone, Copy)]
pub struct TableView<'s> {
    /// The cells.
    pub data: &'s TableData,
    /// Heads over several columns, with how many; none where there is one line of heads.
    pub bands: &'s [(&'static str, usize)],
    /// The first rows' classes; the other rows have none.
    pub row_classes: &'s [Option<&'static str>],
}

impl TableData {
    /// The table on a page, with one line of heads and rows of one kind.
    #[must_use]
    pub fn html(&self) -> Markup {
        let view = TableView {
            data: self,
            bands: &[],
            row_classes: &[],
        };
        view.html()
    }
}

impl TableView<'_> {
    /// The table in a box of its own that scrolls, and the reasons and notes below it. One without a figure says so.
    #[must_use]
    pub fn html(&self) -> Markup {
        let data = self.data;
        if data.is_blank() {
            return html! { p.nothing { (data.title) ": nothing to show." } (below(&[], &data.notes)) };
        }
        let mut reasons: Vec<&str> = Vec::new();
        let rows = data.rows.iter().enumerate().map(|(place, row)| {
            let class = self.row_classes.get(place).copied().flatten();
            html! { tr class=[class] { (self.row(row, &mut reasons)) } }
        });
        let table = html! {
            table {
                caption { (data.title) }
                thead { (self.heads()) }
                tbody { @for row in rows { (row) } }
            }
        };
        html! { (scroll(&data.title, &table)) (below(&reasons, &data.notes)) }
    }

    fn heads(&self) -> Markup {
        html! {
            @if !self.bands.is_empty() {
                tr.bands {
                    @for (band, columns) in self.bands { th colspan=(columns) scope="colgroup" { (band) } }
                }
            }
            tr {
                @for (place, column) in self.data.columns.iter().enumerate() {
                    th scope="col" class=[self.class(place, column.align)] { (column.head) }
                }
            }
        }
    }

    fn row<'c>(&self, row: &'c [TableCell], reasons: &mut Vec<&'c str>) -> Markup {
        let columns = &self.data.columns;
        // A text far behind the numbers names no row.
        let header = columns
            .iter()
            .take(2)
            .position(|column| column.align == Align::Left)
            .unwrap_or(0);
        html! {
            @for (place, (cell, column)) in row.iter().zip(columns).enumerate() {
                @let class = self.class(place, column.align);
                @if place == header {
                    th scope="row" class=[class] { (content(cell, reasons)) }
                } @else {
                    td class=[class] { (content(cell, reasons)) }
                }
            }
        }
    }

    fn class(&self, place: usize, align: Align) -> Option<&'static str> {
        let mut at = 0;
        let starts_band = self.bands.iter().any(|(_, columns)| {
            at += columns;
            at == place
        });
        match (align, starts_band) {
            (Align::Left, false) => Some("l"),
            (Align::Left, true) => Some("l s"),
            (Align::Right, false) => None,
            (Align::Right, true) => Some("s"),
        }
    }
}

/// A box that scrolls where what it holds is wider, for keyboards too.
#[must_use]
pub fn scroll(label: &str, inner: &Markup) -> Markup {
    html! { div.scroll role="region" tabindex="0" aria-label=(label) { (inner) } }
}

fn content<'c>(cell: &'c TableCell, reasons: &mut Vec<&'c str>) -> Markup {
    html! {
        @if let TableCell::Missing(reason) = cell {
            abbr title=(reason) { "n/a" sup { (footnote(reason, reasons)) } }
        } @else if let TableCell::Text(text) | TableCell::Formula(text) = cell {
            // A formula breaks behind an argument, and not within a word.
            @let breaks = !text.contains(' ');
            @for part in text.split_inclusive(',') { (part) @if breaks && part.ends_with(',') { wbr; } }
        } @else {
            (cell.on_page())
        }
    }
}

fn below(reasons: &[&str], notes: &[String]) -> Markup {
    html! {
        @if !reasons.is_empty() || !notes.is_empty() {
            ul.notes {
                @for (place, reason) in reasons.iter().enumerate() {
                    li { "n/a" sup { (place + 1) } " " (reason) }
                }
                @for note in notes { li { (note) } }
            }
        }
    }
}
