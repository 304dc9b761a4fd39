//! The rows on which all protocols are judged.

use crate::feature_grid::{COLUMNS, FeatureGrid, column_of};
use crate::panel::BarGrid;
use crate::schema::{ALL, OWN};
use crate::settings::LeakageSettings;
use crate::switch::{FillRule, Switch};
use std::ops::Range;

/// The common mask: names with a bar whose features are finite under every protocol, by session and then by name, with the
/// columns of all protocols.
#[derive(Debug, Clone)]
pub(crate) struct CommonRows {
    /// The first row of each session, and one past the last row of all.
    starts: Vec<usize>,
    sessions: Vec<usize>,
    names: Vec<usize>,
    columns: Vec<Vec<f64>>,
    /// Rows of each session with returns under the fill rules of all protocols.
    paid: Vec<usize>,
}

impl CommonRows {
    /// All rows of a panel. `eligible` has a cell for each session and name, such as membership as of the session; `None`:
    /// all names.
    pub(crate) fn of(bars: &BarGrid, settings: &LeakageSettings, eligible: Option<&[bool]>) -> Self {
        let grid = FeatureGrid::new(bars, settings);
        let mut rows = Self {
            starts: vec![0],
            sessions: Vec::new(),
            names: Vec::new(),
            columns: vec![Vec::new(); COLUMNS],
            paid: Vec::new(),
        };
        for session in 0..bars.sessions() {
            let mut paid = 0;
            for (name, cells) in grid.cells(session).enumerate() {
                let place = session * bars.names() + name;
                let is_eligible = eligible.is_none_or(|cells| cells.get(place).copied().unwrap_or(false));
                if !(is_eligible && cells.iter().all(|value| value.is_finite())) {
                    continue;
                }
                for (column, value) in rows.columns.iter_mut().zip(cells) {
                    column.push(value);
                }
                rows.sessions.push(session);
                rows.names.push(name);
                let mut returns = FillRule::OF_SWITCHES.iter();
                paid += usize::from(returns.all(|fill| fill.trade_return(bars, session, name).is_finite()));
            }
            rows.starts.push(rows.names.len());
            rows.paid.push(paid);
        }
        rows
    }

    /// How many rows there are.
    pub(crate) const fn len(&self) -> usize {
        self.names.len()
    }

    /// The rows of a range of sessions.
    pub(crate) fn of_sessions(&self, sessions: &Range<usize>) -> Range<usize> {
        let start = |session: usize| self.starts.get(session).copied().unwrap_or(self.len());
        start(sessions.start)..start(sessions.end)
    }

    /// The session and name of a row.
    pub(crate) fn place(&self, row: usize) -> (usize, usize) {
        let at = |places: &[usize]| places.get(row).copied().unwrap_or(usize::MAX);
        (at(&self.sessions), at(&self.names))
    }

    /// Rows of a session with returns under the fill rules of all protocols.
    pub(crate) fn paid(&self, session: usize) -> usize {
        self.paid.get(session).copied().unwrap_or(0)
    }

    /// The columns of a protocol, in the order of the schema; those of the peers are left out on demand.
    pub(crate) fn columns(&self, switch: Switch, with_peers: bool) -> Vec<&[f64]> {
        let features = if with_peers { ALL } else { OWN };
        let column = |feature| {
            self.columns
                .get(column_of(switch, feature))
                .map_or(&[][..], Vec::as_slice)
        };
        (0..features).map(column).collect()
    }
}
