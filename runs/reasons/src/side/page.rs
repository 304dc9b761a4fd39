//! Reasons side by side, as one page without anything to load.

use super::record::{Match, Part, SideBySide, Step, Text};
use ktd_view::draw::Markup;
use crate::Category;

/// The page. It is well-formed XML that browsers read as HTML.
#[must_use]
pub fn render(sides: &SideBySide) -> String {
    Markup::document("Reasons side by side", include_str!("style.css"), |page| {
        body(page, sides);
    })
}

fn body(page: &mut Markup, sides: &SideBySide) {
    page.leaf("h1", &[], "Reasons side by side");
    page.element("p", &[("class", "legend")], |page| {
        page.text("Named without being shown: ");
        for category in Category::ALL {
            page.leaf("mark", &[("class", category.label())], category.label());
            page.text(" ");
        }
        page.text("and said back: ");
        page.leaf("mark", &[("class", "shown")], "shown");
    });
    for one in &sides.matches {
        page.element("section", &[], |page| write_match(page, one));
    }
    if !sides.notes.is_empty() {
        page.element("ul", &[("class", "notes")], |page| {
            for note in &sides.notes {
                page.leaf("li", &[], note);
            }
        });
    }
    let made = format!("Made by ktd {}, format {}.", sides.ktd, sides.format);
    page.element("footer", &[], |page| page.leaf("p", &[], &made));
}

fn write_match(page: &mut Markup, one: &Match) {
    page.element("h2", &[], |page| {
        page.leaf("bdi", &[], &one.agent);
        page.text(&format!(
            ", window {}, {}, seed {}",
            one.window, one.mode, one.seed
        ));
    });
    for step in &one.steps {
        page.element("div", &[("class", "scroll")], |page| {
            page.element("table", &[], |page| write_step(page, one, step));
        });
    }
}

fn write_step(page: &mut Markup, one: &Match, step: &Step) {
    let date = step
        .real_date
        .as_ref()
        .map(|date| format!(", {date}"))
        .unwrap_or_default();
    page.leaf(
        "caption",
        &[],
        &format!("Step {}{date}: {} hits", step.step, step.hits),
    );
    page.element("thead", &[], |page| {
        page.element("tr", &[], |page| {
            page.leaf("th", &[], "");
            for (mask, cell) in one.masks.iter().zip(&step.cells) {
                page.element("th", &[("scope", "col")], |page| {
                    page.text(&format!("{}/{}", mask.level, mask.numeric));
                    page.leaf("small", &[], cell.day.as_deref().unwrap_or("no day"));
                });
            }
        });
    });
    page.element("tbody", &[], |page| {
        page.element("tr", &[], |page| {
            page.leaf("th", &[("scope", "row")], "overall");
            for cell in &step.cells {
                page.element("td", &[], |page| {
                    if !cell.remark().is_empty() {
                        page.leaf("p", &[("class", "remark")], cell.remark());
                    }
                    cell.overall
                        .iter()
                        .for_each(|overall| write_reason(page, overall));
                });
            }
        });
        for row in &step.orders {
            page.element("tr", &[], |page| {
                page.leaf("th", &[("scope", "row")], &row.label());
                for cell in &row.cells {
                    page.element("td", &[], |page| {
                        let Some(cell) = cell else { return };
                        page.leaf("p", &[("class", "order")], &cell.head());
                        write_reason(page, &cell.reason);
                    });
                }
            });
        }
    });
}

fn write_reason(page: &mut Markup, reason: &Text) {
    page.element("p", &[], |page| {
        for part in reason.parts() {
            match part {
                Part::Plain(text) => page.text(text),
                Part::Marked(word, mark) => {
                    let label = mark.category.label();
                    let class = if mark.is_shown { "shown" } else { label };
                    let title = if mark.is_shown {
                        "shown in this step"
                    } else {
                        label
                    };
                    page.leaf("mark", &[("class", class), ("title", title)], word);
                }
            }
        }
    });
}
