//! The page of a report: one file without anything to load, every figure with its CSV twin.

use crate::alpha_pictures::{curves, rose, scatter, years};
use crate::alpha_report::AlphaReport;
use crate::alpha_tables::{alpha_table, combination_table, looks, pool_table, split_table};
use crate::inference_tables::{inference_table, rank_table, robustness_table, selection_table};
use ktd_view::draw::{FIGURES_STYLE, STYLE, TableData, counted, document, grouped, short_hash};
use maud::{Markup, html};

/// Alphas of the last split that stand on the page; the CSV has all.
const SHOWN_ALPHAS: usize = 200;

/// The page of a report.
#[must_use]
pub fn alpha_page(report: &AlphaReport) -> String {
    let title = format!("{}: what its alphas are worth", report.name);
    let body = html! {
        h1 { bdi { (title) } }
        (lead(report))
        (section("Pools", "pools.csv, combinations.csv, rose.csv", &html! {
            (pool_table(report).html())
            @if let Some(split) = report.splits.last() { (rose(report, &split.split)) }
            (combination_table(report).html())
            (years(report))
        }))
        (section("What may be concluded", "best_of_pools.csv, ranks.csv", &html! {
            (inference_table(report).html())
            (rank_table(report).html())
        }))
        (section("What each figure is good for", "selections.csv, curves.csv", &html! {
            (selection_table(report).html())
            @if !report.selections.is_empty() { (curves(report)) }
        }))
        (section("Stability and turnover", "stability_and_turnover.csv, alphas.csv", &html! {
            (split_table(report).html())
            div.pair { @for split in &report.splits { (scatter(report, split)) } }
        }))
        (section("Robustness and drawdown", "robustness_and_drawdown.csv", &robustness_table(report).html()))
        (section("Alphas", "alphas.csv, years.csv", &html! {
            (shown_alphas(report).html())
            @if !report.refused.is_empty() { (refused(report)) }
        }))
        footer { p.hashes {
            "panel " (short_hash(&report.panel)) ", formulas " (short_hash(&report.formulas)) ", inputs "
            (short_hash(&report.inputs)) ". Tables and page are made of report.json: " code { "ktd alpha report DIR" } "."
        } }
    };
    document(&title, &[STYLE, FIGURES_STYLE], &body)
}

fn section(title: &str, files: &str, inner: &Markup) -> Markup {
    html! { section { h2 { (title) } (inner) p.source { (files) } } }
}

fn lead(report: &AlphaReport) -> Markup {
    let sigma = report
        .noise_sigma
        .map_or_else(|| "no noise".to_owned(), |sigma| format!("sigma {sigma:.5}"));
    html! {
        p.lead {
            "Label " (report.label) "; noise on " (report.noise_mode) ", " (report.noise_draws) " draws of each law, " (sigma)
            ", least factor reached " (counted(report.noise_raised, "time")) "; " (looks(report)) "; "
            (grouped(report.alphas.len())) " rows of alphas."
        }
        @if !report.notes.is_empty() { ul.notes { @for note in &report.notes { li { (note) } } } }
    }
}

fn refused(report: &AlphaReport) -> Markup {
    html! {
        h3 { (counted(report.refused.len(), "refused formula")) }
        ul.notes {
            @for refused in report.refused.iter().take(SHOWN_ALPHAS) {
                li { bdi { (refused.pool) "/" (refused.id) } ": " (refused.error) }
            }
        }
    }
}

/// The alphas of the last split, in the order of their pools.
fn shown_alphas(report: &AlphaReport) -> TableData {
    alpha_table(&report.of_last_split(SHOWN_ALPHAS))
}

impl AlphaReport {
    /// The same report with so many alphas of the last split alone, in the order of their pools.
    #[must_use]
    pub fn of_last_split(&self, most: usize) -> Self {
        let last = self.splits.last().map(|split| split.split.as_str());
        let of_last = self
            .alphas
            .iter()
            .filter(|alpha| Some(alpha.split.as_str()) == last);
        Self {
            alphas: of_last.take(most).cloned().collect(),
            years: Vec::new(),
            ..self.clone()
        }
    }
}
