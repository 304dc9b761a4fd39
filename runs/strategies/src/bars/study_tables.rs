//! Tables of strategies on real bars: medians and quartiles over series.

use super::study::{BarRun, BarStudy, SeriesLeftOut};
use ktd_stats::{Quartiles, Sample, spread};
use ktd_strategy_code::{COSTS_BPS, FillPrice, RunEarnings, RunFigures};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// What a reader must know of every figure.
const CONTRACT: &str = "the documents' contract fills at the close that gave the signal, in fractions of shares, without costs and \
                        price limits, short where they say so; nobody can trade at a close that he has just read";

/// The runs of a document on a split, and what is not among them.
struct Cell<'s> {
    left: &'s SeriesLeftOut,
    runs: Vec<&'s BarRun>,
}

/// The tables of a study: what the own close pretends, costs, and figures; each a row a document and split.
#[must_use]
pub fn study_tables(study: &BarStudy) -> Vec<TableData> {
    let cells: Vec<Cell<'_>> = study
        .left_out
        .iter()
        .map(|left| Cell {
            left,
            runs: study
                .runs
                .iter()
                .filter(|run| (run.strategy, run.split) == (left.strategy, left.split))
                .collect(),
        })
        .collect();
    vec![fill_table(&cells), cost_table(&cells), figure_table(&cells)]
}

impl Cell<'_> {
    fn heads(&self) -> Vec<TableCell> {
        vec![
            TableCell::Text(self.left.strategy.label().to_owned()),
            TableCell::Text(self.left.split.to_owned()),
            TableCell::Count(self.runs.len()),
        ]
    }

    fn spread(&self, of: impl Fn(&RunEarnings) -> Option<f64>) -> Option<Quartiles> {
        let values: Vec<f64> = self.runs.iter().filter_map(|run| of(&run.earnings)).collect();
        spread(&Sample::new("series", &values).ok()?).ok()
    }

    /// A median over series; the reason where there is none.
    fn median(&self, of: impl Fn(&RunEarnings) -> Option<f64>, form: fn(f64) -> TableCell) -> TableCell {
        match (self.spread(of), self.left.no_data) {
            (Some(quartiles), _) => form(quartiles.median),
            (None, Some(reason)) => TableCell::Missing(reason.to_owned()),
            (None, None) => TableCell::Missing("no series has this figure".to_owned()),
        }
    }

    /// Median and both quartiles.
    fn quartiles(
        &self,
        of: impl Fn(&RunEarnings) -> Option<f64>,
        form: fn(f64) -> TableCell,
    ) -> [TableCell; 3] {
        let ends = self.spread(&of);
        let end = |quartile: fn(&Quartiles) -> f64| {
            ends.as_ref()
                .map_or(TableCell::Empty, |quartiles| form(quartile(quartiles)))
        };
        [
            self.median(of, form),
            end(|quartiles| quartiles.lower),
            end(|quartiles| quartiles.upper),
        ]
    }
}

/// One of a run's figures.
type FigureOf = fn(&RunFigures) -> Option<f64>;

/// How a number is shown.
type CellForm = fn(f64) -> TableCell;

fn free(fill: FillPrice, of: FigureOf) -> impl Fn(&RunEarnings) -> Option<f64> {
    move |earnings| of(earnings.free(fill))
}

fn trades(figures: &RunFigures) -> Option<f64> {
    u32::try_from(figures.trades).ok().map(f64::from)
}

