//! The simulator's own audit: whether its tools, prompts, exchange or bands see a later day, and whether the audit sees
//! what is known to.
//!
//! Each check asks a function on a panel and on the same panel with another future, and compares the answers byte by byte.
//! What stands behind each check: docs/leakage.md.
//!
//! Knows: market, tools and exchange at once, which nothing else does. Never knows: a running episode, a record, a model.

mod audit;
mod auditor;
mod controls;
mod counterfactual;
mod decisions;
mod declared;
mod doors;
mod events;
mod fills;
mod look_ahead;
mod orders;
mod qlib_profile;
mod report;
mod scene;
mod shown;
mod switches;

pub use audit::audit_self;
pub use auditor::AuditSubject;
pub use report::{AuditFigure, AuditFinding, AuditVerdict, CheckReport, Compared, SelfAudit};

#[cfg(test)]
mod defect_tests;
#[cfg(test)]
mod small_market;
