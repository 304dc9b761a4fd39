//! Workers on many machines: one queue, one purse and one count of rates, kept by `PostgreSQL`.
//!
//! The loop over units, records and reports are those of `study`, and what a call costs is told by `client`: here is what stands behind
//! their seams. Every decision is a function of `schema.sql`, one transaction by the server's clock. A worker proves with each call
//! that its unit is still its own; one that cannot is refused before a socket, and what it held counts as spent whole.
//!
//! Knows: the queue, leases, holds, gates. Never knows: a market, a mask's key, a key of a vendor, what a unit asks.

mod accounts;
mod claims;
mod database;
mod inner;
mod lease;
mod minute;
mod queue;
mod status;

pub use claims::{StudyClaims, Worker};
pub use database::ServerDatabase;
pub use inner::{TellFn, WorkerSettings};
pub use queue::QueuedAt;
pub use status::{DeadUnit, QueueScope, QueueStatus, RunningUnit, ServerStatus, WorkerState};
