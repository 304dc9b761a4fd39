//! What a certificate says of an episode: whether the mask that hid its stocks and days was tried, and by whom.

use super::attacker_record::Knowledge;
use super::set_record::Origin;
use super::signed::SignedCertificate;
use super::signing::PublicKey;
use super::verify::check_itself;
use crate::CertifyError;
use ktd_bundle::header::Header;
use ktd_masking::Mode;
use ktd_probes::Measure;
use ktd_probes::judge::CertificateVerdict;
use ktd_probes::judge::{CertificateSummary, CertificationMark, CertificationStatus};
use std::path::PathBuf;

/// The decision mode whose steps probes show.
const MODE_PROBED: Mode = Mode::OpenResearch;

/// Certificates whose signatures fit, by `whose` key where one is expected, and whose verdicts follow from their own
/// counts.
///
/// # Errors
/// [`CertifyError`] naming the one that cannot be trusted.
pub fn read_certificates(
    paths: &[PathBuf],
    whose: Option<&PublicKey>,
) -> Result<Vec<SignedCertificate>, CertifyError> {
    let read = |path: &PathBuf| {
        let signed = SignedCertificate::read(path, whose)?;
        check_itself(path, &signed.certificate)?;
        Ok(signed)
    };
    paths.iter().map(read).collect()
}

/// The mark of one episode. Of several certificates for its mask, panel and tools one that refuses counts before all
/// that certify, and of these the one that says most, whatever their order.
#[must_use]
pub fn mark_of(header: &Header, certificates: &[SignedCertificate]) -> CertificationMark {
    let about = certificates.iter().filter(|signed| is_about(signed, header));
    let marks = about.map(|signed| mark(signed, header));
    marks
        .min_by_key(|mark| (!mark.is_refused(), mark.standing))
        .unwrap_or(CertificationMark::NONE)
}

/// Whether a certificate is for what an episode showed. The hash says so, and the labels beside it: whoever reads a hash
/// of another program cannot make it again.
fn is_about(signed: &SignedCertificate, header: &Header) -> bool {
    let set = &signed.certificate.set;
    header.mask.hash.as_ref() == Some(&set.mask.hash)
        && header.mask.level == set.plan.level
        && header.mask.numeric == set.plan.numeric
        && header.data.panel_blake3 == set.data.panel_blake3
        && header.tools == set.plan.tools
}

fn mark(signed: &SignedCertificate, header: &Header) -> CertificationMark {
    let certificate = &signed.certificate;
    let (steps, settings) = (certificate.set.steps_tried(), certificate.settings());
    let standing = if certificate.set.probes == Origin::Given {
        CertificationStatus::GivenProbes
    } else if certificate.verdict == CertificateVerdict::Refused {
        CertificationStatus::Refused
    } else if header.mode != MODE_PROBED {
        CertificationStatus::OtherMode
    } else if steps < header.window.steps {
        CertificationStatus::ShorterEpisodes
    } else if settings.are_own() {
        CertificationStatus::OwnThresholds
    } else {
        CertificationStatus::Certified
    };
    CertificationMark {
        standing,
        by: Some(CertificateSummary {
            database_attackers: certificate.attackers_knowing(Knowledge::Database),
            language_attackers: certificate.attackers_knowing(Knowledge::Language),
            top5_excess: certificate.largest_excess(Measure::Top5),
            joint_excess: certificate.largest_excess(Measure::Joint),
            episode_steps: steps,
            terms: settings,
            fingerprint: signed.signature.fingerprint.clone(),
        }),
    }
}
