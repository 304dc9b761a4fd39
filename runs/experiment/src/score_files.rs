//! Score files of an experiment, known by their hashes.

use crate::ExperimentError;
use crate::agent::{AgentConfig, AgentKind, Control};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_input_bytes;
use std::path::Path;

/// Writes the hash of each agent's score file beside its name, so that headers have it; `base` is the experiment file's
/// directory.
///
/// # Errors
/// [`ExperimentError`] for a file that cannot be read, or that is not the one whose hash is given.
pub fn hash_score_files(agents: &mut [AgentConfig], base: &Path) -> Result<(), ExperimentError> {
    for agent in agents {
        let AgentKind::Control(Control::Signals(signals)) = &mut agent.kind else {
            continue;
        };
        let path = base.join(&signals.scores);
        let found = sha256_hex(&read_input_bytes(&path)?);
        let given = signals.scores_sha256.replace(found.clone());
        if given.is_some_and(|given| given != found) {
            return Err(ExperimentError::input(
                format!(
                    "agent {:?}: `scores_sha256` is not the hash of {}, which is {found}",
                    agent.id,
                    path.display()
                ),
                "name the file that is meant, or remove `scores_sha256`",
            ));
        }
    }
    Ok(())
}
