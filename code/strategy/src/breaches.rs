//! Breaches of a document's constraints, found from the logs and the market: what `constraint_check` says of itself is
//! compared, never believed. What closed trades held, and which way, is counted from the trades as well, whatever the log of bars
//! says of exposures and positions.

use crate::bars::{BarTime, StrategyBars};
use crate::candidate::{CandidateLogs, CandidateTable};
use crate::document::StrategyDocument;
use crate::parameters::Parameters;
use crate::strict_json::StrictJson;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What an exposure may lie above the limit by rounding.
const EXPOSURE_TOLERANCE: f64 = 1e-9;
/// The same of an exposure that is counted from trades, whose quantities and equity may be logged with few decimals.
const TRADED_TOLERANCE: f64 = 1e-3;
/// The asset list of a document that trades whatever the index holds.
const CONSTITUENTS: &str = "constituents";

/// Which constraint was broken.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BreachKind {
    /// Exposure above the leverage on a bar with an action.
    Leverage,
    /// A short position where short selling is off.
    ShortSelling,
    /// A trade in a symbol that is not allowed.
    ForeignSymbol,
    /// A position after a session's last bar where overnight is off.
    Overnight,
    /// More entries in a session than allowed.
    Entries,
    /// More units than allowed.
    Units,
    /// An entry with a slope outside its bounds.
    Beta,
    /// A position kept through a close beyond its stop.
    Stop,
    /// Equity of 0 or less.
    Equity,
}

impl BreachKind {
    /// The name used in records.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// One broken constraint.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ConstraintBreach {
    /// Which.
    pub kind: BreachKind,
    /// The bar in ISO form; of a trade, its entry.
    pub time: String,
    /// Whether the log of bars says BREACH there.
    #[serde(rename = "logged")]
    pub is_logged: bool,
}

/// Actions of a run and the constraints that it broke, in order of bars.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
pub struct BreachReport {
    /// Bars with a signal other than NONE.
    pub actions: usize,
    /// What was broken: a constraint once a bar.
    pub breaches: Vec<ConstraintBreach>,
    /// Bars without an action on which a constraint was broken.
    pub broken_without_action: usize,
}

impl BreachReport {
    /// Breaches that the log of bars says itself.
    #[must_use]
    pub fn logged(&self) -> usize {
        self.breaches.iter().filter(|breach| breach.is_logged).count()
    }

    /// Bars on which a constraint was broken.
    #[must_use]
    pub fn broken_bars(&self) -> usize {
        let bars: BTreeSet<&str> = self.breaches.iter().map(|breach| breach.time.as_str()).collect();
        bars.len()
    }

    /// The breaches of a run under a document with the parameters of its card.
    #[must_use]
    pub fn of(
        logs: &CandidateLogs,
        market: &StrategyBars,
        document: &StrategyDocument,
        parameters: &Parameters,
    ) -> Self {
        let finder = BreachFinder {
            bars: &logs.bars,
            document,
            parameters,
            session_end: parameters.text("session_end").ok(),
        };
        let mut found: Vec<(BreachKind, String)> = Vec::new();
        for row in 0..logs.bars.len() {
            let time = logs.bars.text("datetime", row).unwrap_or_default().to_owned();
            found.extend(finder.of_bar(row).into_iter().map(|kind| (kind, time.clone())));
        }
        found.extend(finder.of_sessions());
        found.extend(finder.of_trades(&logs.trades, market));
        found.extend(foreign_symbols(&logs.trades, market, document));
        found.sort_by(|one, other| (&one.1, one.0).cmp(&(&other.1, other.0)));
        found.dedup();
        let checks = finder.checks();
        let breaches = found.into_iter().map(|(kind, time)| ConstraintBreach {
            kind,
            is_logged: checks
                .get(time.as_str())
                .is_some_and(|check| check.starts_with("BREACH")),
            time,
        });
        let breaches: Vec<ConstraintBreach> = breaches.collect();
        let acting = (0..logs.bars.len()).filter(|row| finder.signal(*row) != "NONE");
        let acting: Vec<Option<&str>> = acting.map(|row| logs.bars.text("datetime", row)).collect();
        let times: BTreeSet<&str> = breaches.iter().map(|breach| breach.time.as_str()).collect();
        let acting_times: BTreeSet<&str> = acting.iter().copied().flatten().collect();
        Self {
            actions: acting.len(),
            broken_without_action: times.difference(&acting_times).count(),
            breaches,
        }
    }
}

