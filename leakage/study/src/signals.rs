//! The audit of somebody's signals on a panel.

use super::bars::{MarketBars, unfit};
use crate::StudyError;
use ktd_env::{Ticker, TradeDate};
use ktd_io::parallel::in_parallel;
use ktd_io::text_file::TextFile;
use ktd_leakage::{
    AuditedSignal, FillRule, KnownAt, LeastLabel, SignalAuditor, SignalGrid, SignalPart, SuspicionRule,
};
use ktd_study::{Audited, Report, Section, Shown};
use ktd_view::draw::{TableData, counted};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Signals of a file, each with a cell for each name and session.
#[derive(Debug, Clone)]
pub struct SignalsFile {
    /// The names of their columns.
    pub names: Vec<String>,
    scores: Vec<Vec<f64>>,
    /// Rows of the file.
    pub rows: usize,
    /// Rows of codes that the panel lacks.
    pub unknown_codes: usize,
    /// Rows of days that are no sessions of the panel.
    pub unknown_days: usize,
    /// Cells that are empty or not finite.
    pub missing_cells: usize,
}

/// Reads signals: CSV `date,symbol,score..`, a column a signal.
///
/// # Errors
/// [`StudyError`] for a file without these columns, a cell that is no number, and a name twice on a day.
pub fn read_signals(path: &Path, bars: &MarketBars) -> Result<SignalsFile, StudyError> {
    let mut file = TextFile::open(path, b',')?;
    let name = file.name();
    let header = file.next_row()?.map(|(_, header)| header.clone());
    let header = header.ok_or_else(|| StudyError::input(format_args!("{name} is empty"), HINT))?;
    let place = |heads: &[&str]| header.iter().position(|head| heads.contains(&head));
    let (Some(day), Some(code)) = (
        place(&["date", "datetime"]),
        place(&["symbol", "code", "instrument"]),
    ) else {
        return Err(StudyError::input(
            format_args!("{name}: the header lacks a column `date` or `symbol`"),
            HINT,
        ));
    };
    let signals: Vec<(usize, &str)> = header
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != day && *place != code)
        .collect();
    if signals.is_empty() {
        return Err(StudyError::input(
            format_args!("{name}: no column holds a signal"),
            HINT,
        ));
    }
    let cells = bars.calendar.len() * bars.codes.len();
    check_size(&name, cells, signals.len())?;
    let mut found = SignalsFile {
        names: signals.iter().map(|(_, head)| (*head).to_owned()).collect(),
        scores: vec![vec![f64::NAN; cells]; signals.len()],
        rows: 0,
        unknown_codes: 0,
        unknown_days: 0,
        missing_cells: 0,
    };
    let mut seen = BTreeSet::new();
    while let Some((row, record)) = file.next_row()? {
        found.rows += 1;
        let text = |place: usize| record.get(place).unwrap_or_default().trim();
        let at_row = |what: String| StudyError::input(format_args!("{name} line {row}: {what}"), HINT);
        let date = TradeDate::parse(text(day)).map_err(|_| at_row(format!("{:?} is no date", text(day))))?;
        let ticker = Ticker::parse(text(code)).map_err(|error| at_row(error.to_string()))?;
        let Ok(session) = bars.calendar.binary_search(&date) else {
            found.unknown_days += 1;
            continue;
        };
        let Ok(who) = bars
            .codes
            .binary_search_by(|known| known.as_str().cmp(ticker.reveal()))
        else {
            found.unknown_codes += 1;
            continue;
        };
        if !seen.insert((session, who)) {
            return Err(at_row(format!("{} stands twice on {}", text(code), text(day))));
        }
        for (column, (place, head)) in found.scores.iter_mut().zip(&signals) {
            let found_text = text(*place);
            let score = score_of(found_text)
                .ok_or_else(|| at_row(format!("`{head}` is {found_text:?}, which is no number")))?;
            if !score.is_finite() {
                found.missing_cells += 1;
            } else if let Some(cell) = column.get_mut(session * bars.codes.len() + who) {
                *cell = score;
            }
        }
    }
    Ok(found)
}

