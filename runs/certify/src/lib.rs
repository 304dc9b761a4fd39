//! Does a mask hold? Probes on disk, ten attackers, bounds, positive controls, and a signed certificate.
//!
//! | file | holds | who may see it |
//! |---|---|---|
//! | `set.json` | what the probes are, and the hashes of their files | anyone |
//! | `probes/KIND.jsonl.zst` | what an attacker may see, a line a probe | anyone |
//! | `answers/ATTACKER.jsonl.zst` | what each attacker said, in real codes and dates | anyone |
//! | `controls/CONTROL/` | the same of each positive control | anyone |
//! | `attackers/SET/MODEL/` | what each language model was asked, and its replies | anyone |
//! | `private/*.gold.jsonl` | the answer keys | the owner |
//! | `private/mask.key` | the key that every exhibit's own is derived from | the owner |
//! | `certificate.json` | counts, bounds, verdict, hashes and signature | anyone |
//!
//! Knows: probes, the client, the record. Never knows: ranks, a terminal.

pub mod answer_line;
pub mod attack;
pub mod certificate;
mod chance;
pub mod config;
pub mod control;
pub mod count;
pub mod curve;
mod error;
pub mod figure;
mod files;
mod given;
pub mod gold_line;
pub mod ground;
mod language;
pub mod language_attackers;
mod lines;
pub mod mark;
pub mod paths;
mod probe_line;
pub mod session;
pub mod set_plan;
pub mod set_record;
pub mod signed;
pub mod signing;
mod sizes;
mod store;
pub mod table;
pub mod verdict;
pub mod verify;
mod whole;

pub use error::CertifyError;
pub use ground::Tick;
