//! What a certificate says of an episode: whether the mask that hid its stocks and days was tried, and by whom.

use super::attacker_record::Knowledge;
use super::attempts::AttemptLines;
use super::certificate::Certificate;
use super::claimed_mask;
use super::commitment;
use super::set_record::Origin;
use super::signed::SignedCertificate;
use super::verify::check_itself;
use crate::CertifyError;
use ktd_bundle::header::Header;
use ktd_experiment::mask_hash::tools_sha256;
use ktd_masking::Mode;
use ktd_probes::judge::CertificateVerdict;
use ktd_probes::judge::{CertificateSummary, CertificationMark, CertificationStatus};
use ktd_probes::{AttackerClass, Measure};
use ktd_record::signing::PublicKey;
use std::path::{Path, PathBuf};

/// The decision mode whose steps probes show.
const MODE_PROBED: Mode = Mode::OpenResearch;

/// Certificates whose signatures fit, whose verdicts follow from their own counts, and whose signers keep one log each.
#[derive(Debug, Clone)]
pub struct Certificates {
    read: Vec<ReadCertificate>,
    is_signer_named: bool,
}

/// Certificate with the copy of its signer's log that stands beside it.
#[derive(Debug, Clone)]
struct ReadCertificate {
    path: PathBuf,
    signed: SignedCertificate,
    /// None where the certificate stands alone: its attempts are its own words then.
    log: Option<AttemptLines>,
}

impl Certificates {
    /// Certificates that were verified, each with its path, and whether the key of their signer was named.
    ///
    /// # Errors
    /// [`CertifyError`] for a log of attempts beside one that it does not count, and for two logs of one signer.
    pub fn of(
        verified: impl IntoIterator<Item = (PathBuf, SignedCertificate)>,
        is_signer_named: bool,
    ) -> Result<Self, CertifyError> {
        let read = verified.into_iter();
        let read = read.map(|(path, signed)| ReadCertificate::of(&path, signed));
        Self::of_one_log(read.collect::<Result<_, _>>()?, is_signer_named)
    }

    /// Reads certificates, which `whose` key must have signed where one is named. Probes beside one must be of its mask, the log
    /// of attempts beside one must be as it counts it, and all logs of one signer must be one.
    ///
    /// # Errors
    /// [`CertifyError`] naming the one that cannot be trusted.
    pub fn read(paths: &[PathBuf], whose: Option<&PublicKey>) -> Result<Self, CertifyError> {
        let read = |path: &PathBuf| {
            let signed = SignedCertificate::read(path, whose)?;
            check_itself(path, &signed.certificate)?;
            claimed_mask::check(path, &signed.certificate)?;
            commitment::check(path, &signed)?;
            ReadCertificate::of(path, signed)
        };
        let read = paths.iter().map(read).collect::<Result<_, CertifyError>>()?;
        Self::of_one_log(read, whose.is_some())
    }

    fn of_one_log(read: Vec<ReadCertificate>, is_signer_named: bool) -> Result<Self, CertifyError> {
        for (place, one) in read.iter().enumerate() {
            for other in read.iter().take(place) {
                one.check_same_log(other)?;
            }
        }
        Ok(Self {
            read,
            is_signer_named,
        })
    }

    /// The mark of one episode. Of several certificates for its mask and panel one that refuses counts before all that
    /// certify, then one that refuses against the database, and then the one that says most, whatever their order.
    #[must_use]
    pub fn mark(&self, header: &Header) -> CertificationMark {
        let about = self.read.iter().filter(|read| is_about(&read.signed, header));
        let marks = about.map(|read| mark(read, header, self.is_signer_named));
        marks
            .min_by_key(|mark| (!mark.is_refused(), !refuses_database(mark), mark.standing))
            .unwrap_or(CertificationMark::NONE)
    }
}

impl ReadCertificate {
    fn of(path: &Path, signed: SignedCertificate) -> Result<Self, CertifyError> {
        Ok(Self {
            path: path.to_owned(),
            log: commitment::check_attempts(path, &signed)?,
            signed,
        })
    }

    /// Whether the logs of two certificates of one signer are one, up to the verdict of each. A copied key file begins a log of
    /// its own, which nothing in either certificate tells.
    fn check_same_log(&self, other: &Self) -> Result<(), CertifyError> {
        let signer = &self.signed.signature.fingerprint;
        let (Some(own), Some(others)) = (&self.log, &other.log) else {
            return Ok(());
        };
        if *signer != other.signed.signature.fingerprint
            || own.has_been(&others.head())
            || others.has_been(&own.head())
        {
            return Ok(());
        }
        Err(CertifyError::Untrusted {
            path: self.path.clone(),
            what: format!(
                "its log of attempts and that of {} are not one: their signer, {signer}, kept two logs for one key",
                other.path.display()
            ),
            hint: "a copied key file begins a log of its own, and neither counts the attempts of the other: ask the signer for \
                   every log of this key, and rely on neither certificate until then",
        })
    }
}

/// Whether the certificate of a mark refuses the mask against the database, whatever else it says.
fn refuses_database(mark: &CertificationMark) -> bool {
    let by = mark.by.as_ref();
    by.is_some_and(|by| by.refused_against.contains(&AttackerClass::Database))
}

