//! The journal of a search: a line a formula that was tried, in order.

use super::folder::TRIALS;
use super::market::OpenMine;
use crate::FormulaStudyError;
use ktd_alphas::{SearchCandidate, Trial, TrialFault};
use ktd_asking::LineJournal;
use ktd_io::line_file::line_bytes;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_if_exists;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// A trial as it is written.
#[derive(Debug, Serialize)]
struct WrittenTrial<'t> {
    expression: &'t str,
    nodes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank_ic: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fitness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

impl<'t> WrittenTrial<'t> {
    fn of(trial: &'t Trial) -> Self {
        let score = trial.outcome.ok();
        Self {
            expression: &trial.form,
            nodes: trial.nodes,
            rank_ic: score.map(|score| score.rank_ic),
            fitness: score.map(|score| score.fitness),
            code: trial.outcome.err().map(TrialFault::code),
        }
    }
}

/// A trial as it is read: its number as it was written, since a reader of JSON may round the last bit otherwise.
#[derive(Debug, Deserialize)]
struct ReadTrial {
    expression: String,
    #[serde(default)]
    rank_ic: Option<Box<RawValue>>,
    #[serde(default)]
    code: Option<String>,
}

/// What an earlier run left of a trial.
#[derive(Debug, Clone, PartialEq)]
struct KnownTrial {
    line: usize,
    expression: String,
    figure: Option<Result<f64, TrialFault>>,
}

/// The journal of a search. A run that was killed is continued: trials that stand in it are not evaluated again.
#[derive(Debug)]
pub(super) struct TrialJournal {
    path: PathBuf,
    journal: LineJournal,
    known: VecDeque<KnownTrial>,
}

impl TrialJournal {
    /// Opens a journal. A last line that is not whole is cut off: it was being written when the run was killed.
    pub(super) fn open(path: &Path) -> Result<Self, FormulaStudyError> {
        let (journal, trials) = LineJournal::open(path)?;
        let known = trials.into_iter().zip(1..);
        let known: Result<_, _> = known
            .map(|(trial, line)| known_trial(path, trial, line))
            .collect();
        Ok(Self {
            path: path.to_owned(),
            journal,
            known: known?,
        })
    }

    /// What an earlier run found of a candidate on the train days, where this is its place in the journal: none for one
    /// that was refused, since the checker says it again.
    fn replayed(
        &mut self,
        candidate: &SearchCandidate,
    ) -> Result<Option<Result<f64, TrialFault>>, FormulaStudyError> {
        let Some(known) = self.known.pop_front() else {
            return Ok(None);
        };
        let refusal = candidate.refusal().map(|(_, _, fault)| Err(fault));
        match refusal.or(known.figure) {
            Some(figure) if known.expression == candidate.form() => Ok(Some(figure)),
            _ => Err(FormulaStudyError::input(
                format_args!(
                    "{} line {}: {:?} is not what this search tries there",
                    self.path.display(),
                    known.line,
                    known.expression
                ),
                "remove the folder, or name another one with --out",
            )),
        }
    }

    /// Whether an earlier run has left trials that were not replayed yet.
    fn has_more(&self) -> bool {
        !self.known.is_empty()
    }

    /// What becomes of candidates, in their order: as an earlier run has left it, or evaluated and written now. `advance` is
    /// called with the number of formulas that are done.
    pub(super) fn tried(
        &mut self,
        open: &OpenMine,
        candidates: &[SearchCandidate],
        advance: &mut dyn FnMut(usize),
    ) -> Result<Vec<Trial>, FormulaStudyError> {
        let mut trials = Vec::with_capacity(candidates.len());
        let mut rest = candidates;
        while let Some((candidate, others)) = rest.split_first().filter(|_| self.has_more()) {
            let nodes = match candidate {
                SearchCandidate::Checked(checked) => checked.formula().nodes(),
                SearchCandidate::Refused { nodes, .. } => *nodes,
            };
            let figure = self.replayed(candidate)?;
            trials.extend(figure.map(|figure| open.trial(candidate, nodes, figure)));
            rest = others;
        }
        advance(evaluated(&trials));
        for candidates in rest.chunks(open.chunk()) {
            let tried = open.tried(candidates)?;
            self.add(&tried)?;
            advance(evaluated(&tried));
            trials.extend(tried);
        }
        Ok(trials)
    }

    /// Trials as a journal holds them.
    pub(super) fn lines(trials: &[Trial]) -> Result<Vec<u8>, FormulaStudyError> {
        Ok(line_bytes(
            Path::new(TRIALS),
            trials.iter().map(WrittenTrial::of),
        )?)
    }

