//! The units of a certificate, and what each comes to.

use super::set_record::SetRecord;
use super::signed::SignedCertificate;
use ktd_probes::judge::{ControlSet, RecoveryCount, UnansweredCount};
use serde::{Deserialize, Serialize};

/// What decides a unit beside its study.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum CertificateUnit {
    /// The probes under test, with their answer keys.
    Set,
    /// What will be attacked and what would pass, signed before anybody is asked.
    Commitment,
    /// The attackers of the database on the probes under test.
    Answers,
    /// The probes of a control, and the attackers of the database on them.
    Control {
        /// Which.
        control: ControlSet,
    },
    /// A language model on the probes under test, or on those of a control.
    Asked {
        /// The control; none of the probes under test.
        control: Option<ControlSet>,
        /// The model's id.
        agent: String,
        /// How often a bad answer may be corrected.
        schema_retries: u32,
    },
    /// What follows, signed.
    Verdict,
}

/// What a unit came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum CertificateFound {
    /// Of [`CertificateUnit::Set`].
    Set(Box<SetRecord>),
    /// Of [`CertificateUnit::Commitment`].
    Committed {
        /// SHA-256 of `commitment.json`.
        sha256: String,
    },
    /// Of attackers on a set.
    Counted {
        /// The control; none of the probes under test.
        control: Option<ControlSet>,
        /// What was recovered.
        recovered: Vec<RecoveryCount>,
        /// Probes without an answer.
        unanswered: Vec<UnansweredCount>,
    },
    /// Of [`CertificateUnit::Verdict`].
    Certified(Box<SignedCertificate>),
}
