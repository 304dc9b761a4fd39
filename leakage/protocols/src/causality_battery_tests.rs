//! Forty columns whose answer is known, under the plan of an audit.

use crate::FeatureGrid;
use crate::causality::{CausalityReport, CausalityVerdict, ReplayKind, ReplayRun, causality_report};
use crate::replay_panel::{ReplayPanel, TradedField, tests::traded};
use crate::replay_plan::replay_plan;
use crate::schema::{FEATURES, FeatureKind};
use crate::settings::LeakageSettings;
use crate::switch::Switch;
use ktd_stats::SplitMix64;
use ktd_stats::moments::{count, mean};
use std::cell::Cell;

/// What is known of a column.
#[derive(Debug, Clone, Copy)]
enum Known {
    Clean,
    /// The least and the most sessions that it reads ahead.
    Ahead(usize, usize),
    Whole,
    Length,
    Random,
}

impl Known {
    fn is(self, verdict: CausalityVerdict) -> bool {
        match (self, verdict) {
            (Self::Ahead(least, most), CausalityVerdict::ReadsAhead { sessions }) => {
                (least..=most).contains(&sessions)
            }
            (Self::Clean, CausalityVerdict::Clean)
            | (Self::Whole, CausalityVerdict::WholeSample)
            | (Self::Length, CausalityVerdict::LengthOrCalendar)
            | (Self::Random, CausalityVerdict::NotDeterministic) => true,
            _ => false,
        }
    }
}

type Column = Box<dyn Fn(&ReplayPanel) -> Vec<f64>>;

const SESSIONS: usize = 400;
const NAMES: usize = 8;

/// A market with gaps everywhere, so that what fills them has work at every cut.
fn panel() -> ReplayPanel {
    let whole = traded(SESSIONS, NAMES, 11);
    let mut stream = SplitMix64::new(5);
    let missing: Vec<bool> = (0..SESSIONS * NAMES).map(|_| stream.uniform() < 0.12).collect();
    let columns = TradedField::ALL.map(|field| {
        (0..SESSIONS * NAMES)
            .map(|cell| {
                if missing[cell] {
                    f64::NAN
                } else {
                    whole.value(field, cell / NAMES, cell % NAMES)
                }
            })
            .collect()
    });
    ReplayPanel::new(whole.days().to_vec(), NAMES, columns).unwrap()
}

/// A function of the adjusted closes of each name.
fn by_name(of: impl Fn(&[f64]) -> Vec<f64> + 'static) -> Column {
    Box::new(move |panel| {
        let closes = |name: usize| -> Vec<f64> {
            (0..panel.sessions())
                .map(|session| {
                    panel.value(TradedField::Close, session, name)
                        * panel.value(TradedField::Factor, session, name)
                })
                .collect()
        };
        let columns: Vec<Vec<f64>> = (0..panel.names()).map(|name| of(&closes(name))).collect();
        (0..panel.sessions() * panel.names())
            .map(|cell| columns[cell % panel.names()][cell / panel.names()])
            .collect()
    })
}

/// A function of the sessions of a panel and the place of a name.
fn by_cell(of: impl Fn(&ReplayPanel, usize, usize) -> f64 + 'static) -> Column {
    Box::new(move |panel| {
        let names = panel.names();
        (0..panel.sessions() * names)
            .map(|cell| of(panel, cell / names, cell % names))
            .collect()
    })
}

fn at(values: &[f64], place: usize, shift: isize) -> f64 {
    let place = place.checked_add_signed(shift);
    place
        .and_then(|place| values.get(place))
        .copied()
        .unwrap_or(f64::NAN)
}

/// A statistic of the cells from one shift to another.
fn window(from: isize, to: isize, of: impl Fn(&[f64]) -> f64 + 'static) -> Column {
    by_name(move |closes| {
        (0..closes.len())
            .map(|place| {
                let cells: Vec<f64> = (from..=to).map(|shift| at(closes, place, shift)).collect();
                of(&present(&cells))
            })
            .collect()
    })
}

