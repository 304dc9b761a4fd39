//! What somebody who checks a certificate names of its draw: the nonce that must have decided it, and the plan that came before.

use super::attacker_record::Knowledge;
use super::certificate::Certificate;
use crate::CertifyError;
use ktd_episode::verify::Verified;
use std::path::Path;

/// What is named of a draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedDraw<'n> {
    /// The auditor's nonce that must have decided it.
    pub(super) nonce: Option<&'n str>,
    /// The hash of the plan that its signer gave away before the nonce was known.
    pub(super) plan_sha256: Option<&'n str>,
}

impl NamedDraw<'_> {
    /// Whether nonce and plan are those that are expected.
    pub(super) fn check(&self, path: &Path, certificate: &Certificate) -> Result<(), CertifyError> {
        let untrusted = |what: String, hint: &'static str| CertifyError::Untrusted {
            path: path.to_owned(),
            what,
            hint,
        };
        let (own, plan) = (certificate.set.deciding_nonce(), certificate.plan_sha256());
        if let Some(nonce) = self.nonce.filter(|nonce| own != Some(nonce)) {
            return Err(untrusted(
                format!("its draw is not decided by the nonce {nonce:?}"),
                "its probes may have been tried before your nonce was known: ask for a certificate with it",
            ));
        }
        if let Some(given) = self.plan_sha256.filter(|given| *given != plan) {
            return Err(untrusted(
                format!("the hash of its plan is {plan}, not {given}"),
                "seed, numbers of probes, panel, mask key, thresholds or attackers are not those that were decided before your nonce was \
                 known: ask for a certificate of that plan",
            ));
        }
        Ok(())
    }

    /// A nonce, or a plan's hash, that the user names is checked or refused.
    pub(super) fn check_is_known(&self, certificate: &Certificate) -> Result<(), CertifyError> {
        let Some(own) = certificate.set.deciding_nonce() else {
            return Ok(());
        };
        if self.nonce.is_none() && self.plan_sha256.is_none() {
            return Ok(());
        }
        Err(CertifyError::input(
            format!(
                "whether the nonce {own:?} decided its draw cannot be checked here: its signer may write it beside any probes, and nothing makes \
                 them again"
            ),
            "ask its signer for private/, the study's files and the panel, or check without --nonce and --plan-hash, which leaves the draw UNCHECKED",
        ))
    }

    /// What is known of who drew. A nonce and a plan are words that a signer may write beside any probes: that they decided these is shown
    /// by making the probes again from them.
    pub(super) fn tell(&self, certificate: &Certificate, is_made_again: bool, verified: &mut Verified) {
        let plan = certificate.plan_sha256();
        let Some(own) = certificate.set.deciding_nonce() else {
            verified.claimed.push(
                "draw: by its signer, who may have tried others: without an auditor's nonce nothing shows that"
                    .to_owned(),
            );
            return;
        };
        if !is_made_again {
            verified.unchecked.push(format!(
                "draw: recorded as decided by the nonce {own:?} and the plan {plan}, which its signer may write beside any probes: whoever has \
                 private/, the study's files and the panel makes them again"
            ));
            return;
        }
        match (self.nonce.is_some(), self.plan_sha256.is_some()) {
            (true, true) => verified.checks.push(format!(
                "draw: decided by the nonce {own:?} and the plan {plan}, which leave no other probes to try"
            )),
            (true, false) => {
                verified.checks.push(format!("draw: decided by the nonce {own:?}"));
                verified.claimed.push(format!(
                    "plan: decided before that nonce was known: other seeds or numbers of probes could have been tried with it; compare \
                     the hash that its signer gave you before, {plan}, with --plan-hash"
                ));
            }
            (false, true) => {
                verified.checks.push(format!("plan: its hash is {plan}, as you have it"));
                verified.claimed.push(format!(
                    "draw: decided by the nonce {own:?}, given after that hash was: whether it is yours is missing; name yours with --nonce"
                ));
            }
            (false, false) => verified.claimed.push(format!(
                "draw: decided by the nonce {own:?}, given after the plan {plan} was; name yours with --nonce and --plan-hash"
            )),
        }
        if 0 < certificate.attackers_knowing(Knowledge::Language) {
            let asked = "language models: asked once; who signs may have asked them before, and kept what they answered back";
            verified.claimed.push(asked.to_owned());
        }
    }
}
