//! How two studies of one kind differ.

use crate::different_values::{DifferentValue, compare, different_values, shown_text};
use crate::identity::{STUDY, StudyHeader};
use crate::kind::StudyKind;
use crate::own_format::OwnFormat;
use crate::recorded_units::RecordedUnits;
use crate::report::{Report, Section, Shown};
use crate::unit_id::some_names;
use crate::{StudyError, UnitId};
use ktd_io::whole_file::read_json;
use ktd_view::draw::Align::Left;
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::path::Path;

/// How two studies of one kind differ. Units that are not finished in both are not compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StudyDifference {
    /// The kind of both.
    pub kind: String,
    /// Their names.
    pub studies: [String; 2],
    /// Keys of their files, what they ran over, and programs.
    pub settings: Vec<DifferentValue>,
    /// Units that only the first asks for.
    pub only_first: Vec<UnitId>,
    /// Units that only the second asks for.
    pub only_second: Vec<UnitId>,
    /// Units that both ask for and one of them has not finished.
    pub not_compared: Vec<UnitId>,
    /// Units of which one folder lacks `private/`, and with it figures that the other one has: whether these are the same was not checked,
    /// and what both have is.
    pub without_private: Vec<UnitId>,
    /// Units that came to other figures.
    pub results: Vec<DifferentResult>,
    /// How many units came to the same.
    pub same: usize,
    /// How many units came to the same figures, and of them hashes alone differ: other bytes were shown or written.
    pub same_figures: usize,
}

/// Unit that came to other figures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DifferentResult {
    /// The unit.
    pub unit: UnitId,
    /// The first figure of its result that differs, and is no hash.
    pub figure: DifferentValue,
}

/// Compares what the studies of two folders were asked and came to. Nothing is locked or written.
///
/// # Errors
/// [`StudyError`] for folders without studies, and studies of two kinds.
pub fn study_difference<K: StudyKind>(folders: [&Path; 2]) -> Result<StudyDifference, StudyError> {
    let header =
        |folder: &Path| -> Result<StudyHeader<Value>, StudyError> { Ok(read_json(&folder.join(STUDY))?) };
    let [first, second] = folders;
    let (mut first_header, mut second_header) = (header(first)?, header(second)?);
    if first_header.kind != second_header.kind {
        return Err(StudyError::input(
            format_args!(
                "{} holds a study of kind {:?}, and {} one of kind {:?}",
                first.display(),
                first_header.kind,
                second.display(),
                second_header.kind
            ),
            "name two studies of one kind",
        ));
    }
    let mut difference = StudyDifference {
        kind: first_header.kind.clone(),
        studies: [first_header.name.clone(), second_header.name.clone()],
        settings: Vec::new(),
        only_first: Vec::new(),
        only_second: Vec::new(),
        not_compared: Vec::new(),
        without_private: Vec::new(),
        results: Vec::new(),
        same: 0,
        same_figures: 0,
    };
    // A name decides nothing.
    (first_header.name, second_header.name) = (String::new(), String::new());
    let first_units = RecordedUnits::read(first, K::OWN)?;
    let second_units = RecordedUnits::read(second, K::OWN)?;
    let made_over = records_made_over(K::OWN, folders, &first_units);
    // What the records or `decides` say of a file is compared, and not how it was called.
    if K::OWN.is_none() || made_over.is_some() {
        for header in [&mut first_header, &mut second_header] {
            for place in K::PLACES {
                forget(&mut header.keys, place);
            }
        }
    }
    difference.settings = different_values(&first_header, &second_header)?;
    if let Some([first, second]) = made_over {
        compare("record", (Some(&first), Some(&second)), &mut |found| {
            difference.settings.push(found);
        });
    }
    let lacks =
        |unit: &UnitId| folders.map(|folder| K::OWN.is_some_and(|own| own.lacks_private(folder, unit)));
    difference.compare_units([&first_units, &second_units], lacks)?;
    Ok(difference)
}

/// Takes out the value at a JSON pointer.
fn forget(keys: &mut Value, place: &str) {
    let above = place.rsplit_once('/');
    let above = above.and_then(|(above, name)| Some((keys.pointer_mut(above)?.as_object_mut()?, name)));
    if let Some((above, name)) = above {
        above.remove(name);
    }
}

/// What the records of the first unit were made over of which both folders have one.
fn records_made_over(
    own: Option<OwnFormat>,
    folders: [&Path; 2],
    units: &RecordedUnits,
) -> Option<[Value; 2]> {
    let own = own?;
    units.0.iter().find_map(|(unit, _)| {
        let made_over = |study: &Path| {
            let places = own.places(study, &unit.id);
            places.iter().find_map(|place| (own.made_over)(place))
        };
        let [first, second] = folders.map(made_over);
        Some([first?, second?])
    })
}

