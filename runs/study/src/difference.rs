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
    let (first_header, second_header) = (header(first)?, header(second)?);
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
    compare(
        "",
        (Some(&to_value(&first_header)?), Some(&to_value(&second_header)?)),
        &mut |found| {
            difference.settings.push(found);
        },
    );
    difference.compare_units(&RecordedUnits::read(first)?, &RecordedUnits::read(second)?)?;
    Ok(difference)
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
        let heads = |what: &'static str| [(what, Left), ("A", Left), ("B", Left)];
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

/// A value in a cell; a long one is cut.
fn shown(value: Option<&Value>) -> TableCell {
    const LETTERS: usize = 40;
    let Some(value) = value else {
        return TableCell::Empty;
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let cut: String = text.chars().take(LETTERS).collect();
    TableCell::Text(if cut == text { text } else { format!("{cut}...") })
}

fn to_value(header: &StudyHeader<Value>) -> Result<Value, StudyError> {
    let mut value = serde_json::to_value(header).map_err(|error| unreadable(&error))?;
    if let Some(members) = value.as_object_mut() {
        members.remove("name");
    }
    Ok(value)
}

fn parsed(found: &RawValue) -> Result<Value, StudyError> {
    serde_json::from_str(found.get()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> StudyError {
    StudyError::input(format_args!("what is compared is no JSON: {error}"), "")
}