struct BreachFinder<'a> {
    bars: &'a CandidateTable,
    document: &'a StrategyDocument,
    parameters: &'a Parameters,
    session_end: Option<&'a str>,
}

impl BreachFinder<'_> {
    fn signal(&self, row: usize) -> &str {
        self.bars.text("signal", row).unwrap_or("NONE")
    }

    fn state(&self, row: usize) -> &str {
        self.bars.text("position_state", row).unwrap_or("FLAT")
    }

    fn limit(&self, name: &str) -> Option<f64> {
        self.document.constraints.get(name)?.as_number()
    }

    fn forbids(&self, name: &str) -> bool {
        self.document.constraints.get(name) == Some(&StrictJson::Bool(false))
    }

    fn number(&self, name: &str, row: usize) -> Option<f64> {
        self.bars.number(name, row)
    }

    fn checks(&self) -> BTreeMap<&str, &str> {
        (0..self.bars.len())
            .filter_map(|row| {
                Some((
                    self.bars.text("datetime", row)?,
                    self.bars.text("constraint_check", row)?,
                ))
            })
            .collect()
    }

    fn of_bar(&self, row: usize) -> Vec<BreachKind> {
        let is_action = self.signal(row) != "NONE";
        let above = |name: &str, limit: Option<f64>, tolerance: f64| {
            let own = self.number(name, row).zip(limit);
            own.is_some_and(|(value, limit)| value > limit + tolerance)
        };
        let clock = self.bars.text("datetime", row).and_then(|time| time.get(11..16));
        let is_end = self.session_end.is_some() && clock == self.session_end;
        let found = [
            (
                BreachKind::Leverage,
                is_action && above("exposure", self.limit("max_leverage"), EXPOSURE_TOLERANCE),
            ),
            (
                BreachKind::ShortSelling,
                self.forbids("short_selling") && self.state(row) == "SHORT",
            ),
            (
                BreachKind::Overnight,
                self.forbids("overnight") && is_end && self.state(row) != "FLAT",
            ),
            (BreachKind::Units, above("units", self.limit("max_units"), 0.0)),
            (
                BreachKind::Beta,
                is_entry(self.signal(row)) && self.is_beta_outside(row),
            ),
            (BreachKind::Stop, self.is_kept_beyond_stop(row)),
            (
                BreachKind::Equity,
                self.number("equity", row).is_some_and(|equity| equity <= 0.0),
            ),
        ];
        found
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(kind, _)| kind)
            .collect()
    }

    fn is_beta_outside(&self, row: usize) -> bool {
        let bounds = self
            .document
            .constraints
            .get("beta_bounds")
            .and_then(StrictJson::as_list);
        let Some([least, greatest]) = bounds else {
            return false;
        };
        let inside = |beta: f64| {
            least.as_number().is_some_and(|least| least <= beta)
                && greatest.as_number().is_some_and(|greatest| beta <= greatest)
        };
        self.number("beta", row).is_some_and(|beta| !inside(beta))
    }

    /// A position that the bar before held, whose stop this bar's close reached, and that is held on.
    fn is_kept_beyond_stop(&self, row: usize) -> bool {
        let Some(before) = row.checked_sub(1) else {
            return false;
        };
        let side = match self.state(before) {
            "LONG" => 1.0,
            "SHORT" => -1.0,
            _ => return false,
        };
        let is_kept = self.state(row) == self.state(before) && matches!(self.signal(row), "NONE" | "ADD");
        let close = self.number("close", row);
        let level = self.number("stop_level", before);
        let beyond_level = close
            .zip(level)
            .is_some_and(|(close, level)| side * (close - level) <= 0.0);
        let stop_z = self.parameters.number("stop_z").ok();
        let beyond_z = self
            .number("z", row)
            .zip(stop_z)
            .is_some_and(|(z, stop)| z.abs() >= stop);
        is_kept && (beyond_level || beyond_z || self.is_beyond_loss(before, side, close))
    }

    /// Whether the loss since the entry, whose bar is the last one with an entry's signal, has reached the stop.
    fn is_beyond_loss(&self, before: usize, side: f64, close: Option<f64>) -> bool {
        let stop = self.parameters.number("stop_loss_pct").ok();
        let entry = (0..=before)
            .rev()
            .find(|row| is_entry(self.signal(*row)))
            .and_then(|row| self.number("close", row));
        close
            .zip(entry)
            .zip(stop)
            .is_some_and(|((close, entry), stop)| side * (close / entry - 1.0) <= -stop)
    }

    /// What closed trades break, whatever the log of bars says: more held than the leverage on a bar with an action, a short where
    /// none is allowed (at its entry), a holding over a session's last bar where overnight is off.
    fn of_trades(&self, trades: &CandidateTable, market: &StrategyBars) -> Vec<(BreachKind, String)> {
        let times = market.times();
        let rows: BTreeMap<&str, usize> = (0..self.bars.len())
            .filter_map(|row| Some((self.bars.text("datetime", row)?, row)))
            .collect();
        let row_of = |bar: usize| times.get(bar).and_then(|time| rows.get(time.as_str())).copied();
        let bar_of = |time: &str| times.binary_search_by(|own| own.as_str().cmp(time)).ok();
        let acts = |bar: usize, signal: &str| row_of(bar).is_some_and(|row| self.signal(row) == signal);
        let mut held: BTreeMap<usize, f64> = BTreeMap::new();
        let mut found = Vec::new();
        for trade in 0..trades.len() {
            let place = |name: &str| trades.text(name, trade).and_then(bar_of);
            let (Some(entry), Some(exit)) = (place("entry_datetime"), place("exit_datetime")) else {
                continue;
            };
            let mut at = |kind, bar: usize| {
                found.extend(times.get(bar).map(|time| (kind, time.as_str().to_owned())));
            };
            if self.forbids("short_selling") && trades.text("side", trade) == Some("SHORT") {
                at(BreachKind::ShortSelling, entry);
            }
            let is_end = |bar: &usize| times.get(*bar).map(BarTime::clock) == self.session_end;
            if self.forbids("overnight") && self.session_end.is_some() {
                (entry..exit)
                    .filter(is_end)
                    .for_each(|bar| at(BreachKind::Overnight, bar));
            }
            // Before the last unit was added less was held than the trade says.
            let added = (entry..exit).rev().find(|bar| acts(*bar, "ADD"));
            let closes = closes_of(trades.text("symbol", trade), market);
            let quantity = trades.number("quantity", trade).unwrap_or(0.0).abs();
            for bar in added.unwrap_or(entry)..exit {
                let Some(row) = row_of(bar).filter(|row| self.signal(*row) != "NONE") else {
                    continue;
                };
                let close = closes.and_then(|closes| closes.get(bar)).copied();
                let equity = self.number("equity", row).filter(|equity| 0.0 < *equity);
                if let (Some(close), Some(equity)) = (close, equity) {
                    *held.entry(bar).or_insert(0.0) += quantity * close / equity;
                }
            }
        }
        let limit = self.limit("max_leverage").map(|limit| limit + TRADED_TOLERANCE);
        let above = held
            .iter()
            .filter(|(_, held)| limit.is_some_and(|limit| limit < **held));
        let above =
            above.filter_map(|(bar, _)| Some((BreachKind::Leverage, times.get(*bar)?.as_str().to_owned())));
        found.into_iter().chain(above).collect()
    }

    /// Sessions with more entries than allowed: a breach for each entry beyond.
    fn of_sessions(&self) -> Vec<(BreachKind, String)> {
        let Some(most) = self.limit("max_entries_per_day") else {
            return Vec::new();
        };
        let mut entries: BTreeMap<&str, f64> = BTreeMap::new();
        let mut found = Vec::new();
        for row in 0..self.bars.len() {
            let Some(time) = self
                .bars
                .text("datetime", row)
                .filter(|_| is_entry(self.signal(row)))
            else {
                continue;
            };
            let own = entries.entry(time.get(..10).unwrap_or_default()).or_insert(0.0);
            *own += 1.0;
            if *own > most {
                found.push((BreachKind::Entries, time.to_owned()));
            }
        }
        found
    }
}

