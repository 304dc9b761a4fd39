//! A bundle on disk, known by its header.

use crate::BundleError;
use crate::BundlePaths;
use crate::header::Header;
use crate::open::{read_header, read_private};
use ktd_env::{DayIndex, Market, TradeDate};
use ktd_experiment::agent::{AgentConfig, Control, External};
use ktd_experiment::cells::days_between;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A finished episode's public part: enough to know what it is.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its bundle.
    pub root: PathBuf,
    /// Its header.
    pub header: Header,
}

impl Found {
    /// The header of the bundle in `root`.
    ///
    /// # Errors
    /// [`BundleError`] when it is none.
    pub fn read(root: &Path) -> Result<Self, BundleError> {
        let header = read_header(&BundlePaths::new(root))?;
        Ok(Self {
            root: root.to_owned(),
            header,
        })
    }

    /// Whether the episode has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        BundlePaths::new(&self.root).summary().exists()
    }

    /// Its trading days on a panel; `None` without its private part.
    ///
    /// # Errors
    /// [`BundleError`] when the private part is damaged, or the panel does not cover the window.
    pub fn panel_days(&self, market: &Market) -> Result<Option<Vec<DayIndex>>, BundleError> {
        let paths = BundlePaths::new(&self.root);
        if !paths.episode().exists() {
            return Ok(None);
        }
        let (private, _) = read_private(&paths, &self.header)?;
        let date = |text: &str| {
            TradeDate::parse(text).map_err(|error| BundleError::damaged(&paths.episode(), error.to_string()))
        };
        let (first, last) = (date(&private.first_day)?, date(&private.last_day)?);
        Ok(Some(days_between(&self.header.window.id, first, last, market)?))
    }

    /// Where its panel was when it was made, where the bundle says so.
    #[must_use]
    pub fn panel(&self) -> Option<PathBuf> {
        let (private, _) = read_private(&BundlePaths::new(&self.root), &self.header).ok()?;
        private.panel.map(PathBuf::from)
    }
}

/// Refuses episodes of which one would count twice, and one name for two agents.
///
/// # Errors
/// [`BundleError::Input`] naming both episodes.
pub fn check_episodes<'f>(shown: impl IntoIterator<Item = &'f Found>) -> Result<(), BundleError> {
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
        header.mask.level.label(),
        header.mask.numeric.label(),
        header.mode.label(),
        header.seed,
    )
}

fn twice(other: &Found, found: &Found) -> BundleError {
    let (agent, window, level, numeric, mode, seed) = cell(found);
    let what = format!(
        "{} and {} are both seed {seed} of {agent:?} on window {window:?}, {level}/{numeric}, {mode}",
        other.root.display(),
        found.root.display()
    );
    BundleError::input(
        what,
        "a seed counts once: name one of the two, or give the second run other seeds or its agent another id",
    )
}

type PlayerKey<'a> = (
    Option<&'a str>,
    Option<Control>,
    Option<&'a [String]>,
    Option<External>,
);

/// Who answers, where it is no model.
fn kind(agent: &AgentConfig) -> PlayerKey<'_> {
    (
        agent.builtin_name(),
        agent.control(),
        agent.program().map(|program| program.command.as_slice()),
        agent.client().map(|client| client.external),
    )
}

/// An agent is who answers, and how it is asked; where its key is and how long one waits is not.
fn check_agent(known: &Found, found: &Found) -> Result<(), BundleError> {
    let (ours, theirs) = (&known.header, &found.header);
    let (a, b) = (&ours.agent, &theirs.agent);
    let (p, q) = (&ours.provider, &theirs.provider);
    let parts = [
        ("kind", kind(a) == kind(b)),
        (
            "model",
            a.model().map(|own| &own.model) == b.model().map(|own| &own.model),
        ),
        ("vendor", p.dialect.id == q.dialect.id),
        ("wire", p.wire == q.wire),
        ("force level", p.force == q.force),
        ("thinking", p.thinking == q.thinking),
        ("temperature", a.temperature() == b.temperature()),
        (
            "max_output_tokens",
            a.max_output_tokens() == b.max_output_tokens(),
        ),
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
    Err(BundleError::input(
        what,
        "one row is one agent: give each an id of its own, or name one of the two",
    ))
}
