//! The units of a certificate, and what each comes to.

use super::set_record::SetRecord;
use super::signed::SignedCertificate;
use ktd_probes::LearnedWeights;
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
    /// What the attackers of the database learn from other probes.
    Lessons,
    /// Those attackers on a block of the probes under test.
    AnswerBlock {
        /// Which, from 0.
        block: usize,
        /// Probes of each but the last, which has the rest.
        of_block: usize,
    },
    /// What they answered in all blocks, by attacker, and what it recovers.
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

impl CertificateUnit {
    /// Whether attackers of the database answer in it.
    pub(crate) const fn is_attack(&self) -> bool {
        matches!(
            self,
            Self::Lessons | Self::AnswerBlock { .. } | Self::Answers | Self::Control { .. }
        )
    }
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
    /// Of [`CertificateUnit::Lessons`].
    Learned {
        /// The weights of the combination.
        weights: LearnedWeights,
    },
    /// Of [`CertificateUnit::AnswerBlock`].
    Answered {
        /// SHA-256 of the answers.
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
