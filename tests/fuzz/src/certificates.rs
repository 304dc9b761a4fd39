//! Certificates, which anyone can sign.

use super::{assert_explained, assert_read_again};
use ktd_certify::certificate::Certificate;
use ktd_certify::signed::SignedCertificate;
use ktd_certify::verify::check_itself;
use std::path::Path;

/// A certificate, signed or not: what follows from its own counts.
pub(crate) fn certificate(input: &[u8]) {
    let signed: Option<SignedCertificate> = serde_json::from_slice(input).ok();
    let bare = || serde_json::from_slice::<Certificate>(input).ok();
    let Some(certificate) = signed.map(|signed| signed.certificate).or_else(bare) else {
        return;
    };
    assert_read_again(&certificate);
    if let Err(error) = check_itself(Path::new("certificate.json"), &certificate) {
        assert_explained(&error);
    }
    if let Ok(again) = certificate.judged_again() {
        assert_read_again(&again);
    }
}
