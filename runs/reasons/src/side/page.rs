//! Reasons side by side, as one page without anything to load.

use super::record::{MarkedText, MaskComparison, SideBySide, StepComparison, TextPart};
use crate::Category;
use ktd_experiment::mask_arm::arm_label;
use ktd_view::draw::{STYLE, document, scroll};
use maud::{Markup, html};

/// The page.
#[must_use]
pub fn render(sides: &SideBySide) -> String {
    let body = html! {
        h1 { "Reasons side by side" }
        p.legend {
            "Named without being shown: "
            @for category in Category::ALL { mark class=(category.label()) { (category.label()) } " " }
            "and said back: " mark.shown { "shown" }
        }
        @for one in &sides.matches { (section(one)) }
        @if !sides.notes.is_empty() {
            ul.notes { @for note in &sides.notes { li { (note) } } }
        }
        footer { p { "Made by ktd " (sides.ktd) ", format " (sides.format) "." } }
    };
    document("Reasons side by side", &[STYLE, include_str!("style.css")], &body)
}

fn section(one: &MaskComparison) -> Markup {
    html! {
        section {
            h2 { bdi { (one.agent) } ", window " (one.window) ", " (one.mode.label()) ", seed " (one.seed) }
            @for step in &one.steps {
                (scroll(&format!("step {}", step.step), &html! { table { (rows(one, step)) } }))
            }
        }
    }
}

fn rows(one: &MaskComparison, step: &StepComparison) -> Markup {
    html! {
        caption {
            "Step " (step.step) @if let Some(date) = &step.real_date { ", " (date) } ": " (step.hits) " hits"
        }
        thead {
            tr {
                th {}
                @for (mask, cell) in one.masks.iter().zip(&step.cells) {
                    th scope="col" {
                        (arm_label(mask.level, mask.instruction)) "/" (mask.numeric.label()) small { (cell.day.as_deref().unwrap_or("no day")) }
                    }
                }
            }
        }
        tbody {
            tr {
                th scope="row" { "overall" }
                @for cell in &step.cells {
                    td {
                        @if !cell.remark().is_empty() { p.remark { (cell.remark()) } }
                        @if let Some(overall) = &cell.overall { (reason(overall)) }
                    }
                }
            }
            @for row in &step.orders {
                tr {
                    th scope="row" { (row.label()) }
                    @for cell in &row.cells {
                        td { @if let Some(cell) = cell { p.order { (cell.head()) } (reason(&cell.reason)) } }
                    }
                }
            }
        }
    }
}

fn reason(text: &MarkedText) -> Markup {
    html! {
        p {
            @for part in text.parts() {
                @match part {
                    TextPart::Plain(text) => (text),
                    TextPart::Marked(word, mark) => {
                        @let label = mark.category.label();
                        @let (class, title) = if mark.is_shown { ("shown", "shown in this step") } else { (label, label) };
                        mark class=(class) title=(title) { (word) }
                    }
                }
            }
        }
    }
}
