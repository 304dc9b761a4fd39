//! Codes that names changed: known ones and those of a file. A change is neither a delisting nor a listing.

use super::columns::{read_date, read_ticker};
use super::side_file::SideFile;
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{Decimal, SourceLocation, Ticker, TradeDate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Changes that are known: the old code, the new one, and the first day of the new one. Months of the first two are those of
/// public data projects; all else is from memory. Beijing's of 2025-10 are some 250 and follow no rule without exceptions: a file
/// names them.
const KNOWN: [(&str, &str, &str); 4] = [
    ("SZ000022", "SZ001872", "2018-12-26"),
    ("SZ300114", "SZ302132", "2025-02-17"),
    ("SH601313", "SH601360", "2018-02-28"),
    ("SZ000043", "SZ001914", "2019-12-16"),
];

/// Which code became which, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeChanges {
    /// The next code and its first day, by the old one.
    next: BTreeMap<Ticker, (Ticker, TradeDate)>,
    /// First days of codes that took the place of others.
    begins: BTreeMap<Ticker, TradeDate>,
    /// Old codes of the file of changes.
    stated: BTreeSet<Ticker>,
}

impl CodeChanges {
    /// The known changes, and those of a CSV file `old,new,from`, which stand above the known ones.
    ///
    /// # Errors
    /// [`DataFileError`] naming the row, or the codes of changes that contradict each other.
    pub(super) fn read(path: Option<&Path>) -> Result<Self, DataFileError> {
        let known = KNOWN.iter().filter_map(|(old, new, from)| {
            let codes = (Ticker::parse(old).ok()?, Ticker::parse(new).ok()?);
            Some((codes.0, (codes.1, TradeDate::parse(from).ok()?)))
        });
        let mut changes = Self {
            next: known.collect(),
            begins: BTreeMap::new(),
            stated: BTreeSet::new(),
        };
        if let Some(path) = path {
            changes.read_file(path)?;
        }
        changes.check()?;
        Ok(changes)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), DataFileError> {
        let file = SideFile::open(path)?;
        let name = file.name.clone();
        let places = (file.place(&["old"]), file.place(&["new"]), file.place(&["from"]));
        let (Some(old), Some(new), Some(from)) = places else {
            return Err(file.lacks(
                "one of the columns old, new, from",
                "name them in the first line: the old code, the new one, and the first day of the new one",
            ));
        };
        let rows = file.rows(|record| {
            let cell = |place: usize| record.get(place).unwrap_or_default();
            let code = |place| read_ticker(cell(place)).map_err(|error| error.to_string());
            let from = read_date(cell(from)).map_err(|error| error.to_string())?;
            Ok((code(old)?, (code(new)?, from)))
        })?;
        let mut stated = BTreeMap::new();
        for (row, (old, change)) in rows {
            if stated.insert(old, change).is_some_and(|before| before != change) {
                return Err(at_row(&name, row, "a second change of the same old code"));
            }
        }
        self.stated.extend(stated.keys().copied());
        self.next.extend(stated);
        Ok(())
    }

    /// One code becomes one other, later ones after earlier ones.
    fn check(&mut self) -> Result<(), DataFileError> {
        let refused = |old: Ticker, new: Ticker, why: &str| {
            DataFileError::input(
                format_args!("the change of {} to {} {why}", old.reveal(), new.reveal()),
                "correct the file of --codes: each row is the old code, the new one, and the first day of the new one",
            )
        };
        for (old, (new, from)) in &self.next {
            if old == new {
                return Err(refused(*old, *new, "changes nothing"));
            }
            if self.begins.insert(*new, *from).is_some() {
                return Err(refused(
                    *old,
                    *new,
                    "is the second one to that code, which is a merger",
                ));
            }
            // Days that only rise along a chain also forbid that it returns.
            if self.next.get(new).is_some_and(|(_, later)| later <= from) {
                return Err(refused(
                    *old,
                    *new,
                    "does not come before the next change of that code",
                ));
            }
        }
        Ok(())
    }

    /// The newest code of the name that has this one.
    pub(super) fn newest(&self, code: Ticker) -> Ticker {
        let mut newest = code;
        while let Some((next, _)) = self.next.get(&newest) {
            newest = *next;
        }
        newest
    }

    /// The first day on which a code is another one.
    fn ends(&self, code: Ticker) -> Option<TradeDate> {
        self.next.get(&code).map(|(_, from)| *from)
    }

    /// Whether the name of a code has had another one.
    fn is_changed(&self, code: Ticker) -> bool {
        self.next.contains_key(&code) || self.begins.contains_key(&code)
    }