fn present(cells: &[f64]) -> Vec<f64> {
    cells.iter().copied().filter(|cell| !cell.is_nan()).collect()
}

fn average(cells: &[f64]) -> f64 {
    mean(cells).unwrap_or(f64::NAN)
}

fn largest(cells: &[f64]) -> f64 {
    cells.iter().copied().fold(f64::NAN, f64::max)
}

fn smallest(cells: &[f64]) -> f64 {
    cells.iter().copied().fold(f64::NAN, f64::min)
}

fn spread(cells: &[f64]) -> f64 {
    let centre = average(cells);
    average(
        &cells
            .iter()
            .map(|cell| (cell - centre) * (cell - centre))
            .collect::<Vec<f64>>(),
    )
    .sqrt()
}

/// A statistic of all closes of a name, applied to each of them.
fn scaled(by: impl Fn(f64, &[f64]) -> f64 + 'static) -> Column {
    by_name(move |closes| {
        let all = present(closes);
        closes.iter().map(|close| by(*close, &all)).collect()
    })
}

fn close(panel: &ReplayPanel, session: usize, name: usize) -> f64 {
    panel.value(TradedField::Close, session, name)
}

/// The share of names that are lower in the session so many later.
fn day_rank(ahead: usize) -> Column {
    by_cell(move |panel, session, name| {
        let ratio = |name| {
            close(panel, session + ahead, name) / panel.value(TradedField::Open, session + ahead, name)
        };
        let own = ratio(name);
        let lower = (0..panel.names()).filter(|other| ratio(*other) < own).count();
        if own.is_nan() { f64::NAN } else { count(lower) }
    })
}

fn fill(closes: &[f64], is_backward: bool) -> Vec<f64> {
    let mut cells = closes.to_vec();
    let mut last = f64::NAN;
    let mut step = |cell: &mut f64| {
        if cell.is_nan() {
            *cell = last;
        }
        last = *cell;
    };
    if is_backward {
        cells.iter_mut().rev().for_each(&mut step);
    } else {
        cells.iter_mut().for_each(&mut step);
    }
    cells
}

fn smoothed(closes: &[f64], weight: f64, is_backward: bool) -> Vec<f64> {
    let mut level = f64::NAN;
    let mut step = |close: f64| {
        if !close.is_nan() {
            level = if level.is_nan() {
                close
            } else {
                weight * close + (1.0 - weight) * level
            };
        }
        level
    };
    if is_backward {
        let mut cells: Vec<f64> = closes.iter().rev().map(|close| step(*close)).collect();
        cells.reverse();
        cells
    } else {
        closes.iter().map(|close| step(*close)).collect()
    }
}

fn interpolated(closes: &[f64]) -> Vec<f64> {
    let (before, after) = (fill(closes, false), fill(closes, true));
    before
        .iter()
        .zip(&after)
        .map(|(before, after)| 0.5 * (before + after))
        .collect()
}

/// The last close of a name among the sessions that share a key with one.
fn last_of(key: impl Fn(&ReplayPanel, usize) -> i64 + 'static, earlier: i64) -> Column {
    by_cell(move |panel, session, name| {
        let own = key(panel, session) - earlier;
        let same = (0..panel.sessions()).filter(|other| key(panel, *other) == own);
        let closes: Vec<f64> = same.map(|other| close(panel, other, name)).collect();
        present(&closes).last().copied().unwrap_or(f64::NAN)
    })
}

fn week(panel: &ReplayPanel, session: usize) -> i64 {
    panel.days()[session].number.div_euclid(7)
}

fn month(panel: &ReplayPanel, session: usize) -> i64 {
    let month = panel.days()[session].month;
    i64::from(month.year) * 12 + i64::from(month.month)
}

/// The mean of a name's month, all of it or up to a session.
fn month_mean(is_whole: bool) -> Column {
    by_cell(move |panel, session, name| {
        let same = (0..panel.sessions())
            .filter(|other| month(panel, *other) == month(panel, session) && (is_whole || *other <= session));
        average(&present(
            &same.map(|other| close(panel, other, name)).collect::<Vec<f64>>(),
        ))
    })
}

