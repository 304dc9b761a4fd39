//! Tables of a benchmark's report, for the terminal, the page and other programs.

use super::report::LeakReport;
use super::report_rows::{CostRow, GainRow, YearRow};
use super::sanity::SanityRow;
use ktd_leakage::{FillRule, Switch};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Column, TableCell, TableData};

/// The switches in the order of the main table.
pub(super) const MAIN_ORDER: [Switch; 6] = [
    Switch::TempCenter,
    Switch::ExecOpen,
    Switch::NormGlobal,
    Switch::StructGraph,
    Switch::ExecClose,
    Switch::LabelOverlap,
];

fn ratio(value: Option<f64>) -> TableCell {
    TableCell::optional(value, TableCell::Ratio)
}

fn text(value: &str) -> TableCell {
    TableCell::Text(value.to_owned())
}

/// A model's name, its horizon and a protocol: the first cells of most tables.
fn run_cells(model: &str, horizon: usize, protocol: &str) -> Vec<TableCell> {
    vec![text(model), TableCell::Count(horizon), text(protocol)]
}

fn columns<const N: usize>(words: [&'static str; N], numbers: &[&'static str]) -> Vec<Column> {
    let words = words
        .into_iter()
        .map(|head| (head, if head == "h" { Right } else { Left }));
    let all = words.chain(numbers.iter().map(|head| (*head, Right)));
    all.map(Into::into).collect()
}

impl LeakReport {
    /// The row of a run; none where it has no result.
    pub(super) fn row(&self, model: &str, horizon: usize, protocol: Switch) -> Option<&GainRow> {
        let is_own =
            |row: &&GainRow| row.model == model && row.horizon == horizon && row.protocol == protocol.name();
        self.gains.iter().find(is_own)
    }

    /// Models with their horizons, in the order of the report.
    pub(super) fn models(&self) -> Vec<(String, usize)> {
        let rows = self.gains.iter().map(|row| (row.model.clone(), row.horizon));
        let mut models: Vec<(String, usize)> = rows.collect();
        models.dedup();
        models
    }

    /// The test years as text: the first and the last, or all of them where some between are left out.
    pub(super) fn years_text(&self) -> String {
        let is_whole = self
            .years
            .iter()
            .zip(self.years.iter().skip(1))
            .all(|(a, b)| a + 1 == *b);
        match (self.years.first(), self.years.last()) {
            (Some(first), Some(last)) if is_whole && first < last => format!("{first} to {last}"),
            _ => {
                let years: Vec<String> = self.years.iter().map(i32::to_string).collect();
                years.join(" ")
            }
        }
    }
}

/// Clean ratios and the gain of each switch; a gain beyond its noise band has a star.
#[must_use]
pub fn main_table(report: &LeakReport) -> TableData {
    let heads = MAIN_ORDER.map(Switch::name);
    let heads: Vec<&'static str> = ["CLEAN"].into_iter().chain(heads).collect();
    // The title of a narrow table says the market as well.
    let market = Column::from(("market", Left)).with_priority(2);
    let columns = std::iter::once(market).chain(columns(["model", "h"], &heads));
    let rows = report.models().into_iter().map(|(model, horizon)| {
        let clean = report.row(&model, horizon, Switch::Clean);
        let mut cells = vec![
            text(&report.name),
            text(&model),
            TableCell::Count(horizon),
            clean.map_or(TableCell::Empty, GainRow::sharpe_cell),
        ];
        cells.extend(MAIN_ORDER.map(|switch| {
            let row = report.row(&model, horizon, switch);
            let gain = row.and_then(|row| row.gain);
            match (gain, row.and_then(GainRow::is_distinguishable)) {
                (Some(gain), Some(true)) => {
                    TableCell::Text(format!("{} *", TableCell::Ratio(gain).on_page()))
                }
                (gain, _) => ratio(gain),
            }
        }));
        cells
    });
    let title = format!(
        "{}: SR@5bps under CLEAN and its leakage gains; {} names, test years {}",
        report.name,
        report.names,
        report.years_text()
    );
    let mut table = TableData::new(title, columns).with_rows(rows).with_note(
        "SR@5bps: annual ratio of mean and deviation of daily returns, after 5 hundredths of a percent a turnover; a gain is that \
         of a protocol less that of CLEAN on the same rows, days and seeds; of several seeds the median",
    );
    if report.gains.iter().any(|row| row.noise_band.is_some()) {
        table = table.with_note("*: beyond the noise band; bands are run for the four weak switches alone");
    }
    let left_out = report.left_out.iter().map(|left| format!("no result: {left}"));
    let notes = report.notes.iter().cloned().chain(left_out);
    notes.fold(table, TableData::with_note)
}

