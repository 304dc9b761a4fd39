//! The order of acts of `ktd probe` and `ktd certify`.

use super::attacker_record::database_attackers;
use super::attempts::{AttemptCounts, AttemptSubject};
use super::certificate::Certificate;
use super::commitment::CertificateSigner;
use super::compose::{compose, count_probes};
use super::progress::ProgressFn;
use super::run::CertifyRun;
use super::set_record::SetRecord;
use super::signed::SignedCertificate;
use crate::CertifyError;
use futures::future::LocalBoxFuture;
use ktd_io::crash_points::{CrashPoint, passes};
use ktd_io::whole_file::write_whole;
use ktd_masking::Level;
use ktd_probes::judge::{AttackCounts, RecoveryRate, UnansweredCount};
use serde::Serialize;

/// Callbacks of a run that takes long.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "callbacks have nothing to show")]
pub struct RunProgress<'a> {
    /// Called as probes are made and attacked.
    pub probing: ProgressFn<'a>,
    /// Called as language models answer.
    pub asking: ProgressFn<'a>,
}

/// Questions that language models are being asked: what they recovered, once whoever has a runtime has waited for it.
pub type Asking<'a> = LocalBoxFuture<'a, Result<AttackCounts, CertifyError>>;

/// Result of `ktd probe`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeReport {
    /// The probes.
    pub set: SetRecord,
    /// What was recovered.
    pub figures: Vec<RecoveryRate>,
    /// Probes without an answer.
    pub unanswered: Vec<UnansweredCount>,
}

/// Makes the probes, puts every attacker to them, and counts what they recover. What is on disk is kept. `wait` waits for
/// the language models.
///
/// # Errors
/// [`CertifyError`] for bad input and a full disk, and whatever `wait` fails with.
pub fn probe<E: From<CertifyError>>(
    run: &CertifyRun,
    progress: RunProgress<'_>,
    wait: impl FnOnce(Asking<'_>) -> Result<AttackCounts, E>,
) -> Result<ProbeReport, E> {
    let _lock = run.paths.lock_for_writing().map_err(CertifyError::from)?;
    let record = run.attack(progress.probing)?;
    let mut counts = count_probes(&run.paths, &record, &database_attackers())?;
    let asked = wait(Box::pin(run.ask_language(&record, progress.asking)))?;
    counts.recovered.extend(asked.recovered);
    counts.unanswered.extend(asked.unanswered);
    let rule = run.rule(&record.plan);
    let figures = counts.recovered.iter().map(|count| rule.rate(count));
    let figures: Result<Vec<RecoveryRate>, _> = figures.collect();
    Ok(ProbeReport {
        set: record,
        figures: figures.map_err(CertifyError::from)?,
        unanswered: counts.unanswered,
    })
}

/// Makes the probes and commits to them; nobody is asked. SHA-256 of `commitment.json`.
///
/// # Errors
/// [`CertifyError`] for bad input, a full disk, and a directory with another commitment.
pub fn commit(
    run: &CertifyRun,
    signer: &CertificateSigner,
    progress: ProgressFn<'_>,
) -> Result<String, CertifyError> {
    check_level(run)?;
    let _lock = run.paths.lock_for_writing()?;
    let (record, _) = run.make_set(progress)?;
    signer.commit(&run.paths, &record, run.criteria(), run.attackers())
}

/// Makes the probes, commits to them, makes the positive controls, puts every attacker to both, and signs and writes the
/// certificate that follows. `wait` waits for the language models.
///
/// # Errors
/// [`CertifyError`] for bad input and a full disk, and whatever `wait` fails with. A certificate that is refused is no
/// error.
pub fn certify<E: From<CertifyError>>(
    run: &CertifyRun,
    signer: &CertificateSigner,
    progress: RunProgress<'_>,
    wait: impl FnOnce(Asking<'_>) -> Result<AttackCounts, E>,
) -> Result<SignedCertificate, E> {
    check_level(run)?;
    let _lock = run.paths.lock_for_writing().map_err(CertifyError::from)?;
    let (record, workspace) = run.make_set(progress.probing)?;
    let commitment = signer.commit(&run.paths, &record, run.criteria(), run.attackers())?;
    passes(CrashPoint::ProbesCommitted);
    run.attack_with_controls(&record, &workspace, progress.probing)?;
    drop(workspace);
    wait(Box::pin(async {
        let asked = run.ask_language(&record, progress.asking).await?;
        run.ask_control(&|| {}).await?;
        Ok(asked)
    }))?;
    let judged = compose(
        &run.paths,
        run.criteria(),
        run.attackers(),
        AttemptCounts::default(),
    )?;
    // The log has the verdict before the certificate exists: a kill in between hides nothing.
    let log = signer.log.judge(&commitment, judged.verdict)?;
    write_whole(&run.paths.attempts(), log.text().as_bytes()).map_err(CertifyError::from)?;
    let certificate = Certificate {
        attempts: log.count(&AttemptSubject::of(&record)),
        ..judged
    };
    let signed = SignedCertificate::sign(certificate, &signer.key)?;
    signed.write(&run.paths.certificate())?;
    Ok(signed)
}

/// A mask that hides nothing has nothing to certify.
fn check_level(run: &CertifyRun) -> Result<(), CertifyError> {
    if run.config.mask.level == Level::Bright {
        return Err(CertifyError::input(
            "the level `bright` shows every stock and every day: there is nothing to certify",
            "certify stock-blind, date-blind or blinded; `ktd probe` counts what bright gives away",
        ));
    }
    Ok(())
}