/// A line through the first share of all closes, read off on every session.
fn fitted(share: f64) -> Column {
    by_name(move |closes| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a short panel"
        )]
        let rows = (share * count(closes.len())) as usize;
        let fit = average(&present(&closes[..rows.min(closes.len())]));
        closes.iter().map(|close| close - fit).collect()
    })
}

fn clean_columns() -> Vec<(&'static str, Known, Column)> {
    vec![
        ("lag 5", Known::Clean, window(-5, -5, average)),
        ("mean 20", Known::Clean, window(-19, 0, average)),
        ("deviation 20", Known::Clean, window(-19, 0, spread)),
        ("largest 10", Known::Clean, window(-9, 0, largest)),
        ("rank of day", Known::Clean, day_rank(0)),
        (
            "filled forward",
            Known::Clean,
            by_name(|closes| fill(closes, false)),
        ),
        (
            "exponential mean",
            Known::Clean,
            by_name(|closes| smoothed(closes, 0.3, false)),
        ),
        (
            "expanding mean",
            Known::Clean,
            by_name(|closes| {
                (0..closes.len())
                    .map(|to| average(&present(&closes[..=to])))
                    .collect()
            }),
        ),
        ("month to date", Known::Clean, month_mean(false)),
        ("last week's close", Known::Clean, last_of(week, 1)),
        (
            "gap of the open",
            Known::Clean,
            by_cell(|panel, session, name| {
                let before = session
                    .checked_sub(1)
                    .map_or(f64::NAN, |before| close(panel, before, name));
                panel.value(TradedField::Open, session, name) / before
            }),
        ),
        (
            "volume ratio",
            Known::Clean,
            by_cell(|panel, session, name| {
                let volumes: Vec<f64> = (session.saturating_sub(19)..=session)
                    .map(|session| panel.value(TradedField::Volume, session, name))
                    .collect();
                panel.value(TradedField::Volume, session, name) / average(&present(&volumes))
            }),
        ),
        (
            "fit of the first 30 used behind them",
            Known::Clean,
            by_name(|closes| {
                let fit = average(&present(&closes[..closes.len().min(30)]));
                let of = |place: usize| if place < 30 { f64::NAN } else { closes[place] - fit };
                (0..closes.len()).map(of).collect()
            }),
        ),
        (
            "weekday",
            Known::Clean,
            by_cell(|panel, session, _| count(usize::try_from(panel.days()[session].number % 7).unwrap())),
        ),
    ]
}

fn leading_columns() -> Vec<(&'static str, Known, Column)> {
    vec![
        ("lead 1", Known::Ahead(1, 1), window(1, 1, average)),
        ("lead 3", Known::Ahead(3, 3), window(3, 3, average)),
        ("centred mean 5", Known::Ahead(2, 2), window(-2, 2, average)),
        ("centred mean 21", Known::Ahead(10, 10), window(-10, 10, average)),
        ("largest of the next 3", Known::Ahead(3, 3), window(0, 3, largest)),
        ("rank of tomorrow", Known::Ahead(1, 1), day_rank(1)),
        (
            "filled backward",
            Known::Ahead(1, 3),
            by_name(|closes| fill(closes, true)),
        ),
        ("interpolated", Known::Ahead(1, 3), by_name(interpolated)),
        ("week's close", Known::Ahead(1, 4), last_of(week, 0)),
        ("month's mean", Known::Ahead(10, 21), month_mean(true)),
        (
            "backward mean",
            Known::Ahead(60, SESSIONS),
            by_name(|closes| smoothed(closes, 0.3, true)),
        ),
        (
            "next open",
            Known::Ahead(1, 1),
            by_cell(|panel, session, name| panel.value(TradedField::Open, session + 1, name)),
        ),
        (
            "traded tomorrow",
            Known::Ahead(1, 1),
            by_cell(|panel, session, name| f64::from(u8::from(panel.has_bar(session + 1, name)))),
        ),
        (
            "tomorrow where it falls by a twentieth",
            Known::Ahead(1, 1),
            by_cell(|panel, session, name| {
                let growth = close(panel, session + 1, name) / close(panel, session, name);
                if growth < 0.95 { growth } else { 0.0 }
            }),
        ),
        (
            "a millionth of tomorrow",
            Known::Ahead(1, 1),
            by_cell(|panel, session, name| {
                let next = close(panel, session + 1, name);
                close(panel, session, name) + 1e-6 * if next.is_nan() { 0.0 } else { next }
            }),
        ),
    ]
}

