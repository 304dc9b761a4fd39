//! A strategy of one's own: a folder with its document, its scenarios and its reference program, and the lint of it.

use crate::box_runs::{PlannedRun, Program, ProgramBox};
use crate::error::StrategyError;
use crate::frames::read_bars;
use ktd_boxed::BoxLauncher;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{read_if_exists, read_input};
use ktd_sandbox::{BoxLimits, SourceText};
use ktd_strategy_code::{
    CandidateLogs, LintFinding, Scenario, ScenarioOutcome, StrategyDocument, lint_document,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Class of a reference program.
const CLASS: &str = "Strategy";
/// Its seed.
const SEED: u32 = 42;

/// A folder with `spec.json`, `spec.md`, `scenarios.jsonl` and, where there is one, `reference.py`.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnStrategy {
    folder: PathBuf,
    /// The machine form of its document.
    pub document: StrategyDocument,
    /// SHA-256 of the text of its document, in hexadecimal.
    pub text_sha256: String,
    /// Its scenarios.
    pub scenarios: Vec<Scenario>,
    reference: Option<Vec<u8>>,
}

impl OwnStrategy {
    /// The strategy of a folder.
    ///
    /// # Errors
    /// [`StrategyError`] naming the file and what is wrong in it.
    pub fn read(folder: &Path) -> Result<Self, StrategyError> {
        let hint = "docs/strategy-code.md shows the form of these files";
        let spec = folder.join("spec.json");
        let invalid = |path: &Path, problem: String| {
            StrategyError::input(format_args!("{}: {problem}", path.display()), hint)
        };
        let document =
            StrategyDocument::parse(&read_input(&spec)?).map_err(|problem| invalid(&spec, problem))?;
        let text = read_input(&folder.join("spec.md"))?;
        let path = folder.join("scenarios.jsonl");
        let lines = read_input(&path)?;
        let mut scenarios: Vec<Scenario> = Vec::new();
        for (line, number) in lines
            .lines()
            .zip(1_usize..)
            .filter(|(line, _)| !line.trim().is_empty())
        {
            let scenario = read_scenario(line, &document.assets)
                .map_err(|problem| invalid(&path, format!("line {number}: {problem}")))?;
            if scenarios.iter().any(|known| known.name == scenario.name) {
                let problem = format!("line {number}: {:?} is there twice", scenario.name);
                return Err(invalid(&path, problem));
            }
            scenarios.push(scenario);
        }
        Ok(Self {
            folder: folder.to_owned(),
            document,
            text_sha256: sha256_hex(text.as_bytes()),
            scenarios,
            reference: read_if_exists(&folder.join("reference.py"))?,
        })
    }

    /// Whether there is a reference program, without which behaviour cannot be judged.
    #[must_use]
    pub const fn has_reference(&self) -> bool {
        self.reference.is_some()
    }

    /// What is wrong with the strategy: the reference runs on every scenario in the box; none where there is no reference.
    ///
    /// # Errors
    /// [`StrategyError`] where no box can be had, and where the reference does not run.
    pub fn lint(&self, launcher: &BoxLauncher) -> Result<Vec<LintFinding>, StrategyError> {
        let Some(reference) = &self.reference else {
            return Ok(Vec::new());
        };
        let path = self.folder.join("reference.py");
        let fault = |problem: String| {
            StrategyError::input(
                format_args!("{}: {problem}", path.display()),
                "fix the reference program: it must run on every scenario",
            )
        };
        let source = SourceText::read(reference, BoxLimits::STRATEGIES.source_kb)
            .map_err(|problem| fault(problem.to_string()))?;
        let program = Program {
            source: &source,
            class: CLASS,
            configuration: &self.document.configuration(&self.document.default_parameters()),
            key: &self.document.id,
        };
        let mut opened = ProgramBox::open(launcher, program, 0)?;
        let runs = self.scenarios.iter().map(|scenario| PlannedRun {
            market: scenario.market.clone(),
            seed: SEED,
            purpose: "lint",
        });
        let runs: Vec<PlannedRun> = runs.collect();
        let mut outcomes = BTreeMap::new();
        for (scenario, outcome) in self.scenarios.iter().zip(opened.run_all(&runs)?) {
            let logs = outcome.map_err(|problem| fault(format!("{}: {problem}", scenario.name)))?;
            outcomes.insert(scenario.name.clone(), outcome_of(&logs));
        }
        Ok(lint_document(&self.document, &outcomes))
    }
}

