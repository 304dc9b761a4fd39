//! The page of a benchmark's report: one file without anything to load, each picture with its CSV twin.

use super::pictures::{cost_sweep, heat_map, ladder, profile, yearly_bars};
use super::report::LeakReport;
use super::report_tables::{
    controls_table, costs_table, gains_table, interventions_table, ladder_table, main_table, side_table,
    years_table,
};
use ktd_view::draw::{STYLE, TableData, counted, document, grouped, short_hash};
use maud::{Markup, html};

/// The page of a report.
#[must_use]
pub fn leak_page(report: &LeakReport) -> String {
    let title = format!("{}: what its protocol pretends", report.name);
    let body = html! {
        h1 { bdi { (title) } }
        p.lead {
            (grouped(report.names)) " names, " (counted(report.years.len(), "test year")) " (" (report.years_text()) "); "
            (grouped(report.rows)) " of " (grouped(report.bars)) " bars have every feature under every protocol. One rule of the \
            back-test is switched at a time; rows, days, seeds and all else stay the same. What a figure gains is what that rule \
            alone pretends."
        }
        (section("Leakage gains", "gains.csv", &html! { (main_table(report).html()) (heat_map(report)) (folded("Every run", &gains_table(report))) }))
        (section("By year", "by_year.csv, years.csv", &html! {
            (yearly_bars(report))
            (years_table(report, false).html())
            (folded("All switches", &years_table(report, true)))
        }))
        (section("Costs", "costs.csv", &html! { (cost_sweep(report)) (folded("The numbers", &costs_table(report, true))) }))
        @if !report.profile.is_empty() {
            (section("Around the stamp", "profile.csv, ladder.csv", &html! {
                (profile(report))
                (ladder(report))
                (folded("The numbers of the ladder", &ladder_table(report)))
            }))
        }
        @if !report.interventions.is_empty() {
            (section("Interventions", "interventions.csv", &interventions_table(&report.interventions).html()))
        }
        (section("Negative controls", "controls.csv", &controls_table(report).html()))
        (section("Side figures", "gains.csv", &side_table(report).html()))
        footer { p.hashes {
            "panel " (short_hash(&report.panel)) ". Tables and page are made of report.json: " code { "ktd leak report DIR" } "."
        } }
    };
    let styles = [
        STYLE,
        include_str!("../alpha_style.css"),
        include_str!("leak_style.css"),
    ];
    document(&title, &styles, &body)
}

fn section(title: &str, files: &str, inner: &Markup) -> Markup {
    html! { section { h2 { (title) } (inner) p.source { (files) } } }
}

fn folded(title: &str, table: &TableData) -> Markup {
    html! { details { summary { (title) } (table.html()) } }
}
