//! What can stop a run, and how to mend it.

use crate::bundle::exchanges::Nearest;
use crate::money::CapReached;
use ktd_agents::SessionError;
use std::path::{Path, PathBuf};

/// Why an episode, a replay or a verification could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A file or directory could not be read or written.
    #[error("failed to {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A bundle without its summary.
    #[error("{}: it is missing: the episode is unfinished, or the file was removed", .path.display())]
    Unfinished {
        /// The missing file.
        path: PathBuf,
    },
    /// Another process is writing the bundle.
    #[error("{}: another process is writing this bundle", .path.display())]
    Busy {
        /// Which file it holds.
        path: PathBuf,
    },
    /// A bundle's file does not hold what it must.
    #[error("{}: {what}", .path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and where in the file.
        what: String,
    },
    /// A certificate that proves nothing: it is none, it is not its signer's, or it does not follow from what it says.
    #[error("{}: {what}", .path.display())]
    Untrusted {
        /// The certificate.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A run that continues or replays produced other bytes than the record.
    #[error("{}: line {line} differs from the record: {difference}", .path.display())]
    Diverged {
        /// Which file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// The first difference.
        difference: String,
    },
    /// A replayed request is not the recorded one.
    #[error("step {step}, request {ordinal}: it is not the recorded one{}", told(.nearest.as_deref()))]
    RequestDiffers {
        /// 1-based step.
        step: usize,
        /// 0-based request of the step.
        ordinal: u32,
        /// The recorded one, and the first field that differs.
        nearest: Option<Box<Nearest>>,
    },
    /// A replay needs a reply that was never recorded.
    #[error("step {step}, request {ordinal}: no reply is recorded for it{}", told(.nearest.as_deref()))]
    NotRecorded {
        /// 1-based step.
        step: usize,
        /// 0-based request of the step.
        ordinal: u32,
        /// The recorded request that is most like it, and the first field that differs.
        nearest: Option<Box<Nearest>>,
    },
    /// The guard found hidden text in a request; it was not sent.
    #[error(
        "step {step}: a request holds a hidden {kind} at {pointer}; it was not sent and the episode was stopped"
    )]
    Leak {
        /// 1-based step.
        step: usize,
        /// Code, company name or date.
        kind: &'static str,
        /// JSON pointer into the request.
        pointer: String,
    },
    /// The provider does not take this configuration.
    #[error("step {step}: {detail}")]
    Configuration {
        /// 1-based step.
        step: usize,
        /// What the provider said.
        detail: String,
        /// How to mend it.
        hint: &'static str,
    },
    /// The provider's account has no credit left. What is recorded stands; nothing was decided in this step.
    #[error("step {step}: the provider's account has no credit left: {detail}")]
    QuotaExhausted {
        /// 1-based step.
        step: usize,
        /// What the provider said.
        detail: String,
    },
    /// The harness did not send back what the provider needs: a defect of this program, never of the model.
    #[error("step {step}: {detail}")]
    HarnessBug {
        /// 1-based step.
        step: usize,
        /// What the provider said.
        detail: String,
    },
    /// The budget has no room for the next call; it was not made, and everything before it is kept. Neither a fault
    /// nor a decision of the model.
    #[error("step {step}: {reached}")]
    Budget {
        /// 1-based step.
        step: usize,
        /// Which cap, and what is spent of it.
        reached: Box<CapReached>,
    },
    /// The experiment, the panel or an option does not fit.
    #[error("{what}")]
    Input {
        /// What is wrong and where.
        what: String,
        /// How to mend it.
        hint: String,
    },
    /// The infrastructure failed until the attempts at a request were used up. What is recorded stands.
    #[error("the provider failed {attempts} times in a row, last with {code}")]
    Faults {
        /// Attempts made now and before.
        attempts: usize,
        /// The last fault.
        code: &'static str,
    },
    /// A language model's attack on a probe could not go on.
    #[error("attacker {attacker}, probe {probe}: {source}")]
    Attack {
        /// The agent.
        attacker: String,
        /// Kind and number of the probe, such as `day-17`. Steps that the cause names count requests' places in the
        /// attacker's exchanges.
        probe: String,
        /// What stopped it.
        source: Box<Self>,
    },
    /// A defect of this program.
    #[error("the session was driven wrongly: {0}")]
    Session(#[from] SessionError),
    /// A defect of this program: a broken invariant stopped the cell.
    #[error("cell {cell}: a broken invariant stopped it (its message is on standard error)")]
    Panicked {
        /// Which cell.
        cell: String,
    },
}

impl RunError {
    /// An [`RunError::Io`] for `path`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// An [`RunError::Input`].
    pub fn input(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// An [`RunError::Damaged`].
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what: what.into(),
        }
    }

    /// How to mend it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Io { source, .. } if is_no_room(source.kind()) => {
                "free some disk space and run the same command again: finished work is kept".to_owned()
            }
            Self::Io { .. } => "check that the path exists and may be read and written".to_owned(),
            Self::Unfinished { .. } => {
                "run the experiment again: `ktd run` continues and writes it".to_owned()
            }
            Self::Busy { .. } => "wait until it ends, or stop it".to_owned(),
            Self::Damaged { .. } => {
                "restore the file from a copy: what this program wrote must not be edited".to_owned()
            }
            Self::Diverged { .. } => {
                "the panel, the program's version, the configuration or the record changed; see header.json"
                    .to_owned()
            }
            Self::RequestDiffers { .. } => {
                "replay with the panel and program version named in header.json".to_owned()
            }
            Self::NotRecorded { .. } => "continue the episode with `ktd run` before replaying it".to_owned(),
            Self::Leak { .. } => {
                "this is a defect of the mask: report it with the bundle's header.json".to_owned()
            }
            Self::Configuration { hint, .. } | Self::Untrusted { hint, .. } => (*hint).to_owned(),
            Self::Budget { .. } => {
                "raise the cap under [budget] and run the same command again: it continues where it stopped"
                    .to_owned()
            }
            Self::Input { hint, .. } => hint.clone(),
            Self::Faults { .. } => {
                "wait, then give the same command again: it asks this request anew and keeps all answers"
                    .to_owned()
            }
            Self::Attack { source, .. } => source.hint(),
            Self::QuotaExhausted { .. } => {
                "add credit to the provider's account, then give the same command again: it continues here"
                    .to_owned()
            }
            Self::HarnessBug { .. } => {
                "this is a defect of the program: report it with the bundle's last exchange".to_owned()
            }
            Self::Session(_) | Self::Panicked { .. } => {
                "this is a defect of the program: report it".to_owned()
            }
        }
    }
}

fn told(nearest: Option<&Nearest>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; {nearest}"))
}

/// Whether the system had no room for what was to be written: a full disk, a quota, a limit on the size of files.
const fn is_no_room(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(kind, StorageFull | QuotaExceeded | FileTooLarge)
}
