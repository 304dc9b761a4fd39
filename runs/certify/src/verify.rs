//! Checking a certificate: signature, files, every figure; with the panel also the probes and the answers themselves.

use super::answer_blocks::LESSONS;
use super::attacker_record::Knowledge;
use super::certificate::Certificate;
use super::claimed_mask;
use super::commitment;
use super::comparison::{compare_certificates, does_not_follow};
use super::completeness;
use super::compose::compose;
use super::kind::CertificateStudy;
use super::models_asked::models_asked;
use super::named_draw::NamedDraw;
use super::paths::CertifyPaths;
use super::set_record::{Origin, SetRecord};
use super::signed::SignedCertificate;
use crate::CertifyError;
use ktd_data::market_source::MarketSource;
use ktd_episode::verify::Verified;
use ktd_io::sha256::sha256_file;
use ktd_record::signing::PublicKey;
use ktd_study::{Depth, MovedFiles, StudyRun, replay_study, told_unnamed};
use std::path::{Path, PathBuf};

/// Extent of a check of a certificate.
#[derive(Debug, Clone, Default)]
pub struct Check {
    /// Whose signature it must be.
    pub whose: Option<PublicKey>,
    /// The auditor's nonce that must have decided the draw.
    pub nonce: Option<String>,
    /// The hash of the plan that its signer gave away before the nonce was known.
    pub plan_sha256: Option<String>,
    /// Whether the study that the certificate is of is checked beside it.
    pub is_study_checked: bool,
    /// The panel; a synthetic one is made again without it.
    pub panel: Option<PathBuf>,
    /// Whether probes must be made again: what is missing for it is an error then, and a note else.
    pub remakes: bool,
    /// Whether the attackers must be put to the probes again as well.
    pub attacks: bool,
}

impl Check {
    fn draw(&self) -> NamedDraw<'_> {
        NamedDraw {
            nonce: self.nonce.as_deref(),
            plan_sha256: self.plan_sha256.as_deref(),
        }
    }
}

/// Checks a certificate and its other files; the first difference is the error.
///
/// # Errors
/// [`CertifyError`] naming the file and place that differs.
pub fn verify(path: &Path, check: &Check) -> Result<(SignedCertificate, Verified), CertifyError> {
    let signed = SignedCertificate::read(path, check.whose.as_ref())?;
    let certificate = &signed.certificate;
    check_itself(path, certificate)?;
    let paths = CertifyPaths::new(path.parent().unwrap_or(Path::new("")));
    let mut verified = Verified {
        checks: vec![
            format!("signature: key {}", signed.signature.fingerprint),
            "bounds and verdict: recomputed from the counts".to_owned(),
        ],
        unchecked: Vec::new(),
        claimed: Vec::new(),
    };
    if check.whose.is_none() {
        verified
            .unchecked
            .push("whose key it is: name the signer's with --public-key".to_owned());
    }
    if is_alone(&paths, certificate)? {
        if check.attacks || check.remakes {
            return Err(CertifyError::input(
                "the certificate stands alone: without the files that were signed with it nothing can be made or attacked again",
                "ask its signer for the whole folder, or check without --panel and --attack",
            ));
        }
        let files = "commitment, files, mask, counts, probes and answers: none of the files that were signed is beside it";
        verified.unchecked.push(files.to_owned());
        check_log(path, &signed, &mut verified)?;
        if let Err(error) = certificate.set.check_source() {
            verified.unchecked.push(error.to_string());
        }
        check.draw().check(path, certificate)?;
        return Ok((signed, verified));
    }
    let absent = check_files(&paths, certificate, &mut verified)?;
    check_models(path, &paths, certificate)?;
    if claimed_mask::check(path, certificate)? {
        verified.checks.push(format!(
            "mask: every probe shows only what {} shows",
            certificate.set.described()
        ));
    }
    check_commitment(path, &signed, check, &mut verified)?;
    if let Some(absent) = absent {
        if check.attacks || check.remakes {
            return Err(CertifyError::input(
                format!(
                    "{absent} is missing from the certificate's folder: without its keys no probe can be made or attacked again"
                ),
                "ask its signer for private/, or check without --panel and --attack",
            ));
        }
        verified.unchecked.push(format!(
            "counts, probes and answers: {absent} is not here, which names the stocks or their aliases"
        ));
        if let Err(error) = certificate.set.check_source() {
            verified.unchecked.push(error.to_string());
        }
        return Ok((signed, verified));
    }
    certificate.set.check_source()?;
    check_counts(path, &paths, certificate)?;
    verified
        .checks
        .push("counts: every share recomputed from the recorded answers".to_owned());
    Ok((signed, verified))
}

