//! Tables of the page: the same cells as in the terminal, with reasons for what is missing.

use ktd_view::draw::{Markup, change, decimals, percent};
use crate::sheet::{Cell, Sheet};
use ktd_view::table::Align;

/// A table and how it stands on the page.
pub(crate) struct TableView<'s> {
    /// The cells.
    pub sheet: &'s Sheet,
    /// Heads over several columns, with how many; none where there is one line of heads.
    pub bands: &'s [(&'static str, usize)],
    /// The rows' classes.
    pub row_class: &'s dyn Fn(usize) -> &'static str,
}

/// A table with one line of heads and rows of one kind.
pub(crate) fn plain(page: &mut Markup, sheet: &Sheet) {
    TableView {
        sheet,
        bands: &[],
        row_class: &|_| "",
    }
    .write(page);
}

impl TableView<'_> {
    /// Writes the table in a box of its own that scrolls, and the reasons and notes below it.
    pub(crate) fn write(&self, page: &mut Markup) {
        let sheet = self.sheet;
        let mut reasons: Vec<&str> = Vec::new();
        let label = [
            ("class", "scroll"),
            ("role", "region"),
            ("tabindex", "0"),
            ("aria-label", sheet.title.as_str()),
        ];
        page.element("div", &label, |page| {
            page.element("table", &[], |page| {
                page.leaf("caption", &[], &sheet.title);
                page.element("thead", &[], |page| self.heads(page));
                page.element("tbody", &[], |page| {
                    for (place, row) in sheet.rows.iter().enumerate() {
                        let class = (self.row_class)(place);
                        page.element("tr", &[("class", class)], |page| {
                            self.row(page, row, &mut reasons);
                        });
                    }
                });
            });
        });
        below(page, &reasons, &sheet.notes);
    }

    fn heads(&self, page: &mut Markup) {
        if !self.bands.is_empty() {
            page.element("tr", &[("class", "bands")], |page| {
                for (band, columns) in self.bands {
                    page.leaf(
                        "th",
                        &[("colspan", &columns.to_string()), ("scope", "colgroup")],
                        band,
                    );
                }
            });
        }
        let starts = self.band_starts();
        page.element("tr", &[], |page| {
            for (place, (head, align)) in self.sheet.columns.iter().enumerate() {
                let class = class(*align, starts.contains(&place));
                page.leaf("th", &[("scope", "col"), ("class", class)], head);
            }
        });
    }

    fn row<'c>(&self, page: &mut Markup, row: &'c [Cell], reasons: &mut Vec<&'c str>) {
        let starts = self.band_starts();
        let columns = &self.sheet.columns;
        let header = columns.iter().position(|(_, align)| *align == Align::Left);
        for (place, (cell, (_, align))) in row.iter().zip(columns).enumerate() {
            let class = class(*align, starts.contains(&place));
            if Some(place) == header {
                page.element("th", &[("scope", "row"), ("class", class)], |page| {
                    write_cell(page, cell, reasons);
                });
            } else {
                page.element("td", &[("class", class)], |page| write_cell(page, cell, reasons));
            }
        }
    }

    fn band_starts(&self) -> Vec<usize> {
        let mut at = 0;
        let starts = self.bands.iter().map(|(_, columns)| {
            let start = at;
            at += columns;
            start
        });
        starts.skip(1).collect()
    }
}

const fn class(align: Align, starts_band: bool) -> &'static str {
    match (align, starts_band) {
        (Align::Left, false) => "l",
        (Align::Left, true) => "l s",
        (Align::Right, false) => "",
        (Align::Right, true) => "s",
    }
}

fn write_cell<'c>(page: &mut Markup, cell: &'c Cell, reasons: &mut Vec<&'c str>) {
    let Cell::Missing(reason) = cell else {
        page.text(&shown(cell));
        return;
    };
    let place = reasons
        .iter()
        .position(|known| known == reason)
        .unwrap_or_else(|| {
            reasons.push(reason);
            reasons.len() - 1
        });
    page.element("abbr", &[("title", reason)], |page| {
        page.text("n/a");
        page.leaf("sup", &[], &(place + 1).to_string());
    });
}

/// A cell that has a value, as text.
pub(crate) fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Percent(value) => percent(*value),
        Cell::Change(value) => change(*value),
        Cell::Ratio(value) => decimals(*value, 2),
        Cell::Fine(value) => decimals(*value, 3),
        Cell::P(value) => p_value(*value),
        Cell::Count(count) => ktd_view::table::grouped(*count),
        Cell::Signed(count) if *count < 0 => format!("\u{2212}{}", count.unsigned_abs()),
        Cell::Signed(count) if 0 < *count => format!("+{count}"),
        Cell::Signed(_) => "0".to_owned(),
        Cell::Dollars(value) => format!("$ {}", decimals(*value, 2)),
        Cell::Missing(_) => "n/a".to_owned(),
        Cell::Empty => String::new(),
    }
}

/// A p-value.
pub(crate) fn p_value(p: f64) -> String {
    if p.is_finite() && 0.0 < p && p < 0.001 {
        format!("{p:.1e}").replace('-', "\u{2212}")
    } else {
        decimals(p, if p < 0.1 { 4 } else { 3 })
    }
}

fn below(page: &mut Markup, reasons: &[&str], notes: &[String]) {
    if reasons.is_empty() && notes.is_empty() {
        return;
    }
    page.element("ul", &[("class", "notes")], |page| {
        for (place, reason) in reasons.iter().enumerate() {
            page.element("li", &[], |page| {
                page.text("n/a");
                page.leaf("sup", &[], &(place + 1).to_string());
                page.text(&format!(" {reason}"));
            });
        }
        for note in notes {
            page.leaf("li", &[], note);
        }
    });
}
