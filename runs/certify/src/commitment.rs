//! `commitment.json`: what will be attacked, by whom, and what would pass, signed before anybody is asked.

use super::attacker_record::AttackerRecord;
use super::attempts::{AttemptLines, AttemptLog, AttemptSubject, LogHead};
use super::certificate::Certificate;
use super::paths::{COMMITMENT, CertifyPaths};
use super::set_record::SetRecord;
use super::signed::SignedCertificate;
use crate::CertifyError;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{
    Durability, IfExists, JSON_LIMIT_BYTES, json_bytes, list_if_exists, read_bounded, read_if_exists,
    write_file,
};
use ktd_probes::judge::{AcceptanceCriteria, Thresholds};
use ktd_record::signing::{PublicKey, Signature, SigningKey};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Commitment of a signer to a set of probes: it binds everything that decides a verdict but the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commitment {
    /// Plan with the auditor's nonce, panel, mask, the commitment of its key, the program's sources, and the hashes of the
    /// probes and of their answer key.
    pub set: SetRecord,
    /// Confidence of each interval, by itself and over all attackers.
    pub confidence: f64,
    /// How far above chance an upper bound may lie.
    pub thresholds: Thresholds,
    /// Who will be asked.
    pub attackers: Vec<AttackerRecord>,
    /// The signer's log of attempts as it was: what came before cannot be taken out of it any more.
    pub log: LogHead,
}

/// Commitment with its signature, `commitment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedCommitment {
    /// What is signed.
    pub commitment: Commitment,
    /// By whom.
    pub signature: Signature,
}

/// Signer of a certificate: a key, and the log of what it was used for.
#[derive(Debug)]
pub struct CertificateSigner {
    /// The key.
    pub key: SigningKey,
    /// The log of attempts.
    pub log: AttemptLog,
}

impl SignedCommitment {
    /// Reads a commitment that this key signed.
    ///
    /// # Errors
    /// [`CertifyError::Untrusted`] for one that was changed or that another key signed.
    pub fn read(path: &Path, whose: &PublicKey) -> Result<Self, CertifyError> {
        let bytes = read_bounded(path, JSON_LIMIT_BYTES)?;
        let untrusted = |what: String| CertifyError::Untrusted {
            path: path.to_owned(),
            what,
            hint: "take the commitment from its signer again; to certify with another key or anew, choose another directory",
        };
        let signed: Self = serde_json::from_slice(&bytes)
            .map_err(|error| untrusted(format!("it is not a signed commitment: {error}")))?;
        if let Some(fault) = signed.signature.fault(&signed.commitment)? {
            return Err(untrusted(fault.to_owned()));
        }
        if bytes != json_bytes(path, &signed)? {
            return Err(untrusted("its bytes are not those that were written".to_owned()));
        }
        if signed.signature.signer() != Some(*whose) {
            let what = format!(
                "it is signed with the key {}, but the certificate's is {}",
                signed.signature.fingerprint,
                whose.fingerprint()
            );
            return Err(untrusted(what));
        }
        Ok(signed)
    }
}

impl Commitment {
    /// The first part in which what is to be judged, or was, is not what was committed to.
    #[must_use]
    pub fn differs_from(
        &self,
        set: &SetRecord,
        criteria: AcceptanceCriteria,
        attackers: &[AttackerRecord],
    ) -> Option<&'static str> {
        let same_confidence = self.confidence.total_cmp(&criteria.confidence).is_eq();
        let parts = [
            ("probes", self.set == *set),
            ("confidence", same_confidence),
            ("thresholds", self.thresholds == criteria.thresholds),
            ("attackers", self.attackers == attackers),
        ];
        parts.into_iter().find(|(_, same)| !same).map(|(part, _)| part)
    }
}

impl CertificateSigner {
    /// Commits to a set of probes before anybody is asked; what was committed to stands. SHA-256 of `commitment.json`.
    ///
    /// # Errors
    /// [`CertifyError`] for a directory whose commitment is to something else, or whose probes were answered without one.
    pub fn commit(
        &self,
        paths: &CertifyPaths,
        set: &SetRecord,
        criteria: AcceptanceCriteria,
        attackers: Vec<AttackerRecord>,
    ) -> Result<String, CertifyError> {
        let path = paths.commitment();
        if path.exists() {
            let known = SignedCommitment::read(&path, &self.key.public())?.commitment;
            if let Some(part) = known.differs_from(set, criteria, &attackers) {
                return Err(CertifyError::input(
                    format!("{}: it commits to other {part}", path.display()),
                    "choose another directory with --out: what was committed to before the attack stands",
                ));
            }
        } else {
            check_unanswered(paths)?;
            let commitment = Commitment {
                set: set.clone(),
                confidence: criteria.confidence,
                thresholds: criteria.thresholds,
                attackers,
                log: self.log.read()?.head(),
            };
            let signature = self.key.sign(&commitment)?;
            let signed = SignedCommitment {
                commitment,
                signature,
            };
            let bytes = json_bytes(&path, &signed)?;
            write_file(&path, &bytes, IfExists::Refuse, Durability::Synced)?;
        }
        let sha256 = sha256_file(&path)?;
        self.log.commit(&sha256, set)?;
        Ok(sha256)
    }
}

