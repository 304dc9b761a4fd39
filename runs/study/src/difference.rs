//! How two studies of one kind differ.

use crate::identity::{STUDY, StudyHeader};
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
use std::fmt;
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
    /// Units that came to something else.
    pub results: Vec<DifferentResult>,
    /// How many units came to the same.
    pub same: usize,
}

/// Value that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DifferentValue {
    /// Where it stands, such as `keys.rounds`.
    pub place: String,
    /// The first study's; left out where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Value>,
    /// The second study's; left out where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Value>,
}

/// Unit that came to something else.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DifferentResult {
    /// The unit.
    pub unit: UnitId,
    /// The first figure of its result that differs.
    pub figure: DifferentValue,
}

/// Compares what the studies of two folders were asked and came to. Nothing is locked or written.
///
/// # Errors
/// [`StudyError`] for folders without studies, and studies of two kinds.
pub fn study_difference(folders: [&Path; 2]) -> Result<StudyDifference, StudyError> {
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
        results: Vec::new(),
        same: 0,
    };
    // A name decides nothing.
    (first_header.name, second_header.name) = (String::new(), String::new());
    difference.settings = different_values(&first_header, &second_header)?;
    let [first, second] = [
        RecordedUnits::read(first, None)?,
        RecordedUnits::read(second, None)?,
    ];
    difference.compare_units(&first, &second)?;
    Ok(difference)
}

/// Where two values differ, and in what.
pub(crate) fn different_values<T: Serialize>(
    first: &T,
    second: &T,
) -> Result<Vec<DifferentValue>, StudyError> {
    let mut found = Vec::new();
    compare(
        "",
        (Some(&to_value(first)?), Some(&to_value(second)?)),
        &mut |value| found.push(value),
    );
    Ok(found)
}

impl fmt::Display for DifferentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told =
            |value: &Option<Value>| shown_text(value.as_ref()).unwrap_or_else(|| "not there".to_owned());
        write!(
            f,
            "`{}` was {} and is {}",
            self.place,
            told(&self.first),
            told(&self.second)
        )
    }
}

impl StudyDifference {
    fn compare_units(&mut self, first: &RecordedUnits, second: &RecordedUnits) -> Result<(), StudyError> {
        let ids = |units: &RecordedUnits| -> BTreeSet<UnitId> {
            units.0.iter().map(|(unit, _)| unit.id.clone()).collect()
        };
        let (first_ids, second_ids) = (ids(first), ids(second));
        self.only_first = first_ids.difference(&second_ids).cloned().collect();
        self.only_second = second_ids.difference(&first_ids).cloned().collect();
        let (first_found, second_found) = (first.found(), second.found());
        for unit in first_ids.intersection(&second_ids) {
            let (Some(first), Some(second)) = (first_found.get(unit), second_found.get(unit)) else {
                self.not_compared.push(unit.clone());
                continue;
            };
            if first.get() == second.get() {
                self.same += 1;
                continue;
            }
            let mut figure = None;
            compare(
                "",
                (Some(&parsed(first)?), Some(&parsed(second)?)),
                &mut |found| {
                    figure.get_or_insert(found);
                },
            );
            match figure {
                Some(figure) => self.results.push(DifferentResult {
                    unit: unit.clone(),
                    figure,
                }),
                None => self.same += 1,
            }
        }
        Ok(())
    }

    /// The difference for people.
    #[must_use]
    pub fn report(&self) -> Report {
        let [first, second] = &self.studies;
        let row = |head: &str, value: &DifferentValue| {
            vec![
                TableCell::Text(head.to_owned()),
                shown(value.first.as_ref()),
                shown(value.second.as_ref()),
            ]
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
                "A is {first}, B is {second}, both of kind {}: {} settings differ; {} units came to the same, {} to something else.",
                self.kind,
                self.settings.len(),
                self.same,
                self.results.len()
            ),
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

/// Tells of each value that differs, in the order of its place.
fn compare(place: &str, values: (Option<&Value>, Option<&Value>), tell: &mut impl FnMut(DifferentValue)) {
    let below = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    match values {
        (Some(Value::Object(first)), Some(Value::Object(second))) => {
            let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
            for name in names {
                compare(&below(name), (first.get(name), second.get(name)), tell);
            }
        }
        (Some(Value::Array(first)), Some(Value::Array(second))) => {
            for number in 0..first.len().max(second.len()) {
                compare(
                    &below(&number.to_string()),
                    (first.get(number), second.get(number)),
                    tell,
                );
            }
        }
        (first, second) if first != second => tell(DifferentValue {
            place: place.to_owned(),
            first: first.cloned(),
            second: second.cloned(),
        }),
        _ => {}
    }
}

/// A value in a cell.
fn shown(value: Option<&Value>) -> TableCell {
    shown_text(value).map_or(TableCell::Empty, TableCell::Text)
}

/// A value in few words; a long one is cut.
fn shown_text(value: Option<&Value>) -> Option<String> {
    const LETTERS: usize = 40;
    let text = value?
        .as_str()
        .map_or_else(|| value.map(Value::to_string), |text| Some(text.to_owned()))?;
    let cut: String = text.chars().take(LETTERS).collect();
    Some(if cut == text { text } else { format!("{cut}...") })
}

fn to_value<T: Serialize>(value: &T) -> Result<Value, StudyError> {
    serde_json::to_value(value).map_err(|error| unreadable(&error))
}

fn parsed(found: &RawValue) -> Result<Value, StudyError> {
    serde_json::from_str(found.get()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> StudyError {
    StudyError::input(format_args!("what is compared is no JSON: {error}"), "")
}