/// Makes the probes and their keys of a certificate again, and with `attacks` every answer of the attackers of the database, and
/// compares each line: the study beside it, from its record. Language models are not asked again.
///
/// # Errors
/// [`CertifyError`] naming the first line that differs, and for another panel.
pub fn make_again(
    path: &Path,
    (signed, verified): (&SignedCertificate, &mut Verified),
    check: &Check,
    run: &StudyRun<'_>,
) -> Result<(), CertifyError> {
    let is_made = is_made_again(path, (signed, &mut *verified), check, run)?;
    if !is_made {
        check.draw().check_is_known(&signed.certificate)?;
    }
    check.draw().tell(&signed.certificate, is_made, verified);
    let is_study_checked = is_made || check.is_study_checked;
    let beside = unsigned_beside(path, &signed.certificate);
    if !is_study_checked && !beside.is_empty() {
        verified.unchecked.push(format!(
            "{}: not among what was signed, and made by nobody again",
            beside.join(", ")
        ));
    }
    Ok(())
}

/// The files beside a certificate that people read and its signature does not bind.
fn unsigned_beside(path: &Path, certificate: &Certificate) -> Vec<&'static str> {
    const READ: [&str; 5] = [
        "index.html",
        "report.json",
        "figures.csv",
        "study.json",
        "units.jsonl",
    ];
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_unsigned = |name: &&str| folder.join(name).exists() && !certificate.files.contains_key(*name);
    READ.into_iter().filter(is_unsigned).collect()
}

/// Whether the study beside a certificate was made again; see [`make_again`].
fn is_made_again(
    path: &Path,
    (signed, verified): (&SignedCertificate, &mut Verified),
    check: &Check,
    run: &StudyRun<'_>,
) -> Result<bool, CertifyError> {
    const PROBES: [&str; 1] = ["set"];
    const ALL: [&str; 4] = ["set", LESSONS, "answers", "control."];
    let certificate = &signed.certificate;
    let (set, panel) = (&certificate.set, check.panel.as_deref());
    let folder = path.parent().unwrap_or(Path::new(""));
    if !CertifyPaths::new(folder).mask_key().exists() {
        return Ok(false);
    }
    if !folder.join("study.json").exists() {
        if check.attacks || check.remakes {
            return Err(CertifyError::input(
                format!(
                    "{}: study.json is missing, and without it nothing is made again",
                    folder.display()
                ),
                "take the whole folder from its signer, or check without --panel and --attack",
            ));
        }
        let left = "probes and answers: study.json is not beside the certificate, and nothing is made again without it";
        verified.unchecked.push(left.to_owned());
        return Ok(false);
    }
    if panel.is_none() && set.data.synthetic.is_none() {
        if check.attacks {
            return Err(CertifyError::input(
                "the panel is missing: without it no probe can be made or attacked again",
                "name it with --panel",
            ));
        }
        let left = "probes and answers: name the panel with --panel to make them again";
        verified.unchecked.push(left.to_owned());
        return Ok(false);
    }
    panel.map_or(Ok(()), |panel| check_panel(panel, set))?;
    let depth = Depth::Named(if check.attacks { &ALL } else { &PROBES });
    // A synthetic panel is made again: that the file is the same one was seen above.
    let moved = MovedFiles {
        base: panel.map(|_| Path::new("")),
        panel: panel.filter(|_| set.data.synthetic.is_none()),
    };
    let replayed = replay_study::<CertificateStudy>(folder, moved, depth, run)
        .map_err(|error| error.at("the files are those that were signed; the study beside them"))?;
    let (checks, unchecked) = (&mut verified.checks, &mut verified.unchecked);
    if !check.is_study_checked {
        unchecked.extend(told_unnamed(&replayed.unnamed));
    }
    match set.probes {
        Origin::Made => checks.push("probes and keys: made again, byte for byte".to_owned()),
        Origin::Given => {
            checks.push("keys: what the panel tells of them, made again".to_owned());
            unchecked.push("probes: they were given, and nothing says how they were made".to_owned());
        }
    }
    if check.attacks {
        checks
            .push("answers and controls: every attack of the database made again, byte for byte".to_owned());
    } else {
        unchecked.push("answers: put the attackers to the probes again with --attack".to_owned());
    }
    if 0 < certificate.attackers_knowing(Knowledge::Language) {
        let asked = "language models: what they answered is recorded, and they are not asked again";
        unchecked.push(asked.to_owned());
    }
    Ok(true)
}

/// Whether a panel is the one that a set was made on.
fn check_panel(panel: &Path, set: &SetRecord) -> Result<(), CertifyError> {
    let found = MarketSource::from_file(panel)?.record.panel_blake3;
    if found == set.data.panel_blake3 {
        return Ok(());
    }
    Err(CertifyError::input(
        format!(
            "the panel's hash is {found}, but the certificate is for {}",
            set.data.panel_blake3
        ),
        "name the panel of the certificate with --panel",
    ))
}

