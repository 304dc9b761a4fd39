//! What a mask shows, in one hash.

use crate::mask_arm::MaskArm;
use ktd_io::sha256::sha256_hex;
use ktd_masking::{MaskSettings, SCHEME};
use ktd_tools::ToolLimits;
use std::sync::OnceLock;

/// SHA-256 over all that decides what a model sees of a market under these settings, in hexadecimal: the two labels, the
/// version of what masks show, the prompts and the tools. Equal hashes mean the same mask, whatever the key, the panel and
/// the model.
#[must_use]
pub fn mask_hash(settings: MaskSettings) -> String {
    let parts = [
        "ktd mask 1".to_owned(),
        settings.level.label().to_owned(),
        settings.numeric.label().to_owned(),
        SCHEME.to_string(),
        ktd_prompts::hash(),
        tools_sha256().to_owned(),
    ];
    sha256_hex(parts.join("\n").as_bytes())
}

/// The hash of an arm as [`arm_hash`] has it, with the tools of some limits: where they are not those of every experiment, it is
/// one that no mask has, so that no certificate can be about it.
#[must_use]
pub fn arm_hash_with(arm: MaskArm, limits: &ToolLimits) -> String {
    let own = arm_hash(arm);
    if limits.expressions {
        return sha256_hex(format!("ktd tools 1\n{own}\n{}", tools_sha256_of(limits)).as_bytes());
    }
    own
}

/// The hash of an arm: of its mask, and for a prompt-only control one that no mask has, so that no certificate can be
/// about it.
#[must_use]
pub fn arm_hash(arm: MaskArm) -> String {
    let mask = mask_hash(arm.settings);
    arm.instruction.map_or_else(
        || mask.clone(),
        |own| sha256_hex(format!("ktd prompt-only 1\n{mask}\n{}", own.level().label()).as_bytes()),
    )
}

/// SHA-256 over the tools' names, descriptions and schemas, which are the same in every episode but those with more tools: making
/// the schemas takes longer than opening one.
#[must_use]
pub fn tools_sha256() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash_of_tools(&ToolLimits::default()))
}

/// The same of the tools of some limits.
#[must_use]
pub fn tools_sha256_of(limits: &ToolLimits) -> String {
    if limits.expressions {
        hash_of_tools(limits)
    } else {
        tools_sha256().to_owned()
    }
}

fn hash_of_tools(limits: &ToolLimits) -> String {
    let tools: Vec<_> = ktd_tools::tool_specs_of(limits)
        .into_iter()
        .map(|spec| (spec.name, spec.description, spec.parameters.as_value().clone()))
        .collect();
    // Texts and values that are JSON already cannot fail to serialise.
    let mut bytes = serde_json::to_vec_pretty(&tools).unwrap_or_default();
    bytes.push(b'\n');
    sha256_hex(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask_arm::MaskInstruction;
    use ktd_masking::{Level, Numeric};
    use std::collections::BTreeSet;

    #[test]
    fn a_prompt_only_control_has_the_hash_of_no_mask() {
        let settings = MaskSettings {
            level: Level::Bright,
            numeric: Numeric::Exact,
        };
        let hash = |instruction| {
            arm_hash(MaskArm {
                settings,
                instruction,
            })
        };
        let hashes: BTreeSet<String> = MaskInstruction::ALL.map(|own| hash(Some(own))).into();
        assert_eq!(hashes.len(), 3);
        assert_eq!(hash(None), mask_hash(settings));
        let masks = Level::ALL.map(|level| mask_hash(MaskSettings { level, ..settings }));
        assert!(masks.iter().all(|mask| !hashes.contains(mask)));
    }

    #[test]
    fn a_tool_that_is_off_changes_no_hash_and_one_that_is_on_changes_both() {
        let settings = MaskSettings {
            level: Level::Blinded,
            numeric: Numeric::Exact,
        };
        let arm = MaskArm::from(settings);
        let limits = |expressions| ToolLimits {
            expressions,
            ..ToolLimits::default()
        };
        assert_eq!(tools_sha256_of(&limits(false)), tools_sha256());
        assert_eq!(arm_hash_with(arm, &limits(false)), mask_hash(settings));
        assert_ne!(tools_sha256_of(&limits(true)), tools_sha256());
        assert_ne!(arm_hash_with(arm, &limits(true)), mask_hash(settings));
    }

    #[test]
    fn every_mask_has_a_hash_of_its_own() {
        let settings = Level::ALL
            .into_iter()
            .flat_map(|level| Numeric::ALL.map(|numeric| MaskSettings { level, numeric }));
        let hashes: BTreeSet<String> = settings.map(mask_hash).collect();
        assert_eq!(hashes.len(), Level::ALL.len() * Numeric::ALL.len());
        assert!(hashes.iter().all(|hash| hash.len() == 64));
    }
}
