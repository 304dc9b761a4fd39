//! Programs that try to get out, and whether each was contained.

use crate::limits::BoxLimits;
use crate::status::JobStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A few programs of each kind, for a machine without a larger battery.
pub const OWN_BATTERY: &str = include_str!("../battery/cases.jsonl");

/// The clock of programs that are to meet another limit: long enough on a busy machine.
const OTHER_LIMIT_S: u32 = 600;

/// What a program must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// It may end as it likes, and gets nothing.
    Contained,
    /// It works, and prints this.
    Prints(String),
    /// It ends with one of these statuses.
    Ends(Vec<JobStatus>),
    /// Its second part finds nothing that the first left.
    Pair,
}

/// One program of a battery, or two that run one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatteryCase {
    /// Its name.
    pub name: String,
    /// What it goes after.
    pub group: String,
    /// What it must come to.
    pub expect: Expectation,
    /// Its sources.
    pub sources: Vec<String>,
    /// What it is for.
    pub why: String,
}

/// A line of a battery that is no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct CaseError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// How one source of a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatteryRun {
    /// Its status.
    pub status: JobStatus,
    /// What it printed, and what its exception said.
    pub output: String,
}

/// Whether a case was contained.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BatteryFinding {
    /// Its name.
    pub name: String,
    /// What it goes after.
    pub group: String,
    /// Whether it was contained.
    pub contained: bool,
    /// How it ended, and what was wrong where it was not contained.
    pub evidence: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    group: String,
    expect: String,
    source: Value,
    why: String,
}

/// The cases of a battery, one a line.
///
/// # Errors
/// [`CaseError`] for the first line that is none.
pub fn parse_cases(text: &str) -> Result<Vec<BatteryCase>, CaseError> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| parse_case(line).map_err(|what| CaseError { line: at + 1, what }))
        .collect()
}

fn parse_case(line: &str) -> Result<BatteryCase, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
    let expect = expectation(&line.expect).ok_or_else(|| {
        format!(
            "unknown expectation {:?}: use contained, ok TEXT, limit cpu|wall|memory|flood or pair",
            line.expect
        )
    })?;
    let sources: Option<Vec<String>> = match &line.source {
        Value::String(source) => Some(vec![source.clone()]),
        Value::Array(sources) => sources
            .iter()
            .map(|source| source.as_str().map(str::to_owned))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    let count = if expect == Expectation::Pair { 2 } else { 1 };
    let sources = sources
        .filter(|sources| sources.len() == count)
        .ok_or_else(|| format!("invalid source: {:?} takes {count}", line.expect))?;
    Ok(BatteryCase {
        name: line.name,
        group: line.group,
        expect,
        sources,
        why: line.why,
    })
}

fn expectation(text: &str) -> Option<Expectation> {
    if let Some(printed) = text.strip_prefix("ok ") {
        return Some(Expectation::Prints(printed.to_owned()));
    }
    let ends = |statuses: &[JobStatus]| Some(Expectation::Ends(statuses.to_vec()));
    match text {
        "contained" => Some(Expectation::Contained),
        "pair" => Some(Expectation::Pair),
        "limit cpu" => ends(&[JobStatus::Cpu]),
        "limit wall" => ends(&[JobStatus::Timeout]),
        "limit memory" => ends(&[JobStatus::Memory]),
        "limit flood" => ends(&[JobStatus::Flood]),
        _ => None,
    }
}

impl BatteryCase {
    /// The limits under which it runs: short ones, but for programs that are to meet another limit than the clock.
    #[must_use]
    pub fn limits(&self, limits: &BoxLimits) -> BoxLimits {
        let waits = |wall_s: u32| BoxLimits {
            cpu_s: 3,
            wall_s,
            ..*limits
        };
        match &self.expect {
            Expectation::Ends(statuses) if statuses == &[JobStatus::Timeout] => waits(4),
            Expectation::Ends(statuses) if statuses == &[JobStatus::Memory] => BoxLimits {
                wall_s: OTHER_LIMIT_S,
                ..*limits
            },
            Expectation::Contained | Expectation::Pair => waits(20),
            Expectation::Ends(_) | Expectation::Prints(_) => waits(OTHER_LIMIT_S),
        }
    }
}

