//! The mask that a certificate names against the probes beside it: whoever relabels a certificate leaves probes that
//! another mask made.

use super::certificate::Certificate;
use super::paths::CertifyPaths;
use super::probe_line::each_probe;
use super::set_record::Origin;
use crate::CertifyError;
use ktd_bundle::recorded_prompts::{identifier_fault, is_hidden};
use ktd_io::sha256::sha256_file;
use ktd_masking::{FactorScale, MaskSettings};
use ktd_record::json_parts::each_member;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The steps of an exhibit; what it gives away on purpose stands beside them.
#[derive(Deserialize)]
struct Shown {
    steps: Vec<Value>,
}

/// Checks the probes beside a certificate that are those it was made of. Where none is there, nothing is checked.
///
/// # Errors
/// [`CertifyError::Untrusted`] naming the first probe that shows what the claimed mask never does.
pub(super) fn check(path: &Path, certificate: &Certificate) -> Result<bool, CertifyError> {
    let set = &certificate.set;
    let probed = CertifyPaths::new(path.parent().unwrap_or(Path::new(""))).probed();
    let mask = set.plan.mask();
    let mut was_there = false;
    let mut has_own_factors = false;
    for kind in set.by_kind().into_keys() {
        let name = probed.probes(kind);
        let file = probed.at(&name);
        if !file.exists() || set.files.get(&name) != Some(&sha256_file(&file)?) {
            continue;
        }
        was_there = true;
        for probe in each_probe(&file, kind)? {
            let probe = probe?;
            for exhibit in &probe.exhibits {
                let found = look(mask, exhibit);
                has_own_factors |= found.has_own_factors;
                if let Some(fault) = found.fault {
                    let what = format!("{} probe {} {fault}", kind.label(), probe.number);
                    return Err(relabelled(path, mask, &what));
                }
            }
        }
    }
    if was_there && !has_own_factors && set.probes == Origin::Made {
        let what = format!("no probe has a factor whose name ends in `{}`", own_suffix(mask));
        return Err(relabelled(path, mask, &what));
    }
    Ok(was_there)
}

fn relabelled(path: &Path, mask: MaskSettings, what: &str) -> CertifyError {
    CertifyError::Untrusted {
        path: path.to_owned(),
        what: format!(
            "{what}, but it claims the mask {}/{}",
            mask.level.label(),
            mask.numeric.label()
        ),
        hint: "its probes were made under another mask than the one it names, whoever signed it: rely on nothing in it",
    }
}

/// What was found in an exhibit.
#[derive(Default)]
struct Found {
    fault: Option<String>,
    has_own_factors: bool,
}

fn look(mask: MaskSettings, exhibit: &str) -> Found {
    let mut found = Found::default();
    let Ok(shown) = serde_json::from_str::<Shown>(exhibit) else {
        found.fault = Some("is no exhibit".to_owned());
        return found;
    };
    for step in &shown.steps {
        each_member(step, &mut |key, text| {
            let fault = match text {
                None => is_hidden(mask.numeric, key).then(|| format!("shows `{key}`")),
                Some(text) => identifier_fault(mask.level, text).map(|kind| format!("shows {kind}")),
            };
            found.has_own_factors |= text.is_none() && key.ends_with(own_suffix(mask));
            if found.fault.is_none() {
                found.fault = fault;
            }
        });
    }
    found
}

/// How names of factors end in the terms of a mask.
const fn own_suffix(mask: MaskSettings) -> &'static str {
    match mask.numeric.scale() {
        FactorScale::Values => "_z",
        FactorScale::Percentiles => "_pct",
        FactorScale::Bands => "_band",
    }
}