fn sample_columns() -> Vec<(&'static str, Known, Column)> {
    vec![
        (
            "z over all",
            Known::Whole,
            scaled(|close, all| (close - average(all)) / spread(all)),
        ),
        (
            "rank over all",
            Known::Whole,
            scaled(|close, all| count(all.iter().filter(|other| **other < close).count()) / count(all.len())),
        ),
        (
            "between the least and the largest",
            Known::Whole,
            scaled(|close, all| (close - smallest(all)) / (largest(all) - smallest(all))),
        ),
        (
            "over the last",
            Known::Whole,
            scaled(|close, all| close / all.last().copied().unwrap_or(f64::NAN)),
        ),
        ("less its fit on seven tenths", Known::Whole, fitted(0.7)),
        (
            "sum of what comes",
            Known::Whole,
            by_name(|closes| {
                let mut sum = 0.0;
                let mut sums: Vec<f64> = closes
                    .iter()
                    .rev()
                    .map(|close| {
                        sum += if close.is_nan() { 0.0 } else { *close };
                        sum
                    })
                    .collect();
                sums.reverse();
                sums
            }),
        ),
        (
            "less the mean of all names and days",
            Known::Whole,
            Box::new(|panel| {
                let closes: Vec<f64> = (0..panel.sessions() * panel.names())
                    .map(|cell| close(panel, cell / panel.names(), cell % panel.names()))
                    .collect();
                let centre = average(&present(&closes));
                closes.iter().map(|close| close - centre).collect()
            }),
        ),
    ]
}

fn other_columns() -> Vec<(&'static str, Known, Column)> {
    let calls = Cell::new(0.0);
    let stream = Cell::new(7_u64);
    vec![
        (
            "place over length",
            Known::Length,
            by_cell(|panel, session, _| count(session) / count(panel.sessions())),
        ),
        (
            "last of the month, by the next session",
            Known::Length,
            by_cell(|panel, session, _| {
                let is_last =
                    session + 1 == panel.sessions() || month(panel, session) != month(panel, session + 1);
                f64::from(u8::from(is_last))
            }),
        ),
        (
            "random",
            Known::Random,
            Box::new(move |panel| {
                let mut numbers = SplitMix64::new(stream.get());
                stream.set(numbers.next_u64());
                (0..panel.sessions() * panel.names())
                    .map(|_| numbers.uniform())
                    .collect()
            }),
        ),
        (
            "number of the call",
            Known::Random,
            Box::new(move |panel| {
                calls.set(calls.get() + 1.0);
                vec![calls.get(); panel.sessions() * panel.names()]
            }),
        ),
    ]
}

/// The report of a column on the kinds of runs that are kept.
fn audited(panel: &ReplayPanel, column: &Column, kept: &[ReplayKind]) -> CausalityReport {
    let whole = column(panel);
    let runs: Vec<_> = replay_plan(panel.days())
        .into_iter()
        .filter(|run| kept.contains(&run.kind))
        .map(|run| (run, column(&run.panel(panel))))
        .collect();
    let runs: Vec<ReplayRun<'_>> = runs
        .iter()
        .map(|(run, values)| ReplayRun {
            kind: run.kind,
            cut: run.cut,
            values,
        })
        .collect();
    causality_report(&whole, panel.names(), &runs, 0.0)
}

