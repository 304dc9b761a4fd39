//! A prepared benchmark: rows, labels and splits of one panel.

use crate::error::LeakageError;
use crate::panel::{BarGrid, SessionMonth};
use crate::rows::CommonRows;
use crate::settings::LeakageSettings;
use crate::switch::{FillRule, Switch};
use std::ops::Range;

/// The one-switch benchmark of one panel. Preparing it is the shared work; after that every [`RunKey`](crate::RunKey) is a
/// function of it alone, so that runs may stand beside each other on any number of threads.
#[derive(Debug, Clone)]
pub struct LeakageBench {
    bars: BarGrid,
    settings: LeakageSettings,
    rows: CommonRows,
    labels: Vec<HorizonLabels>,
}

/// Labels of one horizon by row; NaN where one of the three fill rules has none.
#[derive(Debug, Clone)]
struct HorizonLabels {
    horizon: usize,
    of_fill: [Vec<f64>; 3],
}

impl HorizonLabels {
    fn of(bars: &BarGrid, rows: &CommonRows, horizon: usize) -> Self {
        let mut of_fill = FillRule::OF_SWITCHES.map(|_| Vec::with_capacity(rows.len()));
        for row in 0..rows.len() {
            let (session, name) = rows.place(row);
            let labels = FillRule::OF_SWITCHES.map(|fill| fill.label(bars, session, name, horizon));
            let is_whole = labels.iter().all(|label| label.is_finite());
            for (column, label) in of_fill.iter_mut().zip(labels) {
                column.push(if is_whole { label } else { f64::NAN });
            }
        }
        Self { horizon, of_fill }
    }
}

/// The rows of a fit and the sessions that it is tested on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YearSplit {
    /// Rows of the fit, ascending.
    pub fit_rows: Vec<usize>,
    /// The last session of the fit.
    pub last_fit_session: usize,
    /// The sessions of the test year.
    pub year_sessions: Range<usize>,
    /// The sessions of the test year that are traded.
    pub test_sessions: Vec<usize>,
}

impl LeakageBench {
    /// Prepares a panel for some horizons. `eligible` has a cell for each session and name, such as membership as of the
    /// session; `None`: all names.
    ///
    /// # Errors
    /// [`LeakageError`] for a setting outside its range, a horizon of 0 and for cells of another number.
    pub fn new(
        bars: BarGrid,
        settings: LeakageSettings,
        horizons: &[usize],
        eligible: Option<&[bool]>,
    ) -> Result<Self, LeakageError> {
        settings.check()?;
        if horizons.contains(&0) {
            let (name, rule) = ("horizons", "at least 1 session each");
            return Err(LeakageError::Setting { name, rule });
        }
        let (sessions, names) = (bars.sessions(), bars.names());
        if let Some(cells) = eligible
            .map(<[bool]>::len)
            .filter(|cells| *cells != sessions * names)
        {
            let series = "eligible";
            return Err(LeakageError::Shape {
                series,
                cells,
                sessions,
                names,
            });
        }
        let rows = CommonRows::of(&bars, &settings, eligible);
        let labels = horizons
            .iter()
            .map(|horizon| HorizonLabels::of(&bars, &rows, *horizon))
            .collect();
        Ok(Self {
            bars,
            settings,
            rows,
            labels,
        })
    }