/// Reads weights as a signal: CSV `date,symbol,weight`; a date with rows lists all that is held from its open on, so every other
/// name of that date weighs 0.
///
/// # Errors
/// [`StudyError`] as [`read_signals`], and for a file of another column.
pub fn read_weights(path: &Path, bars: &MarketBars) -> Result<SignalsFile, StudyError> {
    let mut file = read_signals(path, bars)?;
    if file.names != ["weight"] {
        return Err(StudyError::input(
            format_args!(
                "{}: the columns beside date and symbol are {}",
                path.display(),
                file.names.join(", ")
            ),
            "write the lines `date,symbol,weight`; trades of shares cannot be audited, write what is held of each name",
        ));
    }
    let names = bars.codes.len().max(1);
    for day in file
        .scores
        .iter_mut()
        .flat_map(|weights| weights.chunks_mut(names))
    {
        if day.iter().any(|weight| weight.is_finite()) {
            for weight in day.iter_mut().filter(|weight| weight.is_nan()) {
                *weight = 0.0;
            }
        }
    }
    Ok(file)
}

/// A score; NaN where it is missing.
fn score_of(text: &str) -> Option<f64> {
    if text.is_empty() {
        Some(f64::NAN)
    } else {
        text.parse().ok()
    }
}

fn check_size(name: &str, cells: usize, signals: usize) -> Result<(), StudyError> {
    if cells.saturating_mul(signals) <= MOST_CELLS {
        return Ok(());
    }
    let most = MOST_CELLS / cells.max(1);
    Err(StudyError::input(
        format_args!("{name}: {signals} signals do not fit into memory"),
        format!("split the file: {most} columns do on this panel"),
    ))
}

/// The most cells that all signals of a file may have: two gigabytes of them.
const MOST_CELLS: usize = 1 << 28;

const HINT: &str = "write the lines `date,symbol,score`, one a name and day: 2024-01-02,SH600519,0.013";

/// What returns say of the signals of a file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalsAudit {
    /// Signal by signal.
    pub signals: Vec<AuditedSignal>,
    /// Rows of the file.
    pub rows: usize,
    /// Rows of codes that the panel lacks.
    pub unknown_codes: usize,
    /// Rows of days that are no sessions of the panel.
    pub unknown_days: usize,
    /// Cells that are empty or not finite.
    pub missing_cells: usize,
}

/// Audits every signal of a file. It can accuse, and never acquit.
///
/// # Errors
/// [`StudyError`] when the file is of another panel.
pub fn audit_signals(
    bars: &MarketBars,
    signals: &SignalsFile,
    when: (KnownAt, FillRule),
    threads: usize,
) -> Result<Audited, StudyError> {
    let audit = SignalsAudit {
        signals: audited(bars, signals, when, threads)?,
        rows: signals.rows,
        unknown_codes: signals.unknown_codes,
        unknown_days: signals.unknown_days,
        missing_cells: signals.missing_cells,
    };
    let of_verdict = |verdict: &str| {
        let own = audit.signals.iter().filter(|signal| signal.verdict == verdict);
        own.map(|signal| signal.signal.as_str()).collect::<Vec<_>>()
    };
    let (suspect, unusual) = (of_verdict("suspect"), of_verdict("unusual"));
    let mut found = if suspect.is_empty() {
        "nothing is sure".to_owned()
    } else {
        format!("{} goes with returns that it cannot know", suspect.join(", "))
    };
    if !unusual.is_empty() {
        let unusual = unusual.join(", ");
        found = format!(
            "{found}; {unusual} as a leak, a true alpha or a premium would, which scores cannot tell apart"
        );
    }
    let known = match when.0 {
        KnownAt::Open => "open",
        KnownAt::Close => "close",
    };
    let count = counted(audit.signals.len(), "signal");
    let section = Section::new("Signals").table("signals", signal_table(&audit), Shown::Everywhere);
    let report = Report {
        title: "Signals against the returns around their stamp".to_owned(),
        verdict: format!("{count}, known at the {known}: {found}."),
        sections: vec![section],
        ..Report::default()
    };
    let wrong = (!suspect.is_empty()).then(|| StudyError::difference(&found, ""));
    Audited::new(&audit, report, wrong)
}

