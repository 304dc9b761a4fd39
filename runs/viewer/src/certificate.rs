//! A certificate with what its bounds rest on: probes as they were asked, and answers as they came.

use crate::ViewerError;
use crate::plain_files::check_all;
use ktd_io::whole_file::{read_bounded, read_json};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most that a file of probes or answers may hold, packed and unpacked: 256 MiB.
const LINES_LIMIT_BYTES: u64 = 256 << 20;
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

#[derive(Debug, Deserialize)]
struct AnswerLine {
    kind: String,
    number: u64,
    #[serde(default)]
    answer: Value,
}

#[derive(Debug, Deserialize)]
struct TruthLine {
    kind: String,
    number: u64,
    #[serde(default)]
    targets: Value,
}

#[derive(Debug, Deserialize)]
struct ProbeLine {
    number: u64,
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
        let Some(path) = self.named("answers", attacker)? else {
            return Ok(None);
        };
        let truths = self.truths(kind)?;
        let lines: Vec<AnswerLine> = lines(&path)?;
        let rows: Vec<AnsweredProbe> = lines
            .into_iter()
            .filter(|line| line.kind == kind)
            .map(|line| AnsweredProbe {
                number: line.number,
                answer: line.answer,
                truth: truths.get(&line.number).cloned(),
            })
            .collect();
        let is_cut = PROBES_MAX < rows.len();
        let rows: Vec<AnsweredProbe> = rows.into_iter().take(PROBES_MAX).collect();
        Ok((!rows.is_empty()).then_some(AnsweredProbes { rows, is_cut }))
    }

    /// A probe as it was asked; `None` where there is none.
    ///
    /// # Errors
    /// As [`Self::answers`].
    pub(crate) fn probe(self, kind: &str, number: u64) -> Result<Option<Value>, ViewerError> {
        let Some(path) = self.named("probes", kind)? else {
            return Ok(None);
        };
        let lines: Vec<ProbeLine> = lines(&path)?;
        let found = lines.into_iter().find(|line| line.number == number);
        Ok(found.map(|line| line.shown))
    }

    fn truths(self, kind: &str) -> Result<BTreeMap<u64, Value>, ViewerError> {
        let path = self.plain("private/gold.jsonl")?;
        if !self.with_private || self.folder.join("private").is_symlink() || !path.is_file() {
            return Ok(BTreeMap::new());
        }
        let lines: Vec<TruthLine> = parsed(&path, &read_bounded(&path, LINES_LIMIT_BYTES)?)?;
        let own = lines.into_iter().filter(|line| line.kind == kind);
        Ok(own.map(|line| (line.number, line.targets)).collect())
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
        let is_plain = name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_'));
        if !is_plain || !folder.join(&file).is_file() {
            return Ok(None);
        }
        self.plain(&format!("{below}/{file}")).map(Some)
    }
}

/// The lines of a packed file.
fn lines<T: for<'d> Deserialize<'d>>(path: &Path) -> Result<Vec<T>, ViewerError> {
    let packed = read_bounded(path, LINES_LIMIT_BYTES)?;
    let decoder = zstd::Decoder::new(packed.as_slice()).map_err(ViewerError::io("read", path))?;
    let mut bytes = Vec::new();
    decoder
        .take(LINES_LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(ViewerError::io("unpack", path))?;
    if LINES_LIMIT_BYTES < u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
        return Err(ViewerError::damaged(
            path,
            "it unpacks to more than 256 MiB, and no file of a certificate does",
        ));
    }
    parsed(path, &bytes)
}

fn parsed<T: for<'d> Deserialize<'d>>(path: &Path, bytes: &[u8]) -> Result<Vec<T>, ViewerError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let parsed = lines.map(|(place, line)| {
        serde_json::from_slice(line)
            .map_err(|error| ViewerError::damaged(path, format!("line {}: {error}", place + 1)))
    });
    parsed.collect()
}
