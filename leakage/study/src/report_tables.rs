//! Tables of a benchmark's report, for the terminal, the page and other programs.

use ktd_leakage::{CostRow, GainRow, LeakReport, ModelFamily, ReturnPiece, SanityRow, Switch, YearRow};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

/// The switches in the order of the main table.
pub(super) const MAIN_ORDER: [Switch; 6] = [
    Switch::TempCenter,
    Switch::ExecOpen,
    Switch::NormGlobal,
    Switch::StructGraph,
    Switch::ExecClose,
    Switch::LabelOverlap,
];

/// What a protocol switches, in words.
const fn switched(protocol: Switch) -> &'static str {
    match protocol {
        Switch::Clean => "nothing: features of the close, a fill at the next open",
        Switch::TempCenter => "rolling statistics are those of three sessions later, as of a centred window",
        Switch::ExecOpen => "the whole bar of a day trades at that day's own open",
        Switch::NormGlobal => "features are standardised by all rows of the panel",
        Switch::StructGraph => "peers are found in a window around the month",
        Switch::ExecClose => "the whole bar of a day trades at that day's own close",
        Switch::LabelOverlap => "fit rows whose labels end in the test year stay in",
    }
}

/// The row of a run; none where it has no result.
pub(super) fn gain_row(report: &LeakReport, of: (ModelFamily, usize), protocol: Switch) -> Option<&GainRow> {
    let is_own = |row: &&GainRow| (row.model, row.horizon) == of && row.protocol == protocol;
    report.gains.iter().find(is_own)
}

/// Models with their horizons, in the order of the report.
pub(super) fn models(report: &LeakReport) -> Vec<(ModelFamily, usize)> {
    let mut models: Vec<_> = report.gains.iter().map(|row| (row.model, row.horizon)).collect();
    models.dedup();
    models
}

/// The test years as text: the first and the last, or all of them where some between are left out.
pub(super) fn years_text(report: &LeakReport) -> String {
    let years = &report.years;
    let is_whole = years.iter().zip(years.iter().skip(1)).all(|(a, b)| a + 1 == *b);
    match (years.first(), years.last()) {
        (Some(first), Some(last)) if is_whole && first < last => format!("{first} to {last}"),
        _ => years.iter().map(i32::to_string).collect::<Vec<_>>().join(" "),
    }
}

/// A table that begins with a model, its horizon and a protocol.
fn run_table<R: Copy>(
    title: &str,
    rows: impl IntoIterator<Item = R>,
    of: impl Fn(R) -> (ModelFamily, usize, Switch),
) -> RowTable<R> {
    RowTable::new(title, rows)
        .text("model", |row| of(row).0.name())
        .count("h", |row| of(row).1)
        .text("protocol", |row| of(row).2.name())
}

/// Clean ratios and the gain of each switch; one that is told from none has a star.
pub(super) fn main_table(report: &LeakReport) -> TableData {
    let title = format!(
        "{}: SR@5bps under CLEAN and its leakage gains; {} names, test years {}",
        report.name,
        report.names,
        years_text(report)
    );
    // The title of a narrow table says the market as well.
    let market = ("market", ktd_view::draw::Align::Left, 2);
    let table = RowTable::new(title, models(report))
        .column(market, |_| TableCell::Text(report.name.clone()))
        .text("model", |(model, _)| model.name())
        .count("h", |(_, horizon)| horizon)
        .column(("CLEAN", Right), |of| {
            gain_row(report, of, Switch::Clean).map_or(TableCell::Empty, sharpe_cell)
        });
    let table = MAIN_ORDER.into_iter().fold(table, |table, switch| {
        table.column((switch.name(), Right), |of| {
            let row = gain_row(report, of, switch);
            let gain = row.and_then(|row| row.gain);
            match (gain, row.and_then(GainRow::is_distinguishable)) {
                (Some(gain), Some(true)) => {
                    TableCell::Worded(gain, format!("{} *", TableCell::Ratio(gain).on_page()))
                }
                (gain, _) => TableCell::optional(gain, TableCell::Ratio),
            }
        })
    });
    let table = table.table().with_note(
        "SR@5bps: annual Sharpe ratio, of mean and deviation of daily returns, after 5 hundredths of a percent a turnover; a gain is that \
         of a protocol less that of CLEAN on the same rows, days and seeds; of several seeds the median",
    );
    let explained = std::iter::once(Switch::Clean).chain(MAIN_ORDER);
    let mut table = explained.fold(table, |table, switch| {
        table.with_note(format!("{}: {}", switch.name(), switched(switch)))
    });
    if report.gains.iter().any(|row| row.p_holm.is_some()) {
        table = table.with_note(
            "*: told from no gain at 5 % by paired days, all gains of this report judged at once (Holm): where no switch has a gain, \
             one report in twenty shows a star",
        );
    }
    let left_out = report.left_out.iter().map(|left| format!("no result: {left}"));
    let notes = report.notes.iter().cloned().chain(left_out);
    notes.fold(table, TableData::with_note)
}

