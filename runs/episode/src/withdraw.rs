//! Agents that nobody can ask any more: what they played is closed where it stands.

use crate::open_bundle::OpenBundle;
use crate::{EpisodeError, WithdrawnAgents, begin, finish};
use ktd_bundle::event::WITHDRAWN;
use ktd_bundle::open::read_header;
use ktd_bundle::{BundlePaths, CELLS, PRIVATE};
use ktd_io::lock::FileLock;
use ktd_io::whole_file::list_if_exists;
use ktd_record::set_aside::is_set_aside;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Withdraws agents: notes them, and closes their unfinished episodes, and those of all that were withdrawn before. `known` are
/// the agents of the experiment; one that was taken out of it is known by its episodes. Tells, in words, what was closed.
/// `panel` is where the market of the experiment lies.
///
/// # Errors
/// [`EpisodeError`] for an agent that nobody knows, and for an episode that cannot be read or written.
pub fn withdraw(
    (output, panel): (&Path, Option<&Path>),
    agents: &[String],
    known: &BTreeSet<&str>,
) -> Result<Vec<String>, EpisodeError> {
    let mut withdrawn = WithdrawnAgents::read(output)?;
    if withdrawn.agents.is_empty() && agents.is_empty() {
        return Ok(Vec::new());
    }
    let recorded = recorded(output)?;
    let has_played = |agent: &String| recorded.iter().any(|(_, of)| of == agent);
    if let Some(agent) = agents
        .iter()
        .find(|agent| !known.contains(agent.as_str()) && !has_played(agent))
    {
        let known: Vec<&str> = known.iter().copied().collect();
        return Err(EpisodeError::input(
            format!(
                "nobody is called {agent:?}, neither in the file nor in {}",
                output.display()
            ),
            format!("the agents of the file are {}", known.join(", ")),
        ));
    }
    // While another process plays them nothing is noted: what is refused changes nothing.
    let _alone = FileLock::of_folder(output)?;
    withdrawn.agents.extend(agents.iter().cloned());
    withdrawn.write(output)?;
    let names: Vec<&str> = withdrawn.agents.iter().map(String::as_str).collect();
    let mut closed = vec![format!(
        "withdrawn, and asked nothing more in any cell: {} (by {}, from which a name is taken out to ask it again)",
        names.join(", "),
        WithdrawnAgents::path(output).display()
    )];
    for (root, agent) in recorded {
        let is_open = || !BundlePaths::new(&root).summary().exists();
        if !withdrawn.agents.contains(&agent) || !is_open() {
            continue;
        }
        match close(&root, panel) {
            Ok(cell) => closed.push(format!("cell {cell} is closed: its agent was withdrawn")),
            // What was withdrawn before holds up nobody.
            Err(error) if !agents.contains(&agent) => {
                closed.push(format!("{} cannot be closed: {error}", root.display()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(closed)
}

/// The bundles of a results directory that have begun, each with its agent.
fn recorded(output: &Path) -> Result<Vec<(PathBuf, String)>, EpisodeError> {
    let mut recorded = Vec::new();
    let sealed = list_if_exists(&output.join(PRIVATE).join(CELLS))?;
    for root in list_if_exists(&output.join(CELLS))?.into_iter().chain(sealed) {
        let paths = BundlePaths::new(&root);
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        if !is_set_aside(&name) && paths.header().exists() {
            recorded.push((root, read_header(&paths)?.agent.id));
        }
    }
    Ok(recorded)
}

/// Closes an unfinished episode after its last complete step; its id.
fn close(root: &Path, panel: Option<&Path>) -> Result<String, EpisodeError> {
    let bundle = OpenBundle::open(root, panel)?;
    let (input, paths) = (bundle.input(), &bundle.paths);
    let _lock = paths.lock_for_writing()?;
    let genesis = begin::compare_identity(&input, paths)?;
    let guard = input
        .shared
        .guards
        .of(input.cell.mask.level, &input.shared.market);
    let mut episode = begin::open(&input, (paths, &genesis), guard, begin::Opening::End)?;
    if !episode.is_over {
        episode.end(WITHDRAWN.to_owned())?;
    }
    let store = episode.exchanger.store.take();
    drop(episode);
    finish::close_here(paths, &input.key, store)?;
    Ok(bundle.cell.id)
}
