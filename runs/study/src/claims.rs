//! The seam behind which units are handed out: on one machine a loop does, and nobody is asked.

use crate::{StudyError, UnitId};
use futures::future::BoxFuture;
use ktd_client::money::KeyName;
use ktd_client::money::shared::SharedAccounts;
use std::sync::Arc;
use std::time::Duration;

/// Who hands out the units of a study that processes on many machines run. What cannot be asked now is waited for.
pub trait UnitClaims: Sync {
    /// This process, by a name that no other has or had.
    fn worker(&self) -> &str;

    /// Who counts money and rates before a unit runs: gates are opened with it, and nothing is paid by it.
    fn accounts(&self) -> Arc<dyn SharedAccounts>;

    /// Whether there is a unit to run.
    fn look(&self) -> BoxFuture<'_, Result<Claimable, StudyError>>;

    /// Takes a unit that waits for a key, or for none: one all of whose units before were finished when one last looked.
    fn next<'a>(
        &'a self,
        key: Option<&'a KeyName>,
    ) -> BoxFuture<'a, Result<Option<Box<dyn UnitLease>>, StudyError>>;
}

/// Whether there is a unit to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimable {
    /// There is.
    Now,
    /// Others run what is left, or it waits: look again after so long.
    Later(Duration),
    /// Every unit is finished, or will not be run.
    Nothing,
}

/// Unit that this process alone runs, for as long as that can be proved.
pub trait UnitLease: Send + Sync {
    /// Which one.
    fn unit(&self) -> &UnitId;

    /// How many times it was handed out, this time among them.
    fn epoch(&self) -> u64;

    /// Makes its record on this machine what it is, before it is looked at. Where machines share a folder, nothing is to be done.
    fn prepare(&self) -> BoxFuture<'_, Result<(), StudyError>> {
        Box::pin(async { Ok(()) })
    }

    /// Who pays its calls.
    fn accounts(&self) -> Arc<dyn SharedAccounts>;

    /// Ends when it is this process's no more.
    fn lost(&self) -> BoxFuture<'_, StudyError>;

    /// Says how it ended, once its calls are settled.
    fn end<'a>(&'a self, ended: UnitEnd<'a>) -> BoxFuture<'a, Result<(), StudyError>>;
}

/// How a unit ended that was handed out.
#[derive(Debug, Clone, Copy)]
pub enum UnitEnd<'e> {
    /// Its record is closed.
    Done,
    /// It has no result.
    Failed(&'e StudyError),
    /// Another process still writes its record: it was not begun.
    Held,
}