/// The ratio as a cell, with the reason where there is none.
fn sharpe_cell(row: &GainRow) -> TableCell {
    match (row.sharpe, &row.undefined) {
        (Some(sharpe), _) => TableCell::Ratio(sharpe),
        (None, Some(reason)) => TableCell::Missing(reason.clone()),
        (None, None) => TableCell::Empty,
    }
}

fn of_gain(row: &GainRow) -> (ModelFamily, usize, Switch) {
    (row.model, row.horizon, row.protocol)
}

/// A row a model, horizon and protocol: ratios, gains with the range of seeds and their interval by days.
pub(super) fn gains_table(report: &LeakReport) -> TableData {
    let title = "Every run: the seed whose gain is the median, the lowest and the highest gain of a seed";
    let mut table = run_table(title, &report.gains, of_gain)
        .column(("SR@5bps", Right), sharpe_cell)
        .ratio("gain", |row| row.gain)
        .ratio("low seed", |row| row.gain_low)
        .ratio("high seed", |row| row.gain_high)
        .ratio("95 % low", |row| row.gain_interval_low)
        .ratio("95 % high", |row| row.gain_interval_high)
        .number("Holm p", |row| row.p_holm, TableCell::P)
        .text("told", |row| match row.is_distinguishable() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        })
        .ratio("would be seen", |row| row.detectable_gain)
        .ratio("break-even bps", |row| row.break_even_bps)
        .table();
    if report.gains.iter().any(|row| row.p_holm.is_some()) {
        table.notes.push(not_distinguishable(report));
    }
    table
}

/// Which gains are not told from none, and what would have been.
fn not_distinguishable(report: &LeakReport) -> String {
    let judged = report.gains.iter().filter(|row| row.p_holm.is_some());
    let open: Vec<String> = judged
        .clone()
        .filter(|row| row.is_distinguishable() == Some(false))
        .map(|row| format!("{} h{} {}", row.model.name(), row.horizon, row.protocol.name()))
        .collect();
    let list = if open.is_empty() {
        "all are".to_owned()
    } else {
        open.join(", ")
    };
    format!(
        "not told from no gain ({} of {} that differ from CLEAN): {list}; `would be seen` is the smallest true gain that is told in nine \
         of ten draws, by itself; interval and p are of the mean over seeds",
        open.len(),
        judged.count()
    )
}

/// Gains over years: of the two dominant protocols, or of all.
pub(super) fn years_table(report: &LeakReport, all: bool) -> TableData {
    let shown = report
        .by_year
        .iter()
        .filter(|row| all || row.protocol.is_dominant());
    let whose = if all {
        "all switches"
    } else {
        "the two dominant switches"
    };
    let interval = if report.by_year.iter().any(|row| row.low.is_some()) {
        "its 95 % interval (Student)"
    } else {
        "no interval of fewer than five years"
    };
    let title = format!("By year, {whose}: mean gain, {interval}, exact one-sided p");
    run_table(&title, shown, |row: &YearRow| (row.model, row.horizon, row.protocol))
        .ratio("mean gain", |row| row.mean)
        .ratio("low", |row| row.low)
        .ratio("high", |row| row.high)
        .count("years above 0", |row| row.positive)
        .count("of years", |row| row.gains.len())
        .number("p alone", |row| row.p_greater, TableCell::P)
        .table()
        .with_note(
            "no verdict, which is the star of the gain, by days: p is of each row alone, and years share a market's trend, so that they are \
             fewer independent observations than their number",
        )
}

