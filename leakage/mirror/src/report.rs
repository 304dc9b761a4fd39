//! What an audit found, check by check.

use ktd_study::{Audited, Report, Section, Shown, StudyError};
use ktd_view::draw::TableData;
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Findings of one door that a check lists at most; the others are counted.
const LISTED_PER_DOOR: usize = 3;
/// Characters of a call that are listed.
const LONGEST_CALL: usize = 200;

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum AuditVerdict {
    /// Nothing was to be found, and nothing was.
    Clean,
    /// What was found is declared in the data card, and nothing else was found.
    AsDeclared,
    /// What was to be found was found.
    Found,
    /// A measurement: no verdict.
    Measured,
    /// The panel does not allow this check.
    NotPossible,
    /// Something was found that is not declared: a defect.
    Undeclared,
    /// What was to be found was not: the check does not see.
    NotFound,
}

impl AuditVerdict {
    /// Its name in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the audit fails by it.
    #[must_use]
    pub const fn fails(self) -> bool {
        matches!(self, Self::Undeclared | Self::NotFound)
    }
}

/// A place where an answer depends on what came later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditFinding {
    /// The function whose answer differs: a tool, the prompt, the exchange.
    pub door: String,
    /// How it was asked.
    pub call: String,
    /// The as-of day, or the trading day of an order.
    pub day: String,
    /// What was changed in the other panel.
    pub change: String,
    /// The first byte that differs, from 0.
    pub byte: usize,
    /// The answer on the panel from shortly before that byte on.
    pub answer: String,
    /// The same of the answer on the other panel.
    pub other_answer: String,
}

