//! What a certificate says of an episode: whether the mask that hid its stocks and days was tried, and by whom.

use super::settings::JudgementSettings;
use crate::{AttackerClass, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Certification of the mask of an episode, or of all episodes of a row.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificationMark {
    /// Whether its mask is certified.
    pub standing: CertificationStatus,
    /// By which certificate; none where there is none for its mask and panel.
    pub by: Option<CertificateSummary>,
}

/// Status of a mask, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CertificationStatus {
    /// It is, by a signer whose key was named, for episodes at least as long as this one.
    Certified,
    /// It is, but a bound may lie further above chance than by default, or means something else.
    OwnThresholds,
    /// It is against the language models that were asked, by a signer whose key was named; whoever owns the price database
    /// recovers more than is allowed.
    ModelsOnly,
    /// The mask is certified, and whoever reads the experiment knows the days of this window without breaking it.
    PublicWindow,
    /// A certificate says so, and nobody named the key that must have signed it: anyone may have made it.
    SignerNotChecked,
    /// The certificate is for shorter episodes: this one shows more than was tried.
    ShorterEpisodes,
    /// It is for windows that its file names, and this one was drawn.
    OtherWindows,
    /// The certificate is for other limits of a session: an agent of this one may ask more often.
    OtherSession,
    /// The certificate is for other rules of the exchange: money and orders show another grain.
    OtherRules,
    /// The certificate is for other limits of the tools.
    OtherTools,
    /// The certificate is for another decision mode: an agent of this one is shown something else.
    OtherMode,
    /// Probes of somebody else were tried, and that they show what this mask shows is only claimed.
    GivenProbes,
    /// It was tried, and something did not hold.
    Refused,
    /// No certificate that was named is for this mask and panel.
    NotCertified,
}

/// Summary of a certificate in one line.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateSummary {
    /// Classes of attackers that it certifies the mask against.
    pub certified_against: Vec<AttackerClass>,
    /// Classes that it refuses it against.
    pub refused_against: Vec<AttackerClass>,
    /// Attackers that own the price database.
    pub database_attackers: usize,
    /// Language models.
    pub language_attackers: usize,
    /// When the first of them answered, UTC; none where no model was asked or no reply says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub models_asked_from: Option<String>,
    /// When the last of them answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub models_asked_to: Option<String>,
    /// Sets of probes that the signer committed to for this rung and panel.
    pub attempts: u64,
    /// Those that were refused or never judged.
    pub attempts_failed: u64,
    /// Whether the signer's log stood beside the certificate and gives these counts: without it they are its own words.
    pub attempts_checked: bool,
    /// The nonce that decided the draw; none where its signer drew alone, who may have tried these probes before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nonce: Option<String>,
    /// How far above chance the largest upper bound of the five best guesses lies; none where stocks are not hidden.
    pub top5_excess: Option<f64>,
    /// The same of stock and day together; none where one of them is not hidden.
    pub joint_excess: Option<f64>,
    /// Kinds of probes that were not put: nothing was judged of what only they ask.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub kinds_not_put: Vec<ProbeKind>,
    /// Steps of the longest episode that was tried.
    pub episode_steps: usize,
    /// By what it was judged.
    pub terms: JudgementSettings,
    /// SHA-256 of the signer's public key.
    pub fingerprint: String,
    /// Whether this key was named as the signer's: without that, anyone may have made the certificate.
    pub signer_checked: bool,
}

impl CertificationStatus {
    /// The name in tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::OwnThresholds => "certified under its own thresholds",
            Self::ModelsOnly => "certified against the language models asked, not against the price database",
            Self::PublicWindow => "window public: not certified against the price database",
            Self::SignerNotChecked => "signer not checked: anyone may have made its certificate",
            Self::ShorterEpisodes => "not certified: its certificate is for shorter episodes",
            Self::OtherWindows => "not certified: its certificate is for windows that its file names",
            Self::OtherSession => "not certified: its certificate is for other session limits",
            Self::OtherRules => "not certified: its certificate is for other exchange rules",
            Self::OtherTools => "not certified: its certificate is for other tool limits",
            Self::OtherMode => "not certified: its certificate is for another decision mode",
            Self::GivenProbes => "not certified: the probes were given, their mask is only claimed",
            Self::Refused => "refused",
            Self::NotCertified => "not certified",
        }
    }
}

impl fmt::Display for CertificateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (words, classes) in [
            ("against", &self.certified_against),
            ("not against", &self.refused_against),
        ] {
            if !classes.is_empty() {
                let labels: Vec<&str> = classes.iter().map(|class| class.label()).collect();
                write!(f, "{words} {}, ", labels.join(" and "))?;
            }
        }
        write!(
            f,
            "{} database and {} language attackers",
            self.database_attackers, self.language_attackers
        )?;
        if let (Some(from), Some(to)) = (&self.models_asked_from, &self.models_asked_to) {
            write!(f, " asked {}..{}", date(from), date(to))?;
        }
        write!(f, ", {} steps", self.episode_steps)?;
        let bounds = [("top5", self.top5_excess), ("joint", self.joint_excess)];
        for (measure, excess) in bounds {
            if let Some(excess) = excess {
                write!(f, ", {measure} up to chance {:+.2} %", excess * 100.0)?;
            }
        }
        if !self.kinds_not_put.is_empty() {
            let labels: Vec<&str> = self.kinds_not_put.iter().map(|kind| kind.label()).collect();
            write!(f, ", no probes of {}", labels.join(", "))?;
        }
        if self.terms.are_own() {
            write!(f, ", under its own thresholds: {}", self.terms)?;
        }
        if 1 < self.attempts {
            write!(
                f,
                ", one of {} attempts, {} failed",
                self.attempts, self.attempts_failed
            )?;
        }
        if !self.attempts_checked {
            f.write_str(", attempts by its own words")?;
        }
        match &self.nonce {
            Some(nonce) => write!(
                f,
                ", drawn by the nonce {:?} as its signer says",
                beginning(nonce)
            )?,
            None => f.write_str(", drawn by its signer")?,
        }
        write!(f, ", key {}", beginning(&self.fingerprint))?;
        f.write_str(if self.signer_checked { "" } else { " (not checked)" })
    }
}

/// As much of a long word as a line has room for.
fn beginning(word: &str) -> &str {
    word.get(..16).unwrap_or(word)
}

/// The day of a time such as `2026-02-03T04:05:06Z`.
fn date(time: &str) -> &str {
    time.split_once('T').map_or(time, |(date, _)| date)
}

impl fmt::Display for CertificationMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.standing.label())?;
        match &self.by {
            Some(by) => write!(f, ": {by}"),
            None => Ok(()),
        }
    }
}

impl CertificationMark {
    /// The mark of an episode that no certificate is about.
    pub const NONE: Self = Self {
        standing: CertificationStatus::NotCertified,
        by: None,
    };

    /// The mark of a row: that of its episodes, where they agree; one that is refused is never hidden.
    #[must_use]
    pub fn of_row(marks: impl IntoIterator<Item = Self>) -> Self {
        marks.into_iter().reduce(Self::and).unwrap_or(Self::NONE)
    }

    /// The mark of two together.
    fn and(self, other: Self) -> Self {
        if self.is_refused() || self == other {
            self
        } else if other.is_refused() {
            other
        } else {
            Self::NONE
        }
    }

    /// Whether a certificate refuses its mask.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.standing == CertificationStatus::Refused
    }
}
