//! The gates of all keys of a run.

use super::key_name::KeyName;
use super::rate_gate::RateGate;
use super::shared::SharedAccounts;
use ktd_experiment::rate_limits::RateLimits;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The gates of an experiment, one a key.
#[derive(Debug, Default)]
pub struct Gates {
    limits: BTreeMap<KeyName, RateLimits>,
    shared: Option<PathBuf>,
    server: Option<Arc<dyn SharedAccounts>>,
    made: Mutex<BTreeMap<KeyName, Arc<RateGate>>>,
}

impl Gates {
    /// Gates with these limits; a key without any has a gate that only heeds a busy or silent provider. Rates hold for all
    /// processes that name the same folder.
    #[must_use]
    pub const fn new(limits: BTreeMap<KeyName, RateLimits>, shared: Option<PathBuf>) -> Self {
        Self {
            limits,
            shared,
            server: None,
            made: Mutex::new(BTreeMap::new()),
        }
    }

    /// Gates that a server keeps for all machines.
    #[must_use]
    pub fn on_server(limits: BTreeMap<KeyName, RateLimits>, server: Arc<dyn SharedAccounts>) -> Self {
        Self {
            server: Some(server),
            ..Self::new(limits, None)
        }
    }

    /// The gate of a key: the same one for all who use it.
    pub fn of(&self, name: &KeyName) -> Arc<RateGate> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = made.entry(name.clone()).or_insert_with(|| {
            let limits = self.limits.get(name).copied().unwrap_or_default();
            if let Some(server) = &self.server {
                return Arc::new(RateGate::on_server(limits, server.minute(name, &limits)));
            }
            let file = name.file_name();
            let shared = self.shared.as_deref().filter(|_| limits.has_rate());
            Arc::new(RateGate::new(
                limits,
                shared.map(|folder| (folder, file.as_str())),
            ))
        });
        Arc::clone(gate)
    }
}