/// Closes of a symbol of the market; of the one asset where there is no other.
fn closes_of<'m>(symbol: Option<&str>, market: &'m StrategyBars) -> Option<&'m [f64]> {
    let own = market
        .assets
        .iter()
        .find(|(known, _)| Some(known.as_str()) == symbol);
    let own = own.or_else(|| market.assets.first().filter(|_| market.assets.len() == 1));
    own.map(|(_, bars)| bars.close.as_slice())
}

fn is_entry(signal: &str) -> bool {
    matches!(signal, "LONG" | "SHORT")
}

/// Trades in a symbol that the document does not allow, at their entries.
fn foreign_symbols(
    trades: &CandidateTable,
    market: &StrategyBars,
    document: &StrategyDocument,
) -> Vec<(BreachKind, String)> {
    let allowed = document
        .constraints
        .get("allowed_assets")
        .and_then(StrictJson::as_list);
    let listed: Vec<&str> = allowed
        .into_iter()
        .flatten()
        .filter_map(StrictJson::as_text)
        .collect();
    let is_allowed = |symbol: &str| {
        let is_constituent = symbol != "INDEX" && market.assets.iter().any(|(known, _)| known == symbol);
        listed.contains(&symbol) || (listed.contains(&CONSTITUENTS) && is_constituent)
    };
    (0..trades.len())
        .filter(|row| !trades.text("symbol", *row).is_some_and(is_allowed))
        .map(|row| {
            let time = trades.text("entry_datetime", row).unwrap_or_default();
            (BreachKind::ForeignSymbol, time.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::AssetBars;
    use crate::candidate::LogCell;
    use crate::parameters::ParameterValue;

    const DOCUMENT: &str = r#"{"strategy_id":"S05","name":"n","family":"f","assets":["A"],"warmup":0,"multi":false,"intraday":true,
        "entry":[],"exit":[],"params":{},"constraints":{"max_leverage":1.0,"allowed_assets":["A"],"short_selling":false,"overnight":false,
        "max_entries_per_day":1,"max_units":2,"beta_bounds":[0.2,5.0]},"columns":[],"keywords":[]}"#;

    fn table(columns: &[(&str, &[&str])]) -> CandidateTable {
        let cell = |text: &&str| {
            text.parse()
                .map_or_else(|_| LogCell::Text((*text).to_owned()), LogCell::Number)
        };
        let columns = columns
            .iter()
            .map(|(name, cells)| ((*name).to_owned(), cells.iter().map(cell).collect()));
        CandidateTable::new(columns.collect()).unwrap()
    }

    #[test]
    fn every_constraint_is_checked_from_the_logs() {
        let times = [
            "2021-01-04T14:30:00",
            "2021-01-04T14:45:00",
            "2021-01-04T15:00:00",
            "2021-01-05T09:45:00",
        ];
        let bars = table(&[
            ("datetime", &times),
            ("close", &["100", "98", "97", "90"]),
            ("signal", &["LONG", "SHORT", "NONE", "NONE"]),
            ("position_state", &["LONG", "SHORT", "LONG", "LONG"]),
            ("exposure", &["1.2", "1", "1", "1"]),
            ("equity", &["100", "98", "97", "-1"]),
            ("units", &["1", "1", "3", "1"]),
            ("beta", &["0.1", "1", "9", "1"]),
            ("constraint_check", &["BREACH:leverage", "OK", "OK", "OK"]),
        ]);
        let trades = table(&[("symbol", &["B"]), ("entry_datetime", &["2021-01-05T09:45:00"])]);
        let parameters = Parameters::new([
            ("session_end".to_owned(), ParameterValue::Text("15:00".to_owned())),
            ("stop_loss_pct".to_owned(), ParameterValue::Number(0.05)),
        ]);
        let document = StrategyDocument::parse(DOCUMENT).unwrap();
        let logs = CandidateLogs { trades, bars };
        let report = BreachReport::of(&logs, &StrategyBars::default(), &document, &parameters);
        let found: Vec<(&str, &str, bool)> = report
            .breaches
            .iter()
            .map(|breach| {
                (
                    breach.time.get(5..16).unwrap(),
                    breach.kind.label(),
                    breach.is_logged,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("01-04T14:30", "leverage", true),
                ("01-04T14:30", "beta", true),
                ("01-04T14:45", "short_selling", false),
                ("01-04T14:45", "entries", false),
                ("01-04T15:00", "overnight", false),
                ("01-04T15:00", "units", false),
                ("01-05T09:45", "foreign_symbol", false),
                ("01-05T09:45", "stop", false),
                ("01-05T09:45", "equity", false),
            ]
        );
        assert_eq!((report.actions, report.logged()), (2, 2));
    }

    #[test]
    fn what_trades_held_is_counted_whatever_the_log_of_bars_says() {
        let times = [
            "2021-01-04T14:45:00",
            "2021-01-04T15:00:00",
            "2021-01-05T09:45:00",
            "2021-01-05T10:00:00",
        ];
        let own = AssetBars {
            times: times.iter().map(|time| BarTime::parse(time).unwrap()).collect(),
            close: vec![10.0; 4],
            ..AssetBars::default()
        };
        let market = StrategyBars {
            assets: vec![("A".to_owned(), own)],
        };
        let bars = table(&[
            ("datetime", &times),
            ("signal", &["LONG", "EXIT", "ADD", "NONE"]),
            ("position_state", &["LONG", "FLAT", "FLAT", "FLAT"]),
            ("exposure", &["0.5", "0", "0", "0"]),
            ("equity", &["100", "100", "100", "100"]),
        ]);
        let document = StrategyDocument::parse(DOCUMENT).unwrap();
        let session_end = ParameterValue::Text("15:00".to_owned());
        let parameters = Parameters::new([("session_end".to_owned(), session_end)]);
        let found = |side: &str, quantity: &str| {
            let trades = table(&[
                ("symbol", &["A"]),
                ("side", &[side]),
                ("entry_datetime", &[times[0]]),
                ("exit_datetime", &[times[3]]),
                ("quantity", &[quantity]),
            ]);
            let bars = bars.clone();
            let logs = CandidateLogs { trades, bars };
            let report = BreachReport::of(&logs, &market, &document, &parameters);
            let kinds: Vec<(&str, String)> = report
                .breaches
                .iter()
                .map(|breach| (breach.kind.label(), breach.time[8..16].to_owned()))
                .collect();
            (kinds, report.broken_bars(), report.broken_without_action)
        };
        let at = |kind, time: &str| (kind, time.to_owned());
        let overnight = at("overnight", "04T15:00");
        assert_eq!(found("LONG", "10"), (vec![overnight.clone()], 1, 0));
        let short = at("short_selling", "04T14:45");
        assert_eq!(found("SHORT", "10"), (vec![short, overnight.clone()], 2, 0));
        // As much is held only from the bar on which the last unit was added.
        let leverage = at("leverage", "05T09:45");
        assert_eq!(found("LONG", "20"), (vec![overnight, leverage], 2, 0));
    }
}