/// Whether nobody was asked yet: what was attacked before it was committed to may have been chosen by its answers.
fn check_unanswered(paths: &CertifyPaths) -> Result<(), CertifyError> {
    for name in ["answers", "controls", "units"] {
        let folder = paths.root().join(name);
        if !list_if_exists(&folder)?.is_empty() {
            return Err(CertifyError::input(
                format!(
                    "{} holds answers, but {COMMITMENT} is missing: these probes were attacked before they were committed to",
                    folder.display()
                ),
                "choose another directory with --out and let a new mask key be drawn; `--commit-only` commits and asks nobody",
            ));
        }
    }
    Ok(())
}

/// The commitment of a record that is made again: what stands beside it, where it is this signer's, to these probes, criteria and
/// attackers. Its SHA-256.
///
/// # Errors
/// [`CertifyError`] naming what differs.
pub(super) fn recorded(
    path: &Path,
    (set, criteria, attackers): (&SetRecord, AcceptanceCriteria, &[AttackerRecord]),
    signed_by: Option<&str>,
) -> Result<String, CertifyError> {
    let signer = read_unchecked(path)?.and_then(|signed| signed.signature.signer());
    let signer = signer.filter(|signer| Some(signer.fingerprint().as_str()) == signed_by);
    let signer =
        signer.ok_or_else(|| CertifyError::damaged(path, "it is not signed by whom the study names"))?;
    let commitment = SignedCommitment::read(path, &signer)?.commitment;
    match commitment.differs_from(set, criteria, attackers) {
        None => Ok(sha256_file(path)?),
        Some(part) => Err(CertifyError::damaged(path, format!("it commits to other {part}"))),
    }
}

/// Whether a certificate is about what its signer committed to; `false` where the commitment is not next to it.
///
/// # Errors
/// [`CertifyError`] naming what differs.
pub(super) fn check(path: &Path, signed: &SignedCertificate) -> Result<bool, CertifyError> {
    let certificate = &signed.certificate;
    let file = CertifyPaths::new(path.parent().unwrap_or(Path::new(""))).commitment();
    let Some(signer) = signed.signature.signer().filter(|_| file.exists()) else {
        return Ok(false);
    };
    if certificate.files.get(COMMITMENT) != Some(&sha256_file(&file)?) {
        return Err(CertifyError::damaged(
            &file,
            "its hash is not the one in certificate.json",
        ));
    }
    let commitment = SignedCommitment::read(&file, &signer)?.commitment;
    let Certificate { set, attackers, .. } = certificate;
    match commitment.differs_from(set, certificate.criteria(), attackers) {
        None => Ok(true),
        Some(part) => Err(untrusted(
            path,
            format!("its {part} are not those of {COMMITMENT}"),
        )),
    }
}

/// The copy of its signer's log next to a certificate, whose attempts the certificate counts; none where there is none.
///
/// # Errors
/// [`CertifyError`] naming what differs.
pub(super) fn check_attempts(
    path: &Path,
    signed: &SignedCertificate,
) -> Result<Option<AttemptLines>, CertifyError> {
    let (certificate, signer) = (&signed.certificate, &signed.signature.fingerprint);
    let paths = CertifyPaths::new(path.parent().unwrap_or(Path::new("")));
    let file = paths.attempts();
    let Some(bytes) = read_if_exists(&file)? else {
        return Ok(None);
    };
    let lines = AttemptLines::of_copy(&file, &bytes, signer)?;
    let counted = lines.count(&AttemptSubject::of(&certificate.set));
    if counted != certificate.attempts {
        let what = format!(
            "it counts {}, but {} has {counted}",
            certificate.attempts,
            file.display()
        );
        return Err(untrusted(path, what));
    }
    let own = certificate.files.get(COMMITMENT).map_or("", String::as_str);
    let committed = lines.place_of_commitment(own);
    let judged = lines.place_of_verdict(own, certificate.verdict);
    let is_last = committed < judged && judged.map(|place| place + 1) == Some(counted.log.lines);
    if committed.is_none() || !is_last {
        let what = format!(
            "{} does not end with its commitment and its verdict",
            file.display()
        );
        return Err(untrusted(path, what));
    }
    let commitment = paths.commitment();
    if let Some(signed) = read_unchecked(&commitment)?
        && !(lines.has_been(&signed.commitment.log) && Some(signed.commitment.log.lines) <= committed)
    {
        let what = format!(
            "{} was not what the commitment says when it was made",
            file.display()
        );
        return Err(untrusted(path, what));
    }
    Ok(Some(lines))
}

/// A commitment whose signature another check looks at.
fn read_unchecked(path: &Path) -> Result<Option<SignedCommitment>, CertifyError> {
    if path.exists() {
        Ok(Some(ktd_io::whole_file::read_json(path)?))
    } else {
        Ok(None)
    }
}

fn untrusted(path: &Path, what: String) -> CertifyError {
    CertifyError::Untrusted {
        path: path.to_owned(),
        what,
        hint: "what was certified is not what was committed to before the attack, whoever signed it: rely on nothing in it",
    }
}