    /// A listing date as that of the name: one that only dates a change of its code is none.
    pub(super) fn listing(&self, code: Ticker, date: TradeDate) -> Option<(Ticker, TradeDate)> {
        let of_the_change = self.begins.get(&code).is_some_and(|begins| *begins <= date);
        (!of_the_change).then(|| (self.newest(code), date))
    }
}

/// An old code whose rows are those of a newer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedCode {
    /// The code as rows have it.
    pub old: Ticker,
    /// The newest code of the name, which is its code in the panel.
    pub new: Ticker,
    /// First day on which the old code is another one.
    pub from: TradeDate,
    /// Rows that were read under the old code.
    pub rows: u64,
}

/// A row of a name that changed its code, as the source has it.
#[derive(Debug)]
struct CodedRow {
    code: Ticker,
    place: SourceLocation,
    factor: Option<Decimal>,
}

/// Rows of names that changed their codes, until they are known to fit together.
#[derive(Debug, Default)]
pub(super) struct CodeJoins {
    changes: CodeChanges,
    /// Codes that had a row.
    seen: BTreeSet<Ticker>,
    rows: BTreeMap<(Ticker, TradeDate), CodedRow>,
}

impl CodeJoins {
    pub(super) const fn new(changes: CodeChanges) -> Self {
        Self {
            changes,
            seen: BTreeSet::new(),
            rows: BTreeMap::new(),
        }
    }

    pub(super) const fn changes(&self) -> &CodeChanges {
        &self.changes
    }

    /// Takes note of a bar.
    ///
    /// # Errors
    /// [`DataFileError`] for a bar of an old code after its change, and for bars of two codes of one name on one day.
    pub(super) fn add(
        &mut self,
        (code, date): (Ticker, TradeDate),
        (file, row): (&str, u64),
        factor: Option<Decimal>,
    ) -> Result<(), DataFileError> {
        if !self.changes.is_changed(code) {
            return Ok(());
        }
        let newest = self.changes.newest(code);
        self.seen.insert(code);
        // A source that has no row of the new code may write all days under the old one, unless somebody stated its end.
        let is_over = self.changes.stated.contains(&code) || self.seen.contains(&newest);
        let ends = self.changes.ends(code).filter(|_| is_over);
        if let Some(from) = ends.filter(|from| *from <= date) {
            let message = format!(
                "{} has a row on {}, but its code is {} from {} on",
                code.reveal(),
                date.reveal(),
                newest.reveal(),
                from.reveal()
            );
            let hint =
                "drop the rows of the old code after its change, or state the day of the change with --codes";
            return Err(at_row(file, row, message).with_hint(hint));
        }
        let place = SourceLocation {
            file: file.to_owned(),
            row,
        };
        let coded = CodedRow { code, place, factor };
        match self.rows.insert((newest, date), coded) {
            Some(first) if first.code != code => {
                let message = format!(
                    "{} and {} are one name and both have a row on {} (the other is {})",
                    code.reveal(),
                    first.code.reveal(),
                    date.reveal(),
                    first.place
                );
                Err(at_row(file, row, message).with_hint("keep the rows of one of the two codes on that day"))
            }
            _ => Ok(()),
        }
    }

    /// What was joined, by old code.
    ///
    /// # Errors
    /// [`DataFileError`] where the factor moves from one code to the next: two codes have factors of two scales, and such a move
    /// would be read as a corporate action.
    pub(super) fn finish(self) -> Result<Vec<JoinedCode>, DataFileError> {
        let mut joined: BTreeMap<Ticker, JoinedCode> = BTreeMap::new();
        let mut before: Option<(Ticker, CodedRow)> = None;
        for ((newest, _), row) in self.rows {
            let earlier = before.as_ref().filter(|(name, _)| *name == newest);
            if let Some((_, earlier)) = earlier
                && earlier.code != row.code
                && earlier.factor != row.factor
            {
                let message = format!(
                    "the factor moves where {} becomes {} ({}), which a change of code does not",
                    earlier.code.reveal(),
                    row.code.reveal(),
                    earlier.place
                );
                let hint = "multiply the factors of one of the codes so that both have one scale; if the day is an ex-day, write all rows under the newest code";
                return Err(at_row(&row.place.file, row.place.row, message).with_hint(hint));
            }
            if let Some(from) = self.changes.ends(row.code) {
                let first = JoinedCode {
                    old: row.code,
                    new: newest,
                    from,
                    rows: 0,
                };
                joined.entry(row.code).or_insert(first).rows += 1;
            }
            before = Some((newest, row));
        }
        Ok(joined.into_values().collect())
    }
}
