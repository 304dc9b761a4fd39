//! Names in a record that somebody else may have made: they become parts of paths, and must be plain words.

use crate::error::StrategyError;
use crate::strategy_id::StrategyId;
use ktd_experiment::config::is_file_name;
use ktd_strategy_code::DocumentId;
use std::path::Path;

/// Refuses an agent's name that could lead out of the folder of results; `path` is the file that holds it.
pub(crate) fn check_agent(path: &Path, key: &str, name: &str) -> Result<(), StrategyError> {
    if is_file_name(name) {
        return Ok(());
    }
    Err(StrategyError::damaged(
        path,
        format!(
            "`{key}` has the invalid name {name:?}; an agent's name has letters, digits, -, _ and . alone"
        ),
    ))
}

/// Refuses a strategy's identifier that could lead out of the folder of results; `path` is the file that holds it.
pub(crate) fn check_strategy(path: &Path, id: &str) -> Result<(), StrategyError> {
    if DocumentId::parse(id).is_some() {
        return Ok(());
    }
    match StrategyId::own(id) {
        Ok(_) => Ok(()),
        Err(problem) => Err(StrategyError::damaged(
            path,
            format!("the strategy {id:?} is invalid: {problem}"),
        )),
    }
}