/// Judges a case by how its sources ended, and by whether the next job in the same box answered.
#[must_use]
pub fn judge_case(case: &BatteryCase, runs: &[BatteryRun], next_answers: bool) -> BatteryFinding {
    let escaped = runs
        .iter()
        .flat_map(|run| run.output.lines())
        .find(|line| line.starts_with("ESCAPED"));
    let last = runs.last();
    let wrong = match (&case.expect, last) {
        (_, None) => Some("nothing ran".to_owned()),
        _ if escaped.is_some() => escaped.map(str::to_owned),
        _ if runs.iter().any(|run| run.status == JobStatus::BoxFailed) => Some("the box failed".to_owned()),
        (Expectation::Prints(text), Some(run))
            if run.status != JobStatus::Ok || run.output.trim() != text =>
        {
            Some(format!("expected {text:?}"))
        }
        (Expectation::Ends(statuses), Some(run)) if !statuses.contains(&run.status) => {
            let statuses: Vec<&str> = statuses.iter().map(|status| status.label()).collect();
            Some(format!("expected {}", statuses.join(" or ")))
        }
        _ if !next_answers => Some("the next job in the box did not answer".to_owned()),
        _ => None,
    };
    let ended = last.map_or("", |run| run.status.label());
    let output: String = last
        .map_or("", |run| run.output.trim())
        .chars()
        .take(160)
        .collect();
    let evidence = match &wrong {
        Some(wrong) => format!("{wrong}; {ended}: {output}"),
        None => format!("{ended}: {output}"),
    };
    BatteryFinding {
        name: case.name.clone(),
        group: case.group.clone(),
        contained: wrong.is_none(),
        evidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(expect: &str) -> BatteryCase {
        let source = if expect == "pair" {
            "[\"1\",\"2\"]"
        } else {
            "\"1\""
        };
        let line = format!(r#"{{"name":"n","group":"g","expect":"{expect}","source":{source},"why":""}}"#);
        parse_cases(&line).unwrap().remove(0)
    }

    fn run(status: JobStatus, output: &str) -> BatteryRun {
        BatteryRun {
            status,
            output: output.to_owned(),
        }
    }

    fn contained(expect: &str, status: JobStatus, output: &str) -> bool {
        judge_case(&case(expect), &[run(status, output)], true).contained
    }

    #[test]
    fn a_case_is_contained_when_nothing_escaped_and_its_expectation_holds() {
        assert!(contained("contained", JobStatus::Error, "refused 1"));
        assert!(contained("contained", JobStatus::Signal, ""));
        assert!(!contained("contained", JobStatus::Ok, "x\nESCAPED 3"));
        assert!(contained("contained", JobStatus::Ok, "not ESCAPED"));
        assert!(contained("ok 55", JobStatus::Ok, "55\n"));
        assert!(!contained("ok 55", JobStatus::Error, "55\n"));
        assert!(!contained("ok 55", JobStatus::Ok, "54"));
        assert!(contained("limit cpu", JobStatus::Cpu, ""));
        assert!(!contained("limit cpu", JobStatus::Timeout, ""));
        assert!(!contained("contained", JobStatus::BoxFailed, ""));
        assert!(!judge_case(&case("contained"), &[run(JobStatus::Ok, "")], false).contained);
        assert!(!judge_case(&case("contained"), &[], true).contained);
        let runs = [run(JobStatus::Ok, "ESCAPED"), run(JobStatus::Ok, "forgotten")];
        assert!(!judge_case(&case("pair"), &runs, true).contained);
        assert!(judge_case(&case("pair"), &runs[1..], true).contained);
    }

    #[test]
    fn our_own_programs_are_cases_with_names_of_their_own() {
        let cases = parse_cases(OWN_BATTERY).unwrap();
        let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), cases.len()), (21, 21));
    }

    #[test]
    fn what_is_no_case_is_named_with_its_line() {
        let good = r#"{"name":"n","group":"g","expect":"contained","source":"1","why":""}"#;
        let faults = [
            good.replace("contained", "limit moon"),
            good.replace("contained", "pair"),
            good.replace("\"1\"", "1"),
            good.replace("\"1\"", "[\"1\",\"2\"]"),
            good.replace("\"why\":\"\"", "\"why\":\"\",\"more\":1"),
            "x".to_owned(),
        ];
        for fault in faults {
            let error = parse_cases(&format!("{good}\n\n{fault}\n")).unwrap_err();
            assert_eq!(error.line, 3, "{fault}");
        }
        assert!(
            parse_cases(&good.replace("contained", "limit moon"))
                .unwrap_err()
                .to_string()
                .contains("unknown expectation \"limit moon\"")
        );
    }
}
