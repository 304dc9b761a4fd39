//! What a study runs with, and how a run ends.

use crate::claims::UnitClaims;
use crate::kind::StudyKind;
use crate::unit_id::of_raw;
use crate::{Report, StudyError, StudyProgress, UnitId};
use ktd_record::program_record::ProgramRecord;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// What a study runs with.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "holds callbacks")]
pub struct StudyRun<'r> {
    /// The program, which every record names.
    pub program: &'r ProgramRecord,
    /// Threads that compute. Units that wait for answers share them: how many units run at once is the kind's.
    pub threads: usize,
    /// Waits for answers and timers.
    pub tasks: &'r Handle,
    /// Told how far it is.
    pub progress: &'r dyn StudyProgress,
    /// Becomes true when the process is told to end: units that ask somebody end then, and whatever they started.
    pub told_to_end: &'r watch::Receiver<bool>,
    /// Where this user's runs are counted over all folders; none where each folder knows of itself alone.
    pub counts: Option<&'r Path>,
    /// Whether units are run again of which the infrastructure took everything away; their records are kept beside.
    pub retries_lost: bool,
    /// Who hands out the units, where processes on many machines run the study; none where this one runs them all.
    pub claims: Option<&'r dyn UnitClaims>,
}

/// How a run ended.
#[derive(Debug)]
pub struct StudyEnd<K: StudyKind> {
    /// What the units ran over.
    pub world: K::World,
    /// What all units came to, and its report; none where a unit is not finished.
    pub finished: Option<(K::Summary, Report)>,
    /// Units in all.
    pub units: usize,
    /// Units that ended without a result, and why.
    pub failed: Vec<(UnitId, StudyError)>,
    pub(crate) found: BTreeMap<UnitId, Box<RawValue>>,
}

impl<K: StudyKind> StudyEnd<K> {
    /// What a unit came to; none where it is not finished.
    ///
    /// # Errors
    /// [`StudyError`] for a record that cannot be read.
    pub fn found(&self, id: &UnitId) -> Result<Option<K::Found>, StudyError> {
        let found = self.found.get(id);
        found.map(|found| of_raw(id, found)).transpose()
    }
}
