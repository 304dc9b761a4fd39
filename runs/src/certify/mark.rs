//! What a certificate says of an episode: whether the mask that hid its stocks and days was tried, and by whom.

use super::certificate::Knowledge;
use super::set_record::Origin;
use super::signed::SignedCertificate;
use super::verdict::Verdict;
use super::verify::check_itself;
use crate::bundle::header::Header;
use crate::error::RunError;
use ktd_probes::Measure;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The mark of an episode, or of all episodes of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Whether its mask is certified.
    pub standing: MarkStanding,
    /// By which certificate; none where there is none for its mask, panel and tools.
    pub by: Option<CertificateSummary>,
}

/// Whether a mask is certified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkStanding {
    /// It is, for episodes at least as long as this one.
    Certified,
    /// It is for shorter episodes: this one shows more than was tried.
    ShorterEpisodes,
    /// It was tried, and something did not hold.
    Refused,
    /// No certificate that was named is for this mask, panel and tools.
    NotCertified,
}

/// A certificate in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateSummary {
    /// Attackers that own the price database.
    pub database_attackers: usize,
    /// Language models.
    pub language_attackers: usize,
    /// How far above chance the largest upper bound of the five best guesses lies; none where stocks are not hidden.
    pub top5_excess: Option<f64>,
    /// The same of stock and day together; none where one of them is not hidden.
    pub joint_excess: Option<f64>,
    /// Steps of the longest episode that was tried.
    pub episode_steps: usize,
    /// SHA-256 of the signer's public key.
    pub fingerprint: String,
}

impl MarkStanding {
    /// The name in tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::ShorterEpisodes => "certified for shorter episodes",
            Self::Refused => "refused",
            Self::NotCertified => "not certified",
        }
    }
}

impl fmt::Display for CertificateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} database and {} language attackers, {} steps",
            self.database_attackers, self.language_attackers, self.episode_steps
        )?;
        let bounds = [("top5", self.top5_excess), ("joint", self.joint_excess)];
        for (measure, excess) in bounds {
            if let Some(excess) = excess {
                write!(f, ", {measure} up to chance {:+.2} %", excess * 100.0)?;
            }
        }
        write!(
            f,
            ", key {}",
            self.fingerprint.get(..16).unwrap_or(&self.fingerprint)
        )
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.standing.label())?;
        match &self.by {
            Some(by) => write!(f, ": {by}"),
            None => Ok(()),
        }
    }
}

/// Certificates whose signatures fit and whose verdicts follow from their own counts.
///
/// # Errors
/// [`RunError`] naming the one that cannot be trusted.
pub fn read_certificates(paths: &[PathBuf]) -> Result<Vec<SignedCertificate>, RunError> {
    let read = |path: &PathBuf| {
        let signed = SignedCertificate::read(path, None)?;
        check_itself(path, &signed.certificate)?;
        Ok(signed)
    };
    paths.iter().map(read).collect()
}

impl Mark {
    const NONE: Self = Self {
        standing: MarkStanding::NotCertified,
        by: None,
    };

    /// The mark of one episode. Of several certificates for its mask, panel and tools one that refuses counts before one
    /// that certifies.
    #[must_use]
    pub fn of(header: &Header, certificates: &[SignedCertificate]) -> Self {
        let about = certificates.iter().filter(|signed| is_about(signed, header));
        let marks = about.map(|signed| mark(signed, header));
        marks
            .min_by_key(|mark| mark.standing != MarkStanding::Refused)
            .unwrap_or(Self::NONE)
    }

    /// The mark of a row: that of its episodes, where they agree.
    #[must_use]
    pub fn of_all<'h>(
        headers: impl IntoIterator<Item = &'h Header>,
        certificates: &[SignedCertificate],
    ) -> Self {
        let mut marks = headers.into_iter().map(|header| Self::of(header, certificates));
        let Some(first) = marks.next() else {
            return Self::NONE;
        };
        if marks.all(|mark| mark == first) {
            first
        } else {
            Self::NONE
        }
    }
}

/// Whether a certificate is for what an episode showed. Probes that were given say nothing of what this program shows.
fn is_about(signed: &SignedCertificate, header: &Header) -> bool {
    let set = &signed.certificate.set;
    set.probes == Origin::Made
        && header.mask.hash.as_ref() == Some(&set.mask.hash)
        && header.data.panel_blake3 == set.data.panel_blake3
        && header.tools == set.plan.tools
}

fn mark(signed: &SignedCertificate, header: &Header) -> Mark {
    let certificate = &signed.certificate;
    let steps = certificate.set.plan.episode_steps;
    let standing = match certificate.verdict {
        Verdict::Refused => MarkStanding::Refused,
        Verdict::Certified if steps < header.window.steps => MarkStanding::ShorterEpisodes,
        Verdict::Certified => MarkStanding::Certified,
    };
    Mark {
        standing,
        by: Some(CertificateSummary {
            database_attackers: certificate.attackers_knowing(Knowledge::Database),
            language_attackers: certificate.attackers_knowing(Knowledge::Language),
            top5_excess: certificate.largest_excess(Measure::Top5),
            joint_excess: certificate.largest_excess(Measure::Joint),
            episode_steps: steps,
            fingerprint: signed.signature.fingerprint.clone(),
        }),
    }
}