/// Annual ratios at each cost under the reference and the two dominant protocols, or under all.
pub(super) fn costs_table(report: &LeakReport, all: bool) -> TableData {
    let shown = report
        .costs
        .iter()
        .filter(|row| all || Switch::PROVED.contains(&row.protocol));
    let title = "Annual ratios at each cost of a turnover of 1";
    let table = run_table(title, shown, |row: &CostRow| {
        (row.model, row.horizon, row.protocol)
    });
    let costs = report.costs.first().map_or(&[][..], |row| &row.sharpe);
    let costs = costs.iter().enumerate();
    costs
        .fold(table, |table, (place, (cost, _))| {
            table.ratio(&format!("{cost} bps"), |row| row.sharpe.get(place)?.1)
        })
        .table()
}

/// Rank correlation, area, turnover and largest loss of every run, and their gains.
pub(super) fn side_table(report: &LeakReport) -> TableData {
    run_table(
        "Side figures: what else moves with a switch",
        &report.gains,
        of_gain,
    )
    .fine("RankIC", |row| row.rank_ic)
    .fine("RankIC gain", |row| row.rank_ic_gain)
    .fine("AUC", |row| row.auc)
    .fine("AUC gain", |row| row.auc_gain)
    .ratio("turnover", |row| row.turnover)
    .ratio("turnover gain", |row| row.turnover_gain)
    .number("MDD", |row| row.max_drawdown, TableCell::Percent)
    .number("MDD gain", |row| row.max_drawdown_gain, TableCell::Change)
    .ratio("break-even bps", |row| row.break_even_bps)
    .table()
    .with_note("MDD: the largest loss at 5 bps; break-even: the cost at which the mean return is 0")
}

/// What lies after a cut replaced, and the signal day's bar masked.
pub(super) fn interventions_table(interventions: &[SanityRow]) -> TableData {
    let title = "Interventions on ridge regression, last test year: all after a cut replaced; the signal day's bar masked";
    RowTable::new(title, interventions)
        .text("protocol", |row| row.protocol.name())
        .count("cells changed", |row| row.suffix_cells_changed)
        .count("sessions changed", |row| row.suffix_sessions_changed)
        .ratio("normalised change", |row| row.suffix_change)
        .ratio("SR with the bar", |row| row.sharpe_full)
        .ratio("SR without", |row| row.sharpe_masked)
        .ratio("change", |row| row.sharpe_change)
        .table()
        .with_note("under CLEAN no cell up to the cut may change in any bit; a full bar that trades at its own open loses most of its ratio when it is masked")
}

/// The weak protocols over all models.
pub(super) fn controls_table(report: &LeakReport) -> TableData {
    let title = "Negative controls: the weak switches over all models and horizons";
    RowTable::new(title, &report.controls)
        .text("protocol", |row| row.protocol.name())
        .count("runs", |row| row.runs)
        .ratio("mean gain", |row| row.mean)
        .ratio("largest abs", |row| row.largest)
        .column(("told from none", Right), |row| {
            row.distinguishable.map_or(TableCell::Empty, TableCell::Count)
        })
        .table()
}

/// Correlations of ridge regression's scores with each piece of return around their stamp.
pub(super) fn profile_table(report: &LeakReport) -> TableData {
    let title =
        "Rank correlation of ridge regression's scores with returns around their stamp, last test year";
    RowTable::new(title, &report.profile)
        .text("protocol", |row| row.protocol.name())
        .column(("piece", Right), |row| TableCell::Signed(row.piece))
        .text("return", |row| ReturnPiece(row.piece))
        .count("days", |row| row.days)
        .fine("rank IC", |row| row.ic)
        .ratio("t", |row| row.t)
        .table()
}

/// The best tenth of ridge regression's scores at earlier and later fills.
pub(super) fn ladder_table(report: &LeakReport) -> TableData {
    let title = "Fill ladder: the best tenth of ridge regression's scores, last test year";
    RowTable::new(title, &report.ladder)
        .text("protocol", |row| row.protocol.name())
        .text("filled at", |row| row.fill.name())
        .ratio("SR@5bps", |row| row.sharpe)
        .ratio("turnover", |row| row.turnover)
        .count("days", |row| row.days)
        .table()
}
