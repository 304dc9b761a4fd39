//! The columns that a program writes: bars in as CSV, scores out as CSV.

use super::audit_panel::AuditPanel;
use super::manifest::ManifestCommand;
use ktd_leakage::ReplayPanel;
use std::collections::{BTreeMap, BTreeSet};

/// Runs a program once on its input and gives its output, or why there is none.
pub type ProgramRunner<'a> = dyn Fn(&ManifestCommand, Vec<u8>) -> Result<Vec<u8>, String> + Sync + 'a;

/// The columns of a program on a panel: it reads `date,symbol,open,high,low,close,volume,amount,factor` and writes
/// `date,symbol` and its columns; a row that it leaves out is missing.
///
/// # Errors
/// The program's failure, or what is wrong with its output.
pub(super) fn program_columns(
    command: &ManifestCommand,
    panel: &AuditPanel,
    bars: &ReplayPanel,
    run: &ProgramRunner<'_>,
) -> Result<BTreeMap<String, Vec<f64>>, String> {
    read_columns(&run(command, panel.csv(bars))?, panel, bars)
}

/// Where a row of the output belongs.
struct Places<'a> {
    panel: &'a AuditPanel,
    sessions: BTreeMap<String, usize>,
    bars: &'a ReplayPanel,
}

impl Places<'_> {
    /// The session and the name of a row that the input had.
    fn of(&self, date: &str, symbol: &str) -> Option<(usize, usize)> {
        let session = *self.sessions.get(date)?;
        let name = self
            .panel
            .codes
            .binary_search_by(|code| code.as_str().cmp(symbol))
            .ok()?;
        self.bars.has_bar(session, name).then_some((session, name))
    }
}

fn read_columns(
    output: &[u8],
    panel: &AuditPanel,
    bars: &ReplayPanel,
) -> Result<BTreeMap<String, Vec<f64>>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(output);
    let mut rows = reader.records();
    let header = match rows.next() {
        None => return Err("it wrote nothing to standard output".to_owned()),
        Some(header) => header.map_err(|error| format!("its output is no CSV: {error}"))?,
    };
    let heads: Vec<String> = header.iter().map(str::to_owned).collect();
    let (Some("date"), Some("symbol")) = (header.get(0), header.get(1)) else {
        return Err("its output does not begin with the columns `date,symbol`".to_owned());
    };
    let names: Vec<String> = heads.into_iter().skip(2).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    if names.is_empty() || distinct.len() != names.len() || names.iter().any(String::is_empty) {
        return Err("its output has no column behind `date,symbol`, or two of one name".to_owned());
    }
    let places = Places {
        panel,
        sessions: (0..bars.sessions())
            .map(|session| (panel.date(session), session))
            .collect(),
        bars,
    };
    let mut columns = vec![vec![f64::NAN; bars.sessions() * bars.names()]; names.len()];
    let mut seen = BTreeSet::new();
    for (place, row) in rows.enumerate() {
        let line = place + 2;
        let row = row.map_err(|error| format!("line {line} of its output: {error}"))?;
        let (date, symbol) = (row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default());
        let found = places.of(date, symbol);
        let (session, name) = found
            .ok_or_else(|| format!("line {line} of its output: {date},{symbol} was no row of its input"))?;
        if !seen.insert((session, name)) {
            return Err(format!("line {line} of its output: {date},{symbol} stands twice"));
        }
        for (column, text) in columns.iter_mut().zip(row.iter().skip(2)) {
            let value =
                number(text).ok_or_else(|| format!("line {line} of its output: {text:?} is no number"))?;
            if let Some(cell) = column.get_mut(session * bars.names() + name) {
                *cell = value;
            }
        }
    }
    Ok(names.into_iter().zip(columns).collect())
}

/// A number, NaN where it is missing.
fn number(text: &str) -> Option<f64> {
    if text.is_empty() || text.eq_ignore_ascii_case("na") || text.eq_ignore_ascii_case("none") {
        return Some(f64::NAN);
    }
    text.parse().ok()
}
