//! The log of attempts: every set of probes that a signer committed to, and what each came to.
//!
//! A line is one event with the hash of the line before, so that nothing is taken out or changed without changing what
//! follows. It stands next to the signing key, whatever directory an attempt goes to and whatever its mask key is, and every
//! certificate has a copy up to its own verdict. It starts from the key's fingerprint, so that no key is judged by the log of
//! another. Whoever deletes it and signs with a new key begins anew: what an auditor does about that stands in
//! `docs/mask-certificate.md`.

use super::set_record::SetRecord;
use crate::CertifyError;
use ktd_io::lock::FileLock;
use ktd_io::sha256::sha256_hex;
use ktd_masking::{Level, Numeric};
use ktd_probes::judge::CertificateVerdict;
use ktd_record::chain::{Log, LogEnd, LogReader, NO_GENESIS};
use ktd_record::signing::PublicKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What attempts are counted together: a rung on a panel, whatever the mask key, the seed and the sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptSubject {
    /// What is hidden.
    pub level: Level,
    /// How numbers are shown.
    pub numeric: Numeric,
    /// The panel's hash.
    pub panel_blake3: String,
}

impl AttemptSubject {
    /// What a probe set is about.
    #[must_use]
    pub fn of(set: &SetRecord) -> Self {
        Self {
            level: set.plan.level,
            numeric: set.plan.numeric,
            panel_blake3: set.data.panel_blake3.clone(),
        }
    }
}

/// Event of the log of attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum AttemptEvent {
    /// A set of probes was committed to, before anybody was asked about it.
    Committed {
        /// SHA-256 of `commitment.json`, which names the attempt.
        commitment: String,
        /// What is to be certified.
        subject: AttemptSubject,
        /// The one name of its probes.
        probe_set_sha256: String,
        /// The commitment of its mask key.
        mask_key_commitment: String,
        /// How many probes there are.
        probes: usize,
    },
    /// A verdict followed, before its certificate was written.
    Judged {
        /// SHA-256 of the attempt's `commitment.json`.
        commitment: String,
        /// What followed.
        verdict: CertificateVerdict,
    },
}

/// Last line of a log of attempts: nothing before it can be changed without changing it.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    /// Lines of the log.
    pub lines: usize,
    /// SHA-256 of the last one; of an empty log what it starts from.
    pub sha256: String,
}

/// Attempts to certify a rung on a panel, as the signer's log has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptCounts {
    /// Sets of probes that were committed to, this one among them.
    pub attempts: u64,
    /// Attempts that a verdict refused, whatever verdict followed.
    pub refused: u64,
    /// Attempts that were certified alone.
    pub certified: u64,
    /// Attempts without a verdict: begun, and ended by whoever or whatever ended them.
    pub unjudged: u64,
    /// The log up to this certificate's own verdict.
    pub log: LogHead,
}

impl AttemptCounts {
    /// Whether the counts can be those of a log with a verdict of this kind in it.
    #[must_use]
    pub fn are_possible(&self, verdict: CertificateVerdict) -> bool {
        let own = match verdict {
            CertificateVerdict::Certified => self.certified.checked_add(self.refused),
            CertificateVerdict::Refused => Some(self.refused),
        };
        let parts = self.refused.checked_add(self.certified);
        let sum = parts.and_then(|parts| parts.checked_add(self.unjudged));
        own.is_some_and(|own| 0 < own) && sum == Some(self.attempts) && 0 < self.log.lines
    }
}

impl fmt::Display for AttemptCounts {
    /// `3 to certify this rung on this panel (1 certified, 1 refused, 1 without a verdict)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            attempts,
            refused,
            certified,
            unjudged,
            log: _,
        } = self;
        write!(
            f,
            "{attempts} to certify this rung on this panel ({certified} certified, {refused} refused, {unjudged} without a verdict)"
        )
    }
}

/// Log of attempts of a signing key as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptLog {
    path: PathBuf,
    fingerprint: String,
}

/// Lines of a log with what they say.
#[derive(Debug, Clone)]
pub struct AttemptLines {
    fingerprint: String,
    texts: Vec<String>,
    events: Vec<AttemptEvent>,
    end: LogEnd,
}

