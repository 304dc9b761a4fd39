//! Leaving an episode at a step: another bundle with the same record before it, asked live from there on.

use super::{EpisodeInput, begin, run_episode};
use crate::EpisodeError;
use ktd_agents::Transport;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::open::read_header;
use ktd_bundle::summary::Summary;
use ktd_client::progress::{Progress, Silent};
use ktd_experiment::branch::{BranchChange, BranchRecord};
use ktd_experiment::cells::Cell;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::Provider;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_folder::WholeFolder;
use ktd_record::chain::{Log, LogEnd, LogReader, NO_GENESIS};
use ktd_record::exchanges::{Cassette, ExchangeStore};
use std::path::Path;

/// The cell of a branch that leaves the episode of a bundle at `step`, 1-based. `agent` goes on there, or the one that
/// answered there before, with the one thing changed that `change` names.
///
/// # Errors
/// [`EpisodeError::Input`] when the steps before it are not all recorded, and
/// errors of reading the bundle.
pub fn branch_cell(
    original: &Cell,
    from: &BundlePaths,
    step: usize,
    agent: Option<(AgentConfig, Provider)>,
    change: Option<BranchChange>,
) -> Result<Cell, EpisodeError> {
    let path = from.events();
    let (_, recorded) = first_steps(&path, usize::MAX)?;
    let last = original.window.days.len().min(recorded + 1);
    if !(1..=last).contains(&step) {
        let what = format!("no branch can leave {} at step {step}", original.id);
        return Err(EpisodeError::input(
            what,
            format!("{recorded} steps are recorded: choose a step from 1 to {last}"),
        ));
    }
    let (agent, provider) = agent.unwrap_or_else(|| {
        let (agent, provider) = (original.agent_at(step), original.provider_at(step));
        (agent.clone(), provider.clone())
    });
    let basis = if agent == original.agent {
        original.basis.clone()
    } else {
        TokenPricing::of(agent.is_ours(), None)
    };
    let before = step.saturating_sub(1);
    // What was asked before a changed answer is the other episode's: asked again, it could be answered otherwise.
    let copied_requests = match &change {
        Some(BranchChange::Answer { call, .. }) => requests_before(from, step, *call)?,
        Some(BranchChange::Orders { .. } | BranchChange::Numeric { .. } | BranchChange::Rules { .. })
        | None => 0,
    };
    let branch = BranchRecord {
        cell: original.id.clone(),
        events_sha256: sha256_file(&path)?,
        step,
        agent: original.agent_at(before).clone(),
        provider: original.provider_at(before).clone(),
        copied_requests,
        change,
        branch: original.branch.clone().map(Box::new),
    };
    Ok(Cell {
        id: format!("{}__branch{step}-{}", original.id, agent.id),
        agent,
        provider,
        basis,
        branch: Some(branch),
        ..original.clone()
    })
}

/// Runs the branch `cell` of the episode `original`, whose bundle is `from`, into the bundle `out`; or continues it.
///
/// The steps before the branch are run again from the record first, and every byte of them is compared.
///
/// # Errors
/// [`EpisodeError`]; nothing is asked live when the record does not hold, or when `out` is another bundle.
pub async fn branch_episode(
    original: &EpisodeInput<'_>,
    from: &BundlePaths,
    cell: &Cell,
    out: &BundlePaths,
    transport: &dyn Transport,
    progress: &dyn Progress,
) -> Result<Summary, EpisodeError> {
    let input = EpisodeInput {
        shared: original.shared,
        cell,
        key: original.key.clone(),
    };
    if out.header().exists() {
        let header = read_header(out)?;
        if (&header.cell, &header.branch) != (&cell.id, &cell.branch) {
            let what = format!("{} holds another bundle: {}", out.root().display(), header.cell);
            return Err(EpisodeError::input(
                what,
                "choose another directory for the branch",
            ));
        }
    } else {
        let steps = cell.first_own_step().saturating_sub(1);
        replay_steps(original, from, steps).await?;
        begin_branch(&input, from, steps, out)?;
    }
    run_episode(&input, out, transport, progress).await
}

