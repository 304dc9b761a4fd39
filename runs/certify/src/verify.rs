//! Checking a certificate: signature, files, every figure; with the panel also the probes and the answers themselves.

use super::attack_run::Answers;
use super::attacker_record::Knowledge;
use super::certificate::Certificate;
use super::claimed_mask;
use super::commitment;
use super::completeness;
use super::compose::compose;
use super::control_probes;
use super::gold_line::GoldLine;
use super::models_asked::models_asked;
use super::paths::{CertifyPaths, SetPaths};
use super::probe_inputs::ProbeSet;
use super::probe_line::WrittenProbe;
use super::progress::ProgressFn;
use super::set_record::{Origin, SetRecord};
use super::signed::SignedCertificate;
use super::store::{compare, load_gold, load_probes};
use super::workspace::ProbeWorkspace;
use crate::CertifyError;
use ktd_bundle::guessable_key::parse_key;
use ktd_data::market_source::MarketSource;
use ktd_episode::verify::Verified;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_text};
use ktd_probes::judge::ControlSet;
use ktd_probes::{ProbeKind, ProbeText};
use ktd_record::signing::PublicKey;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Extent of a check of a certificate.
#[derive(Debug, Clone, Default)]
pub struct Check {
    /// Whose signature it must be.
    pub whose: Option<PublicKey>,
    /// The auditor's nonce that must have decided the draw.
    pub nonce: Option<String>,
    /// The panel; a synthetic one is made again without it.
    pub panel: Option<PathBuf>,
    /// Whether probes must be made again: what is missing for it is an error then, and a note else.
    pub remakes: bool,
    /// Whether the attackers must be put to the probes again as well.
    pub attacks: bool,
    /// Threads.
    pub threads: usize,
}

/// How many probes are made and attacked again, at most; none where the certificate cannot be read.
#[must_use]
pub fn progress_total(path: &Path, attacks: bool) -> usize {
    let signed = SignedCertificate::read(path, None);
    let Some(signed) = signed
        .ok()
        .filter(|signed| check_itself(path, &signed.certificate).is_ok())
    else {
        return 0;
    };
    let set = &signed.certificate.set;
    // Of probes that were given nothing but the certificate says how many there are.
    let probes = set.counts.values().copied().fold(0, usize::saturating_add);
    if !attacks {
        return probes;
    }
    let training = 2 * set.plan.training * set.counts.len();
    let control = 2 * (set.plan.control_probes + set.plan.training.min(set.plan.control_probes));
    probes
        .saturating_mul(2)
        .saturating_add(training + ControlSet::ALL.len() * control)
}

