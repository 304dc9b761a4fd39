//! A certificate with what its bounds rest on: probes as they were asked, and answers as they came.

use crate::ViewerError;
use crate::plain_files::check_all;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::read_json;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Probes of a kind that are listed.
pub(crate) const PROBES_MAX: usize = 5_000;

/// The folder of a certificate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CertificateFolder<'f> {
    pub(crate) folder: &'f Path,
    /// Whether the truth may be shown where it lies there.
    pub(crate) with_private: bool,
}

/// Probes of a kind with the answers of an attacker.
#[derive(Debug, Clone)]
pub(crate) struct AnsweredProbes {
    pub(crate) rows: Vec<AnsweredProbe>,
    /// Whether there are more than are listed.
    pub(crate) is_cut: bool,
}

/// A probe with its answer.
#[derive(Debug, Clone)]
pub(crate) struct AnsweredProbe {
    pub(crate) number: u64,
    pub(crate) answer: Value,
    /// What would have been right; only for the owner of the certificate.
    pub(crate) truth: Option<Value>,
}

/// What tells whose line it is: its other members are passed over.
#[derive(Debug, Deserialize)]
struct LineHead {
    #[serde(default)]
    kind: Option<String>,
    number: u64,
}

#[derive(Debug, Deserialize)]
struct AnswerLine {
    number: u64,
    #[serde(default)]
    answer: Value,
}

#[derive(Debug, Deserialize)]
struct TruthLine {
    #[serde(default)]
    targets: Value,
}

#[derive(Debug, Deserialize)]
struct ProbeLine {
    #[serde(rename = "number")]
    _number: u64,
    #[serde(flatten)]
    shown: Value,
}

impl CertificateFolder<'_> {
    /// Its document.
    ///
    /// # Errors
    /// [`ViewerError`] when it cannot be read.
    pub(crate) fn document(self) -> Result<Value, ViewerError> {
        Ok(read_json(&self.plain("certificate.json")?)?)
    }

    /// What an attacker answered to the probes of a kind; `None` where there is no such attacker or kind.
    ///
    /// # Errors
    /// [`ViewerError`] when a file cannot be read, is a link, or is damaged.
    pub(crate) fn answers(self, kind: &str, attacker: &str) -> Result<Option<AnsweredProbes>, ViewerError> {
        let Some(path) = self.answers_of(attacker)? else {
            return Ok(None);
        };
        let truths = self.truths(kind)?;
        let mut answered = AnsweredProbes {
            rows: Vec::new(),
            is_cut: false,
        };
        each_line(&path, |line| {
            let head: LineHead = serde_json::from_slice(line)?;
            if head.kind.as_deref() != Some(kind) {
                return Ok(ControlFlow::Continue(()));
            }
            if answered.rows.len() == PROBES_MAX {
                answered.is_cut = true;
                return Ok(ControlFlow::Break(()));
            }
            let AnswerLine { number, answer } = serde_json::from_slice(line)?;
            answered.rows.push(AnsweredProbe {
                number,
                answer,
                truth: truths.get(&number).cloned(),
            });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((!answered.rows.is_empty()).then_some(answered))
    }

    /// A probe as it was asked; `None` where there is none.
    ///
    /// # Errors
    /// As [`Self::answers`].
    pub(crate) fn probe(self, kind: &str, number: u64) -> Result<Option<Value>, ViewerError> {
        let Some(path) = self.named("probes", kind)? else {
            return Ok(None);
        };
        let mut found = None;
        each_line(&path, |line| {
            let head: LineHead = serde_json::from_slice(line)?;
            if head.number != number {
                return Ok(ControlFlow::Continue(()));
            }
            let ProbeLine { shown, .. } = serde_json::from_slice(line)?;
            found = Some(shown);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The answers of an attacker; those of a language model lie in its unit.
    fn answers_of(self, attacker: &str) -> Result<Option<PathBuf>, ViewerError> {
        match self.named("answers", attacker)? {
            None if is_plain(attacker) => self.named(&format!("units/probes.{attacker}"), "answers"),
            found => Ok(found),
        }
    }

    fn truths(self, kind: &str) -> Result<BTreeMap<u64, Value>, ViewerError> {
        let path = self.plain("private/gold.jsonl")?;
        if !self.with_private || self.folder.join("private").is_symlink() || !path.is_file() {
            return Ok(BTreeMap::new());
        }
        let mut truths = BTreeMap::new();
        each_line(&path, |line| {
            let head: LineHead = serde_json::from_slice(line)?;
            if head.kind.as_deref() == Some(kind) {
                let TruthLine { targets } = serde_json::from_slice(line)?;
                truths.insert(head.number, targets);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(truths)
    }

    fn plain(self, name: &str) -> Result<PathBuf, ViewerError> {
        let path = self.folder.join(name);
        check_all(std::slice::from_ref(&path))?;
        Ok(path)
    }

    /// A packed file by the name in an address: one of those that are there, and no path.
    fn named(self, below: &str, name: &str) -> Result<Option<PathBuf>, ViewerError> {
        let folder = self.plain(below)?;
        let file = format!("{name}.jsonl.zst");
        if !is_plain(name) || !folder.join(&file).is_file() {
            return Ok(None);
        }
        self.plain(&format!("{below}/{file}")).map(Some)
    }
}

/// Whether a name is no path.
fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_'))
}

/// Whether more lines are wanted.
type LineResult = Result<ControlFlow<()>, serde_json::Error>;

fn each_line(path: &Path, mut each: impl FnMut(&[u8]) -> LineResult) -> Result<(), ViewerError> {
    let mut lines = LineKind::Probes.open(path)?;
    while let Some(line) = lines.next_line()? {
        match each(line) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => break,
            Err(error) => return Err(lines.damaged(error).into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::{create_directory, write_whole};

    fn answers(lines: &str) -> Result<Option<AnsweredProbes>, ViewerError> {
        let folder = tempfile::tempdir().unwrap();
        create_directory(&folder.path().join("answers")).unwrap();
        let packed = ktd_io::frame::pack(lines.as_bytes(), 1).unwrap();
        write_whole(&folder.path().join("answers/one.jsonl.zst"), &packed).unwrap();
        let certificate = CertificateFolder {
            folder: folder.path(),
            with_private: false,
        };
        certificate.answers("market", "one")
    }

    #[test]
    fn answers_of_a_kind_are_listed_and_no_more_than_fit_a_page() {
        let line = |kind: &str, number: usize| {
            format!("{{\"kind\":\"{kind}\",\"number\":{number},\"answer\":[{number}]}}\n")
        };
        let few = answers(&[line("market", 1), line("date", 2), line("market", 3)].concat())
            .unwrap()
            .unwrap();
        let shown: Vec<(u64, String)> = few
            .rows
            .iter()
            .map(|row| (row.number, row.answer.to_string()))
            .collect();
        assert_eq!(shown, [(1, "[1]".to_owned()), (3, "[3]".to_owned())]);
        assert!(!few.is_cut);
        let many: String = (0..=PROBES_MAX).map(|number| line("market", number)).collect();
        let many = answers(&many).unwrap().unwrap();
        assert!(many.is_cut && many.rows.len() == PROBES_MAX);
        assert!(answers(&line("date", 1)).unwrap().is_none());
    }

    #[test]
    fn a_line_that_unpacks_to_megabytes_is_damage() {
        let long = format!(
            "{{\"kind\":\"market\",\"number\":1,\"answer\":[{}0]}}\n",
            "0,".repeat(9 << 20)
        );
        let error = answers(&long).unwrap_err().to_string();
        assert!(error.contains("longer than 16 MiB"), "{error}");
    }
}