/// What the own close pretends: the return that the next open would not have given.
fn fill_table(cells: &[Cell<'_>]) -> TableData {
    let heads = [
        ("strategy", Left),
        ("split", Left),
        ("series", Right),
        ("trades", Right),
        ("own close", Right),
        ("next open", Right),
        ("pretended", Right),
        ("quartile 1", Right),
        ("quartile 3", Right),
        ("bps of traded", Right),
        ("bps quartile 1", Right),
        ("bps quartile 3", Right),
        ("series > 0", Right),
    ];
    let rows = cells.iter().map(|cell| {
        let mut row = cell.heads();
        row.push(cell.median(free(FillPrice::OwnClose, trades), TableCell::Ratio));
        row.push(cell.median(
            free(FillPrice::OwnClose, |figures| Some(figures.total_return)),
            TableCell::Change,
        ));
        row.push(cell.median(
            free(FillPrice::NextOpen, |figures| Some(figures.total_return)),
            TableCell::Change,
        ));
        row.extend(cell.quartiles(|earnings| Some(earnings.pretended), TableCell::Change));
        row.extend(cell.quartiles(|earnings| earnings.pretended_bps, TableCell::Ratio));
        let counted = cell.runs.iter().filter(|run| run.earnings.pretended > 0.0);
        row.push(TableCell::Count(counted.count()));
        row
    });
    let table = TableData::new(
        "What a fill at the signal's own close pretends, median over series",
        heads,
    )
    .with_rows(rows)
    .with_note("pretended: profit of closed trades over capital at the own close, less that at the next open")
    .with_note(CONTRACT);
    let ruined = cells.iter().flat_map(|cell| &cell.runs);
    let ruined = ruined
        .filter(|run| run.earnings.free(FillPrice::OwnClose).max_drawdown >= 1.0)
        .count();
    let table = if ruined == 0 {
        table
    } else {
        table.with_note(format!(
            "{ruined} series lose more than all equity by a short leg: no document has a margin; what they earn after it counts \
             on"
        ))
    };
    let short: usize = cells.iter().map(|cell| cell.left.too_short).sum();
    if short == 0 {
        return table;
    }
    table.with_note(format!(
        "{short} series with fewer bars than a warm-up and 50 are left out"
    ))
}

/// Total return at each cost, at both fills.
fn cost_table(cells: &[Cell<'_>]) -> TableData {
    let mut heads = vec![
        ("strategy".to_owned(), Left),
        ("split".to_owned(), Left),
        ("series".to_owned(), Right),
        ("fill".to_owned(), Left),
    ];
    heads.extend(COSTS_BPS.map(|bps| (format!("{bps} bps"), Right)));
    heads.push(("break-even bps".to_owned(), Right));
    let rows = cells.iter().flat_map(|cell| {
        FillPrice::ALL.map(|fill| {
            let mut row = cell.heads();
            row.push(TableCell::Text(fill.label().to_owned()));
            row.extend((0..COSTS_BPS.len()).map(|place| {
                let of = |earnings: &RunEarnings| {
                    let figures = earnings.at(fill).get(place);
                    figures.map(|figures| figures.total_return)
                };
                cell.median(of, TableCell::Change)
            }));
            row.push(cell.median(free(fill, |figures| figures.break_even_bps), TableCell::Ratio));
            row
        })
    });
    let columns = heads.iter().map(|(head, align)| (head.as_str(), *align));
    TableData::new(
        "Total return after costs of each side, median over series",
        columns,
    )
    .with_rows(rows)
}

/// The other figures without costs, at both fills.
fn figure_table(cells: &[Cell<'_>]) -> TableData {
    let heads = [
        ("strategy", Left),
        ("split", Left),
        ("series", Right),
        ("fill", Left),
        ("return", Right),
        ("quartile 1", Right),
        ("quartile 3", Right),
        ("Sharpe", Right),
        ("drawdown", Right),
        ("trades", Right),
        ("win rate", Right),
        ("turnover", Right),
    ];
    let rows = cells.iter().flat_map(|cell| {
        FillPrice::ALL.map(|fill| {
            let mut row = cell.heads();
            row.push(TableCell::Text(fill.label().to_owned()));
            row.extend(cell.quartiles(
                free(fill, |figures| Some(figures.total_return)),
                TableCell::Change,
            ));
            let figures: [(FigureOf, CellForm); 5] = [
                (|figures| figures.sharpe, TableCell::Ratio),
                (|figures| Some(figures.max_drawdown), TableCell::Percent),
                (trades, TableCell::Ratio),
                (|figures| figures.win_rate, TableCell::Percent),
                (|figures| Some(figures.turnover), TableCell::Ratio),
            ];
            row.extend(figures.map(|(of, form)| cell.median(free(fill, of), form)));
            row
        })
    });
    TableData::new("Figures without costs, median over series", heads)
        .with_rows(rows)
        .with_note("a Sharpe ratio and a win rate are medians over the series that have one")
}
