//! Does a mask hold? Probes on disk, fifteen attackers, bounds, positive controls, and a signed certificate.
//!
//! | file | holds | who may see it |
//! |---|---|---|
//! | `set.json` | what the probes are, and the hashes of their files | anyone |
//! | `probes/KIND.jsonl.zst` | what an attacker may see, a line a probe | anyone |
//! | `answers/ATTACKER.jsonl.zst` | what each attacker of the database answered, in real codes and dates | anyone |
//! | `answers/blocks/` | the same of all attackers, block by block | anyone |
//! | `controls/CONTROL/` | the same of each positive control | anyone |
//! | `units/SET.MODEL/` | what each language model was asked, its replies, and what they came to | anyone |
//! | `private/*.gold.jsonl` | the answer keys | the owner |
//! | `private/mask.key` | the key that every exhibit's own is derived from | the owner |
//! | `commitment.json` | what will be attacked and what would pass, signed before anybody is asked | anyone |
//! | `attempts.jsonl` | a copy of the signer's log of attempts | anyone |
//! | `certificate.json` | counts, bounds, verdict, hashes and signature | anyone |
//!
//! Beside them lie the records and the report of a study. A curve over the rungs of numbers is a study too.
//!
//! Knows: probes, the client, the record, the shape of a study. Never knows: ranks, a terminal.

mod answer_blocks;
pub mod answer_line;
mod attack_run;
mod attack_tables;
pub mod attacker_record;
pub mod attempts;
pub mod certificate;
pub mod certificate_lines;
mod certificate_sections;
mod claimed_mask;
pub mod commitment;
mod comparison;
mod completeness;
mod compose;
pub mod config;
mod control_probes;
pub mod curve;
mod error;
mod external_probes;
mod files;
pub mod gold_line;
mod kind;
mod kind_counts;
pub mod language_attackers;
pub mod mark;
pub mod models_asked;
mod named_draw;
mod one_or_more;
pub mod own_answers;
pub mod paths;
mod plain_words;
pub mod plan_hash;
pub mod probe_inputs;
mod probe_line;
pub mod report;
pub mod set_plan;
pub mod set_record;
mod sets;
pub mod signed;
mod sizes;
mod units;
pub mod verify;
mod workspace;
mod world;

pub use attack_run::{Answers, AttackRun, ProbeAnswers, ProbeStream};
pub use certificate_sections::certificate_report;
pub use curve::CurveStudy;
pub use error::CertifyError;
pub use kind::CertificateStudy;
pub use kind_counts::KindCounts;
pub use units::{CertificateFound, CertificateUnit};
pub use workspace::ProbeWorkspace;
pub use world::MaskWorld;