/// A row a model, horizon and protocol: ratios, gains with the range of seeds and the noise band.
#[must_use]
pub fn gains_table(report: &LeakReport) -> TableData {
    let numbers = [
        "SR@5bps",
        "gain",
        "low seed",
        "high seed",
        "noise band",
        "break-even bps",
    ];
    let rows = report.gains.iter().map(|row| {
        let mut cells = run_cells(&row.model, row.horizon, &row.protocol);
        cells.push(row.sharpe_cell());
        let numbers = [
            row.gain,
            row.gain_low,
            row.gain_high,
            row.noise_band,
            row.break_even_bps,
        ];
        cells.extend(numbers.map(ratio));
        cells
    });
    let title = "Every run: the seed whose gain is the median, the lowest and the highest gain of a seed";
    let mut table = TableData::new(title, columns(["model", "h", "protocol"], &numbers)).with_rows(rows);
    if report.gains.iter().any(|row| row.noise_band.is_some()) {
        table.notes.push(not_distinguishable(report));
    }
    table
}

/// Which gains of weak protocols lie within their noise bands.
fn not_distinguishable(report: &LeakReport) -> String {
    let banded = report.gains.iter().filter(|row| row.noise_band.is_some());
    let within: Vec<String> = banded
        .clone()
        .filter(|row| row.is_distinguishable() == Some(false))
        .map(|row| format!("{} h{} {}", row.model, row.horizon, row.protocol))
        .collect();
    let list = if within.is_empty() {
        "all of them are distinguishable".to_owned()
    } else {
        within.join(", ")
    };
    format!(
        "not distinguishable from panels whose names go on with each other's paths ({} of {}): {list}",
        within.len(),
        banded.count()
    )
}

/// Gains over years: of the two dominant protocols, or of all.
#[must_use]
pub fn years_table(report: &LeakReport, all: bool) -> TableData {
    let numbers = ["mean gain", "low", "high", "years", "p", "Holm p"];
    let is_shown = |row: &&YearRow| {
        let switch = Switch::of_name(&row.protocol);
        all || switch.is_some_and(super::grid::is_dominant)
    };
    let rows = report.by_year.iter().filter(is_shown).map(|row| {
        let mut cells = run_cells(&row.model, row.horizon, &row.protocol);
        cells.extend([row.mean, row.low, row.high].map(ratio));
        cells.push(TableCell::Text(format!("{}/{}", row.positive, row.gains.len())));
        let p = [row.p_greater, row.p_holm];
        cells.extend(p.map(|p| TableCell::optional(p, TableCell::P)));
        cells
    });
    let title = "By year: mean gain, 95 % of its bootstrapped means, years above 0, exact one-sided p";
    let columns = columns(["model", "h", "protocol"], &numbers);
    TableData::new(title, columns)
        .with_rows(rows)
        .with_note("years share a market's trend: they are fewer independent observations than their number; Holm's p is over models at a horizon and protocol")
}

/// Annual ratios at each cost under the reference and the two dominant protocols, or under all.
#[must_use]
pub fn costs_table(report: &LeakReport, all: bool) -> TableData {
    let costs: Vec<f64> = report
        .costs
        .first()
        .map_or_else(Vec::new, |row| row.sharpe.iter().map(|(cost, _)| *cost).collect());
    let words = [("model", Left), ("h", Right), ("protocol", Left)].map(Column::from);
    let columns = words
        .into_iter()
        .chain(costs.iter().map(|cost| Column::new(format!("{cost} bps"), Right)));
    let is_shown = |row: &&CostRow| {
        let switch = Switch::of_name(&row.protocol);
        all || switch.is_some_and(|switch| super::around_stamp::SHOWN.contains(&switch))
    };
    let rows = report.costs.iter().filter(is_shown).map(|row| {
        let mut cells = run_cells(&row.model, row.horizon, &row.protocol);
        cells.extend(row.sharpe.iter().map(|(_, sharpe)| ratio(*sharpe)));
        cells
    });
    TableData::new("Annual ratios at each cost of a turnover of 1", columns).with_rows(rows)
}

