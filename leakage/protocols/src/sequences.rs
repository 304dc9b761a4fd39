//! Rows of a name behind each other by session, for networks that read more than one.

use crate::bench::YearSplit;
use crate::rows::CommonRows;
use crate::scaler::Scaler;

/// The last fit sessions, whose loss is reported; nothing is chosen by it.
const VALIDATION_SESSIONS: usize = 252;

/// A table of standardised rows by name and then by session, and which of them end a whole sequence.
#[derive(Debug, Clone)]
pub(crate) struct NameSequences {
    table: Vec<f32>,
    /// Places among the rows of the fit, and rows of the table.
    fit: Vec<(usize, usize)>,
    /// Those of the last fit sessions.
    validation: Vec<(usize, usize)>,
    /// Places among the rows of the year, and rows of the table.
    asked: Vec<(usize, usize)>,
    asked_rows: usize,
}

impl NameSequences {
    /// All rows up to the end of the year; a sequence needs rows of as many sessions behind each other.
    pub(crate) fn of(
        rows: &CommonRows,
        scaler: &Scaler,
        columns: &[&[f64]],
        split: &YearSplit,
        lookback: usize,
    ) -> Self {
        let year = rows.of_sessions(&split.year_sessions);
        let mut by_name: Vec<(usize, usize, usize)> = (0..year.end)
            .map(|row| {
                let (session, name) = rows.place(row);
                (name, session, row)
            })
            .collect();
        by_name.sort_unstable();
        let ordered = by_name.iter().map(|(_, _, row)| *row);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "networks compute in floats of 32 bits"
        )]
        let table = scaler
            .gather(columns, ordered)
            .iter()
            .map(|value| *value as f32)
            .collect();
        let mut sequences = Self {
            table,
            fit: Vec::new(),
            validation: Vec::new(),
            asked: Vec::new(),
            asked_rows: year.len(),
        };
        let validated_from = (split.last_fit_session + 1).saturating_sub(VALIDATION_SESSIONS);
        let (mut before, mut length) = (None, 0);
        for (table_row, (name, session, row)) in by_name.into_iter().enumerate() {
            length = if before == Some((name, session)) {
                length + 1
            } else {
                1
            };
            before = Some((name, session + 1));
            if length < lookback {
                continue;
            }
            if year.start <= row {
                sequences.asked.push((row - year.start, table_row));
            } else if let Ok(place) = split.fit_rows.binary_search(&row) {
                let part = if validated_from <= session {
                    &mut sequences.validation
                } else {
                    &mut sequences.fit
                };
                part.push((place, table_row));
            }
        }
        sequences.fit.sort_unstable();
        sequences.validation.sort_unstable();
        sequences.asked.sort_unstable();
        sequences
    }

    /// The row-major table.
    pub(crate) fn table(&self) -> &[f32] {
        &self.table
    }

    /// Rows to train on and their labels, by session.
    pub(crate) fn train(&self, labels: &[f64]) -> (Vec<usize>, Vec<f64>) {
        labelled(&self.fit, labels)
    }

    /// Rows of the last fit sessions and their labels, by session.
    pub(crate) fn validate(&self, labels: &[f64]) -> (Vec<usize>, Vec<f64>) {
        labelled(&self.validation, labels)
    }

    /// Places among the rows of the year, and rows of the table.
    pub(crate) fn asked(&self) -> &[(usize, usize)] {
        &self.asked
    }

    /// Rows of the year, with a whole sequence or not.
    pub(crate) const fn asked_rows(&self) -> usize {
        self.asked_rows
    }
}

fn labelled(rows: &[(usize, usize)], labels: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let of = |(place, row): &(usize, usize)| Some((*row, *labels.get(*place)?));
    rows.iter().filter_map(of).unzip()
}

#[cfg(test)]
mod tests {
    use crate::bench::LeakageBench;
    use crate::panel::tests::market;
    use crate::settings::LeakageSettings;
    use crate::switch::Switch;

    use super::*;

    #[test]
    fn a_sequence_is_of_one_name_without_a_gap() {
        let bars = market(252 * 3, 12, 9);
        let holed = bars.map(0..756, &mut |_, session, name, value| {
            if name == 3 && session == 600 {
                f64::NAN
            } else {
                value
            }
        });
        let bench = LeakageBench::new(holed, LeakageSettings::BENCHMARK, &[5], None).unwrap();
        let split = bench.split(Switch::Clean, 5, 2020).unwrap();
        let columns = bench.rows().columns(Switch::Clean, true);
        let scaler = Scaler::of(&columns, Some(&split.fit_rows));
        let sequences = NameSequences::of(bench.rows(), &scaler, &columns, &split, 60);
        let year = bench.rows().of_sessions(&split.year_sessions);
        let without: Vec<usize> = (0..year.len())
            .filter(|place| {
                sequences
                    .asked
                    .binary_search_by_key(place, |(place, _)| *place)
                    .is_err()
            })
            .map(|place| bench.rows().place(year.start + place))
            .map(|(session, name)| {
                assert_eq!(name, 3);
                session
            })
            .collect();
        assert!(without.iter().all(|session| (601..680).contains(session)) && 59 <= without.len());
        for (place, table_row) in sequences.asked().iter().chain(sequences.fit.iter().take(0)) {
            let row = scaler.gather(&columns, [year.start + place].into_iter());
            let found = &sequences.table()[table_row * 25..][..25];
            assert!(
                row.iter()
                    .zip(found)
                    .all(|(value, found)| (value - f64::from(*found)).abs() < 1e-3)
            );
        }
        let labels = vec![1.0; split.fit_rows.len()];
        let (train, validate) = (sequences.train(&labels), sequences.validate(&labels));
        assert!(validate.0.len() <= 252 * 12 && !train.0.is_empty() && train.0.len() == train.1.len());
    }
}
