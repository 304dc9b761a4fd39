//! What a certificate says of an episode: whether the mask that hid its stocks and days was tried, and by whom.

use super::attacker_record::Knowledge;
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
use std::path::PathBuf;

/// The decision mode whose steps probes show.
const MODE_PROBED: Mode = Mode::OpenResearch;

/// Certificates whose signatures fit and whose verdicts follow from their own counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificates {
    signed: Vec<SignedCertificate>,
    is_signer_named: bool,
}

impl Certificates {
    /// A certificate that was verified, and whether the key of its signer was named.
    #[must_use]
    pub fn of(signed: SignedCertificate, is_signer_named: bool) -> Self {
        Self {
            signed: vec![signed],
            is_signer_named,
        }
    }

    /// Reads certificates, which `whose` key must have signed where one is named. Probes beside one must be of its mask.
    ///
    /// # Errors
    /// [`CertifyError`] naming the one that cannot be trusted.
    pub fn read(paths: &[PathBuf], whose: Option<&PublicKey>) -> Result<Self, CertifyError> {
        let read = |path: &PathBuf| {
            let signed = SignedCertificate::read(path, whose)?;
            check_itself(path, &signed.certificate)?;
            claimed_mask::check(path, &signed.certificate)?;
            commitment::check(path, &signed)?;
            Ok(signed)
        };
        Ok(Self {
            signed: paths.iter().map(read).collect::<Result<_, CertifyError>>()?,
            is_signer_named: whose.is_some(),
        })
    }

    /// The mark of one episode. Of several certificates for its mask and panel one that refuses counts before all that
    /// certify, then one that refuses against the database, and then the one that says most, whatever their order.
    #[must_use]
    pub fn mark(&self, header: &Header) -> CertificationMark {
        let about = self.signed.iter().filter(|signed| is_about(signed, header));
        let marks = about.map(|signed| mark(signed, header, self.is_signer_named));
        marks
            .min_by_key(|mark| (!mark.is_refused(), !refuses_database(mark), mark.standing))
            .unwrap_or(CertificationMark::NONE)
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
        (header.rules != plan.rules, CertificationStatus::OtherRules),
        (header.session != plan.session, CertificationStatus::OtherSession),
        (
            certificate.set.steps_tried() < header.window.steps,
            CertificationStatus::ShorterEpisodes,
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

fn mark(signed: &SignedCertificate, header: &Header, is_signer_named: bool) -> CertificationMark {
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
            top5_excess: certificate.largest_excess(Measure::Top5, &bounded),
            joint_excess: certificate.largest_excess(Measure::Joint, &bounded),
            episode_steps: certificate.set.steps_tried(),
            terms: certificate.settings(),
            fingerprint: signed.signature.fingerprint.clone(),
            signer_checked: is_signer_named,
        }),
    }
}
