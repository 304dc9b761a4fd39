//! What a row may be made of: one agent under one name, each seed once, on one set of days.

use super::played::Found;
use crate::error::RunError;
use ktd_env::DayIndex;
use std::collections::BTreeMap;

/// Refuses episodes that would be counted as what they are not.
///
/// # Errors
/// [`RunError::Input`] when two are the same seed of the same cell, when one name stands for two agents, and when one
/// window's name stands for different days.
pub(super) fn check(shown: &[&(Found, Vec<DayIndex>)]) -> Result<(), RunError> {
    check_episodes(shown.iter().map(|(found, _)| found))?;
    let mut windows: BTreeMap<&str, (&Found, &[DayIndex])> = BTreeMap::new();
    for (found, days) in shown {
        let header = &found.header;
        let (known, theirs) = windows.entry(&header.window.id).or_insert((found, days));
        if *theirs != days.as_slice() {
            let what = format!(
                "window {:?} is not the same days in {} and {}",
                header.window.id,
                known.root.display(),
                found.root.display()
            );
            return Err(RunError::input(
                what,
                "give windows of other days other ids, or name one of the two experiments",
            ));
        }
    }
    Ok(())
}

/// Refuses episodes of which one would count twice, and one name for two agents.
///
/// # Errors
/// [`RunError::Input`] naming both episodes.
pub(crate) fn check_episodes<'f>(shown: impl IntoIterator<Item = &'f Found>) -> Result<(), RunError> {
    let mut cells = BTreeMap::new();
    let mut agents: BTreeMap<&str, &Found> = BTreeMap::new();
    for found in shown {
        if let Some(other) = cells.insert(cell(found), found) {
            return Err(twice(other, found));
        }
        let known = agents.entry(&found.header.agent.id).or_insert(found);
        check_agent(known, found)?;
    }
    Ok(())
}

type CellKey<'f> = (&'f str, &'f str, &'f str, &'f str, &'f str, u64);

fn cell(found: &Found) -> CellKey<'_> {
    let header = &found.header;
    (
        &header.agent.id,
        &header.window.id,
        &header.mask.level,
        &header.mask.numeric,
        &header.mode,
        header.seed,
    )
}

fn twice(other: &Found, found: &Found) -> RunError {
    let (agent, window, level, numeric, mode, seed) = cell(found);
    let what = format!(
        "{} and {} are both seed {seed} of {agent:?} on window {window:?}, {level}/{numeric}, {mode}",
        other.root.display(),
        found.root.display()
    );
    RunError::input(
        what,
        "a seed counts once: name one of the two, or give the second run other seeds or its agent another id",
    )
}

/// An agent is who answers, and how it is asked; where its key is and how long one waits is not.
fn check_agent(known: &Found, found: &Found) -> Result<(), RunError> {
    let (ours, theirs) = (&known.header, &found.header);
    let (a, b) = (&ours.agent, &theirs.agent);
    let (p, q) = (&ours.provider, &theirs.provider);
    let kind = |found: &Found| {
        let agent = &found.header.agent;
        (
            agent.builtin.clone(),
            agent.control,
            agent.command.clone(),
            agent.external,
        )
    };
    let parts = [
        ("kind", kind(known) == kind(found)),
        ("model", a.model == b.model),
        ("vendor", p.dialect.id == q.dialect.id),
        ("wire", p.wire == q.wire),
        ("force level", p.force == q.force),
        ("thinking", p.thinking == q.thinking),
        ("temperature", a.temperature == b.temperature),
        ("max_output_tokens", a.max_output_tokens == b.max_output_tokens),
    ];
    let differs: Vec<&str> = parts
        .iter()
        .filter(|(_, same)| !same)
        .map(|(part, _)| *part)
        .collect();
    if differs.is_empty() {
        return Ok(());
    }
    let what = format!(
        "agent {:?} is not the same in {} and {}: its {} differs",
        a.id,
        known.root.display(),
        found.root.display(),
        differs.join(" and ")
    );
    Err(RunError::input(
        what,
        "one row is one agent: give each an id of its own, or name one of the two",
    ))
}