    /// The panel.
    #[must_use]
    pub const fn bars(&self) -> &BarGrid {
        &self.bars
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &LeakageSettings {
        &self.settings
    }

    /// Rows of the common mask.
    #[must_use]
    pub const fn common_rows(&self) -> usize {
        self.rows.len()
    }

    pub(crate) const fn rows(&self) -> &CommonRows {
        &self.rows
    }

    /// The labels of all rows under a protocol; NaN where a fill rule of any protocol has none.
    pub(crate) fn labels(&self, switch: Switch, horizon: usize) -> Result<&[f64], LeakageError> {
        let labels = self.labels.iter().find(|labels| labels.horizon == horizon);
        let labels = labels.ok_or(LeakageError::Horizon { horizon })?;
        let fills = FillRule::OF_SWITCHES.iter().zip(&labels.of_fill);
        let mut of_fill = fills.filter(|(fill, _)| **fill == switch.fill());
        Ok(of_fill.next().map_or(&[], |(_, labels)| labels))
    }

    /// The labels of the rows of a fit.
    pub(crate) fn fit_labels(
        &self,
        switch: Switch,
        horizon: usize,
        split: &YearSplit,
    ) -> Result<Vec<f64>, LeakageError> {
        let labels = self.labels(switch, horizon)?;
        Ok(split
            .fit_rows
            .iter()
            .filter_map(|row| labels.get(*row).copied())
            .collect())
    }

    /// The fit and the test of a year under a protocol: fits use all sessions before the year, less those whose labels end
    /// in it.
    ///
    /// # Errors
    /// [`LeakageError`] for a horizon that was not prepared, a year without a session, and one that cannot be fitted or
    /// traded.
    pub fn split(&self, switch: Switch, horizon: usize, year: i32) -> Result<YearSplit, LeakageError> {
        let labels = self.labels(switch, horizon)?;
        let year_sessions = self.bars.year(year);
        if year_sessions.is_empty() {
            return Err(LeakageError::Year { year });
        }
        let end = year_sessions
            .start
            .saturating_sub(switch.purged_sessions(horizon));
        let labelled = self.rows.of_sessions(&(0..end)).zip(labels);
        let fit_rows: Vec<usize> = labelled
            .filter(|(_, label)| label.is_finite())
            .map(|(row, _)| row)
            .collect();
        let last = fit_rows.last().ok_or(LeakageError::NoFitRows { year, horizon })?;
        let (last_fit_session, _) = self.rows.place(*last);
        let need = self.settings.min_names;
        let test_sessions: Vec<usize> = year_sessions
            .clone()
            .filter(|session| need <= self.rows.paid(*session))
            .collect();
        if test_sessions.is_empty() {
            return Err(LeakageError::NoTestDays { year, need });
        }
        Ok(YearSplit {
            fit_rows,
            last_fit_session,
            year_sessions,
            test_sessions,
        })
    }
}

/// Sessions of a whole year.
const WHOLE_YEAR: usize = 200;

/// The years that a panel can be tested on by default: whole ones (at least 200 sessions) with two whole years before.
#[must_use]
pub fn default_test_years(months: &[SessionMonth]) -> Vec<i32> {
    let years = months.chunk_by(|left, right| left.year == right.year);
    let whole: Vec<i32> = years
        .filter(|year| WHOLE_YEAR <= year.len())
        .filter_map(|year| year.first().map(|month| month.year))
        .collect();
    let has_two_before = |year: &i32| whole.contains(&(year - 1)) && whole.contains(&(year - 2));
    whole.iter().copied().filter(has_two_before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::BarField;
    use crate::panel::tests::{market, months};

    #[test]
    fn years_need_two_whole_ones_before() {
        assert_eq!(default_test_years(&months(252 * 4)), [2020, 2021]);
        assert_eq!(default_test_years(&months(252 * 3 + 100)), [2020]);
        assert!(default_test_years(&months(252 * 2)).is_empty());
    }

    #[test]
    fn a_fit_ends_before_its_labels_reach_the_year() {
        let bars = market(252 * 3, 12, 1);
        let bench = LeakageBench::new(bars, LeakageSettings::BENCHMARK, &[5, 20], None).unwrap();
        for (horizon, last) in [(5, 504 - 7), (20, 504 - 22)] {
            let split = bench.split(Switch::Clean, horizon, 2020).unwrap();
            assert_eq!(split.last_fit_session, last, "s + h + 1 lies before the year");
            assert_eq!(split.year_sessions, 504..756);
            let overlapping = bench.split(Switch::LabelOverlap, horizon, 2020).unwrap();
            assert_eq!(overlapping.last_fit_session, 503);
            assert!(split.fit_rows.len() < overlapping.fit_rows.len());
        }
        assert_eq!(
            bench.split(Switch::Clean, 7, 2020),
            Err(LeakageError::Horizon { horizon: 7 })
        );
        assert_eq!(
            bench.split(Switch::Clean, 5, 2029),
            Err(LeakageError::Year { year: 2029 })
        );
        let (year, horizon) = (2018, 5);
        assert_eq!(
            bench.split(Switch::Clean, 5, 2018),
            Err(LeakageError::NoFitRows { year, horizon })
        );
    }

    #[test]
    fn rows_are_the_same_for_all_protocols_and_leave_out_what_is_not_eligible() {
        let bars = market(400, 11, 2);
        let eligible: Vec<bool> = (0..400 * 11).map(|place| place % 11 != 4).collect();
        let all = LeakageBench::new(bars.clone(), LeakageSettings::BENCHMARK, &[5], None).unwrap();
        let some =
            LeakageBench::new(bars.clone(), LeakageSettings::BENCHMARK, &[5], Some(&eligible)).unwrap();
        assert_eq!(some.common_rows() * 11, all.common_rows() * 10);
        // The last three sessions lack a centred window, whatever the protocol.
        let (last, _) = all.rows().place(all.common_rows() - 1);
        assert_eq!(last, 396);
        for switch in Switch::ALL {
            assert!(
                all.rows()
                    .columns(switch, true)
                    .iter()
                    .all(|column| column.len() == all.common_rows())
            );
        }
        let wrong = LeakageBench::new(bars.clone(), LeakageSettings::BENCHMARK, &[5], Some(&[true]));
        assert!(matches!(
            wrong,
            Err(LeakageError::Shape {
                series: "eligible",
                ..
            })
        ));
        let settings = LeakageSettings {
            min_names: 0,
            ..LeakageSettings::BENCHMARK
        };
        assert!(LeakageBench::new(bars, settings, &[5], None).is_err());
    }

    #[test]
    fn names_without_trade_movement_or_history_drop_out_of_the_rows() {
        let bars = market(400, 14, 6);
        let odd = bars.map(0..400, &mut |field, session, name, value| match name {
            // A price that never moves, no volume for long, and a name of forty sessions.
            1 if field != BarField::Volume => 10.0,
            2 if (100..300).contains(&session) && field == BarField::Volume => 0.0,
            3 if session < 360 => f64::NAN,
            _ => value,
        });
        let months = odd.months().to_vec();
        let columns = BarField::ALL.map(|field| odd.column(field).to_vec());
        let odd = BarGrid::new(months, 14, columns).unwrap();
        let whole = LeakageBench::new(bars, LeakageSettings::BENCHMARK, &[5], None).unwrap();
        let bench = LeakageBench::new(odd, LeakageSettings::BENCHMARK, &[5], None).unwrap();
        let rows = |bench: &LeakageBench, name: usize| -> Vec<usize> {
            let places = (0..bench.common_rows()).map(|row| bench.rows().place(row));
            places
                .filter(|(_, other)| *other == name)
                .map(|(session, _)| session)
                .collect()
        };
        assert!(rows(&bench, 1).is_empty() && rows(&bench, 3).is_empty());
        assert!(
            rows(&bench, 2)
                .iter()
                .all(|session| !(100..300).contains(session))
        );
        assert!(bench.common_rows() < whole.common_rows());
        // Ten names without a fault stay, and the year is still fitted and traded.
        assert_eq!(rows(&bench, 7), rows(&whole, 7));
        let split = bench.split(Switch::Clean, 5, 2019).unwrap();
        assert!(!split.test_sessions.is_empty());
    }
}
