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
use ktd_probes::judge::{AcceptanceCriteria, Thresholds};
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

impl<'p> HashedPlan<'p> {
    fn sha256(self) -> String {
        // Numbers, text and lists of them cannot fail to be written.
        sha256_hex(&serde_json::to_vec(&self).unwrap_or_default())
    }

    fn new(
        plan: &SetPlan,
        (panel_blake3, mask): (&'p str, &'p MaskIdentity),
        criteria: AcceptanceCriteria,
    ) -> Self {
        Self {
            source_sha256: MASK_SOURCE_SHA256,
            probes: Origin::Made,
            plan: SetPlan {
                nonce: None,
                ..plan.clone()
            },
            panel_blake3,
            mask,
            confidence: criteria.confidence,
            thresholds: criteria.thresholds,
            attackers: &[],
        }
    }
}

impl Certificate {
    /// The hash of its plan.
    #[must_use]
    pub fn plan_sha256(&self) -> String {
        let set = &self.set;
        let data = (set.data.panel_blake3.as_str(), &set.mask);
        HashedPlan {
            source_sha256: &set.source_sha256,
            probes: set.probes,
            attackers: &self.attackers,
            ..HashedPlan::new(&set.plan, data, self.criteria())
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
    let mask = MaskIdentity::of(world.plan.mask(), &world.key);
    let data = (world.source.record.panel_blake3.as_str(), &mask);
    let plan = HashedPlan {
        probes: world.origin(),
        attackers: &attackers_of(keys),
        ..HashedPlan::new(&world.plan, data, keys.criteria())
    };
    Ok(plan.sha256())
}