fn signal_table(audit: &SignalsAudit) -> TableData {
    let table = RowTable::new("Signals", &audit.signals)
        .text("signal", |signal| &signal.signal)
        .text("verdict", |signal| signal.verdict)
        .count("days", |signal| signal.days)
        .text("goes with", |signal| signal.goes_with.clone().unwrap_or_default())
        .ratio("rank IC", |signal| signal.ic)
        .ratio("t", |signal| signal.t)
        .text("of", |signal| match signal.part {
            Some(SignalPart::Level) => "its level",
            Some(SignalPart::News) => "what is new in it",
            None => "",
        })
        .text("label found from a share of", |signal| least_labels(&signal.least_labels))
        .ratio("SR same open", |signal| signal.sharpe(FillRule::SameOpen))
        .ratio("SR next open", |signal| signal.sharpe(FillRule::NextOpen))
        .table()
        .with_note(
            "a file of scores can accuse and never acquit: labels mixed in at smaller shares are missed, and so are centred volatilities \
             and scales of the whole sample, which do not show in returns; `--planted` measures both",
        )
        .with_note(
            "suspect: of 522 clean formulas none was on a synthetic and on a real market (at most 0.6 %); a true forecast of one session with a \
             rank correlation above 0.10 would be as well. unusual accuses nobody: a tenth of clean formulas on the real market was",
        );
    let left_out = [
        ("rows of codes that the panel lacks", audit.unknown_codes),
        ("rows of days that are no sessions", audit.unknown_days),
        ("cells that are empty or not finite", audit.missing_cells),
    ];
    let left_out = left_out.into_iter().filter(|(_, count)| 0 < *count);
    left_out.fold(table, |table, (what, count)| {
        table.with_note(format!("{count} {what} were left out"))
    })
}

/// `1: 0.2, 60: none`: sessions of a label, and the least share of it that is found.
fn least_labels(labels: &[LeastLabel]) -> String {
    let label = |label: &LeastLabel| {
        let share = label
            .share
            .map_or_else(|| "none".to_owned(), |share| share.to_string());
        format!("{}: {share}", label.sessions)
    };
    labels.iter().map(label).collect::<Vec<_>>().join(", ")
}

fn audited(
    bars: &MarketBars,
    signals: &SignalsFile,
    when: (KnownAt, FillRule),
    threads: usize,
) -> Result<Vec<AuditedSignal>, StudyError> {
    let rule = SuspicionRule::BENCHMARK;
    let auditor = SignalAuditor::new(&bars.bars, rule);
    let columns: Vec<(&String, &Vec<f64>)> = signals.names.iter().zip(&signals.scores).collect();
    let each = in_parallel(&columns, threads, |(name, scores)| {
        let grid = SignalGrid::new(&bars.bars, scores).map_err(unfit)?;
        let audit = auditor.audit(&grid, when);
        Ok(AuditedSignal::of((name, grid.days_with(rule.min_names)), audit))
    });
    each.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::bars::market_bars;
    use super::super::config::LeakUniverse;
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};
    use std::fmt::Write as _;

    fn bars(names: u32) -> MarketBars {
        let config = SynthConfig {
            seed: 3,
            names,
            days: 120,
        };
        market_bars(&generate(&config).unwrap(), LeakUniverse::All).unwrap()
    }

    fn read(text: &str, bars: &MarketBars) -> Result<SignalsFile, StudyError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.csv");
        ktd_io::whole_file::write_whole(&path, text.as_bytes()).unwrap();
        read_signals(&path, bars)
    }

    fn verdicts(text: &str, bars: &MarketBars) -> Vec<&'static str> {
        let signals = read(text, bars).unwrap();
        let audited = audited(bars, &signals, (KnownAt::Close, FillRule::NextOpen), 1).unwrap();
        audited.iter().map(|signal| signal.verdict).collect()
    }

    #[test]
    fn cells_without_a_number_are_counted_and_give_no_verdict() {
        let bars = bars(12);
        let mut text = "date,symbol,empty,nan,inf,equal\n".to_owned();
        for day in &bars.calendar {
            for code in &bars.codes {
                writeln!(text, "{},{code},,NaN,-inf,1", day.reveal()).unwrap();
            }
        }
        let signals = read(&text, &bars).unwrap();
        assert_eq!(signals.missing_cells, 3 * bars.calendar.len() * bars.codes.len());
        assert_eq!(verdicts(&text, &bars), ["too_little"; 4]);
    }

    #[test]
    fn two_names_give_no_verdict() {
        let bars = bars(2);
        let mut text = "date,symbol,place\n".to_owned();
        for (place, day) in bars.calendar.iter().enumerate() {
            for (name, code) in bars.codes.iter().enumerate() {
                writeln!(text, "{},{code},{}", day.reveal(), place * 2 + name).unwrap();
            }
        }
        assert_eq!(verdicts(&text, &bars), ["too_little"]);
    }

    #[test]
    fn a_header_of_more_signals_than_memory_holds_is_refused() {
        let bars = bars(12);
        let cells = bars.calendar.len() * bars.codes.len();
        let columns = vec!["s"; MOST_CELLS / cells + 1].join(",");
        let error = read(&format!("date,symbol,{columns}\n"), &bars)
            .unwrap_err()
            .to_string();
        assert!(error.contains("do not fit into memory"), "{error}");
    }
}
