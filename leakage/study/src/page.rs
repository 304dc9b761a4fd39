//! The report of a benchmark: its verdict, its tables and its pictures.

use super::pictures::{cost_sweep, heat_map, ladder, profile, yearly_bars};
use super::report_tables::{
    controls_table, costs_table, gains_table, interventions_table, ladder_table, main_table, profile_table,
    side_table, years_table, years_text,
};
use ktd_leakage::{LeakReport, ModelFamily, Switch};
use ktd_study::{DataRows, Report, RowCells, Section, SectionPart, Shown, StudyError};
use ktd_view::draw::{FIGURES_STYLE, counted, grouped, short_hash};
use serde::Serialize;

/// The columns of `gains`: the members of a gain.
const GAIN_COLUMNS: [(&str, RowCells); 24] = [
    ("model", RowCells::Text),
    ("horizon", RowCells::Whole),
    ("protocol", RowCells::Text),
    ("seeds", RowCells::Whole),
    ("days", RowCells::Whole),
    ("sharpe", RowCells::Number),
    ("undefined", RowCells::Text),
    ("gain", RowCells::Number),
    ("gain_low", RowCells::Number),
    ("gain_high", RowCells::Number),
    ("rank_ic", RowCells::Number),
    ("auc", RowCells::Number),
    ("turnover", RowCells::Number),
    ("max_drawdown", RowCells::Number),
    ("break_even_bps", RowCells::Number),
    ("rank_ic_gain", RowCells::Number),
    ("auc_gain", RowCells::Number),
    ("turnover_gain", RowCells::Number),
    ("max_drawdown_gain", RowCells::Number),
    ("gain_interval_low", RowCells::Number),
    ("gain_interval_high", RowCells::Number),
    ("p", RowCells::Number),
    ("p_holm", RowCells::Number),
    ("detectable_gain", RowCells::Number),
];

/// The columns of `by_year`.
const YEAR_COLUMNS: [(&str, RowCells); 5] = [
    ("model", RowCells::Text),
    ("horizon", RowCells::Whole),
    ("protocol", RowCells::Text),
    ("year", RowCells::Whole),
    ("gain", RowCells::Number),
];

/// The columns of `costs`.
const COST_COLUMNS: [(&str, RowCells); 5] = [
    ("model", RowCells::Text),
    ("horizon", RowCells::Whole),
    ("protocol", RowCells::Text),
    ("cost_bps", RowCells::Number),
    ("sharpe", RowCells::Number),
];

/// The report of what runs came to.
pub(super) fn leak_report(report: &LeakReport) -> Result<Report, StudyError> {
    let mut gains = Section::new("Leakage gains")
        .table("main", main_table(report), Shown::Everywhere)
        .picture(heat_map(report))
        .table("every_run", gains_table(report), Shown::Folded);
    gains.parts.push(SectionPart::Source("gains.csv"));
    let mut years = Section::new("By year")
        .picture(yearly_bars(report))
        .table("dominant_years", years_table(report, false), Shown::Excerpt)
        .table("years", years_table(report, true), Shown::Folded);
    years.parts.push(SectionPart::Source("by_year.csv"));
    let mut costs = Section::new("Costs")
        .picture(cost_sweep(report))
        .table("dominant_costs", costs_table(report, false), Shown::Terminal)
        .table("all_costs", costs_table(report, true), Shown::Folded);
    costs.parts.push(SectionPart::Source("costs.csv"));
    let mut around = Section::new("Around the stamp");
    if !report.profile.is_empty() {
        around = around
            .picture(profile(report))
            .picture(ladder(report))
            .table("profile", profile_table(report), Shown::Folded)
            .table("ladder", ladder_table(report), Shown::Folded);
    }
    let mut interventions = Section::new("Interventions");
    if !report.interventions.is_empty() {
        let table = interventions_table(&report.interventions);
        interventions = interventions.table("interventions", table, Shown::Everywhere);
    }
    Ok(Report {
        title: format!("{}: what its protocol pretends", report.name),
        verdict: verdict(report),
        sections: vec![
            gains,
            years,
            costs,
            around,
            interventions,
            Section::new("Negative controls").table("controls", controls_table(report), Shown::Everywhere),
            Section::new("Side figures").table("side", side_table(report), Shown::Page),
        ],
        rows: vec![
            DataRows::of("gains", &GAIN_COLUMNS, &report.gains)?,
            DataRows::of("by_year", &YEAR_COLUMNS, &year_rows(report))?,
            DataRows::of("costs", &COST_COLUMNS, &cost_rows(report))?,
        ],
        styles: vec![FIGURES_STYLE, include_str!("leak_style.css")],
        footer: format!("panel {}", short_hash(&report.panel)),
        ..Report::default()
    })
}

/// What the benchmark comes to in words.
fn verdict(report: &LeakReport) -> String {
    let largest = report
        .gains
        .iter()
        .filter_map(|row| Some((row, row.gain?)))
        .max_by(|(_, left), (_, right)| left.total_cmp(right));
    let pretends = largest.filter(|(_, gain)| 0.0 < *gain).map_or_else(
        || "No switched rule pretends anything here.".to_owned(),
        |(row, gain)| {
            format!(
                "One switched rule alone pretends an annual Sharpe ratio that is up to {gain:.2} higher ({} under {}, {} sessions).",
                row.model.name(),
                row.protocol.name(),
                row.horizon
            )
        },
    );
    format!(
        "{pretends} {} names, {} ({}); {} of {} bars have every feature under every protocol. One rule of the back-test is switched at \
         a time; rows, days, seeds and all else stay the same.",
        grouped(report.names),
        counted(report.years.len(), "test year"),
        years_text(report),
        grouped(report.rows),
        grouped(report.bars)
    )
}

/// A gain of a year.
#[derive(Serialize)]
struct YearGain {
    model: ModelFamily,
    horizon: usize,
    protocol: Switch,
    year: i32,
    gain: f64,
}

fn year_rows(report: &LeakReport) -> Vec<YearGain> {
    let rows = report.by_year.iter().flat_map(|row| {
        row.gains.iter().map(|(year, gain)| YearGain {
            model: row.model,
            horizon: row.horizon,
            protocol: row.protocol,
            year: *year,
            gain: *gain,
        })
    });
    rows.collect()
}

/// A ratio at a cost.
#[derive(Serialize)]
struct CostRatio {
    model: ModelFamily,
    horizon: usize,
    protocol: Switch,
    cost_bps: f64,
    sharpe: Option<f64>,
}

fn cost_rows(report: &LeakReport) -> Vec<CostRatio> {
    let rows = report.costs.iter().flat_map(|row| {
        row.sharpe.iter().map(|(cost_bps, sharpe)| CostRatio {
            model: row.model,
            horizon: row.horizon,
            protocol: row.protocol,
            cost_bps: *cost_bps,
            sharpe: *sharpe,
        })
    });
    rows.collect()
}
