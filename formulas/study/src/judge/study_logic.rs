//! Logic of a study's alphas, as judges left it in the study's folder of results.

use super::record::LogicJudgement;
use crate::FormulaStudyError;
use crate::alpha_report::Figure;
use crate::alpha_study::AlphaStudy;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{parse_json, read_if_exists};
use std::path::Path;

/// What judges found about a study's alphas, where they were asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StudyLogic {
    has_judge: bool,
    judgement: Option<LogicJudgement>,
    /// SHA-256 of the judgement's bytes: figures hang on them.
    sha256: Option<String>,
}

impl StudyLogic {
    /// Reads `judge/report.json` below a study's folder of results; a study without judges, or one that was not judged
    /// yet, has none.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a file that is no judgement.
    pub fn read(study: &AlphaStudy, results: &Path) -> Result<Self, FormulaStudyError> {
        if study.judge.is_none() {
            return Ok(Self::default());
        }
        let path = results.join("judge").join("report.json");
        let bytes = read_if_exists(&path)?;
        let judgement = bytes.as_ref().map(|bytes| parse_json(&path, bytes)).transpose()?;
        Ok(Self {
            has_judge: true,
            judgement,
            sha256: bytes.map(|bytes| sha256_hex(&bytes)),
        })
    }

    /// Logic of a formula by its canonical form, or the stable word of why there is none: `no_judge`, `not_judged`, a
    /// judge's last mistake, `refusal`, or why no model is shown the formula.
    pub(crate) fn of(&self, canonical: &str) -> Figure {
        match &self.judgement {
            Some(judgement) => judgement.logic(canonical),
            None if self.has_judge => Err("not_judged".to_owned()),
            None => Err("no_judge".to_owned()),
        }
    }

    /// SHA-256 of the judgement; none where there is none.
    #[must_use]
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// The judgement.
    #[must_use]
    pub const fn judgement(&self) -> Option<&LogicJudgement> {
        self.judgement.as_ref()
    }

    /// What a reader of tables must know of it.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let Some(judgement) = &self.judgement else {
            let note =
                "the judges of this study were not asked yet: give `ktd alpha judge` with the same file";
            return self.has_judge.then(|| note.to_owned()).into_iter().collect();
        };
        let marked = judgement.judges.iter().filter(|judge| judge.is_miner);
        let marked =
            marked.map(|judge| format!("judge {} scores formulas that its own model has found", judge.id));
        marked.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_without_judges_is_told_from_one_that_was_not_judged() {
        let folder = tempfile::tempdir().unwrap();
        let keys = "name = 'x'\nsplits = {}\npools = [{ id = 'a', builtin = 'alpha158' }]\n";
        let read = |text: &str| StudyLogic::read(&AlphaStudy::parse(text).unwrap(), folder.path());
        let none = read(keys).unwrap();
        assert_eq!(none.of("$close").unwrap_err(), "no_judge");
        assert!(none.notes().is_empty());
        let model = "judge = { agents = [{ id = 'j', model = 'm', base_url = 'http://127.0.0.1:9/v1' }] }\n";
        let waiting = read(&format!("{keys}{model}")).unwrap();
        assert_eq!(waiting.of("$close").unwrap_err(), "not_judged");
        assert!(waiting.notes()[0].contains("ktd alpha judge"));
        assert_eq!(waiting.sha256(), None);
        std::fs::create_dir(folder.path().join("judge")).unwrap();
        std::fs::write(folder.path().join("judge/report.json"), "{}").unwrap();
        assert!(read(&format!("{keys}{model}")).is_err());
    }
}