/// Checks a certificate and its other files; the first difference is the error.
///
/// # Errors
/// [`CertifyError`] naming the file and place that differs.
pub fn verify(
    path: &Path,
    check: &Check,
    progress: ProgressFn<'_>,
) -> Result<(SignedCertificate, Verified), CertifyError> {
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
    let are_all_files_there = check_files(&paths, certificate, &mut verified)?;
    check_models(path, &paths, certificate)?;
    if claimed_mask::check(path, certificate)? {
        verified.checks.push(format!(
            "mask: every probe shows only what {} shows",
            certificate.set.described()
        ));
    }
    check_commitment(path, &signed, check.nonce.as_deref(), &mut verified)?;
    if !are_all_files_there {
        if check.attacks || check.remakes {
            return Err(CertifyError::input(
                "private/ is missing from the certificate's folder: without its keys no probe can be made or attacked again",
                "ask its signer for private/, or check without --panel and --attack",
            ));
        }
        verified
            .unchecked
            .push("counts, probes and answers: private/ is not here, which names the stocks".to_owned());
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
    match market(certificate, check.panel.as_deref())? {
        Some(source) => remake(&paths, certificate, source, check, progress, &mut verified)?,
        None if check.attacks || check.remakes => {
            return Err(CertifyError::input(
                "the panel is missing: without it no probe can be made or attacked again",
                "name it with --panel",
            ));
        }
        None => verified
            .unchecked
            .push("probes and answers: name the panel with --panel to make them again".to_owned()),
    }
    Ok((signed, verified))
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

/// Whether what was attacked is what was committed to before, and the attempts are those of the log.
fn check_commitment(
    path: &Path,
    signed: &SignedCertificate,
    nonce: Option<&str>,
    verified: &mut Verified,
) -> Result<(), CertifyError> {
    commitment::check(path, signed)?;
    verified
        .checks
        .push("commitment: signed with the same key, to these probes, attackers and thresholds".to_owned());
    let attempts = &signed.certificate.attempts;
    if commitment::check_attempts(path, &signed.certificate)? {
        verified
            .checks
            .push(format!("attempts: {attempts}, as in the log next to it"));
    } else {
        verified.unchecked.push(format!(
            "attempts: {attempts}, by its own words: attempts.jsonl is not here"
        ));
    }
    let own = signed.certificate.set.plan.nonce.as_deref();
    match (nonce, own) {
        (Some(nonce), Some(own)) if nonce == own => verified
            .checks
            .push(format!("draw: decided by the nonce {own:?}")),
        (Some(nonce), _) => {
            return Err(CertifyError::Untrusted {
                path: path.to_owned(),
                what: format!("its draw is not decided by the nonce {nonce:?}"),
                hint: "its probes may have been tried before your nonce was known: ask for a certificate with it",
            });
        }
        (None, Some(own)) => verified.claimed.push(format!(
            "order: committed to before the attack, after the nonce {own:?} was given; name yours with --nonce"
        )),
        (None, None) => verified.claimed.push(
            "order: committed to before the attack; without an auditor's nonce nothing shows that".to_owned(),
        ),
    }
    Ok(())
}

/// Whether the files are those that were signed; `false` when private ones are missing, which nothing else may be.
fn check_files(
    paths: &CertifyPaths,
    certificate: &Certificate,
    verified: &mut Verified,
) -> Result<bool, CertifyError> {
    let mut absent = 0;
    for (name, hash) in &certificate.files {
        let path = paths.root().join(name);
        if !path.exists() && name.starts_with("private/") {
            absent += 1;
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
    let present = certificate.files.len() - absent;
    verified
        .checks
        .push(format!("files: {present} with the hashes that were signed"));
    Ok(absent == 0)
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

/// Compares a certificate with the one that its files give, and names the first line that differs.
fn compare_certificates(path: &Path, recorded: &Certificate, made: &Certificate) -> Result<(), CertifyError> {
    let (recorded, made) = (json_bytes(path, recorded)?, json_bytes(path, made)?);
    if recorded == made {
        return Ok(());
    }
    let (recorded, made) = (String::from_utf8_lossy(&recorded), String::from_utf8_lossy(&made));
    let differs = recorded
        .lines()
        .zip(made.lines())
        .find(|(left, right)| left != right)
        .map_or_else(
            || "it is longer or shorter than what its files give".to_owned(),
            |(left, right)| format!("it says {:?}, but its files give {:?}", left.trim(), right.trim()),
        );
    Err(does_not_follow(path, differs))
}

fn does_not_follow(path: &Path, what: String) -> CertifyError {
    CertifyError::Untrusted {
        path: path.to_owned(),
        what,
        hint: "it does not follow from what it says of itself, whoever signed it: rely on nothing in it",
    }
}

/// The panel, when it is at hand.
fn market(certificate: &Certificate, panel: Option<&Path>) -> Result<Option<MarketSource>, CertifyError> {
    let data = &certificate.set.data;
    let source = match (panel, &data.synthetic) {
        (Some(path), _) => MarketSource::from_file(path)?,
        (None, Some(synthetic)) => MarketSource::synthetic(synthetic)?,
        (None, None) => return Ok(None),
    };
    if source.record.panel_blake3 == data.panel_blake3 {
        return Ok(Some(source));
    }
    let what = format!(
        "the panel's hash is {}, but the certificate is for {}",
        source.record.panel_blake3, data.panel_blake3
    );
    Err(CertifyError::input(
        what,
        "name the panel of the certificate with --panel",
    ))
}

/// Makes probes, keys and, where asked, answers again and compares every byte.
fn remake(
    paths: &CertifyPaths,
    certificate: &Certificate,
    source: MarketSource,
    check: &Check,
    progress: ProgressFn<'_>,
    verified: &mut Verified,
) -> Result<(), CertifyError> {
    let record = &certificate.set;
    let path = paths.mask_key();
    let text = read_text(&path, JSON_LIMIT_BYTES)?;
    let key = parse_key(&text).map_err(|error| CertifyError::damaged(&path, error.to_string()))?;
    if key.commitment() != record.mask.commitment {
        return Err(CertifyError::damaged(
            &path,
            "it is not the key that the certificate commits to",
        ));
    }
    let workspace = ProbeWorkspace::open(source, &record.plan, key, check.threads)?;
    let probed = paths.probed();
    let set = match record.probes {
        Origin::Made => workspace.probes(&record.plan, progress)?,
        Origin::Given => given_again(&probed, record, &workspace)?,
    };
    let gold = workspace.gold_lines(&record.plan, record.plan.mask(), &set);
    compare_set(&probed, &set, &gold)?;
    match record.probes {
        Origin::Made => verified
            .checks
            .push("probes and keys: made again, byte for byte".to_owned()),
        Origin::Given => {
            verified
                .checks
                .push("keys: what the panel tells of them, made again".to_owned());
            verified
                .unchecked
                .push("probes: they were given, and nothing says how they were made".to_owned());
        }
    }
    if !check.attacks {
        verified
            .unchecked
            .push("answers: put the attackers to the probes again with --attack".to_owned());
        return Ok(());
    }
    compare_answers(&probed, &workspace.answers(record, &set.probes, progress)?)?;
    for control in ControlSet::of(record.plan.numeric, record.has_asked()) {
        let paths = paths.control(control.label());
        let (set, gold, answers) = workspace.control(control, &record.plan, progress)?;
        compare_set(&paths, &set, &gold)?;
        compare_answers(&paths, &answers)?;
    }
    verified
        .checks
        .push("answers and controls: every attack of the database made again, byte for byte".to_owned());
    if 0 < certificate.attackers_knowing(Knowledge::Language) {
        let paths = paths.control(ControlSet::BrightDay.label());
        let set = control_probes::make(ControlSet::BrightDay, &workspace.inputs, &record.plan, progress)?;
        let gold = workspace.gold_lines(&record.plan, ControlSet::BrightDay.mask(), &set);
        compare_set(&paths, &set, &gold)?;
        verified
            .unchecked
            .push("language models: what they answered is recorded, and they are not asked again".to_owned());
    }
    Ok(())
}

/// Probes that were given, from the files, with what their keys say of the panel.
fn given_again(
    paths: &SetPaths,
    record: &SetRecord,
    workspace: &ProbeWorkspace,
) -> Result<ProbeSet, CertifyError> {
    let (path, market) = (paths.at(paths.gold()), &workspace.inputs.source.market);
    let gold = load_gold(paths, &record.by_kind())?;
    let gold = gold.iter().enumerate();
    Ok(ProbeSet {
        probes: load_probes(paths, &record.by_kind())?,
        gold: gold
            .map(|(place, line)| line.gold(&path, place + 1, market))
            .collect::<Result<_, _>>()?,
    })
}

fn compare_set(paths: &SetPaths, set: &ProbeSet, gold: &[GoldLine]) -> Result<(), CertifyError> {
    let mut by_kind: BTreeMap<ProbeKind, Vec<&ProbeText>> = BTreeMap::new();
    for probe in &set.probes {
        by_kind.entry(probe.kind).or_default().push(probe);
    }
    for (kind, probes) in by_kind {
        let lines = probes
            .into_iter()
            .map(WrittenProbe::of)
            .collect::<Result<Vec<_>, _>>()?;
        compare(&paths.at(&paths.probes(kind)), &lines)?;
    }
    compare(&paths.at(paths.gold()), gold)
}

fn compare_answers(paths: &SetPaths, answers: &Answers) -> Result<(), CertifyError> {
    for (attacker, lines) in answers {
        compare(&paths.at(&paths.answers(attacker)), lines)?;
    }
    Ok(())
}