/// The certificate is whole, of a mask and a program that are known, and bounds, verdict and reasons follow from its own
/// counts; no file is needed.
///
/// # Errors
/// [`CertifyError::Untrusted`] when it is not or they do not, [`CertifyError::Input`] for another program's.
pub fn check_itself(path: &Path, certificate: &Certificate) -> Result<(), CertifyError> {
    let named = |error: CertifyError| {
        if let CertifyError::Input(input) = &error {
            let what = format!("{}: {input}", path.display());
            CertifyError::input(what, input.hint().unwrap_or_default())
        } else {
            error
        }
    };
    if let Some(fault) = completeness::fault(certificate).map_err(named)? {
        return Err(does_not_follow(path, fault.to_owned()));
    }
    compare_certificates(path, certificate, &certificate.judged_again()?)
}

/// How many attempts the log counts, where it is there.
fn check_log(path: &Path, signed: &SignedCertificate, verified: &mut Verified) -> Result<(), CertifyError> {
    let attempts = &signed.certificate.attempts;
    if commitment::check_attempts(path, signed)?.is_some() {
        let counted = format!("attempts: {attempts}, as in the log next to it");
        verified.checks.push(counted);
    } else {
        let unchecked = format!("attempts: {attempts}, by its own words: attempts.jsonl is not here");
        verified.unchecked.push(unchecked);
    }
    Ok(())
}

/// Whether what was attacked is what was committed to before, and the attempts are those of the log.
fn check_commitment(
    path: &Path,
    signed: &SignedCertificate,
    check: &Check,
    verified: &mut Verified,
) -> Result<(), CertifyError> {
    commitment::check(path, signed)?;
    verified
        .checks
        .push("commitment: signed with the same key, to these probes, attackers and thresholds".to_owned());
    verified
        .claimed
        .push("order: committed to before the attack: no file says when it was written".to_owned());
    check_log(path, signed, verified)?;
    check.draw().check(path, &signed.certificate)
}

/// Whether none of the files lies beside the certificate that were signed with it.
///
/// # Errors
/// [`CertifyError`] where some do: a part of them shows nothing.
fn is_alone(paths: &CertifyPaths, certificate: &Certificate) -> Result<bool, CertifyError> {
    let public = certificate
        .files
        .keys()
        .filter(|name| !name.starts_with("private/"));
    let (here, missing): (Vec<&String>, Vec<&String>) =
        public.partition(|name| paths.root().join(name.as_str()).exists());
    match missing.first() {
        None => Ok(false),
        Some(_) if here.is_empty() => Ok(true),
        Some(first) => Err(CertifyError::input(
            format_args!(
                "{}: {} of the files that were signed with it are missing, {first} among them",
                paths.root().display(),
                missing.len()
            ),
            "take the whole folder from its signer, or check the certificate alone",
        )),
    }
}

/// Whether the files are those that were signed; which private one is missing first, or that all are, which nothing else may be.
fn check_files(
    paths: &CertifyPaths,
    certificate: &Certificate,
    verified: &mut Verified,
) -> Result<Option<String>, CertifyError> {
    let mut absent: Vec<&String> = Vec::new();
    for (name, hash) in &certificate.files {
        let path = paths.root().join(name);
        if !path.exists() && name.starts_with("private/") {
            absent.push(name);
            continue;
        }
        if sha256_file(&path)? != *hash {
            return Err(CertifyError::damaged(
                &path,
                "its hash is not the one in certificate.json",
            ));
        }
    }
    let path = paths.set_record();
    if SetRecord::read(&path)? != certificate.set {
        return Err(CertifyError::damaged(
            &path,
            "it is not the set of certificate.json",
        ));
    }
    let present = certificate.files.len() - absent.len();
    verified
        .checks
        .push(format!("files: {present} with the hashes that were signed"));
    let has_none = !paths.root().join("private").exists();
    let first = absent.first().map(|name| (*name).clone());
    Ok(first.map(|first| if has_none { "private/".to_owned() } else { first }))
}

/// Whether the language models are those that the exchanges name.
fn check_models(path: &Path, paths: &CertifyPaths, certificate: &Certificate) -> Result<(), CertifyError> {
    let made = models_asked(paths, &certificate.attackers, &certificate.unanswered)?;
    if made == certificate.models {
        return Ok(());
    }
    Err(does_not_follow(
        path,
        "its exchanges name other models or other times".to_owned(),
    ))
}

fn check_counts(path: &Path, paths: &CertifyPaths, certificate: &Certificate) -> Result<(), CertifyError> {
    compare_certificates(
        path,
        certificate,
        &compose(
            paths,
            certificate.criteria(),
            certificate.attackers.clone(),
            certificate.attempts.clone(),
        )?,
    )
}
