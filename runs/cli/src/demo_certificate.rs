//! The certificate of the demo's mask: attackers are put to it before the board marks who ran under it.

use super::leaderboard::marks_of;
use super::study;
use crate::CliError;
use crate::output::Console;
use ktd_board::BoardOptions;
use ktd_bundle::bundle_set::BundleSet;
use ktd_certify::CertificateStudy;
use ktd_certify::config::CertifyConfig;
use ktd_certify::mark::Certificates;
use ktd_certify::report::MaskReport;
use ktd_probes::AttackerClass;
use ktd_probes::judge::CertificateVerdict;
use ktd_record::signing::{PublicKey, SigningKey};
use ktd_study::run_any;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The file of the certificate, also as an example to copy.
const CERTIFY: &str = include_str!("../../configs/demo_certify.toml");

/// Where it goes, in the demo's directory.
pub(super) const DIRECTORY: &str = "certificate";

/// The certificate of the demo's mask, and who signed it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub(super) struct DemoCertificate {
    /// Its file.
    pub path: PathBuf,
    /// The level and the numbers of its mask.
    pub mask: String,
    /// Whether it certifies.
    pub verdict: CertificateVerdict,
    /// The classes of attackers that it certifies against.
    pub against: Vec<AttackerClass>,
    #[serde(skip)]
    signer: PublicKey,
}

impl DemoCertificate {
    /// Puts the attackers to the demo's mask and signs what follows, with a key that is drawn for the directory. What is on
    /// disk is kept.
    ///
    /// # Errors
    /// [`CliError`] when a file cannot be written.
    pub(super) fn make(out: &Path, console: Console) -> Result<Self, CliError> {
        let key_file = out.join("private").join("signing.pem");
        let key = if key_file.exists() {
            SigningKey::read(&key_file)?
        } else {
            SigningKey::draw(&key_file)?
        };
        let signer = key.public();
        let mut keys = CertifyConfig::parse(CERTIFY)?;
        keys.key = Some(key_file);
        let mask = format!("{}/{}", keys.mask.level.label(), keys.mask.numeric.label());
        let folder = out.join(DIRECTORY);
        let done = study::finished_by(true, console, |run| {
            run_any::<CertificateStudy>(keys, (Path::new(""), Some(&folder)), run)
        })?;
        let summary: MaskReport = serde_json::from_value(done.summary).map_err(CliError::invalid)?;
        let signed = summary.certificate.ok_or_else(|| {
            CliError::difference(format_args!("{}: nothing was certified", folder.display()))
        })?;
        let certificate = &signed.certificate;
        let holds = certificate.classes.iter();
        Ok(Self {
            path: folder.join("certificate.json"),
            mask,
            verdict: certificate.verdict,
            against: holds
                .filter(|class| class.verdict == CertificateVerdict::Certified)
                .map(|class| class.class)
                .collect(),
            signer,
        })
    }

    /// One line that says what was found.
    pub(super) fn line(&self) -> String {
        let classes: Vec<&str> = self.against.iter().map(|class| class.label()).collect();
        let against = if classes.is_empty() {
            String::new()
        } else {
            format!(" against {}", classes.join(", "))
        };
        let verdict = match self.verdict {
            CertificateVerdict::Certified => "certified",
            CertificateVerdict::Refused => "refused",
        };
        format!(
            "mask {}, attacked: {verdict}{against} under its own terms (marks: --tables)",
            self.mask
        )
    }

    /// What a board is told of every bundle's mask.
    ///
    /// # Errors
    /// [`CliError`] when the certificate cannot be read.
    pub(super) fn options(&self, findings: &BundleSet) -> Result<BoardOptions, CliError> {
        let certificates = Certificates::read(std::slice::from_ref(&self.path), Some(&self.signer))?;
        Ok(BoardOptions {
            marks: marks_of(&certificates, findings),
            ..BoardOptions::default()
        })
    }
}
