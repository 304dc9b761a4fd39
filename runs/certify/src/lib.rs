//! Does a mask hold? Probes on disk, fifteen attackers, bounds, positive controls, and a signed certificate.
//!
//! | file | holds | who may see it |
//! |---|---|---|
//! | `set.json` | what the probes are, and the hashes of their files | anyone |
//! | `probes/KIND.jsonl.zst` | what an attacker may see, a line a probe | anyone |
//! | `answers/ATTACKER.jsonl.zst` | what each attacker answered, in real codes and dates | anyone |
//! | `controls/CONTROL/` | the same of each positive control | anyone |
//! | `attackers/SET/MODEL/` | what each language model was asked, and its replies | anyone |
//! | `private/*.gold.jsonl` | the answer keys | the owner |
//! | `private/mask.key` | the key that every exhibit's own is derived from | the owner |
//! | `commitment.json` | what will be attacked and what would pass, signed before anybody is asked | anyone |
//! | `attempts.jsonl` | a copy of the signer's log of attempts | anyone |
//! | `certificate.json` | counts, bounds, verdict, hashes and signature | anyone |
//!
//! Knows: probes, the client, the record. Never knows: ranks, a terminal.

pub mod acts;
pub mod answer_line;
mod attack_run;
pub mod attacker_record;
pub mod attempts;
pub mod certificate;
mod claimed_mask;
pub mod commitment;
mod completeness;
mod compose;
pub mod config;
mod control_probes;
pub mod curve;
mod error;
mod external_probes;
mod files;
pub mod gold_line;
mod jsonl;
mod kind_counts;
mod language;
pub mod language_attackers;
pub mod mark;
pub mod models_asked;
mod one_or_more;
pub mod paths;
pub mod probe_inputs;
mod probe_line;
mod progress;
pub mod run;
pub mod set_plan;
pub mod set_record;
pub mod signed;
mod sizes;
mod store;
pub mod table;
pub mod verify;
mod workspace;

pub use attack_run::{Answers, AttackRun};
pub use error::CertifyError;
pub use kind_counts::KindCounts;
pub use progress::ProgressFn;
pub use workspace::ProbeWorkspace;