const NOT_ITS_LOG: &str = "each signing key has one log, KEY.attempts.jsonl next to it, and each certificate a copy: put that one back as it was";
const EARLIER_LOG: &str = "certificates of that version are refused as well: move the log away with them, and this version begins a new one";

impl AttemptLog {
    /// The log of a signing key: next to its file. It need not exist yet.
    #[must_use]
    pub fn of_key(file: &Path, key: &PublicKey) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push(".attempts.jsonl");
        Self {
            path: PathBuf::from(name),
            fingerprint: key.fingerprint(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the log; one that does not exist has no lines.
    ///
    /// # Errors
    /// [`CertifyError`] naming the first line that was changed, and for the log of another key.
    pub fn read(&self) -> Result<AttemptLines, CertifyError> {
        AttemptLines::of(&self.path, LogReader::open(&self.path)?, &self.fingerprint)
    }

    /// Adds the commitment of an attempt, unless the log has it.
    ///
    /// # Errors
    /// [`CertifyError`] for a log that was changed, that is another key's, or that another process writes.
    pub fn commit(&self, commitment: &str, set: &SetRecord) -> Result<(), CertifyError> {
        let _lock = self.lock()?;
        let recorded = self.read()?;
        if recorded.place_of_commitment(commitment).is_some() {
            return Ok(());
        }
        let event = AttemptEvent::Committed {
            commitment: commitment.to_owned(),
            subject: AttemptSubject::of(set),
            probe_set_sha256: set.probe_set_sha256.clone(),
            mask_key_commitment: set.mask.commitment.clone(),
            probes: set.counts.values().sum(),
        };
        self.append(&recorded, &event)
    }

    /// Adds the verdict of an attempt, unless its last one is the same; the log up to it.
    ///
    /// # Errors
    /// [`CertifyError`] for a log that was changed, that is another key's, or that another process writes.
    pub fn judge(&self, commitment: &str, verdict: CertificateVerdict) -> Result<AttemptLines, CertifyError> {
        let _lock = self.lock()?;
        let recorded = self.read()?;
        if let Some(until) = recorded.place_of_verdict(commitment, verdict) {
            return recorded.up_to(&self.path, until + 1);
        }
        let event = AttemptEvent::Judged {
            commitment: commitment.to_owned(),
            verdict,
        };
        self.append(&recorded, &event)?;
        self.read()
    }

    fn lock(&self) -> Result<FileLock, CertifyError> {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".lock");
        Ok(FileLock::take(Path::new(&name), &self.path)?)
    }

    /// Adds a line that outlasts a loss of power.
    fn append(&self, recorded: &AttemptLines, event: &AttemptEvent) -> Result<(), CertifyError> {
        let (end, start) = (&recorded.end, start_of(&self.fingerprint));
        Log::continue_at(&self.path, (end, end), &start)?.append(event)?;
        std::fs::OpenOptions::new()
            .append(true)
            .open(&self.path)
            .and_then(|file| file.sync_all())
            .map_err(CertifyError::io("sync", &self.path))
    }
}

impl AttemptLines {
    /// The lines of a log at `path`, which must be that of the key with this fingerprint. A chain that does not hold is told before
    /// a wrong start, and that before a line that is no event.
    fn of(path: &Path, mut log: LogReader<'_>, fingerprint: &str) -> Result<Self, CertifyError> {
        let (mut start, mut texts, mut events) = (None, Vec::new(), Vec::new());
        while let Some(line) = log.next_line()? {
            start.get_or_insert_with(|| line.prev.to_owned());
            texts.push(line.text.to_owned());
            events.push(line.typed::<AttemptEvent>());
        }
        if let Some(start) = start.filter(|start| *start != start_of(fingerprint)) {
            let (what, hint) = if start == NO_GENESIS {
                let what = "it is a log of an earlier version, which starts from no key".to_owned();
                (what, EARLIER_LOG)
            } else {
                let what = format!(
                    "its first line does not follow from the signing key {fingerprint}: it is the log of another key, or was changed"
                );
                (what, NOT_ITS_LOG)
            };
            return Err(CertifyError::Untrusted {
                path: path.to_owned(),
                what,
                hint,
            });
        }
        Ok(Self {
            fingerprint: fingerprint.to_owned(),
            texts,
            events: events.into_iter().collect::<Result<_, _>>()?,
            end: log.end().clone(),
        })
    }