/// Rank correlation, area, turnover and largest loss of every run, and their gains.
#[must_use]
pub(super) fn side_table(report: &LeakReport) -> TableData {
    let numbers = [
        "RankIC",
        "gain",
        "AUC",
        "gain",
        "turnover",
        "gain",
        "MDD",
        "gain",
        "break-even bps",
    ];
    let rows = report.gains.iter().map(|row| {
        let mut cells = run_cells(&row.model, row.horizon, &row.protocol);
        let fine = [row.rank_ic, row.rank_ic_gain, row.auc, row.auc_gain];
        cells.extend(fine.map(|value| TableCell::optional(value, TableCell::Fine)));
        cells.extend([row.turnover, row.turnover_gain].map(ratio));
        cells.push(TableCell::Percent(row.max_drawdown));
        cells.push(TableCell::Change(row.max_drawdown_gain));
        cells.push(ratio(row.break_even_bps));
        cells
    });
    TableData::new(
        "Side figures: what else moves with a switch",
        columns(["model", "h", "protocol"], &numbers),
    )
    .with_rows(rows)
    .with_note("MDD: the largest loss at 5 bps; break-even: the cost at which the mean return is 0")
}

/// What lies after a cut replaced, and the signal day's bar masked.
#[must_use]
pub fn interventions_table(interventions: &[SanityRow]) -> TableData {
    let numbers = [
        "cells changed",
        "sessions changed",
        "normalised change",
        "SR with the bar",
        "SR without",
        "change",
    ];
    let rows = interventions.iter().map(|row| {
        let changes = [row.sharpe_full, row.sharpe_masked, row.sharpe_change];
        let counts = [row.suffix_cells_changed, row.suffix_sessions_changed];
        let mut cells = vec![text(&row.protocol)];
        cells.extend(counts.map(TableCell::Count));
        cells.push(TableCell::Ratio(row.suffix_change));
        cells.extend(changes.map(ratio));
        cells
    });
    TableData::new(
        "Interventions on ridge regression, last test year: all after a cut replaced; the signal day's bar masked",
        columns(["protocol"], &numbers),
    )
    .with_rows(rows)
    .with_note("under CLEAN no cell up to the cut may change in any bit; a full bar that trades at its own open loses most of its ratio when it is masked")
}

/// The weak protocols over all models.
#[must_use]
pub fn controls_table(report: &LeakReport) -> TableData {
    let rows = report.controls.iter().map(|row| {
        vec![
            text(&row.protocol),
            TableCell::Count(row.runs),
            ratio(row.mean),
            ratio(row.largest),
            row.distinguishable.map_or(TableCell::Empty, TableCell::Count),
        ]
    });
    TableData::new(
        "Negative controls: the weak switches over all models and horizons",
        columns(
            ["protocol"],
            &["runs", "mean gain", "largest abs", "beyond noise"],
        ),
    )
    .with_rows(rows)
}

/// Correlations of ridge regression's scores with each piece of return around their stamp.
#[must_use]
pub(super) fn profile_table(report: &LeakReport) -> TableData {
    let rows = report.profile.iter().map(|row| {
        vec![
            text(&row.protocol),
            TableCell::Signed(row.piece),
            TableCell::Text(piece_text(row.piece)),
            TableCell::Count(row.days),
            TableCell::optional(row.ic, TableCell::Fine),
            ratio(row.t),
        ]
    });
    let heads = [
        ("protocol", Left),
        ("piece", Right),
        ("return", Left),
        ("days", Right),
        ("rank IC", Right),
        ("t", Right),
    ];
    TableData::new(
        "Rank correlation of ridge regression's scores with returns around their stamp, last test year",
        heads,
    )
    .with_rows(rows)
}

/// A piece of return in words.
pub(super) fn piece_text(piece: i64) -> String {
    let session = (piece + 1).div_euclid(2);
    let kind = if piece.rem_euclid(2) == 1 {
        "night into"
    } else {
        "session of"
    };
    format!("{kind} day {session:+}")
}

/// The best tenth of ridge regression's scores at earlier and later fills.
#[must_use]
pub(super) fn ladder_table(report: &LeakReport) -> TableData {
    let rows = report.ladder.iter().map(|row| {
        vec![
            text(&row.protocol),
            TableCell::Text(fill_text(&row.fill)),
            ratio(row.sharpe),
            ratio(row.turnover),
            TableCell::Count(row.days),
        ]
    });
    TableData::new(
        "Fill ladder: the best tenth of ridge regression's scores, last test year",
        columns(["protocol", "filled at"], &["SR@5bps", "turnover", "days"]),
    )
    .with_rows(rows)
}

/// A fill in words.
pub(super) fn fill_text(name: &str) -> String {
    let known = FillRule::LADDER.into_iter().find(|fill| fill.name() == name);
    match known {
        Some(FillRule::SameOpen) => "same open",
        Some(FillRule::SameClose) => "same close",
        Some(FillRule::NextOpen) => "next open",
        Some(FillRule::NextClose) => "next close",
        Some(FillRule::OpenAfter) => "open after next",
        None => name,
    }
    .to_owned()
}
