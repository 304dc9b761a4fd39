//! `certificate.json`: a certificate and its signature.

use super::certificate::Certificate;
use super::set_record::{FORMAT_VERSION, Versioned, of_another_format};
use crate::CertifyError;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded, write_whole};
use ktd_record::signing::{PublicKey, Signature, SigningKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Certificate with its signature, `certificate.json`.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedCertificate {
    /// What is signed.
    pub certificate: Certificate,
    /// By whom.
    pub signature: Signature,
}

/// The format of a signed certificate, whatever else stands in it.
#[derive(Deserialize)]
struct VersionedCertificate {
    certificate: VersionedSet,
}

#[derive(Deserialize)]
struct VersionedSet {
    set: Versioned,
}

const NO_CERTIFICATE: &str =
    "name a certificate.json as `ktd certify` writes it, of this version of the program";
const CHANGED: &str = "it was changed after it was signed: take it from its signer again";
const ANOTHER_SIGNER: &str = "compare the fingerprint with the one that the signer gives you: this key or this certificate is another's";

impl SignedCertificate {
    /// Signs a certificate.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when it cannot be canonical JSON.
    pub fn sign(certificate: Certificate, key: &SigningKey) -> Result<Self, CertifyError> {
        let signature = key.sign(&certificate)?;
        Ok(Self {
            certificate,
            signature,
        })
    }

    /// Whether its signature is one of what it says.
    ///
    /// # Errors
    /// [`CertifyError`] for another one.
    pub(crate) fn check_signature(&self, path: &Path) -> Result<(), CertifyError> {
        match self.signature.fault(&self.certificate)? {
            None => Ok(()),
            Some(fault) => Err(CertifyError::Untrusted {
                path: path.to_owned(),
                what: fault.to_owned(),
                hint: CHANGED,
            }),
        }
    }

    /// Writes it whole.
    ///
    /// # Errors
    /// [`CertifyError::File`].
    pub fn write(&self, path: &Path) -> Result<(), CertifyError> {
        Ok(write_whole(path, &json_bytes(path, self)?)?)
    }

    /// Reads a certificate whose bytes are as they were written and whose signature is its signer's; `whose` is the key
    /// that it must be, where one is expected.
    ///
    /// # Errors
    /// [`CertifyError`] when it is missing, was changed, is not signed, or is signed with another key.
    pub fn read(path: &Path, whose: Option<&PublicKey>) -> Result<Self, CertifyError> {
        let bytes = read_bounded(path, JSON_LIMIT_BYTES)?;
        let untrusted = |what: String, hint: &'static str| CertifyError::Untrusted {
            path: path.to_owned(),
            what,
            hint,
        };
        // Another format may have other fields: its number is read alone before all else.
        if let Ok(known) = serde_json::from_slice::<VersionedCertificate>(&bytes)
            && known.certificate.set.format != FORMAT_VERSION
        {
            return Err(of_another_format(path, known.certificate.set.format));
        }
        let signed: Self = serde_json::from_slice(&bytes)
            .map_err(|error| untrusted(format!("it is not a signed certificate: {error}"), NO_CERTIFICATE))?;
        signed.check_signature(path)?;
        // White space and the order of keys are not signed, so they are compared.
        if bytes != json_bytes(path, &signed)? {
            return Err(untrusted(
                "its bytes are not those that were written".to_owned(),
                CHANGED,
            ));
        }
        if whose.is_some_and(|key| signed.signature.signer() != Some(*key)) {
            let what = format!(
                "it is signed with the key {}, not with the one expected",
                signed.signature.fingerprint
            );
            return Err(untrusted(what, ANOTHER_SIGNER));
        }
        Ok(signed)
    }
}