    /// The copy of the log of the key with this fingerprint, as it stands next to a certificate; every byte of it counts.
    ///
    /// # Errors
    /// [`CertifyError`] naming the first line that was changed, and for the log of another key.
    pub fn of_copy(path: &Path, bytes: &[u8], fingerprint: &str) -> Result<Self, CertifyError> {
        let read = Self::of(path, LogReader::parse(path, bytes)?, fingerprint)?;
        if read.text().as_bytes() == bytes {
            Ok(read)
        } else {
            Err(CertifyError::damaged(path, "its last line has no end"))
        }
    }

    /// The first lines.
    fn up_to(&self, path: &Path, count: usize) -> Result<Self, CertifyError> {
        let text = text_of(self.texts.get(..count).unwrap_or_default());
        Self::of(path, LogReader::parse(path, text.as_bytes())?, &self.fingerprint)
    }

    /// The log as it is written.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.texts)
    }

    /// Its last line.
    #[must_use]
    pub fn head(&self) -> LogHead {
        let last = self.texts.last();
        LogHead {
            lines: self.texts.len(),
            sha256: last.map_or_else(|| start_of(&self.fingerprint), |line| sha256_hex(line.as_bytes())),
        }
    }

    /// Whether the log once ended so.
    #[must_use]
    pub fn has_been(&self, head: &LogHead) -> bool {
        let last = head.lines.checked_sub(1);
        last.map_or_else(
            || head.sha256 == start_of(&self.fingerprint),
            |last| {
                let line = self.texts.get(last);
                line.is_some_and(|line| sha256_hex(line.as_bytes()) == head.sha256)
            },
        )
    }

    /// Where a commitment stands.
    #[must_use]
    pub fn place_of_commitment(&self, named: &str) -> Option<usize> {
        self.events.iter().position(
            |event| matches!(event, AttemptEvent::Committed { commitment, .. } if commitment == named),
        )
    }

    /// Where the last verdict of an attempt stands, when it is this one.
    #[must_use]
    pub fn place_of_verdict(&self, named: &str, verdict: CertificateVerdict) -> Option<usize> {
        let is_its = |event: &AttemptEvent| matches!(event, AttemptEvent::Judged { commitment, .. } if commitment == named);
        let place = self.events.iter().rposition(is_its)?;
        let is_this = matches!(self.events.get(place), Some(AttemptEvent::Judged { verdict: found, .. }) if *found == verdict);
        is_this.then_some(place)
    }

    /// The attempts to certify a rung on a panel.
    #[must_use]
    pub fn count(&self, about: &AttemptSubject) -> AttemptCounts {
        let mut verdicts: BTreeMap<&str, Option<CertificateVerdict>> = BTreeMap::new();
        for event in &self.events {
            match event {
                AttemptEvent::Committed {
                    commitment, subject, ..
                } if subject == about => {
                    verdicts.entry(commitment).or_default();
                }
                AttemptEvent::Committed { .. } => {}
                AttemptEvent::Judged { commitment, verdict } => {
                    if let Some(found) = verdicts.get_mut(commitment.as_str())
                        && *found != Some(CertificateVerdict::Refused)
                    {
                        *found = Some(*verdict);
                    }
                }
            }
        }
        let number = |verdict: Option<CertificateVerdict>| {
            let of = verdicts.values().filter(|found| **found == verdict).count();
            u64::try_from(of).unwrap_or(u64::MAX)
        };
        AttemptCounts {
            attempts: u64::try_from(verdicts.len()).unwrap_or(u64::MAX),
            refused: number(Some(CertificateVerdict::Refused)),
            certified: number(Some(CertificateVerdict::Certified)),
            unjudged: number(None),
            log: self.head(),
        }
    }
}

/// What the log of a key starts from: it follows no line, and belongs to no other key.
fn start_of(fingerprint: &str) -> String {
    sha256_hex(format!("ktd attempts 1\n{fingerprint}").as_bytes())
}

/// Whole lines, as they are written.
fn text_of(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
