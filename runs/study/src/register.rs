//! What the runs of a folder are counted as, whatever became of them; and those of a user's other folders over the same data.

use crate::StudyError;
use crate::counted_run::CountedRun;
use crate::json_file::read_as;
use crate::kind::StudyKind;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, json_bytes, list_if_exists, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

const REGISTER: &str = "register.json";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Register {
    counted: Vec<Value>,
}

/// How many values a finished study has seen, its own among them.
pub(crate) fn counted(folder: &Path, run: Option<&CountedRun>) -> Result<usize, StudyError> {
    let path = folder.join(REGISTER);
    let register: Register = read_as(&path)?.unwrap_or_default();
    let own = run.filter(|run| run.looks);
    if own.is_some_and(|own| !register.counted.contains(&own.value)) {
        let what = format!("{}: this run is not counted in it", path.display());
        return Err(StudyError::difference(
            what,
            "the file was changed: take the folder from whoever made it",
        ));
    }
    Ok(register.counted.len())
}

/// Writes a run and those of other folders that look at the same, each once; how many the folder has seen. Its lock is held. `all` is
/// where the runs of all folders of a user are known; none where they are not.
pub(crate) fn count<K: StudyKind>(
    folder: &Path,
    run: Option<&CountedRun>,
    all: Option<&Path>,
) -> Result<usize, StudyError> {
    let path = folder.join(REGISTER);
    let mut register: Register = read_as(&path)?.unwrap_or_default();
    let before = register.counted.len();
    let mut add = |value: Value| {
        if !register.counted.contains(&value) {
            register.counted.push(value);
        }
    };
    if let Some(run) = run {
        let all = all.map(|all| all.join(K::NAME).join(&run.over));
        if let Some(all) = &all {
            for other in others(all)? {
                if K::is_counted_with(&run.value, &other) {
                    add(other);
                }
            }
        }
        if run.looks {
            add(run.value.clone());
            if let Some(all) = &all {
                keep(all, &run.value)?;
            }
        }
    }
    if before < register.counted.len() {
        write_whole(&path, &json_bytes(&path, &register)?)?;
    }
    Ok(register.counted.len())
}

/// Runs of all folders over the same, in the order of their hashes.
fn others(all: &Path) -> Result<Vec<Value>, StudyError> {
    let mut paths = list_if_exists(all)?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    let mut found = Vec::with_capacity(paths.len());
    for path in paths {
        found.extend(read_as::<Value>(&path)?);
    }
    Ok(found)
}

/// A file a run, so that processes that look at once need no lock.
fn keep(all: &Path, value: &Value) -> Result<(), StudyError> {
    let path = all.join(format!("{}.json", sha256_hex(value.to_string().as_bytes())));
    let kept = create_directory(all).and_then(|()| write_whole(&path, &json_bytes(&path, value)?));
    kept.map_err(|error| {
        StudyError::input(
            format_args!("who has looked at these days cannot be kept: {error}"),
            "set KTD_CACHE to a folder that can be written, or to nothing: then a folder of results knows of itself alone",
        )
    })
}