fn read_scenario(line: &str, assets: &[String]) -> Result<Scenario, String> {
    let read: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let member = |name: &str| read.get(name).unwrap_or(&Value::Null);
    let name = member("scenario").as_str().ok_or("`scenario` is no text")?;
    let market = read_bars(member("data"), assets)?;
    Ok(Scenario {
        name: name.to_owned(),
        market,
    })
}

/// The rules that a program's logs name, and whether it did anything.
fn outcome_of(logs: &CandidateLogs) -> ScenarioOutcome {
    let reasons = (0..logs.trades.len()).flat_map(|row| {
        let of = |name| logs.trades.text(name, row).map(str::to_owned);
        [of("reason_entry"), of("reason_exit")]
    });
    let mut fired: BTreeSet<String> = reasons.flatten().collect();
    let signals = || (0..logs.bars.len()).map(|row| logs.bars.text("signal", row).unwrap_or("NONE"));
    if signals().any(|signal| signal == "ADD") {
        fired.insert("ADD".to_owned());
    }
    ScenarioOutcome {
        fired,
        has_traded: signals().any(|signal| signal != "NONE"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;
    use ktd_strategy_code::{CandidateTable, LogCell};

    #[test]
    fn rules_are_read_from_the_logs() {
        let texts = |name: &str, words: &[&str]| {
            let cells = words.iter().map(|word| LogCell::Text((*word).to_owned()));
            (name.to_owned(), cells.collect())
        };
        let logs = CandidateLogs {
            trades: CandidateTable::new(vec![
                texts("reason_entry", &["UP"]),
                texts("reason_exit", &["STOP"]),
            ])
            .unwrap(),
            bars: CandidateTable::new(vec![texts("signal", &["NONE", "ADD"])]).unwrap(),
        };
        let outcome = outcome_of(&logs);
        assert_eq!(
            outcome.fired.into_iter().collect::<Vec<_>>(),
            ["ADD", "STOP", "UP"]
        );
        assert!(outcome.has_traded && !outcome_of(&CandidateLogs::default()).has_traded);
    }

    #[test]
    fn files_say_what_is_wrong_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write_whole(&folder.path().join(name), text.as_bytes()).unwrap();
        let error = || OwnStrategy::read(folder.path()).unwrap_err().to_string();
        let spec = |parameter: &str| {
            write(
                "spec.json",
                &format!(
                    "{{\"strategy_id\":\"X1\",\"name\":\"n\",\"family\":\"f\",\"assets\":[\"A\"],\"warmup\":1,\"multi\":false,\
                 \"intraday\":false,\"entry\":[\"UP: close > open\"],\"exit\":[],\"params\":{{\"N\":{parameter}}},\
                 \"constraints\":{{}},\"columns\":[],\"keywords\":[]}}"
                ),
            );
        };
        for (parameter, part) in [
            (
                "{\"type\":\"int\",\"flag\":\"tunable\",\"value\":5,\"min\":9,\"max\":2}",
                "`min` 9 is above `max` 2",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"tunable\",\"value\":50,\"min\":2,\"max\":9}",
                "is outside 2 to 9",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"loose\",\"value\":5}",
                "the flag \"loose\" is unknown",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5,\"min\":1,\"max\":9}",
                "a frozen value has no `min`",
            ),
        ] {
            spec(parameter);
            let error = error();
            assert!(
                error.contains("spec.json: params.N:") && error.contains(part),
                "{error}"
            );
        }
        spec("{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5}");
        write("spec.md", "# X1\n");
        let frame = "{\"columns\":[\"datetime\",\"open\",\"high\",\"low\",\"close\",\"volume\"],\"rows\":[[\"2021-01-04\",1,1,1,1,1]]}";
        let line = format!("{{\"scenario\":\"a\",\"data\":{frame}}}\n");
        write("scenarios.jsonl", &format!("{line}{line}"));
        assert!(error().contains("line 2: \"a\" is there twice"), "{}", error());
        write("scenarios.jsonl", &line);
        let own = OwnStrategy::read(folder.path()).unwrap();
        assert_eq!((own.scenarios.len(), own.has_reference()), (1, false));
    }
}
