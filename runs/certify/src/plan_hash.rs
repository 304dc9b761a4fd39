//! The hash of a plan: of all that decides probes and verdict but an auditor's nonce. A signer who gave it away before the nonce was
//! known has nothing left to try: another seed or other numbers of probes are another plan.

use super::attacker_record::{AttackerRecord, attackers_of};
use super::certificate::Certificate;
use super::config::CertifyConfig;
use super::set_plan::SetPlan;
use super::set_record::{MaskIdentity, Origin};
use super::world::MaskWorld;
use crate::CertifyError;
use ktd_io::sha256::sha256_hex;
use ktd_probes::judge::Thresholds;
use ktd_program::MASK_SOURCE_SHA256;
use ktd_study::{Opening, StudyError};
use serde::Serialize;
use std::path::Path;

/// What is hashed.
#[derive(Serialize)]
struct HashedPlan<'p> {
    source_sha256: &'p str,
    probes: Origin,
    plan: SetPlan,
    panel_blake3: &'p str,
    mask: &'p MaskIdentity,
    confidence: f64,
    thresholds: Thresholds,
    attackers: &'p [AttackerRecord],
}

impl HashedPlan<'_> {
    fn sha256(self) -> String {
        // Numbers, text and lists of them cannot fail to be written.
        sha256_hex(&serde_json::to_vec(&self).unwrap_or_default())
    }
}

fn without_nonce(plan: &SetPlan) -> SetPlan {
    SetPlan {
        nonce: None,
        ..plan.clone()
    }
}

impl Certificate {
    /// The hash of its plan.
    #[must_use]
    pub fn plan_sha256(&self) -> String {
        let set = &self.set;
        HashedPlan {
            source_sha256: &set.source_sha256,
            probes: set.probes,
            plan: without_nonce(&set.plan),
            panel_blake3: &set.data.panel_blake3,
            mask: &set.mask,
            confidence: self.confidence,
            thresholds: self.thresholds,
            attackers: &self.attackers,
        }
        .sha256()
    }
}

/// The hash of the plan of a file whose mask key is drawn: it decides the plan as well.
///
/// # Errors
/// [`StudyError`] for a file without a mask key, and as of the study.
pub fn plan_sha256(keys: &CertifyConfig, base: &Path) -> Result<String, StudyError> {
    if keys.mask_key_file.is_none() {
        return Err(CertifyError::input(
            "the file names no mask key, which is a part of the plan",
            "draw one with `ktd certify --new-mask-key mask.key` and name it: mask_key_file = \"mask.key\"",
        )
        .into());
    }
    let world = MaskWorld::open(keys, &Opening::unkept(base, Path::new(""), 1))?;
    let criteria = keys.criteria();
    let plan = HashedPlan {
        source_sha256: MASK_SOURCE_SHA256,
        probes: world.origin(),
        plan: without_nonce(&world.plan),
        panel_blake3: &world.source.record.panel_blake3,
        mask: &MaskIdentity::of(world.plan.mask(), &world.key),
        confidence: criteria.confidence,
        thresholds: criteria.thresholds,
        attackers: &attackers_of(keys),
    };
    Ok(plan.sha256())
}