#[test]
fn forty_of_forty_columns_have_the_verdict_that_is_known_and_neither_kind_of_cut_is_enough_alone() {
    let panel = panel();
    let columns: Vec<_> = [
        clean_columns(),
        leading_columns(),
        sample_columns(),
        other_columns(),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert_eq!(columns.len(), 40);
    let right = |kept: &[ReplayKind]| -> Vec<String> {
        let wrong = columns.iter().filter_map(|(name, known, column)| {
            let verdict = audited(&panel, column, kept).verdict;
            (!known.is(verdict)).then(|| format!("{name}: {verdict:?}, known {known:?}"))
        });
        wrong.collect()
    };
    assert_eq!(
        right(&[
            ReplayKind::Repeat,
            ReplayKind::Prefix,
            ReplayKind::Suffix,
            ReplayKind::OpenView
        ]),
        Vec::<String>::new()
    );
    // Ends alone call what depends on the length a leak; replaced sessions alone do not see it at all.
    assert!(!right(&[ReplayKind::Repeat, ReplayKind::Prefix]).is_empty());
    assert!(!right(&[ReplayKind::Repeat, ReplayKind::Suffix]).is_empty());
}

#[test]
fn what_an_open_cannot_know_is_told_from_what_it_can() {
    let panel = panel();
    for (name, _, column) in clean_columns() {
        let report = audited(&panel, &column, &[ReplayKind::Prefix, ReplayKind::OpenView]);
        let is_of_the_open = matches!(
            name,
            "lag 5" | "gap of the open" | "last week's close" | "weekday"
        );
        assert_eq!(report.reads_own_bar, Some(!is_of_the_open), "{name}");
    }
}

#[test]
fn the_schema_is_clean_and_a_centred_window_reads_three_sessions_ahead() {
    let panel = traded(400, 12, 4);
    let settings = LeakageSettings::BENCHMARK;
    let columns = |panel: &ReplayPanel, switch: Switch| -> Vec<Vec<f64>> {
        let bars = panel.adjusted().unwrap();
        let grid = FeatureGrid::new(&bars, &settings);
        let rows: Vec<_> = (0..bars.sessions())
            .flat_map(|session| grid.features(switch, session))
            .collect();
        (0..FEATURES.len())
            .map(|feature| rows.iter().map(|row| row[feature]).collect())
            .collect()
    };
    for switch in [Switch::Clean, Switch::TempCenter, Switch::StructGraph] {
        let whole = columns(&panel, switch);
        let plan = replay_plan(panel.days());
        let replayed: Vec<_> = plan
            .iter()
            .map(|run| columns(&run.panel(&panel), switch))
            .collect();
        for (place, feature) in FEATURES.iter().enumerate() {
            let runs: Vec<ReplayRun<'_>> = plan
                .iter()
                .zip(&replayed)
                .map(|(run, columns)| ReplayRun {
                    kind: run.kind,
                    cut: run.cut,
                    values: &columns[place],
                })
                .collect();
            let report = causality_report(&whole[place], panel.names(), &runs, 0.0);
            let is_moved = switch == Switch::TempCenter && feature.reads_window;
            if switch == Switch::StructGraph && feature.kind == FeatureKind::Peer {
                // Peers of a month are found in half a year behind it, which on a short panel is most of the sample.
                let verdict = report.verdict;
                let is_far = matches!(verdict, CausalityVerdict::ReadsAhead { sessions } if 20 < sessions);
                assert!(
                    is_far || verdict == CausalityVerdict::WholeSample,
                    "{}: {verdict:?}",
                    feature.name
                );
            } else if is_moved {
                assert_eq!(
                    report.verdict,
                    CausalityVerdict::ReadsAhead { sessions: 3 },
                    "{}",
                    feature.name
                );
            } else {
                assert_eq!(
                    report.verdict,
                    CausalityVerdict::Clean,
                    "{switch:?} {}",
                    feature.name
                );
                assert!(report.cuts >= 36 && report.first.is_none() == (report.reads_own_bar == Some(false)));
            }
        }
    }
}