/// Whether a certificate is for what an episode showed. The hash says so, and the labels, prompts and tools beside it:
/// whoever reads a hash of another program cannot make it again.
fn is_about(signed: &SignedCertificate, header: &Header) -> bool {
    let set = &signed.certificate.set;
    header.mask.hash.as_ref() == Some(&set.mask.hash)
        && header.mask.instruction.is_none()
        && header.mask.level == set.plan.level
        && header.mask.numeric == set.plan.numeric
        && header.data.panel_blake3 == set.data.panel_blake3
        && header.prompts_sha256 == ktd_prompts::hash()
        && header.tools_sha256 == tools_sha256()
}

/// What a certificate of an episode's mask and panel comes to for it.
fn status(certificate: &Certificate, header: &Header, is_signer_named: bool) -> CertificationStatus {
    let plan = &certificate.set.plan;
    if certificate.set.probes == Origin::Given {
        return CertificationStatus::GivenProbes;
    }
    let against_models = is_certified_against(certificate, AttackerClass::Model);
    let is_models_only = certificate.verdict == CertificateVerdict::Refused && against_models;
    if certificate.verdict == CertificateVerdict::Refused && !is_models_only {
        return CertificationStatus::Refused;
    }
    let differs = [
        (header.mode != MODE_PROBED, CertificationStatus::OtherMode),
        (header.tools != plan.tools, CertificationStatus::OtherTools),
        (*header.rules != plan.rules, CertificationStatus::OtherRules),
        (header.session != plan.session, CertificationStatus::OtherSession),
        (
            certificate.set.steps_tried() < header.window.steps,
            CertificationStatus::ShorterEpisodes,
        ),
        // What few windows gave away says nothing of those that may be drawn.
        (
            !plan.windows.is_empty() && header.window.draw.is_some(),
            CertificationStatus::OtherWindows,
        ),
        (!is_signer_named, CertificationStatus::SignerNotChecked),
        (is_models_only, CertificationStatus::ModelsOnly),
        (is_public(header), CertificationStatus::PublicWindow),
        (
            certificate.settings().are_own(),
            CertificationStatus::OwnThresholds,
        ),
    ];
    let first = differs.into_iter().find(|(is_so, _)| *is_so);
    first.map_or(CertificationStatus::Certified, |(_, status)| status)
}

/// The classes that a certificate holds against for an episode: those that know the day or no price need not look for it in a
/// window that is public; the others have it without breaking any mask.
fn certified_against(mut classes: Vec<AttackerClass>, header: &Header) -> Vec<AttackerClass> {
    if is_public(header) {
        classes.retain(|class| matches!(class, AttackerClass::Model | AttackerClass::DatabaseAndDay));
    }
    classes
}

/// Whether the days of a window that its mask hides are known without it: listed in the file, a preset, or shown by another mask.
fn is_public(header: &Header) -> bool {
    let is_drawn = header.window.draw.as_ref().is_some_and(|draw| !draw.is_shown);
    header.mask.level.hides_days() && !is_drawn
}

fn is_certified_against(certificate: &Certificate, class: AttackerClass) -> bool {
    let mut verdicts = certificate.classes.iter();
    verdicts.any(|found| found.class == class && found.verdict == CertificateVerdict::Certified)
}

fn mark(read: &ReadCertificate, header: &Header, is_signer_named: bool) -> CertificationMark {
    let ReadCertificate { signed, log, .. } = read;
    let certificate = &signed.certificate;
    let Certificate { models, attempts, .. } = certificate;
    let classes = |verdict| -> Vec<AttackerClass> {
        let all = certificate.classes.iter();
        let of = all.filter(|class| class.verdict == verdict);
        of.map(|class| class.class).collect()
    };
    let standing = status(certificate, header, is_signer_named);
    // What is refused says how far it fell short; what is certified says how much is promised.
    let bounded = if standing == CertificationStatus::Refused {
        AttackerClass::ALL.to_vec()
    } else {
        classes(CertificateVerdict::Certified)
    };
    CertificationMark {
        standing,
        by: Some(CertificateSummary {
            certified_against: certified_against(classes(CertificateVerdict::Certified), header),
            refused_against: classes(CertificateVerdict::Refused),
            database_attackers: certificate.attackers_knowing(Knowledge::Database),
            language_attackers: certificate.attackers_knowing(Knowledge::Language),
            models_asked_from: models.iter().filter_map(|model| model.first_reply.clone()).min(),
            models_asked_to: models.iter().filter_map(|model| model.last_reply.clone()).max(),
            attempts: attempts.attempts,
            attempts_failed: attempts.refused.saturating_add(attempts.unjudged),
            attempts_checked: log.is_some(),
            nonce: certificate.set.deciding_nonce().map(str::to_owned),
            top5_excess: certificate.largest_excess(Measure::Top5, &bounded),
            joint_excess: certificate.largest_excess(Measure::Joint, &bounded),
            kinds_not_put: certificate.set.kinds_not_put(),
            episode_steps: certificate.set.steps_tried(),
            terms: certificate.settings(),
            fingerprint: signed.signature.fingerprint.clone(),
            signer_checked: is_signer_named,
        }),
    }
}