/// A count that a reader of the check needs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditFigure {
    /// What is counted or measured.
    pub name: String,
    /// How much.
    pub value: f64,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckReport {
    /// `M1` to `M9`.
    pub id: &'static str,
    /// What it asks, in a line.
    pub question: &'static str,
    /// What was compared.
    #[serde(flatten)]
    pub compared: Compared,
    /// What it came to.
    pub verdict: AuditVerdict,
    /// Counts and measurements.
    pub figures: Vec<AuditFigure>,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

impl CheckReport {
    pub(crate) fn new(id: &'static str, question: &'static str) -> Self {
        Self {
            id,
            question,
            compared: Compared::default(),
            verdict: AuditVerdict::Clean,
            figures: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A check that the panel does not allow.
    pub(crate) fn not_possible(mut self, why: impl Into<String>) -> Self {
        self.verdict = AuditVerdict::NotPossible;
        self.notes.push(why.into());
        self
    }

    pub(crate) fn add(&mut self, compared: Compared) {
        self.compared = std::mem::take(&mut self.compared).join(compared);
    }

    pub(crate) fn figure(&mut self, name: &str, value: f64) {
        self.figures.push(AuditFigure {
            name: name.to_owned(),
            value,
        });
    }

    /// Judged by the rule that nothing may differ. Where nothing was compared, there is no verdict.
    pub(crate) const fn judged_clean(mut self) -> Self {
        self.verdict = match (self.compared.compared, self.compared.differing) {
            (0, _) => AuditVerdict::NotPossible,
            (_, 0) => AuditVerdict::Clean,
            (_, _) => AuditVerdict::Undeclared,
        };
        self
    }

    /// Judged by the rule that something must differ.
    pub(crate) const fn judged_found(mut self) -> Self {
        self.verdict = match (self.compared.compared, self.compared.differing) {
            (0, _) => AuditVerdict::NotPossible,
            (_, 0) => AuditVerdict::NotFound,
            (_, _) => AuditVerdict::Found,
        };
        self
    }

    /// By what the audit fails, where it does.
    fn failure(&self) -> Option<String> {
        if !self.verdict.fails() {
            return None;
        }
        let first = self.compared.findings.first();
        let first = first.filter(|_| self.verdict == AuditVerdict::Undeclared);
        Some(first.map_or_else(
            || format!("{}: what is known to look ahead was not found", self.id),
            |first| {
                let AuditFinding {
                    door,
                    call,
                    day,
                    change,
                    byte,
                    ..
                } = first;
                format!(
                    "{}: {door} {call} on {day} differs from byte {byte} on ({change})",
                    self.id
                )
            },
        ))
    }
}

/// All checks on one panel.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfAudit {
    /// The panel's content hash.
    pub panel: String,
    /// The as-of days that were looked at.
    pub as_of_days: Vec<String>,
    /// The checks, in their order.
    pub checks: Vec<CheckReport>,
}

impl SelfAudit {
    /// The checks by which it fails, each with what was found.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        self.checks.iter().filter_map(CheckReport::failure).collect()
    }

    /// The outcome for programs and people.
    ///
    /// # Errors
    /// [`StudyError`] for a document that cannot be written.
    pub fn audited(self) -> Result<Audited, StudyError> {
        let failures = self.failures();
        let found = if failures.is_empty() {
            "only what the data card declares was found, and what is known to look ahead was".to_owned()
        } else {
            failures.join("; ")
        };
        let days = &self.as_of_days;
        let of = |day: Option<&String>| day.cloned().unwrap_or_default();
        let mut section = Section::new("Checks").table("checks", self.checks_table(), Shown::Everywhere);
        section = section.table("figures", self.figures_table(), Shown::Everywhere);
        section = section.table("findings", self.findings_table(), Shown::Everywhere);
        let report = Report {
            title: "Audit of this program".to_owned(),
            verdict: format!(
                "This program on {} as-of days from {} to {}: {found}.",
                days.len(),
                of(days.first()),
                of(days.last())
            ),
            sections: vec![section],
            ..Report::default()
        };
        let hint = "report this with the whole output: it is a defect of the program";
        let wrong = (!failures.is_empty()).then(|| StudyError::difference(&found, hint));
        Audited::new(&self, report, wrong)
    }

    /// The verdicts, and what each check asked and says besides.
    fn checks_table(&self) -> TableData {
        let table = RowTable::new("Verdicts", &self.checks)
            .text("check", |check| check.id)
            .text("verdict", |check| check.verdict.name())
            .count("compared", |check| check.compared.compared)
            .count("differing", |check| check.compared.differing)
            .count("not possible", |check| check.compared.skipped)
            .table();
        self.checks.iter().fold(table, |table, check| {
            let table = table.with_note(format!("{} {}", check.id, check.question));
            let notes = check.notes.iter();
            notes.fold(table, |table, note| {
                table.with_note(format!("{}: {note}", check.id))
            })
        })
    }

    fn figures_table(&self) -> TableData {
        let figures = self.checks.iter();
        let figures: Vec<(&str, &AuditFigure)> = figures
            .flat_map(|check| check.figures.iter().map(|figure| (check.id, figure)))
            .collect();
        RowTable::new("Figures", figures)
            .text("check", |(id, _)| id)
            .text("figure", |(_, figure)| &figure.name)
            .text("value", |(_, figure)| number(figure.value))
            .table()
    }

    /// What was found where a check fails.
    fn findings_table(&self) -> TableData {
        let failing = self.checks.iter().filter(|check| check.verdict.fails());
        let findings: Vec<(&str, &AuditFinding)> = failing
            .flat_map(|check| check.compared.findings.iter().map(|finding| (check.id, finding)))
            .collect();
        RowTable::new("Findings", findings)
            .text("check", |(id, _)| id)
            .text("function", |(_, finding)| &finding.door)
            .text("call", |(_, finding)| &finding.call)
            .text("day", |(_, finding)| &finding.day)
            .text("change", |(_, finding)| &finding.change)
            .count("byte", |(_, finding)| finding.byte)
            .text("answer", |(_, finding)| &finding.answer)
            .text("other answer", |(_, finding)| &finding.other_answer)
            .table()
    }
}

/// A count without decimals, a ratio with two.
fn number(value: f64) -> String {
    if value.fract().abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Answers that were compared with those of another panel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Compared {
    /// Answers, fills or decisions that were compared.
    pub compared: usize,
    /// Those that differ.
    pub differing: usize,
    /// Comparisons that the panel does not allow.
    pub skipped: usize,
    /// Those that differ, by door.
    pub by_door: BTreeMap<&'static str, usize>,
    /// The first of those that differ, a few a door.
    pub findings: Vec<AuditFinding>,
}

/// A count as a figure.
pub(crate) fn count(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// An answer with the door that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) door: &'static str,
    pub(crate) call: String,
    pub(crate) text: String,
}

impl Compared {
    /// A comparison that the panel does not allow.
    pub(crate) fn skipped() -> Self {
        Self {
            skipped: 1,
            ..Self::default()
        }
    }

    /// Compares answers that stand in one order. An answer that the other side does not have differs.
    pub(crate) fn of(answers: &[Answer], others: &[Answer], (day, change): (&str, &str)) -> Self {
        let mut compared = Self::default();
        let none = Answer {
            door: "none",
            call: "no such answer".to_owned(),
            text: String::new(),
        };
        for place in 0..answers.len().max(others.len()) {
            let answer = answers.get(place).unwrap_or(&none);
            let other = others.get(place).unwrap_or(&none);
            compared.compared += 1;
            if answer == other {
                continue;
            }
            compared.differing += 1;
            *compared.by_door.entry(answer.door).or_default() += 1;
            list(&mut compared.findings, answer.door, || {
                finding(answer, other, day, change)
            });
        }
        compared
    }

    pub(crate) fn join(mut self, other: Self) -> Self {
        self.compared += other.compared;
        self.differing += other.differing;
        self.skipped += other.skipped;
        for (door, count) in other.by_door {
            *self.by_door.entry(door).or_default() += count;
        }
        for finding in other.findings {
            list(&mut self.findings, &finding.door.clone(), || finding);
        }
        self
    }
}

/// Adds a finding, if its door has not enough.
fn list(findings: &mut Vec<AuditFinding>, door: &str, finding: impl FnOnce() -> AuditFinding) {
    let of_door = findings.iter().filter(|finding| finding.door == door).count();
    if of_door < LISTED_PER_DOOR {
        findings.push(finding());
    }
}

fn finding(answer: &Answer, other: &Answer, day: &str, change: &str) -> AuditFinding {
    let bytes = answer.text.bytes().zip(other.text.bytes());
    let shorter = answer.text.len().min(other.text.len());
    let byte = bytes
        .into_iter()
        .position(|(one, two)| one != two)
        .unwrap_or(shorter);
    AuditFinding {
        door: answer.door.to_owned(),
        call: answer.call.chars().take(LONGEST_CALL).collect(),
        day: day.to_owned(),
        change: change.to_owned(),
        byte,
        answer: around(&answer.text, byte),
        other_answer: around(&other.text, byte),
    }
}

/// Some text around a byte.
fn around(text: &str, byte: usize) -> String {
    const BEFORE: usize = 40;
    const AFTER: usize = 30;
    let from = (0..=byte.saturating_sub(BEFORE).min(text.len()))
        .rev()
        .find(|place| text.is_char_boundary(*place))
        .unwrap_or(0);
    let kept = text.get(from..).unwrap_or_default();
    kept.chars().take(BEFORE + AFTER).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

    fn answer(call: &str, text: &str) -> Answer {
        Answer {
            door: "tool",
            call: call.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_difference_is_named_with_its_first_byte() {
        let (one, two) = (answer("a", "close 1.25"), answer("a", "close 1.75"));
        let same = Compared::of(from_ref(&one), from_ref(&one), ("2024-04-01", "cut"));
        assert_eq!((same.compared, same.differing), (1, 0));
        let compared = Compared::of(from_ref(&one), &[two], ("2024-04-01", "cut"));
        let finding = &compared.findings[0];
        assert_eq!((finding.door.as_str(), finding.byte), ("tool", 8));
        assert_eq!(finding.other_answer, "close 1.75");
        let missing = Compared::of(from_ref(&one), &[], ("2024-04-01", "cut"));
        assert_eq!((missing.compared, missing.differing), (1, 1));
    }

    #[test]
    fn a_longer_answer_differs_where_the_shorter_ends() {
        let compared = Compared::of(&[answer("a", "ab")], &[answer("a", "abc")], ("d", "cut"));
        assert_eq!(compared.findings[0].byte, 2);
        let text = "\u{6caa}".repeat(60);
        assert!(around(&text, 100).chars().all(|letter| letter == '\u{6caa}'));
    }
}