impl StudyDifference {
    fn compare_units(
        &mut self,
        [first, second]: [&RecordedUnits; 2],
        lacks: impl Fn(&UnitId) -> [bool; 2],
    ) -> Result<(), StudyError> {
        let ids = |units: &RecordedUnits| -> BTreeSet<UnitId> {
            units.0.iter().map(|(unit, _)| unit.id.clone()).collect()
        };
        let (first_ids, second_ids) = (ids(first), ids(second));
        self.only_first = first_ids.difference(&second_ids).cloned().collect();
        self.only_second = second_ids.difference(&first_ids).cloned().collect();
        let (first_found, second_found) = (first.found(), second.found());
        for unit in first_ids.intersection(&second_ids) {
            match (first_found.get(unit), second_found.get(unit)) {
                (Some(first), Some(second)) if first.get() == second.get() => self.same += 1,
                (Some(first), Some(second)) => {
                    self.compare_unit(unit, [&parsed(first)?, &parsed(second)?], lacks(unit));
                }
                _ => self.not_compared.push(unit.clone()),
            }
        }
        Ok(())
    }

    /// Compares what a unit came to in both, which differs in some way; whether each lacks its private part.
    fn compare_unit(&mut self, unit: &UnitId, [first, second]: [&Value; 2], lacks: [bool; 2]) {
        let (mut figure, mut differ_hashes, mut is_withheld) = (None, false, false);
        let [first_lacks, second_lacks] = lacks;
        compare("", (Some(first), Some(second)), &mut |found| {
            let is_absent = |value: &Option<Value>| value.as_ref().is_none_or(Value::is_null);
            if (first_lacks && is_absent(&found.first)) || (second_lacks && is_absent(&found.second)) {
                is_withheld = true;
            } else if found.is_of_hashes() {
                differ_hashes = true;
            } else {
                figure.get_or_insert(found);
            }
        });
        match figure {
            Some(figure) => self.results.push(DifferentResult {
                unit: unit.clone(),
                figure,
            }),
            None if is_withheld => self.without_private.push(unit.clone()),
            None if differ_hashes => self.same_figures += 1,
            None => self.same += 1,
        }
    }

    /// What the verdict says of units that were not checked.
    fn unchecked(&self) -> String {
        match self.without_private.len() {
            0 => String::new(),
            count => format!("; of {count} it was not checked, because private/ is missing in one"),
        }
    }

    /// The difference for people.
    #[must_use]
    pub fn report(&self) -> Report {
        let [first, second] = &self.studies;
        let row = |head: &str, value: &DifferentValue| {
            let cells = shown_beside([value.first.as_ref(), value.second.as_ref()]);
            std::iter::once(TableCell::Text(head.to_owned()))
                .chain(cells)
                .collect()
        };
        let heads = |what: &'static str| [(what, Left, 0), ("A", Left, 0), ("B", Left, 0)];
        let settings = self.settings.iter().map(|found| row(&found.place, found));
        let results = self.results.iter().map(|found| {
            let place = match found.figure.place.as_str() {
                "" => found.unit.to_string(),
                place => format!("{}: {place}", found.unit),
            };
            row(&place, &found.figure)
        });
        let units = [
            ("only in A", &self.only_first),
            ("only in B", &self.only_second),
            ("not finished in both", &self.not_compared),
            ("not checked: private/ is missing in one", &self.without_private),
        ];
        let units = units.into_iter().filter(|(_, ids)| !ids.is_empty());
        let units = units.map(|(what, ids)| {
            vec![
                TableCell::Text(what.to_owned()),
                TableCell::Count(ids.len()),
                TableCell::Text(some_names(ids)),
            ]
        });
        Report {
            title: format!("{first} and {second}"),
            verdict: format!(
                "A is {first}, B is {second}, both of kind {}: {} settings differ; {} units came to the same, {} to the same figures \
                 in other bytes, {} to other figures{}.",
                self.kind,
                self.settings.len(),
                self.same,
                self.same_figures,
                self.results.len(),
                self.unchecked()
            ),
            notes: vec![
                "What is compared is what the units say that they came to; whether their records say the same, `ktd verify` of each folder checks"
                    .to_owned(),
            ],
            sections: vec![
                Section::new("Settings").table(
                    "settings",
                    TableData::new("Settings that differ", heads("setting")).with_rows(settings),
                    Shown::Everywhere,
                ),
                Section::new("Units").table(
                    "units",
                    TableData::new(
                        "Units that are not compared",
                        [("which", Left), ("units", Left), ("names", Left)],
                    )
                    .with_rows(units),
                    Shown::Everywhere,
                ),
                Section::new("Results").table(
                    "results",
                    TableData::new("The first figure that differs", heads("unit")).with_rows(results),
                    Shown::Everywhere,
                ),
            ],
            ..Report::default()
        }
    }
}

/// Two values that differ, each in a cell: numbers are rounded where they differ all the same.
fn shown_beside(values: [Option<&Value>; 2]) -> [TableCell; 2] {
    let rounded = values.map(|value| {
        let number = value.filter(|value| value.is_f64()).and_then(Value::as_f64);
        number.map(|number| format!("{number:.6}"))
    });
    let texts = match rounded {
        [Some(first), Some(second)] if first != second => [Some(first), Some(second)],
        _ => values.map(shown_text),
    };
    texts.map(|text| text.map_or(TableCell::Empty, TableCell::Text))
}

fn parsed(found: &RawValue) -> Result<Value, StudyError> {
    serde_json::from_str(found.get())
        .map_err(|error| StudyError::input(format_args!("what is compared is no JSON: {error}"), ""))
}