    /// Writes trials that no earlier run has left.
    fn add(&mut self, trials: &[Trial]) -> Result<(), FormulaStudyError> {
        for trial in trials {
            self.journal.add(&WrittenTrial::of(trial))?;
        }
        Ok(())
    }

    /// SHA-256 of a journal as it stands; none where there is none.
    pub(super) fn hash(path: &Path) -> Result<Option<String>, FormulaStudyError> {
        Ok(read_if_exists(path)?.map(|bytes| sha256_hex(&bytes)))
    }
}

/// How many trials were evaluated.
fn evaluated(trials: &[Trial]) -> usize {
    trials.iter().filter(|trial| trial.is_evaluated()).count()
}

fn known_trial(path: &Path, read: ReadTrial, line: usize) -> Result<KnownTrial, FormulaStudyError> {
    let damaged = |what: String| FormulaStudyError::damaged(path, format!("line {line}: {what}"));
    let of_code = |code: &String| {
        TrialFault::OF_VALUES
            .into_iter()
            .find(|fault| fault.code() == code)
    };
    let figure = match (&read.rank_ic, &read.code) {
        (Some(number), None) => {
            let number: f64 = number
                .get()
                .parse()
                .map_err(|_| damaged("rank_ic is no number".to_owned()))?;
            Some(Ok(number))
        }
        (None, Some(code)) => of_code(code).map(Err),
        _ => return Err(damaged("a trial has either rank_ic or code".to_owned())),
    };
    Ok(KnownTrial {
        line,
        expression: read.expression,
        figure,
    })
}

#[cfg(test)]
mod tests {
    use super::TrialJournal;
    use ktd_alphas::{SearchCandidate, Trial, TrialFault};
    use ktd_expressions::FormulaRole;

    fn candidate(text: &str) -> SearchCandidate {
        SearchCandidate::of_text(text, &["open", "close"], FormulaRole::Alpha, 3)
    }

    #[test]
    fn a_torn_line_is_cut_off_and_every_number_comes_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let hard = [
            0.1 + 0.2,
            -1.0 / 3.0,
            1.234_567_890_123_456_7e-3,
            f64::MIN_POSITIVE,
            5e-324,
        ];
        let texts = ["$open", "$close", "Abs($open)", "Sign($open)", "Log($open)"];
        let mut journal = TrialJournal::open(&path).unwrap();
        for (text, number) in texts.iter().zip(hard) {
            journal.add(&[Trial::new(text, 1, Ok(number), 0.001)]).unwrap();
        }
        journal
            .add(&[Trial::new(
                "$vwap",
                1,
                Err(candidate("$vwap").refusal().unwrap().2),
                0.001,
            )])
            .unwrap();
        journal
            .add(&[Trial::new(
                "Sub($open,$open)",
                3,
                Err(TrialFault::Constant),
                0.001,
            )])
            .unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"{\"expression\":\"Abs("].concat()).unwrap();
        let mut journal = TrialJournal::open(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        for (text, number) in texts.iter().zip(hard) {
            let figure = journal.replayed(&candidate(text)).unwrap().unwrap().unwrap();
            assert_eq!(figure.to_bits(), number.to_bits());
        }
        assert_eq!(
            journal
                .replayed(&candidate("$vwap"))
                .unwrap()
                .unwrap()
                .unwrap_err()
                .code(),
            "unknown_field"
        );
        assert!(journal.has_more());
        let constant = journal.replayed(&candidate("Sub($open,$open)")).unwrap();
        assert_eq!(constant, Some(Err(TrialFault::Constant)));
        assert_eq!(journal.replayed(&candidate("$open")).unwrap(), None);
    }

    #[test]
    fn another_searchs_journal_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        for (text, part) in [
            (
                "{\"expression\":\"$close\",\"nodes\":1,\"rank_ic\":0.1}\n",
                "line 1",
            ),
            (
                "{\"expression\":\"$open\",\"nodes\":1,\"code\":\"other\"}\n",
                "line 1",
            ),
            (
                "{\"expression\":\"$open\",\"nodes\":1}\n",
                "either rank_ic or code",
            ),
            ("no JSON\n", "line 1"),
            (
                "{\"expression\":\"$open\",\"rank_ic\":\"x\"}\n",
                "rank_ic is no number",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let opened = TrialJournal::open(&path);
            let replayed = opened.and_then(|mut journal| journal.replayed(&candidate("$open")));
            let error = replayed.unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