/// Runs the first steps of an episode again from the record, and compares every byte of their events.
async fn replay_steps(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
    steps: usize,
) -> Result<(), EpisodeError> {
    let genesis = begin::compare_identity(input, paths)?;
    let guard = input
        .shared
        .guards
        .of(input.cell.mask.level, &input.shared.market);
    let mut episode = begin::open(input, (paths, &genesis), guard, begin::Opening::Compare)?;
    episode.run_until(steps, &Silent).await.map(|_| ())
}

/// Copies what stands before the branch and writes its identity, into a folder that is absent or empty.
fn begin_branch(
    input: &EpisodeInput<'_>,
    from: &BundlePaths,
    steps: usize,
    out: &BundlePaths,
) -> Result<(), EpisodeError> {
    let begun = WholeFolder::begin(out.root())?;
    let aside = BundlePaths::new(&begun.at("")?);
    aside.create()?;
    let ended = copy_steps(from, &aside, (steps, &begin::header(input)?.genesis()?))?;
    let first_own_request = match &input.cell.branch {
        Some(branch) => branch.first_own_request(),
        None => (ended + 1, 0),
    };
    let exchanges = Cassette::read_in_order(&from.exchanges())?;
    let store = ExchangeStore::continue_after(&aside.exchanges(), &Cassette::default())?;
    store.add_before(first_own_request, &exchanges)?;
    begin::write_identity(input, &aside)?;
    Ok(begun.finish()?)
}

/// Copies the events and the ledger of the first steps of a bundle, and says how many it has, at most those asked for. The
/// events follow from `genesis` instead of the header that they were made under.
fn copy_steps(
    from: &BundlePaths,
    to: &BundlePaths,
    (steps, genesis): (usize, &str),
) -> Result<usize, EpisodeError> {
    let (kept, ended) = first_steps(&from.events(), steps)?;
    copy_lines((&from.events(), &to.events()), kept, genesis)?;
    copy_lines((&from.ledger(), &to.ledger()), ended, NO_GENESIS)?;
    Ok(ended)
}

/// How many events the first steps of a log have, and how many steps that are.
fn first_steps(path: &Path, steps: usize) -> Result<(usize, usize), EpisodeError> {
    let mut events = LogReader::open(path)?;
    let (mut kept, mut ended) = (0, 0);
    while ended < steps
        && let Some(line) = events.next_line()?
    {
        if let ReadEvent::StepEnd { .. } = line.typed()? {
            (kept, ended) = (events.end().lines, ended + 1);
        }
    }
    Ok((kept, ended))
}

/// Copies the first lines of a log into a chain that starts from `genesis`.
fn copy_lines((from, to): (&Path, &Path), count: usize, genesis: &str) -> Result<(), EpisodeError> {
    let nothing = LogEnd::default();
    let mut copy = Log::continue_at(to, (&nothing, &nothing), genesis)?;
    let mut lines = LogReader::open(from)?;
    while lines.end().lines < count
        && let Some(line) = lines.next_line()?
    {
        copy.append(line.body)?;
    }
    Ok(())
}

/// How many requests of a step were made before the answer to its tool call of this 1-based place.
fn requests_before(paths: &BundlePaths, step: usize, call: usize) -> Result<u32, EpisodeError> {
    let path = paths.events();
    let (mut requests, mut calls) = (0, 0);
    let mut events = LogReader::open(&path)?;
    while let Some(line) = events.next_line()? {
        let event: ReadEvent = line.typed()?;
        match event {
            ReadEvent::Turn {
                step: own, ordinal, ..
            } if own == step => requests = ordinal.saturating_add(1),
            ReadEvent::ToolCall { step: own, .. } if own == step => {
                calls += 1;
                if calls == call {
                    return Ok(requests);
                }
            }
            ReadEvent::EpisodeBegin { .. }
            | ReadEvent::StepBegin { .. }
            | ReadEvent::Turn { .. }
            | ReadEvent::InfrastructureFault { .. }
            | ReadEvent::ToolCall { .. }
            | ReadEvent::ModelFault { .. }
            | ReadEvent::Decision { .. }
            | ReadEvent::Fills { .. }
            | ReadEvent::StepEnd { .. }
            | ReadEvent::EpisodeEnd { .. } => {}
        }
    }
    Err(EpisodeError::input(
        format!("step {step} has {calls} recorded tool calls, and no call {call}"),
        "choose a call that `ktd replay BUNDLE --step` shows",
    ))
}
