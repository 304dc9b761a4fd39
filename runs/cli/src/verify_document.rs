//! What `ktd verify` found, for programs.

use ktd_certify::attempts::AttemptCounts;
use ktd_certify::models_asked::ModelAsked;
use ktd_certify::set_record::Origin;
use ktd_certify::signed::SignedCertificate;
use ktd_episode::verify::Verified;
use ktd_probes::ProbeKind;
use ktd_probes::judge::{
    CertificateVerdict, CertificationMark, DetectableShare, JudgementSettings, PassOdds, Refusal,
};
use ktd_record::signer_mark::SignerMark;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bundles and a certificate that were checked.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct VerifiedDocument {
    pub(super) bundles: Vec<VerifiedBundle>,
    /// Publications and boards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) signed: Vec<VerifiedFolder>,
    /// The one of `--certificate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) certificate: Option<CheckedCertificate>,
    /// Those of the folders that were named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) certificates: Vec<CheckedCertificate>,
    /// What is wrong with the logs of attempts beside the certificates that hold each by themselves: their signer kept two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logs: Option<FoundByCheck>,
}

/// A bundle, or a study.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct VerifiedBundle {
    /// Its directory.
    pub(super) bundle: String,
    /// Whether the certificate is for its mask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mask: Option<CertificationMark>,
    /// What the report of a study concludes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) says: Option<String>,
    #[serde(flatten)]
    pub(super) found: FoundByCheck,
}

/// A folder that somebody may have signed.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct VerifiedFolder {
    pub(super) folder: String,
    /// Who signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signer: Option<SignerMark>,
    #[serde(flatten)]
    pub(super) found: FoundByCheck,
}

/// What a check found.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct FoundByCheck {
    /// Whether it is as it says: so is a certificate that certifies nothing, which its `verdict` tells.
    pub(super) ok: bool,
    /// What holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checked: Option<Vec<String>>,
    /// What could not be checked, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unchecked: Option<Vec<String>>,
    /// What no check of these files can tell: it is their maker's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) claimed: Option<Vec<String>>,
    /// What differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) difference: Option<String>,
}

/// A certificate that was checked.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct CheckedCertificate {
    /// Its file.
    pub(super) certificate: String,
    #[serde(flatten)]
    pub(super) found: FoundByCheck,
    #[serde(flatten)]
    pub(super) says: Option<CertificateSays>,
}

/// What a certificate says.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct CertificateSays {
    pub(super) verdict: CertificateVerdict,
    pub(super) refusals: Vec<Refusal>,
    pub(super) terms: JudgementSettings,
    /// Probes by kind.
    pub(super) counts: BTreeMap<ProbeKind, usize>,
    pub(super) attempts: AttemptCounts,
    /// How often a mask that leaks so much is certified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pass_odds: Option<PassOdds>,
    pub(super) detectable: Vec<DetectableShare>,
    pub(super) models: Vec<ModelAsked>,
    /// Who made the probes.
    pub(super) probes: Origin,
    pub(super) fingerprint: String,
}

impl FoundByCheck {
    pub(super) fn of(found: Result<Verified, String>) -> Self {
        let (verified, difference) = match found {
            Ok(verified) => (Some(verified), None),
            Err(difference) => (None, Some(difference)),
        };
        let lists = verified.map(|found| (found.checks, found.unchecked, found.claimed));
        let (checked, unchecked, claimed) = lists
            .map_or((None, None, None), |(checked, unchecked, claimed)| {
                (Some(checked), Some(unchecked), Some(claimed))
            });
        Self {
            ok: difference.is_none(),
            checked,
            unchecked,
            claimed,
            difference,
        }
    }
}

impl CheckedCertificate {
    /// Whether it holds, and certifies nothing.
    pub(super) fn is_refused(&self) -> bool {
        let says = self.says.as_ref();
        says.is_some_and(|says| says.verdict == CertificateVerdict::Refused)
    }
}

impl CertificateSays {
    pub(super) fn of(
        signed: &SignedCertificate,
        pass_odds: Option<PassOdds>,
        detectable: Vec<DetectableShare>,
    ) -> Self {
        let certificate = &signed.certificate;
        Self {
            verdict: certificate.verdict,
            refusals: certificate.refusals.clone(),
            terms: certificate.settings(),
            counts: certificate.set.counts.clone(),
            attempts: certificate.attempts.clone(),
            pass_odds,
            detectable,
            models: certificate.models.clone(),
            probes: certificate.set.probes,
            fingerprint: signed.signature.fingerprint.clone(),
        }
    }
}
