//! Names of probes among the requests of an attacker.

use ktd_probes::ProbeKind;

/// Name of a probe in a batch and in errors, such as `day-17`.
#[must_use]
pub fn custom_id(kind: ProbeKind, number: usize) -> String {
    format!("{}-{number}", kind.label())
}
