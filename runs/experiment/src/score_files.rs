//! Score files and pools of an experiment, known by their hashes.

use crate::ExperimentError;
use crate::agent::{AgentConfig, AgentKind, Control};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_input_bytes;
use std::path::Path;

/// Writes the hash of each agent's score file or pool beside its name, so that headers have it; `base` is the experiment
/// file's directory.
///
/// # Errors
/// [`ExperimentError`] for a file that cannot be read, or that is not the one whose hash is given.
pub fn hash_score_files(agents: &mut [AgentConfig], base: &Path) -> Result<(), ExperimentError> {
    for agent in agents {
        let (path, key, given) = match &mut agent.kind {
            AgentKind::Control(Control::Signals(signals)) => {
                let path = base.join(&signals.scores);
                (path, "scores_sha256", &mut signals.scores_sha256)
            }
            AgentKind::Builtin(builtin) => match &mut builtin.pool {
                Some(pool) => (pool.path(base), "pool_sha256", &mut pool.sha256),
                None => continue,
            },
            AgentKind::Control(Control::Oracle)
            | AgentKind::Model(_)
            | AgentKind::Program(_)
            | AgentKind::Client(_) => continue,
        };
        let found = sha256_hex(&read_input_bytes(&path)?);
        if given.replace(found.clone()).is_some_and(|given| given != found) {
            return Err(ExperimentError::input(
                format!(
                    "agent {:?}: `{key}` is not the hash of {}, which is {found}",
                    agent.id,
                    path.display()
                ),
                format!("name the file that is meant, or remove `{key}`"),
            ));
        }
    }
    Ok(())
}
